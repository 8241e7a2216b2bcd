import { spawn, type ChildProcess } from 'node:child_process'
import { pbkdf2Sync, randomInt } from 'node:crypto'
import { chmodSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import { commandFor } from '../dev/account.ts'
import { ensureInstalled, postgres, powerDns } from '../dev/packages.ts'
import { startPostgres } from '../dev/postgres.ts'
import { projectFolder } from '../dev/project.ts'
import { identify, recall, remember } from '../dev/running.ts'
import { SetupError } from '../dev/setup-error.ts'
import { ConfigError, readConfig } from '../src/config.ts'
import { openDatabase, query } from '../src/store/database.ts'
import { migrate } from '../src/store/migrate.ts'
import { removeInstanceFolders } from './support/servers/folders.ts'
import { clientTools, dnsTools, neighbours, secondValidator } from './support/servers/packages.ts'

// The test command: starts a Postgres in a temporary folder, runs AVA, and removes both. Arguments are passed to AVA;
// `--long` as the first selects the long tests, `--clients` those with client programs of other projects.

const PREFIX = 'zoneplane-test-'
/** Seconds without any result, after which the tests fail, on a machine that has nothing else to do. */
const TIMEOUT = 120
const TESTS = 'build/test'
/** The options, and the folders whose tests run only with them. */
const OPTIONAL: Record<string, string> = { '--long': `${TESTS}/long/`, '--clients': `${TESTS}/clients/` }
/** The folder of tests that have a command of their own, test/images/run.ts. */
const IMAGES = `${TESTS}/images/`

let interruptedBy: NodeJS.Signals | undefined
let ava: ChildProcess | undefined

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    interruptedBy ??= signal
    if (ava) interrupt(ava)
  })
}

try {
  process.exitCode = await test(process.argv.slice(2))
} catch (error) {
  console.error(error instanceof SetupError || error instanceof ConfigError ? error.message : error)
  process.exitCode = 1
}
if (interruptedBy) process.exitCode = 128 + constants.signals[interruptedBy]

/** Runs the tests with their own Postgres and folders; resolves with AVA's exit code. */
async function test(args: string[]): Promise<number> {
  await removeLeftOvers()
  const more = { '--clients': clientTools, '--long': neighbours }[args[0] ?? ''] ?? []
  const { install } = readConfig(process.env)
  await ensureInstalled([postgres, powerDns, ...dnsTools, ...more], { wanted: secondValidator, install, progress })
  const folder = makeFolder()
  try {
    const server = await startPostgres(join(folder, 'postgres'), { durable: false, progress })
    const url = databaseUrl(server.url, 'postgres')
    await makeTemplate(url)
    if (interruptedBy) return 1
    const seed = process.env['TEST_SEED'] ?? String(randomInt(2 ** 31))
    progress(`TEST_SEED=${seed}`)
    const code = await runAva(args, {
      TEST_POSTGRES_URL: url,
      TEST_FOLDER: folder,
      TEST_SEED: seed,
      TEST_SLOWNESS: String(slowness()),
      TMPDIR: join(folder, 'tmp'),
    })
    if (code !== 0) progress(`failed; TEST_SEED=${seed} makes the same random choices again`)
    return code
  } finally {
    await removeFolder(folder)
  }
}

function progress(text: string): void {
  console.log(`test: ${text}`)
}

/** How many times as long as usual this machine takes for a piece of work, from 1 to 5: it is slow, or busy. */
function slowness(): number {
  const start = performance.now()
  pbkdf2Sync('password', 'salt', 1_000_000, 32, 'sha256')
  return Math.min(5, Math.max(1, (performance.now() - start) / 500))
}

/** A folder that records this process, and that the users of the servers may traverse. */
function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`))
  remember(join(folder, 'process'), identify(process.pid)!)
  chmodSync(folder, 0o711)
  mkdirSync(join(folder, 'tmp'), { mode: 0o711 })
  return folder
}

async function removeFolder(folder: string): Promise<void> {
  await removeInstanceFolders(folder)
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}

/** Removes the folders of earlier runs that were killed. */
async function removeLeftOvers(): Promise<void> {
  for (const name of readdirSync(tmpdir())) {
    const folder = join(tmpdir(), name)
    const pid = new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1]
    if (pid === undefined || lstatSync(folder).uid !== process.getuid?.() || !lstatSync(folder).isDirectory()) continue
    const inUse = readdirSync(folder).includes('process') ? recall(join(folder, 'process')) : identify(Number(pid))
    if (!inUse) await removeFolder(folder)
  }
}

/** The database that every test file gets a copy of. */
async function makeTemplate(url: string): Promise<void> {
  const server = openDatabase(url, 1)
  await query(server, 'create database template_zoneplane template template0').finally(() => server.end())
  await migrate(databaseUrl(url, 'template_zoneplane'))
}

function databaseUrl(url: string, database: string): string {
  const other = new URL(url)
  other.pathname = `/${database}`
  return other.href
}

/** The files to run; AVA's own patterns cannot say "all but these" on the command line. */
function selection(project: string, args: string[]): string[] {
  const folder = args[0] === undefined ? undefined : OPTIONAL[args[0]]
  if (args.length > 0 && folder === undefined) return args
  const all = readdirSync(join(project, TESTS), { recursive: true, encoding: 'utf8' })
  const tests = all.filter((file) => file.endsWith('.test.js')).map((file) => `${TESTS}/${file}`)
  const folderOf = (file: string) => [...Object.values(OPTIONAL), IMAGES].find((each) => file.startsWith(each))
  return [...tests.filter((file) => folderOf(file) === folder).sort(), ...args.slice(1)]
}

async function runAva(args: string[], environment: Record<string, string>): Promise<number> {
  const project = projectFolder()
  const cli = join(project, 'node_modules', 'ava', 'entrypoints', 'cli.mjs')
  const timeout = `--timeout=${Math.ceil(TIMEOUT * Number(environment['TEST_SLOWNESS']))}s`
  const options = args.some((arg) => arg.startsWith('--timeout')) ? [] : [timeout]
  const command = commandFor(process.execPath, [cli, ...options, ...selection(project, args)], {
    account: undefined,
    deathSignal: 'SIGKILL',
  })
  // In its own process group, which is killed before the servers that it uses stop.
  ava = spawn(command.file, command.args, {
    cwd: project,
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, ...environment },
  })
  const code = await new Promise<number | null>((resolve, reject) => {
    ava!.once('exit', resolve).once('error', reject)
  })
  killGroup(ava)
  return code ?? 1
}

/** Lets AVA report pending tests and exit; kills it after five seconds. */
function interrupt(child: ChildProcess): void {
  child.kill('SIGINT')
  setTimeout(() => {
    killGroup(child)
  }, 5000).unref()
}

function killGroup(child: ChildProcess): void {
  try {
    process.kill(-child.pid!, 'SIGKILL')
  } catch {
    // The group has no processes any more.
  }
}
