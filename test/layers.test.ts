import test from 'ava'
import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, normalize } from 'node:path'
import ts from 'typescript'
import { projectFolder } from '../src/installation/project.ts'

const SOURCES = join(projectFolder(), 'src')
const FILES = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))

/** The imports of each ring, besides itself: the arrows of architecture.md, and the common files. */
const ARROWS: Record<string, readonly string[]> = {
  process: [
    ...[
      'http',
      'update',
      'cli',
      'service',
      'store',
      'nameserver',
      'mail',
      'issuer',
      'metrics',
      'private-servers',
      'flow',
    ],
    ...['errors.ts', 'limits.ts', 'time.ts', 'settings', 'log.ts', 'installation', 'system.ts', '..'],
  ],
  http: ['service', 'dns', 'flow', 'errors.ts', 'limits.ts', 'time.ts', 'settings', 'log.ts', 'system.ts'],
  update: ['service', 'dns', 'flow', 'errors.ts', 'limits.ts', 'time.ts', 'system.ts'],
  cli: ['service', 'errors.ts', 'limits.ts', 'time.ts', 'settings', 'system.ts'],
  service: [
    ...['store', 'nameserver', 'issuer', 'dns', 'flow'],
    ...['errors.ts', 'limits.ts', 'time.ts', 'settings', 'log.ts', 'system.ts'],
  ],
  store: ['flow', 'errors.ts', 'limits.ts', 'installation', 'time.ts'],
  nameserver: ['dns', 'flow', 'errors.ts', 'limits.ts', 'time.ts'],
  'private-servers': ['errors.ts', 'installation'],
  flow: ['errors.ts', 'limits.ts', 'log.ts'],
  mail: ['errors.ts', 'limits.ts', 'time.ts'],
  issuer: ['errors.ts', 'limits.ts'],
  metrics: ['limits.ts'],
  settings: ['errors.ts', 'dns', 'limits.ts', 'time.ts'],
  installation: ['errors.ts'],
  dns: [],
}

/**
 * The rooms of the large rings, from the top: each may import those below it, and files beside the rooms. Files beside the
 * rooms of http import all rooms; those of the service none.
 */
const ROOMS: Record<string, readonly string[]> = {
  http: [
    ...[
      'powerdns-api',
      'webhooks',
      'sign-on',
      'accounts',
      'dyndns',
      'history',
      'domains',
      'rollovers',
      'delegation',
      'transfers',
      'rrsets',
      'tokens',
      'service',
    ],
    ...['console', 'openapi', 'pages', 'middleware', 'kit', 'fields'],
  ],
  service: [
    ...[
      'ci',
      'operation',
      'sign-on',
      'members',
      'accounts',
      'webhooks',
      'adoption',
      'rollovers',
      'secondaries',
      'delegation',
      'doors',
      'domains',
      'repair',
      'reverse',
      'activity',
    ],
    ...['rrsets', 'zone', 'secrets', 'names', 'passkeys', 'tokens', 'mails', 'throttling', 'work'],
  ],
  nameserver: ['cluster', 'powerdns', 'secondaries', 'parents', 'wire'],
  store: ['zone', 'tokens', 'domains', 'accounts', 'connections'],
}

/** The common files that every ring may import, and their own imports. `system.ts` imports the parts, types only. */
const COMMON: Record<string, readonly string[]> = {
  'errors.ts': [],
  'limits.ts': ['time.ts'],
  'time.ts': [],
  'log.ts': ['errors.ts'],
  'system.ts': [],
}

/** The files below `folder` that a file there imports or re-exports. */
function imports(file: string, { types, folder = SOURCES }: { types: boolean; folder?: string }): string[] {
  const text = readFileSync(join(folder, file), 'utf8')
  // Transpiling removes imports of types.
  const code = types ? text : ts.transpile(text, { target: ts.ScriptTarget.ESNext, verbatimModuleSyntax: true })
  return ts
    .preProcessFile(code)
    .importedFiles.map(({ fileName }) => fileName)
    .filter((name) => name.startsWith('.'))
    .map((name) => normalize(join(dirname(file), name)))
}

/** The ring that a file belongs to, or the file itself if it is in none. */
function ringOf(file: string): string {
  return file.split('/')[0]!
}

for (const [ring, arrows] of Object.entries(ARROWS)) {
  test(`${ring} imports ${arrows.length === 0 ? 'none of our files' : `only ${arrows.join(', ')}`}, not even types`, (t) => {
    const files = FILES.filter((file) => ringOf(file) === ring)
    t.true(files.length > 0)
    const others = files.flatMap((file) =>
      imports(file, { types: true })
        .filter((name) => ringOf(name) !== ring && !arrows.includes(ringOf(name)))
        .map((name) => `${file} -> ${name}`),
    )
    t.deepEqual(others, [])
  })
}

