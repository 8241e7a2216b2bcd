import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { chmodSync, cpSync, existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { availableParallelism, constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { StartError } from '../src/errors.ts'
import { projectFolder } from '../src/installation/project.ts'
import { commandFor } from '../src/private-servers/account.ts'
import { ensureInstalled, postgres, powerDns } from '../src/private-servers/packages.ts'
import { startPostgres } from '../src/private-servers/postgres.ts'
import { identify, recall, remember } from '../src/private-servers/running.ts'
import { ConfigError, readConfig } from '../src/settings/config.ts'
import { query } from '../src/store/database.ts'
import { migrate } from '../src/store/migrate.ts'
import { filesOf, PARTS, type Suite } from './runner/files.ts'
import { costs, endHanging, folderOf, LOGS, processorTime } from './runner/progress.ts'
import { Report } from './runner/report.ts'
import { removeInstanceFolders } from './support/servers/folders.ts'
import {
  browser,
  builtClientTools,
  clientTools,
  dnsTools,
  nameservers,
  neighbours,
  packaging,
  secondValidator,
  shells,
} from './support/servers/packages.ts'
import { openPatiently } from './support/servers/postgres/databases.ts'

// The test command: starts a Postgres in a temporary folder, runs AVA, reports, and removes both. The first argument can name
// a suite: `--ci`, `--clients`, `--deep`. Others are pieces of the names of test files, parts of the deep suite, or options
// of AVA.

const PREFIX = 'zoneplane-test-'
/** Seconds in which a test of each running file must end; in the deep suite, some take as long as a part. */
const PATIENCE: Record<Suite, number> = { short: 300, ci: 300, clients: 600, deep: 1800 }
/** Files at a time, for each core: they wait for servers and for each other. In the deep suite, they use what there is. */
const FILES_PER_CORE: Record<Suite, number> = { short: 2, ci: 2.5, clients: 1, deep: 1 }
const SLOWEST = 10

let interruptedBy: NodeJS.Signals | undefined
let ava: ChildProcess | undefined

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    interruptedBy ??= signal
    if (ava) interrupt(ava)
  })
}

const [first = '', ...rest] = process.argv.slice(2)
const suites: Record<string, Suite> = { '--ci': 'ci', '--clients': 'clients', '--deep': 'deep' }
const suite = suites[first] ?? 'short'
const args = suite === 'short' ? process.argv.slice(2) : rest
const isOption = (arg: string) => arg.startsWith('-')

try {
  process.exitCode = await test(
    filesOf(
      suite,
      args.filter((arg) => !isOption(arg)),
    ),
    args.filter(isOption),
  )
} catch (error) {
  console.error(error instanceof StartError || error instanceof ConfigError ? error.message : error)
  process.exitCode = 1
}
if (interruptedBy) process.exitCode = 128 + constants.signals[interruptedBy]

/** Runs the tests with their own Postgres and folders; resolves with the exit code. */
async function test(files: string[], options: string[]): Promise<number> {
  if (files.length === 0) {
    throw new StartError(`No test file has such a name. Parts of the deep suite: ${Object.keys(PARTS).join(', ')}`)
  }
  await removeLeftOvers()
  await install(files)
  const folder = makeFolder()
  const logs = join(tmpdir(), `${PREFIX}logs-${process.pid}`)
  const seed = process.env['TEST_SEED'] ?? String(randomInt(2 ** 31))
  const report = new Report(files)
  const begin = performance.now()
  try {
    const server = await startPostgres(join(folder, 'postgres'), { durable: false, progress })
    const url = databaseUrl(server.url, 'postgres')
    await makeTemplate(url)
    if (interruptedBy) return 1
    progress(`TEST_SEED=${seed}`)
    const code = await runAva(files, options, report, {
      TEST_POSTGRES_URL: url,
      TEST_FOLDER: join(folder, 'files'),
      TEST_SEED: seed,
      TMPDIR: join(folder, 'tmp'),
      ...(suite === 'ci' && { TEST_REQUIRE_ALL: '1' }),
      ...(suite === 'deep' && { TEST_DEPTH: 'full' }),
    })
    tellCosts(join(folder, 'files'))
    for (const file of report.failedFiles().map(folderOf)) {
      const kept = join(folder, 'files', file, LOGS)
      if (existsSync(kept)) cpSync(kept, join(logs, file), { recursive: true })
    }
    return code
  } finally {
    await removeFolder(folder)
    tellResult(report, seed, logs, (performance.now() - begin) / 1000)
  }
}

function progress(text: string): void {
  console.log(`test: ${text}`)
}

