import type { Needs } from '../cli/command.ts'
import { ConfigError, readConfig } from '../config.ts'
import { API, dataFolderOf, recallServers } from '../private-servers/data-folder.ts'
import { StartError } from '../errors.ts'
import { RESET_PATH } from '../http/service/apart-from-resets.ts'
import { createLog } from '../log.ts'
import { createSystem, prepare, requireNameserver, requirePostgres } from './create-system.ts'
import type { System } from '../system.ts'

/**
 * Runs `work` on the servers that the environment names; if it names none, on those of the service that runs with
 * private servers on the data folder.
 * @throws ConfigError, StartError; errors of `work`
 */
export async function withSystem<T>({ nameserver, schema }: Needs, work: (system: System) => Promise<T>): Promise<T> {
  const config = readConfig(environment())
  const { databaseUrl, pdnsApiUrl, pdnsApiKey } = config
  if (databaseUrl === undefined || pdnsApiUrl === undefined || pdnsApiKey === undefined) {
    throw new ConfigError('DATABASE_URL, PDNS_API_URL and PDNS_API_KEY must be set: they name the servers to work on')
  }
  const backends = { databaseUrl, pdnsApiUrl, pdnsApiKey }
  await using system = createSystem(config, backends, createLog(config.logLevel, process.stderr, config.logFormat))
  await (schema ? prepare(system, backends) : requirePostgres(backends))
  if (nameserver) await requireNameserver(system, backends)
  return await work(system)
}

/** Resets the service that runs with private servers on the data folder. @throws ConfigError, StartError */
export async function resetRunning(): Promise<void> {
  const folder = dataFolderOf(process.env)
  const address = recallServers(folder)?.[API]
  if (address === undefined) throw new ConfigError(`no service is ready with private servers in ${folder}`)
  const { status } = await fetch(new URL(RESET_PATH, address), { method: 'POST' })
  if (status === 404) throw new StartError('the service was started without CI_CONTROL=on')
  if (status !== 204) throw new StartError(`the service has answered the reset with ${status}; its log says more`)
}

/** @throws ConfigError if it names no servers and none run */
function environment(): NodeJS.ProcessEnv {
  const { env } = process
  if (['DATABASE_URL', 'PDNS_API_URL', 'PDNS_API_KEY'].some((name) => env[name]?.trim())) return env
  const folder = dataFolderOf(env)
  const servers = recallServers(folder)
  if (servers !== undefined) return { ...env, ...servers }
  throw new ConfigError(
    `no servers to work on: DATABASE_URL, PDNS_API_URL and PDNS_API_KEY are not set, and no service runs with private servers in ${folder}`,
  )
}
