import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { dataFolderOf, forgetServers } from '../private-servers/data-folder.ts'
import { demoTools } from '../private-servers/packages.ts'
import { type Stack, startStack } from '../private-servers/stack.ts'
import { type Config, readConfig } from '../settings/config.ts'
import { progress } from './progress.ts'

/** Milliseconds between two checks that npm still runs. */
const PARENT_PAUSE = 1_000

/** The settings of `--ci`; the environment has precedence (docs/ci.md). */
const CI_SETTINGS = {
  CI_CONTROL: 'on',
  DURABLE: 'off',
  LIMIT_DOMAINS: 'none',
  LOG_LEVEL: 'warn',
  MINIMUM_TTL: '1',
  THROTTLE: 'off',
}

/** The options of `zoneplane start`. */
export interface StartOptions {
  /** True to delete the data of the private servers first. */
  fresh: boolean
  /** True if missing programs of private servers may be installed, as far as the environment allows it. */
  install: boolean
  /** True for tests: CI_SETTINGS, and a data folder that is deleted at the end unless ZONEPLANE_DATA is set. */
  ci: boolean
}

/**
 * Runs the service until a signal stops it. It starts private servers (private-servers/) for those that the environment
 * does not name: a demo.
 * @throws ConfigError; StartError
 */
export async function start(options: StartOptions): Promise<void> {
  if (!options.ci || process.env['ZONEPLANE_DATA']?.trim()) return startIn(dataFolderOf(process.env), options)
  const dataFolder = mkdtempSync(join(tmpdir(), 'zoneplane-'))
  // The servers can enter it if they run as other users.
  chmodSync(dataFolder, 0o711)
  try {
    await startIn(dataFolder, options)
  } finally {
    rmSync(dataFolder, { recursive: true, force: true })
  }
}

async function startIn(dataFolder: string, { fresh, install, ci }: StartOptions): Promise<void> {
  const config = readConfig({
    ...(ci && CI_SETTINGS),
    ...withoutBlanks(process.env),
    ZONEPLANE_DATA: dataFolder,
    ...(!install && { ZONEPLANE_INSTALL: 'no' }),
  })
  // Before anything is started, so that its mistakes are reported at once.
  const seed = config.seed === undefined ? undefined : (await import('../../seeds/read.ts')).readSeed(config.seed)
  // From now on, so that an early Ctrl-C also stops everything cleanly.
  const stopping = new AbortController()
  const hurrying = new AbortController()
  const told = toldToStop(ci).then((reason) => {
    progress(`${reason}: stopping`)
    stopping.abort()
    onSignal(() => {
      hurrying.abort()
    })
  })

  const stack = await startPrivateServers(config, fresh)
  try {
    const { operate } = await import('./run.ts')
    await operate({ config, stack, seed, fresh, told, stopping: stopping.signal, hurrying: hurrying.signal })
  } finally {
    if (stack !== undefined) forgetServers(config.dataFolder)
    await stack?.stop()
  }
}

function withoutBlanks(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([, value]) => value?.trim() !== ''))
}

function onSignal(work: (signal: string) => void): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, work)
}

/** Resolves, with the reason, when the process shall stop. @param ci whether it runs for the tests of its parent process */
async function toldToStop(ci: boolean): Promise<string> {
  return new Promise((resolve) => {
    onSignal(resolve)
    // The output has lost its reader, as after `npm start | head`, or when the terminal was closed.
    for (const stream of [process.stdout, process.stderr])
      stream.on('error', () => {
        resolve('the output is closed')
      })
    // npm passes signals on, but cannot pass on the one that kills it; npx passes none on.
    if (!ci && process.env['npm_lifecycle_event'] !== 'start') return
    const parent = process.ppid
    const watch = setInterval(() => {
      if (process.ppid !== parent) resolve('the parent process has ended')
    }, PARENT_PAUSE)
    watch.unref()
  })
}

/** Starts the servers that the environment does not name; undefined if it names all. */
async function startPrivateServers(config: Config, fresh: boolean): Promise<Stack | undefined> {
  const postgres = config.databaseUrl === undefined
  const { dnsHosts, dnsPort, transferAddresses } = config
  const powerDns = config.pdnsApiUrl === undefined ? { dnsHosts, dnsPort, transferAddresses } : undefined
  if (!postgres && powerDns === undefined) return undefined
  const { dataFolder, durable, install } = config
  // While the servers get ready, the process loads their clients, which takes about as long. It reports no error here.
  const spawned = () => {
    import('./run.ts').catch(() => undefined)
  }
  return startStack(dataFolder, { postgres, powerDns, fresh, durable, install, tools: demoTools, progress, spawned })
}
