import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { applySeed } from '../seeds/apply.ts'
import type { Seed } from '../seeds/read.ts'
import { seedDemo, DEMO_DOMAIN } from '../seeds/demo.ts'
import { readConfig, type Config } from './config.ts'
import { dataFolderOf, forgetServers, keptSecret, rememberServers, type Settings } from './data-folder.ts'
import { watchDisk } from '../dev/disk.ts'
import { demoTools } from '../dev/packages.ts'
import { reachable } from '../dev/ports.ts'
import { SetupError } from '../dev/setup-error.ts'
import { startStack, type Stack } from '../dev/stack.ts'
import { StartError } from './errors.ts'
import { createLog } from './log.ts'
import { serve } from './serve.ts'
import { closeSystem, createSystem, prepare, type Backends } from './server.ts'
import { probe } from './service/probing.ts'
import { generateSecret } from './service/tokens/secrets.ts'
import type { System } from './system.ts'

/** Milliseconds between two looks whether npm still runs. */
const PARENT_PAUSE = 1_000

/** How `zoneplane start` begins. */
export interface StartOptions {
  /** Whether to delete the data of the private servers first. */
  fresh: boolean
  /** Whether missing programs of private servers may be installed, as far as the environment allows it. */
  install: boolean
}

/**
 * Runs the service until a signal stops it. It starts private servers (dev/) for those that the environment does not
 * name: a demo.
 * @throws ConfigError; StartError
 */
export async function start(options: StartOptions): Promise<void> {
  await run(options).catch((error: unknown) => {
    throw error instanceof SetupError ? new StartError(error.message, { cause: error }) : error
  })
}

async function run({ fresh, install }: StartOptions): Promise<void> {
  const config = readConfig({
    ...process.env,
    ZONEPLANE_DATA: dataFolderOf(process.env),
    ...(!install && { ZONEPLANE_INSTALL: 'no' }),
  })
  const seed = await seedOf(config)
  const log = createLog(config.logLevel)
  // From now on, so that an early Ctrl-C also stops everything cleanly.
  const stopping = new AbortController()
  const told = toldToStop().then((reason) => {
    progress(`${reason}: stopping`)
    stopping.abort()
  })

  const stack = await startPrivateServers(config, fresh)
  const stopWatching =
    stack &&
    watchDisk(config.dataFolder, (free) => {
      log.warn('disk nearly full', { folder: config.dataFolder, freeMiB: Math.floor(free / 2 ** 20) })
    })
  try {
    const backends = {
      databaseUrl: config.databaseUrl ?? stack!.databaseUrl!,
      pdnsApiUrl: config.pdnsApiUrl ?? stack!.pdnsApiUrl!,
      pdnsApiKey: config.pdnsApiKey ?? stack!.pdnsApiKey!,
    }
    const keyEncryptionKeys = encryptionKeys(config, fresh)
    if (stack !== undefined) rememberServers(config.dataFolder, settingsOf(config, backends, keyEncryptionKeys))
    const system = createSystem({ ...config, keyEncryptionKeys }, backends, log)
    try {
      progress('bringing the database schema up to date')
      await prepare(system, backends, { patience: config.startTimeout, stopping: stopping.signal })
      if (stopping.signal.aborted) return
      await probe(system)
      if (seed !== undefined) await applySeed(system, seed)
      const demo = await populate(system, demoSecret(config, fresh))
      const running = await serve(system)
      try {
        console.log(welcome(config, running.port, stack, demo))
        const broken = stack?.broken.then((reason) => {
          throw new SetupError(`${reason}: stopping`)
        })
        await Promise.race([told, broken ?? told])
      } finally {
        await running.stop()
      }
    } finally {
      await closeSystem(system)
    }
  } finally {
    stopWatching?.()
    if (stack !== undefined) forgetServers(config.dataFolder)
    await stack?.stop()
  }
}

/** Resolves, with the reason, when the process shall stop. */
async function toldToStop(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
      process.on(signal, () => {
        resolve(signal)
      })
    // Nobody reads what it prints, as after `npm start | head`, or when the terminal was closed.
    for (const stream of [process.stdout, process.stderr])
      stream.on('error', () => {
        resolve('the output is closed')
      })
    // npm passes signals on, but cannot pass on the one that kills it.
    if (process.env['npm_lifecycle_event'] !== 'start') return
    const parent = process.ppid
    const watch = setInterval(() => {
      if (process.ppid !== parent) resolve('npm has ended')
    }, PARENT_PAUSE)
    watch.unref()
  })
}

