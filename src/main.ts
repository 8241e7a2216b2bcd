import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { seedDemo, DEMO_DOMAIN } from '../seeds/demo.ts'
import { ConfigError, readConfig, type Config } from './config.ts'
import { watchDisk } from '../dev/disk.ts'
import { defaultDataFolder } from '../dev/instance-folder.ts'
import { demoTools } from '../dev/packages.ts'
import { SetupError } from '../dev/setup-error.ts'
import { startStack, type Stack } from '../dev/stack.ts'
import { reasonOf, StartError } from './errors.ts'
import { createLog } from './log.ts'
import { closeSystem, createSystem, prepare, serve } from './server.ts'
import { probe } from './service/probing.ts'
import { generateSecret } from './service/tokens/secrets.ts'

// The process of the service. It starts private servers (dev/) for those that the environment does not name: a demo.

const USAGE = `Usage: npm start [-- OPTIONS]
  --fresh       delete the data of the private servers first
  --no-install  install no missing programs
  --help        print this, and end
The environment has the settings (README.md).`

try {
  await main()
} catch (error) {
  const expected = error instanceof ConfigError || error instanceof SetupError || error instanceof StartError
  console.error(expected ? `zoneplane: ${error.message}` : error)
  process.exitCode = 1
}

async function main(): Promise<void> {
  const { fresh, 'no-install': noInstall, help } = options()
  if (help) {
    console.log(USAGE)
    return
  }
  const config = readConfig({
    ...process.env,
    ZONEPLANE_DATA: process.env['ZONEPLANE_DATA'] ?? defaultDataFolder(process.cwd()),
    ...(noInstall && { ZONEPLANE_INSTALL: 'no' }),
  })
  const log = createLog(config.logLevel)
  // From now on, so that an early Ctrl-C also stops everything cleanly.
  const stopping = new AbortController()
  const signalled = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
      process.once(signal, () => {
        progress(`${signal}: stopping`)
        stopping.abort()
        resolve()
      })
    }
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
    const system = createSystem({ ...config, keyEncryptionKeys: encryptionKeys(config, fresh) }, backends, log)
    try {
      progress('bringing the database schema up to date')
      await prepare(system, backends, { patience: config.startTimeout, stopping: stopping.signal })
      if (stopping.signal.aborted) return
      await probe(system)
      const secret = demoSecret(config, fresh)
      const subname = secret === undefined ? undefined : await seedDemo(system, secret)
      const running = await serve(system)
      try {
        console.log(welcome(config, running.port, stack, secret, subname))
        const broken = stack?.broken.then((reason) => {
          throw new SetupError(`${reason}: stopping`)
        })
        await Promise.race([signalled, broken ?? signalled])
      } finally {
        await running.stop()
      }
    } finally {
      await closeSystem(system)
    }
  } finally {
    stopWatching?.()
    await stack?.stop()
  }
}

/** The options of the command line. @throws ConfigError */
function options() {
  const flag = { type: 'boolean', default: false } as const
  try {
    return parseArgs({ options: { fresh: flag, 'no-install': flag, help: flag } }).values
  } catch (error) {
    throw new ConfigError(`${reasonOf(error)}\n${USAGE}`)
  }
}

/** Starts the servers that the environment does not name; undefined if it names all. */
async function startPrivateServers(config: Config, fresh: boolean): Promise<Stack | undefined> {
  const postgres = config.databaseUrl === undefined
  const powerDns = config.pdnsApiUrl === undefined ? { dnsPort: config.dnsPort } : undefined
  if (!postgres && powerDns === undefined) return undefined
  const { dataFolder, install } = config
  return startStack(dataFolder, { postgres, powerDns, fresh, install, tools: demoTools, progress })
}

function progress(text: string): void {
  console.log(`zoneplane: ${text}`)
}

/** The secret of the demo token: ZONEPLANE_TOKEN, else generated once for the private database; undefined: no demo. */
function demoSecret(config: Config, fresh: boolean): string | undefined {
  if (config.token !== undefined) return config.token
  if (config.databaseUrl !== undefined) return undefined
  return kept(config, 'token', fresh, generateSecret)
}

/** KEY_ENCRYPTION_KEYS, else a key generated once for the private database. */
function encryptionKeys(config: Config, fresh: boolean): Config['keyEncryptionKeys'] {
  if (config.keyEncryptionKeys.length > 0) return config.keyEncryptionKeys
  const generate = () => randomBytes(32).toString('base64')
  return [Buffer.from(kept(config, 'key-encryption-key', fresh, generate), 'base64')]
}

/** A secret in the data folder, which is generated if it is missing or everything begins afresh. */
function kept(config: Config, name: string, fresh: boolean, generate: () => string): string {
  const file = join(config.dataFolder, name)
  try {
    if (!fresh) return readFileSync(file, 'utf8').trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  const secret = generate()
  writeFileSync(file, `${secret}\n`, { mode: 0o600 })
  return secret
}

function welcome(config: Config, port: number, stack?: Stack, secret?: string, subname?: string): string {
  const [address] = config.hosts
  // The addresses that mean all addresses of the machine are none to connect to.
  const reachable = { '0.0.0.0': '127.0.0.1', '::': '::1' }[address!] ?? address!
  const host = reachable.includes(':') ? `[${reachable}]` : reachable
  const base = `${config.publicUrl ?? `http://${host}:${port}`}/api/v1`
  const lines = ['', 'Zoneplane is ready.', '', `  API    ${base}/`]
  const dns = stack?.dnsPort === undefined ? undefined : { host: stack.dnsHost!, port: stack.dnsPort }
  if (dns !== undefined) lines.push(`  DNS    ${dns.host} port ${dns.port}`)
  if (secret === undefined || subname === undefined) return [...lines, ''].join('\n')
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