test('the common files import no ring', (t) => {
  const others = Object.entries(COMMON).flatMap(([file, allowed]) =>
    imports(file, { types: file !== 'system.ts' }).filter((name) => !allowed.includes(name)),
  )
  t.deepEqual(others, [])
})

test('only the store imports SQL drivers, only nameserver an HTTP client, only http Koa, and only mail an SMTP client', (t) => {
  const owners: Record<string, string> = {
    pg: 'store',
    knex: 'store',
    undici: 'nameserver',
    koa: 'http',
    yup: 'http',
    nodemailer: 'mail',
    'openid-client': 'issuer',
    jose: 'issuer',
    'prom-client': 'metrics',
  }
  // Private servers are asked whether they run before there is a store or a nameserver.
  const files = FILES.filter((file) => ringOf(file) in ARROWS && ringOf(file) !== 'private-servers')
  const violations = files.flatMap((file) => {
    const code = ts.transpile(readFileSync(join(SOURCES, file), 'utf8'), { verbatimModuleSyntax: true })
    return ts
      .preProcessFile(code)
      .importedFiles.filter(({ fileName }) => (owners[fileName] ?? ringOf(file)) !== ringOf(file))
      .map(({ fileName }) => `${file} -> ${fileName}`)
  })
  t.deepEqual(violations, [])
})

for (const [ring, rooms] of Object.entries(ROOMS)) {
  test(`a room of ${ring} imports only rooms below it`, (t) => {
    const roomOf = (file: string) =>
      ringOf(file) === ring && file.split('/').length > 2 ? file.split('/')[1] : undefined
    const files = FILES.filter((file) => roomOf(file) !== undefined)
    t.deepEqual([...new Set(files.map(roomOf))].sort(), [...rooms].sort())
    const upwards = files.flatMap((file) =>
      imports(file, { types: true })
        .filter((name) => {
          const room = roomOf(name)
          return room !== undefined && rooms.indexOf(room) < rooms.indexOf(roomOf(file)!)
        })
        .map((name) => `${file} -> ${name}`),
    )
    t.deepEqual(upwards, [])
  })
}

test('architecture.md names every ring and room', (t) => {
  const [, list] = readFileSync(join(projectFolder(), 'docs/design/architecture.md'), 'utf8').split('\n## Rings')
  const folders = [...Object.keys(ARROWS), ...Object.values(ROOMS).flat()]
  t.deepEqual(
    folders.filter((folder) => !list!.includes(` ${folder}/`)),
    [],
  )
})

test('only nameserver, and what makes it, knows PowerDNS and the wire: all others use the interface', (t) => {
  const makers = ['process/create-system.ts']
  const users = FILES.filter((file) => ringOf(file) !== 'nameserver' && !makers.includes(file)).flatMap((file) =>
    imports(file, { types: true })
      .filter((name) => /^nameserver\/(powerdns|wire)\//.test(name))
      .map((name) => `${file} -> ${name}`),
  )
  t.deepEqual(users, [])
})

test('files do not import each other in a circle, not even types', (t) => {
  t.deepEqual(circlesIn(SOURCES, FILES), [])
})

test('files of the console do not import each other in a circle, either', (t) => {
  const folder = join(projectFolder(), 'console')
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => /\.tsx?$/.test(file))
  t.deepEqual(circlesIn(folder, files), [])
})

function circlesIn(folder: string, files: string[]): string[] {
  const graph = new Map(files.map((file) => [file, imports(file, { types: true, folder })]))
  const done = new Set<string>()
  const circles: string[] = []
  function visit(file: string, path: string[]): void {
    if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(' -> '))
    else if (!done.has(file)) {
      for (const next of graph.get(file) ?? []) visit(next, [...path, file])
      done.add(file)
    }
  }
  for (const file of files) visit(file, [])
  return circles
}

const SUPPORT = readdirSync(join(projectFolder(), 'test/support'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => join('../test/support', file))

/** The most characters of a file. */
const CAP = 12_000

test('no folder has more than 14 files, and no file more than 12,000 characters', (t) => {
  const counts = new Map<string, number>()
  const large = [...FILES, ...SUPPORT].flatMap((file) => {
    counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1)
    const { length } = readFileSync(join(SOURCES, file), 'utf8')
    return length > CAP ? [`${file}: ${length}`] : []
  })
  t.deepEqual(large, [])
  const full = [...counts].filter(([, count]) => count > 14)
  t.deepEqual(full, [])
})

test('no two files of a ring have the same name', (t) => {
  const names = FILES.map((file) => `${ringOf(file)}: ${basename(file)}`)
  const twice = names.filter((name, i) => names.indexOf(name) < i)
  t.deepEqual(twice, [])
})
