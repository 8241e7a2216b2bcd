import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { applySeed } from '../../seeds/apply.ts'
import { DEMO_DOMAIN, seedDemo } from '../../seeds/demo.ts'
import type { Seed } from '../../seeds/read.ts'
import { StartError } from '../errors.ts'
import { createLog } from '../log.ts'
import { keptSecret, rememberServers, type Settings } from '../private-servers/data-folder.ts'
import { watchDisk } from '../private-servers/disk.ts'
import { reachable } from '../private-servers/ports.ts'
import type { Stack } from '../private-servers/stack.ts'
import { usePrimary } from '../service/operation/change-over.ts'
import { probe } from '../service/repair/probing.ts'
import { generateSecret } from '../service/tokens/secrets.ts'
import { callbackOf, type Config, misspelt } from '../settings/config.ts'
import type { System } from '../system.ts'
import { type Backends, createMetrics, createSystem, prepare } from './create-system.ts'
import { progress } from './progress.ts'
import { serve } from './tasks.ts'

/** The parts and signals of a process of the service. */
export interface Operation {
  config: Config
  /** The private servers; undefined: the environment names all. */
  stack: Stack | undefined
  seed: Seed | undefined
  /** True to make new secrets of the private servers. */
  fresh: boolean
  /** Resolves when the service shall stop. */
  told: Promise<unknown>
  /** Aborts when `told` resolves. */
  stopping: AbortSignal
  /** Aborts when the service shall stop without SHUTDOWN_DELAY. */
  hurrying: AbortSignal
}

/** Runs the service on its servers until a signal stops it. @throws StartError, also if a private server ends */
export async function operate(operation: Operation): Promise<void> {
  const { config, stack, seed, fresh, told, stopping, hurrying } = operation
  const log = createLog(config.logLevel, process.stderr, config.logFormat)
  for (const [variable, setting] of misspelt(process.env)) log.warn('unknown setting', { variable, nearest: setting })
  if (stack !== undefined) {
    watchDisk(config.dataFolder, (free) => {
      log.warn('disk nearly full', { folder: config.dataFolder, freeMiB: Math.floor(free / 2 ** 20) })
    })
  }
  const backends = {
    databaseUrl: config.databaseUrl ?? stack!.postgres!.url,
    pdnsApiUrl: config.pdnsApiUrl ?? stack!.powerDns!.apiUrl,
    pdnsApiKey: config.pdnsApiKey ?? stack!.powerDns!.apiKey,
  }
  const keyEncryptionKeys = encryptionKeys(config, fresh)
  if (stack !== undefined) rememberServers(config.dataFolder, settingsOf(config, backends, keyEncryptionKeys))
  const metrics = await createMetrics(config)
  await using system = createSystem({ ...config, keyEncryptionKeys }, backends, log, { stopping, metrics })
  progress('bringing the database schema up to date')
  await prepare(system, backends, { patience: config.startTimeout, stopping })
  if (stopping.aborted) return
  await usePrimary(system)
  await probe(system)
  if (seed !== undefined) await applySeed(system, seed)
  const demo = await populate(system, demoSecret(config, fresh))
  await using running = await serve(system)
  console.log(welcome(config, running.port, stack, demo))
  const broken = stack?.broken.then((reason) => {
    throw new StartError(`${reason}: stopping`)
  })
  const unnoticed = told.then(() => sleep(config.shutdownDelay * 1000, undefined, { signal: hurrying }))
  const over = unnoticed.catch(() => undefined)
  await Promise.race([over, broken ?? over])
}

/**
 * Returns the secret of the demo token: ZONEPLANE_TOKEN, otherwise generated once for the private database. Undefined:
 * no demo, as with a seed.
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

/** Creates the demo; undefined if none is wanted, or its domain cannot be created now. */
async function populate(system: System, secret: string | undefined): Promise<Demo | undefined> {
  const subname = secret === undefined ? undefined : await seedDemo(system, secret)
  return secret === undefined || subname === undefined ? undefined : { secret, subname }
}

/** Returns KEY_ENCRYPTION_KEYS, otherwise a key generated once for the private database. */
function encryptionKeys(config: Config, fresh: boolean): Config['keyEncryptionKeys'] {
  if (config.keyEncryptionKeys.length > 0) return config.keyEncryptionKeys
  const generate = () => randomBytes(32).toString('base64')
  return [Buffer.from(keptSecret(config.dataFolder, 'key-encryption-key', fresh, generate), 'base64')]
}

/** Returns the settings with which the command line reaches the same servers. */
function settingsOf(config: Config, backends: Backends, keys: Config['keyEncryptionKeys']): Settings {
  return {
    DATABASE_URL: backends.databaseUrl,
    PDNS_API_URL: backends.pdnsApiUrl,
    PDNS_API_KEY: backends.pdnsApiKey,
    NAMESERVERS: config.nameServers.join(','),
    KEY_ENCRYPTION_KEYS: keys.map((key) => key.toString('base64')).join(','),
  }
}

/** Returns the URL of the API on this machine. */
function addressOf({ hosts: [address] }: Config, port: number): string {
  const target = reachable(address!)
  return `http://${target.includes(':') ? `[${target}]` : target}:${port}`
}

function welcome(config: Config, port: number, stack: Stack | undefined, demo: Demo | undefined): string {
  const root = config.publicUrl ?? addressOf(config, port)
  const base = `${root}/api/v1`
  const dns = stack?.powerDns
  const shown = demo && { ...shownToken(config, stack, demo.secret), subname: demo.subname }
  const lines = ['', 'Zoneplane is ready.', '']
  // The page of this fragment begins with the field for the token.
  if (config.console) lines.push(`  Open   ${root}/${shown === undefined ? '' : '#token and sign in with the token'}`)
  if (shown !== undefined) lines.push(`  Token  ${shown.token}`)
  lines.push(`  API    ${base}/`)
  if (config.oidcIssuer !== undefined) lines.push(`  Single sign-on comes back to ${callbackOf(root)}`)
  if (dns !== undefined) lines.push(`  DNS    ${dns.dnsHost} port ${dns.dnsPort}`)
  if (shown === undefined) return [...lines, ''].join('\n')
  const { token, quote, subname } = shown
  const collection = `${base}/domains/${DEMO_DOMAIN}/rrsets/`
  const curl = `curl -H ${quote}Authorization: Token ${token}${quote}`
  const rrset = JSON.stringify({ subname, type: 'A', ttl: 300, records: ['192.0.2.1'] })
  lines.push(
    '',
    'Create an RRset, read it back, and ask for it in DNS:',
    '',
    `  ${curl} -H 'Content-Type: application/json' -d '${rrset}' ${collection}`,
    `  ${curl} ${collection}${subname}/A/`,
  )
  if (dns !== undefined) lines.push(`  dig +dnssec @${dns.dnsHost} -p ${dns.dnsPort} ${subname}.${DEMO_DOMAIN} A`)
  return [...lines, ''].join('\n')
}

/** Returns the secret, but only at a terminal and with private servers: logs are kept. Otherwise a shell expression. */
function shownToken(config: Config, stack: Stack | undefined, secret: string): { token: string; quote: string } {
  if (stack?.postgres !== undefined && process.stdout.isTTY) return { token: secret, quote: "'" }
  const kept = join(config.dataFolder, 'token')
  return { token: config.token === undefined ? `$(cat '${kept}')` : '$ZONEPLANE_TOKEN', quote: '"' }
}
