import test from 'ava'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import ts from 'typescript'
import { projectFolder } from '../src/project.ts'

const SOURCES = join(projectFolder(), 'src')
const FILES = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))

/** The imports of each ring, besides itself: the arrows of architecture.md, and the common files. */
const ARROWS: Record<string, readonly string[]> = {
  http: ['service', 'dns', 'errors.ts', 'limits.ts', 'slices.ts', 'time.ts', 'config.ts', 'log.ts', 'system.ts'],
  secondaries: ['wire', 'errors.ts', 'limits.ts'],
  cli: ['service', 'errors.ts', 'limits.ts', 'time.ts', 'config.ts', 'system.ts'],
  service: [
    'store',
    'nameserver',
    'secondaries',
    'dns',
    'errors.ts',
    'limits.ts',
    'slices.ts',
    'time.ts',
    'config.ts',
    'log.ts',
    'system.ts',
  ],
  store: ['errors.ts', 'limits.ts', 'slices.ts', 'time.ts'],
  nameserver: ['wire', 'errors.ts', 'limits.ts', 'slices.ts', 'time.ts'],
  mail: ['errors.ts', 'limits.ts', 'time.ts'],
  metrics: ['limits.ts'],
  dns: [],
  wire: [],
}

/** The rooms of the service, from the top: each may import those below it, and files beside the rooms. */
const ROOMS = ['ci', 'accounts', 'secondaries', 'domains', 'zone', 'throttling', 'tokens']

/** The common files that every ring may import, and their own imports. `system.ts` imports the parts, types only. */
const COMMON: Record<string, readonly string[]> = {
  'errors.ts': [],
  'limits.ts': [],
  'slices.ts': [],
  'time.ts': [],
  'config.ts': ['limits.ts', 'setting-values.ts'],
  'setting-values.ts': ['limits.ts'],
  'log.ts': [],
  'system.ts': [],
}

/** The files below src that a file imports or re-exports. */
function imports(file: string, { types }: { types: boolean }): string[] {
  const text = readFileSync(join(SOURCES, file), 'utf8')
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

test('no ring imports the files that assemble the rings, or anything outside of src', (t) => {
  const roots = ['cli.ts', 'start.ts', 'operate.ts', 'with-system.ts', 'serve.ts', 'server.ts', 'app.ts', '..']
  const others = FILES.filter((file) => ringOf(file) in ARROWS || file in COMMON).flatMap((file) =>
    imports(file, { types: true }).filter((name) => roots.includes(ringOf(name))),
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
    'dns-packet': 'wire',
    'prom-client': 'metrics',
  }
  const violations = FILES.filter((file) => ringOf(file) in ARROWS).flatMap((file) => {
    const code = ts.transpile(readFileSync(join(SOURCES, file), 'utf8'), { verbatimModuleSyntax: true })
    return ts
      .preProcessFile(code)
      .importedFiles.filter(({ fileName }) => (owners[fileName] ?? ringOf(file)) !== ringOf(file))
      .map(({ fileName }) => `${file} -> ${fileName}`)
  })
  t.deepEqual(violations, [])
})

test('a room of the service imports only rooms below it', (t) => {
  const roomOf = (file: string) => /^service\/(\w+)\//.exec(file)?.[1]
  const files = FILES.filter((file) => roomOf(file) !== undefined)
  t.deepEqual([...new Set(files.map(roomOf))].sort(), [...ROOMS].sort())
  const upwards = files.flatMap((file) =>
    imports(file, { types: true })
      .filter((name) => {
        const room = roomOf(name)
        return room !== undefined && ROOMS.indexOf(room) < ROOMS.indexOf(roomOf(file)!)
      })
      .map((name) => `${file} -> ${name}`),
  )
  t.deepEqual(upwards, [])
})

test('files do not import each other in a circle, not even types', (t) => {
  const graph = new Map(FILES.map((file) => [file, imports(file, { types: true })]))
  const done = new Set<string>()
  const circles: string[] = []
  function visit(file: string, path: string[]): void {
    if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(' -> '))
    else if (!done.has(file)) {
      for (const next of graph.get(file) ?? []) visit(next, [...path, file])
      done.add(file)
    }
  }
  for (const file of FILES) visit(file, [])
  t.deepEqual(circles, [])
})

test('no folder has more than 16 files', (t) => {
  const counts = new Map<string, number>()
  for (const file of FILES) counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1)
  t.deepEqual(
    [...counts].filter(([, count]) => count > 16),
    [],
  )
})
