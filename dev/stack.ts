import { accessSync, constants, mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { removeInstanceFolder } from './instance-folder.ts'
import { takeLock, type Lock } from './lock.ts'
import { ensureInstalled, postgres as needsPostgres, powerDns as needsPowerDns, type Requirement } from './packages.ts'
import { startPostgres, type Postgres } from './postgres.ts'
import { startPowerDns, type PowerDns } from './powerdns.ts'
import { SetupError } from './setup-error.ts'

export interface StackOptions {
  /** Whether to start a Postgres; no, if the caller has one. */
  postgres: boolean
  /** Where a PowerDNS shall answer queries (port 0: one that is free); undefined, if the caller has one. */
  powerDns: { dnsHost: string; dnsPort: number } | undefined
  /** Whether to begin with nothing: deletes the servers' data. */
  fresh?: boolean
  /** Default: yes. Tests need only speed. */
  durable?: boolean
  progress: (text: string) => void
}

/** What was started; undefined is what the caller has. */
export interface Stack {
  databaseUrl: string | undefined
  pdnsApiUrl: string | undefined
  pdnsApiKey: string | undefined
  dnsHost: string | undefined
  dnsPort: number | undefined
  /** Resolves with what happened when one of the servers has gone without having been stopped. */
  broken: Promise<string>
  /** PowerDNS first, then Postgres. */
  stop(): Promise<void>
}

/**
 * Starts the private servers of one data folder, both or neither, installing what is missing if that is possible.
 * What they know is kept from one start to the next.
 */
export async function startStack(dataFolder: string, options: StackOptions): Promise<Stack> {
  const { progress, durable = true } = options
  const requirements: Requirement[] = []
  if (options.postgres) requirements.push(needsPostgres)
  if (options.powerDns) requirements.push(needsPowerDns)
  await ensureInstalled(requirements, progress)
  const folder = resolve(dataFolder)
  const lock = lockFolder(folder)
  try {
    const postgresFolder = join(folder, 'postgres')
    const pdnsFolder = join(folder, 'pdns')
    if (options.fresh) {
      await removeInstanceFolder(pdnsFolder)
      await removeInstanceFolder(postgresFolder)
    }
    const [postgres, powerDns] = await bothOrNeither(
      options.postgres ? startPostgres(postgresFolder, { durable, progress }) : undefined,
      options.powerDns ? startPowerDns(pdnsFolder, { ...options.powerDns, durable, progress }) : undefined,
    )
    return stackOf(postgres, powerDns, lock)
  } catch (error) {
    lock.release()
    throw error
  }
}

function stackOf(postgres: Postgres | undefined, powerDns: PowerDns | undefined, lock: Lock): Stack {
  let stopping = false
  const broken = new Promise<string>((resolve) => {
    const tell = (what: string) => () => {
      if (!stopping) resolve(`${what} has ended by itself`)
    }
    void postgres?.exited.then(tell('Postgres'))
    void powerDns?.exited.then(tell('PowerDNS'))
  })
  return {
    databaseUrl: postgres?.url,
    pdnsApiUrl: powerDns?.apiUrl,
    pdnsApiKey: powerDns?.apiKey,
    dnsHost: powerDns?.dnsHost,
    dnsPort: powerDns?.dnsPort,
    broken,
    stop: async () => {
      stopping = true
      await powerDns?.stop()
      await postgres?.stop()
      lock.release()
    },
  }
}

/** Waits for both; if one fails, stops the other and says why. */
async function bothOrNeither(
  starting: Promise<Postgres> | undefined,
  alsoStarting: Promise<PowerDns> | undefined,
): Promise<[Postgres | undefined, PowerDns | undefined]> {
  const [postgres, powerDns] = await Promise.allSettled([starting, alsoStarting])
  if (postgres.status === 'fulfilled' && powerDns.status === 'fulfilled') return [postgres.value, powerDns.value]
  const failures: Error[] = []
  for (const result of [postgres, powerDns]) {
    if (result.status === 'fulfilled') await result.value?.stop()
    else failures.push(result.reason as Error)
  }
  const unexpected = failures.find((failure) => !(failure instanceof SetupError))
  throw unexpected ?? new SetupError(failures.map((failure) => failure.message).join('\n'))
}

/** Makes the data folder and keeps others from working in it. */
function lockFolder(folder: string): Lock {
  try {
    mkdirSync(folder, { recursive: true })
    accessSync(folder, constants.W_OK | constants.X_OK)
  } catch (error) {
    throw new SetupError(
      `${folder} cannot be written (${(error as Error).message}). Set ZONEPLANE_DATA to another folder.`,
    )
  }
  const lock = takeLock(join(folder, 'lock'))
  if ('release' in lock) return lock
  throw new SetupError(`${folder} is in use by process ${lock.pid}: stop that one, or set ZONEPLANE_DATA and DNS_PORT.`)
}
