import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { projectFolder } from '../../src/installation/project.ts'
import { postgres, powerDns } from '../../src/private-servers/packages.ts'
import { dnsTools, nameservers, secondValidator } from '../support/servers/packages.ts'
import { debian, node, runIn, whyNot, withCopy } from './systems.ts'

// `npm run test:versions` runs the tests that depend on versions on several Debians, and the README's commands on fresh
// ones. Arguments select rows, parts of the fresh ones, and test files for the others:
// `npm run test:versions -- debian12 sid served faults/kill.test.js`.

interface Row {
  name: string
  suite: string
  /** The major version of Node, from npm; undefined: Debian's own. */
  node?: number
  /** PowerDNS' backend, where the tests of FOLDERS are run; undefined: a fresh system. */
  backend?: string
}

const ROWS: Row[] = [
  { name: 'debian12', suite: 'bookworm', node: 20, backend: 'lmdb' },
  { name: 'debian13', suite: 'trixie', node: 26, backend: 'lmdb' },
  { name: 'debian13-sqlite', suite: 'trixie', node: 22, backend: 'gsqlite3' },
  { name: 'debian13-pgsql', suite: 'trixie', node: 24, backend: 'gpgsql' },
  { name: 'sid', suite: 'sid', node: 24, backend: 'lmdb' },
  { name: 'sid-sqlite', suite: 'sid', node: 22, backend: 'gsqlite3' },
  { name: 'fresh12', suite: 'bookworm', node: 20 },
  { name: 'fresh13', suite: 'trixie' },
]

/** The folders with the tests that depend on the versions of Postgres and PowerDNS. */
const FOLDERS = ['nameserver', 'api/rrsets', 'served', 'faults']

const FIRST_REQUEST = 'sh test/versions/first-request.sh'
const CLONES = { root: '/srv/zoneplane', user: '/home/user/zoneplane' }
const asRoot = (command: string) => `cd ${CLONES.root} && ${command}`
const asUser = (command: string) =>
  `su --whitelist-environment NODE_EXTRA_CA_CERTS --command 'cd ${CLONES.user} && ${command}' - user`

/** What is run on a fresh system, with a clone for root, and one for a user, who needs what root has installed. */
const FRESH: Record<string, string> = {
  start: `${asRoot(FIRST_REQUEST)} && ${asUser(FIRST_REQUEST)}`,
  root: asRoot('npm test'),
  user: `${asRoot('npm test -- build/test/layers.test.js')} && ${asUser('npm test')}`,
  package: asRoot('sh test/versions/debian-package.sh'),
}

/** What the tests need, and what Node 26 does. */
const SERVERS = [postgres, powerDns, ...dnsTools, ...secondValidator, ...nameservers]
  .flatMap(({ packages }) => packages)
  .concat('pdns-backend-pgsql', 'libatomic1')

/** Prints the versions. */
const VERSIONS =
  'pdns_server --version 2>&1 | grep Server; /usr/lib/postgresql/*/bin/postgres --version; node --version'

process.exitCode = await main(process.argv.slice(2))

async function main(args: string[]): Promise<number> {
  const names = ROWS.map(({ name }) => name)
  const parts = args.filter((arg) => !names.includes(arg))
  const unknown = parts.find((part) => !(part in FRESH) && !existsSync(join(projectFolder(), 'build/test', part)))
  if (unknown !== undefined) {
    console.error(
      `versions: ${unknown} is none of the rows ${names.join(' ')}, nor ${Object.keys(FRESH).join(' ')}, nor in build/test.`,
    )
    return 1
  }
  const reason = whyNot()
  if (reason !== undefined) {
    console.log(`versions: all rows skipped: ${reason}`)
    return 0
  }
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => {
      stop.abort()
    })
  const lines: string[] = []
  let failed = 0
  for (const row of ROWS.filter(({ name }) => args.includes(name) || parts.length === args.length)) {
    const all = row.backend === undefined ? Object.keys(FRESH).filter((part) => isPossible(row, part)) : FOLDERS
    const chosen = parts.length === 0 ? all : parts.filter((part) => part in FRESH === (row.backend === undefined))
    if (chosen.length === 0 || stop.signal.aborted) continue
    const { cells, succeeded } = await test(row, chosen, stop.signal)
    if (!succeeded) failed++
    lines.push(line([row.name, ...cells]))
  }
  const heads = ['Row', 'PowerDNS', 'Backend', 'Postgres', 'Node', 'Passed', 'Failed', 'Skipped', 'Time']
  console.log(['', line(heads), line(heads.map(() => '---')), ...lines].join('\n'))
  return failed === 0 ? 0 : 1
}