async function install(files: string[]): Promise<void> {
  const more = [
    ...(files.some((file) => file.includes('/clients/')) ? clientTools : []),
    ...(files.some((file) => file.includes('/clients/built/')) ? builtClientTools : []),
    ...(files.some((file) => file.includes('/deep/')) ? neighbours : []),
    // The parent zones of the tests have them.
    ...(files.some((file) => /\/served\/|\/delegation/.test(file)) ? nameservers : []),
    ...(suite === 'ci' ? [...browser, ...packaging, ...shells, ...secondValidator] : []),
  ]
  const { install } = readConfig(process.env)
  await ensureInstalled([postgres, powerDns, ...dnsTools, ...more], { wanted: secondValidator, install, progress })
}

/** A folder that records this process, and that the users of the servers may traverse. */
function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`))
  remember(join(folder, 'process'), identify(process.pid)!)
  chmodSync(folder, 0o711)
  for (const name of ['tmp', 'files']) mkdirSync(join(folder, name), { mode: 0o711 })
  return folder
}

async function removeFolder(folder: string): Promise<void> {
  await removeInstanceFolders(folder)
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}

/** Removes the folders of earlier runs that were killed. Another run may remove them at the same time, or end. */
async function removeLeftOvers(): Promise<void> {
  for (const name of readdirSync(tmpdir())) {
    const folder = join(tmpdir(), name)
    const pid = new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1]
    if (pid === undefined) continue
    try {
      const status = lstatSync(folder)
      if (status.uid !== process.getuid?.() || !status.isDirectory()) continue
      const inUse = readdirSync(folder).includes('process') ? recall(join(folder, 'process')) : identify(Number(pid))
      if (!inUse) await removeFolder(folder)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }
}

/** The database that every test file gets a copy of. */
async function makeTemplate(url: string): Promise<void> {
  const server = openPatiently(url, 1)
  await query(server, 'create database template_zoneplane template template0').finally(() => server.end())
  await migrate(databaseUrl(url, 'template_zoneplane'))
}

function databaseUrl(url: string, database: string): string {
  const other = new URL(url)
  other.pathname = `/${database}`
  return other.href
}

async function runAva(
  files: string[],
  options: string[],
  report: Report,
  environment: Record<string, string>,
): Promise<number> {
  const project = projectFolder()
  const cli = join(project, 'node_modules', 'ava', 'entrypoints', 'cli.mjs')
  const concurrency = `--concurrency=${Math.round(FILES_PER_CORE[suite] * availableParallelism())}`
  const command = commandFor(process.execPath, [cli, '--tap', concurrency, ...options, ...files], {
    account: undefined,
    deathSignal: 'SIGKILL',
  })
  // In its own process group, which is killed before the servers that it uses stop.
  ava = spawn(command.file, command.args, {
    cwd: project,
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...environment },
  })
  const lines = createInterface({ input: ava.stdout! }).on('line', (line) => {
    const shown = report.read(line)
    if (shown !== undefined) console.log(shown)
  })
  const lastResult = (file: string) => report.lastResult(file)
  const patience = Number(process.env['TEST_PATIENCE'] ?? PATIENCE[suite])
  const stopWatching = endHanging(environment['TEST_FOLDER']!, files, patience, lastResult)
  const code = await new Promise<number | null>((resolve, reject) => {
    ava!.once('close', resolve).once('error', reject)
  })
  stopWatching()
  lines.close()
  killGroup(ava)
  return code ?? 1
}

function tellCosts(folder: string): void {
  const all = costs(folder)
  if (all.length === 1) return
  progress(`the slowest of ${all.length} files, in seconds:`)
  for (const { file, wall, own, children } of all.slice(0, SLOWEST)) {
    const [total, cpu] = [wall, own + children].map((seconds) => seconds.toFixed(1).padStart(6))
    console.log(`${total}, of the processors ${cpu}: ${file}`)
  }
}

function tellResult(report: Report, seed: string, logs: string, seconds: number): void {
  const { passed, failures, skipped } = report
  for (const title of skipped) progress(`skipped: ${title}`)
  const { children } = processorTime() ?? {}
  const cost = children === undefined ? '' : `, ${Math.round(children)} s of the processors`
  progress(`${Math.round(seconds)} s${cost}; TEST_SEED=${seed} makes the same random choices again`)
  const script = suite === 'deep' ? 'run test:deep' : 'test'
  const set = ['HISTORIES', 'PROMOTIONS', 'FUZZ_RUNS', 'TEST_BACKEND'].filter((name) => process.env[name] !== undefined)
  const given = set.map((name) => `${name}=${process.env[name]!} `).join('')
  if (failures.length > 0) {
    console.log(report.summary((file) => `${given}TEST_SEED=${seed} npm ${script} -- ${file}`))
    if (existsSync(logs)) console.log(`servers' logs: ${logs}/ (${readdirSync(logs).join(', ')})`)
  }
  const counts = [`${passed} passed`, `${failures.length} failed`]
  if (skipped.length > 0) counts.push(`${skipped.length} skipped`)
  console.log(counts.join(', '))
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
