import { accessSync, chmodSync, constants, mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { StartError } from '../errors.ts'
import { removeInstanceFolder } from './instance-folder.ts'
import { type Lock, takeLock } from './lock.ts'
import {
  ensureInstalled,
  type Install,
  postgres as needsPostgres,
  powerDns as needsPowerDns,
  type Requirement,
} from './packages.ts'
import { type Postgres, startPostgres } from './postgres.ts'
import { type PowerDns, startPowerDns } from './powerdns.ts'

export interface StackOptions {
  /** True to start a Postgres. */
  postgres: boolean
  /** The addresses and port at which the PowerDNS to start answers (0: any free one); undefined: none is started. */
  powerDns: { dnsHosts?: string[]; dnsPort: number; transferAddresses?: string[] } | undefined
  /** True to delete the servers' data first. */
  fresh?: boolean
  /** False if committed data may be lost in a power failure (default: true); tests prefer speed. */
  durable?: boolean
  /** The permission to install missing programs (default: ask). */
  install?: Install
  /** Programs to install besides those of the servers. */
  tools?: Requirement[]
  progress: (text: string) => void
  /** Called when the servers' processes run and only get ready: the caller has time for other work. */
  spawned?: () => void
}

/** The started servers; undefined stands for one that was not started. */
export interface Stack {
  postgres: Postgres | undefined
  powerDns: PowerDns | undefined
  /** Resolves, with a text for the user, when one of the servers has exited without being stopped. */
  broken: Promise<string>
  /** Stops PowerDNS first, then Postgres. */
  stop(): Promise<void>
}

/**
 * Starts the private servers of one data folder, both or neither, and installs missing programs if it can and may.
 * Their data is kept from one start to the next.
 */
export async function startStack(dataFolder: string, options: StackOptions): Promise<Stack> {
  const { progress, durable = true, install = 'ask', tools = [] } = options
  const requirements: Requirement[] = []
  if (options.postgres) requirements.push(needsPostgres)
  if (options.powerDns) requirements.push(needsPowerDns)
  await ensureInstalled(requirements, { wanted: tools, install, progress })
  const folder = resolve(dataFolder)
  const lock = lockFolder(folder)
  try {
    const postgresFolder = join(folder, 'postgres')
    const pdnsFolder = join(folder, 'pdns')
    if (options.fresh) {
      await removeInstanceFolder(pdnsFolder)
      await removeInstanceFolder(postgresFolder)
    }
    let left = requirements.length
    const spawned = () => {
      if (--left === 0) options.spawned?.()
    }
    const [postgres, powerDns] = await bothOrNeither(
      options.postgres ? startPostgres(postgresFolder, { durable, progress, spawned }) : undefined,
      options.powerDns ? startPowerDns(pdnsFolder, { ...options.powerDns, durable, progress, spawned }) : undefined,
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
    const report = (server: string) => () => {
      if (!stopping) resolve(`${server} has ended by itself`)
    }
    void postgres?.exited.then(report('Postgres'))
    void powerDns?.exited.then(report('PowerDNS'))
  })
  return {
    postgres,
    powerDns,
    broken,
    stop: async () => {
      stopping = true
      await powerDns?.stop()
      await postgres?.stop()
      lock.release()
    },
  }
}

/** Waits for both. If one fails, stops the other and throws the reason. */
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
  const unexpected = failures.find((failure) => !(failure instanceof StartError))
  throw unexpected ?? new StartError(failures.map((failure) => failure.message).join('\n'))
}

/** Creates the data folder and locks it against other processes. */
function lockFolder(folder: string): Lock {
  try {
    // The servers may run as other users, who pass through it to their own folders.
    if (mkdirSync(folder, { recursive: true }) !== undefined) chmodSync(folder, 0o711)
    accessSync(folder, constants.W_OK | constants.X_OK)
  } catch (error) {
    throw new StartError(
      `${folder} cannot be written (${(error as Error).message}). Set ZONEPLANE_DATA to another folder.`,
    )
  }
  const lock = takeLock(join(folder, 'lock'))
  if ('release' in lock) return lock
  throw new StartError(
    `${folder} is in use by process ${lock.pid}, perhaps of another container. Stop it, or set ZONEPLANE_DATA, PORT and DNS_PORT.`,
  )
}