/** ZONEPLANE_SEED, read before anything is started, so that its mistakes are told at once. @throws ConfigError */
async function seedOf({ seed }: Config): Promise<Seed | undefined> {
  return seed === undefined ? undefined : (await import('../seeds/read.ts')).readSeed(seed)
}

/** Starts the servers that the environment does not name; undefined if it names all. */
async function startPrivateServers(config: Config, fresh: boolean): Promise<Stack | undefined> {
  const postgres = config.databaseUrl === undefined
  const { dnsHosts, dnsPort } = config
  const powerDns = config.pdnsApiUrl === undefined ? { dnsHosts, dnsPort } : undefined
  if (!postgres && powerDns === undefined) return undefined
  const { dataFolder, durable, install } = config
  return startStack(dataFolder, { postgres, powerDns, fresh, durable, install, tools: demoTools, progress })
}

function progress(text: string): void {
  console.log(`zoneplane: ${text}`)
}

/**
 * The secret of the demo token: ZONEPLANE_TOKEN, else generated once for the private database. Undefined: no demo, as with
 * a seed.
 */
function demoSecret(config: Config, fresh: boolean): string | undefined {
  if (config.token !== undefined) return config.token
  if (config.databaseUrl !== undefined || config.seed !== undefined) return undefined
  return keptSecret(config.dataFolder, 'token', fresh, generateSecret)
}

/** The secret of the demo account's token, and a subname that its domain does not have. */
interface Demo {
  secret: string
  subname: string
}

/** The demo; undefined if there is none, or its domain cannot be created now. */
async function populate(system: System, secret: string | undefined): Promise<Demo | undefined> {
  const subname = secret === undefined ? undefined : await seedDemo(system, secret)
  return secret === undefined || subname === undefined ? undefined : { secret, subname }
}

/** KEY_ENCRYPTION_KEYS, else a key generated once for the private database. */
function encryptionKeys(config: Config, fresh: boolean): Config['keyEncryptionKeys'] {
  if (config.keyEncryptionKeys.length > 0) return config.keyEncryptionKeys
  const generate = () => randomBytes(32).toString('base64')
  return [Buffer.from(keptSecret(config.dataFolder, 'key-encryption-key', fresh, generate), 'base64')]
}

/** The settings with which the command line reaches the same servers. */
function settingsOf(config: Config, backends: Backends, keys: Config['keyEncryptionKeys']): Settings {
  return {
    DATABASE_URL: backends.databaseUrl,
    PDNS_API_URL: backends.pdnsApiUrl,
    PDNS_API_KEY: backends.pdnsApiKey,
    NAMESERVERS: config.nameServers.join(','),
    KEY_ENCRYPTION_KEYS: keys.map((key) => key.toString('base64')).join(','),
  }
}

function welcome(config: Config, port: number, stack: Stack | undefined, demo: Demo | undefined): string {
  const [address] = config.hosts
  const target = reachable(address!)
  const host = target.includes(':') ? `[${target}]` : target
  const base = `${config.publicUrl ?? `http://${host}:${port}`}/api/v1`
  const lines = ['', 'Zoneplane is ready.', '', `  API    ${base}/`]
  const dns = stack?.dnsPort === undefined ? undefined : { host: stack.dnsHost!, port: stack.dnsPort }
  if (dns !== undefined) lines.push(`  DNS    ${dns.host} port ${dns.port}`)
  if (demo === undefined) return [...lines, ''].join('\n')
  const { secret, subname } = demo
  const collection = `${base}/domains/${DEMO_DOMAIN}/rrsets/`
  const { token, quote } = shownToken(config, stack, secret)
  const curl = `curl -H ${quote}Authorization: Token ${token}${quote}`
  const rrset = JSON.stringify({ subname, type: 'A', ttl: 300, records: ['192.0.2.1'] })
  lines.push(
    `  Token  ${token}`,
    '',
    'Create an RRset, read it back, and ask for it in DNS:',
    '',
    `  ${curl} -H 'Content-Type: application/json' -d '${rrset}' ${collection}`,
    `  ${curl} ${collection}${subname}/A/`,
  )
  if (dns !== undefined) lines.push(`  dig +dnssec @${dns.host} -p ${dns.port} ${subname}.${DEMO_DOMAIN} A`)
  return [...lines, ''].join('\n')
}

/** The secret, only at a terminal and with private servers: logs are kept. Else where a shell finds it. */
function shownToken(config: Config, stack: Stack | undefined, secret: string): { token: string; quote: string } {
  if (stack?.databaseUrl !== undefined && process.stdout.isTTY) return { token: secret, quote: "'" }
  const kept = join(config.dataFolder, 'token')
  return { token: config.token === undefined ? `$(cat '${kept}')` : '$ZONEPLANE_TOKEN', quote: '"' }
}