/** The Debian package needs Debian's own Node. */
function isPossible({ node }: Row, part: string): boolean {
  return part !== 'package' || node === undefined
}

function line(cells: string[]): string {
  return `| ${cells.join(' | ')} |`
}

/** Runs the parts of a row; tells the cells of the table after the row's name. */
async function test(row: Row, parts: string[], signal: AbortSignal): Promise<{ cells: string[]; succeeded: boolean }> {
  console.log(`versions: ${row.name}: ${parts.join(', ')}`)
  const start = performance.now()
  let output = ''
  const print = (text: string) => {
    output += text
    process.stdout.write(text)
  }
  const succeeded = await run(row, parts, print, signal).catch((error: unknown) => {
    print(`${String(error)}\n`)
    return false
  })
  const found = (pattern: RegExp) => pattern.exec(output)?.[1] ?? ''
  // The test command counts in its last line; first-request.sh marks what it tries.
  const last = output.split('\n').filter((line) => /^\d+ passed, /.test(line))
  const counted = (what: string, mark: RegExp) =>
    String(last.reduce((sum, line) => sum + countIn(line, what), output.match(mark)?.length ?? 0))
  const cells = [
    found(/PowerDNS Authoritative Server (\S+)/),
    row.backend ?? 'lmdb',
    found(/\(PostgreSQL\) (\S+)/),
    found(/^v(\d\S+)$/m),
    counted('passed', /^✔ /gm),
    counted('failed', /^✘ .*, as /gm),
    counted('skipped', /(?!)/),
    `${Math.round((performance.now() - start) / 1000)} s`,
  ]
  return { cells, succeeded }
}

function countIn(line: string, what: string): number {
  return Number(new RegExp(`(\\d+) ${what}`).exec(line)?.[1] ?? 0)
}

/** Runs the parts of a row in a system of their own; whether all succeeded. */
async function run(row: Row, parts: string[], print: (text: string) => void, signal: AbortSignal): Promise<boolean> {
  const options = { local: row.node === undefined ? undefined : node(row.node), print, signal }
  return withCopy(systemOf(row), async (folder) => {
    putProject(row, folder)
    let succeeded = await runIn(folder, 'useradd --shell /bin/sh user && chown -R user: /home/user', options)
    const tests = parts.map((part) => `build/test/${part}`).join(' ')
    const commands =
      row.backend === undefined
        ? parts.map((part) => FRESH[part]!)
        : [asUser(`TEST_BACKEND=${row.backend} node build/test/run.js ${tests}`)]
    for (const command of commands) {
      if (!(await runIn(folder, command, options))) succeeded = false
    }
    await runIn(folder, VERSIONS, options)
    return succeeded
  })
}

function systemOf({ suite, node, backend }: Row): string {
  if (backend !== undefined) return debian(suite, 'servers', SERVERS)
  return node === undefined ? debian(suite, 'node', ['nodejs', 'npm']) : debian(suite)
}

/** The project as it is, built; on fresh systems, clones of what is committed. */
function putProject({ backend }: Row, system: string): void {
  const [project, home] = [projectFolder(), join(system, CLONES.user)]
  mkdirSync(join(home, '..'))
  if (backend === undefined) {
    for (const clone of Object.values(CLONES)) execFileSync('git', ['clone', '--quiet', project, join(system, clone)])
  } else {
    mkdirSync(home)
    const entries = readdirSync(project).filter((entry) => !['.git', '.zoneplane'].includes(entry))
    execFileSync('cp', ['--archive', ...entries.map((entry) => join(project, entry)), home])
  }
}
