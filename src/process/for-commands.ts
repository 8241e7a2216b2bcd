import type { Needs } from '../cli/command.ts'
import { NameserverFailure, StartError, Unavailable } from '../errors.ts'
import { createLog } from '../log.ts'
import { dataFolderOf, recallServers } from '../private-servers/data-folder.ts'
import { ConfigError, readConfig } from '../settings/config.ts'
import { isUnavailable } from '../store/connections/failures.ts'
import type { System } from '../system.ts'
import { createSystem, prepare, requireAnswers, requireNameserver, requirePostgres } from './create-system.ts'

/**
 * Runs `work` on the servers that the environment names; if it names none, on those of the service that runs with
 * private servers on the data folder.
 * @throws ConfigError, StartError; Unavailable if a server does not answer; errors of `work`
 */
export async function withSystem<T>(
  { nameserver, schema }: Omit<Needs, 'message'>,
  work: (system: System) => Promise<T>,
): Promise<T> {
  const config = readConfig(environment())
  const { databaseUrl, pdnsApiUrl, pdnsApiKey } = config
  if (databaseUrl === undefined || pdnsApiUrl === undefined || pdnsApiKey === undefined) {
    throw new ConfigError('DATABASE_URL, PDNS_API_URL and PDNS_API_KEY must be set: they name the servers to work on')
  }
  const backends = { databaseUrl, pdnsApiUrl, pdnsApiKey }
  const log = createLog(config.logLevel, process.stderr, config.logFormat)
  await using system = createSystem(config, backends, log, { isPatient: true })
  const ready = async () => {
    await (schema ? prepare(system, backends) : requirePostgres(backends))
    if (nameserver) await (schema ? requireNameserver(system) : requireAnswers(system))
  }
  await ready().catch((error: unknown) => {
    throw isTemporary(error) ? new Unavailable(error.message, { cause: error }) : error
  })
  return await work(system)
}

/** Reports whether a server cannot be used that may answer later. */
function isTemporary(error: unknown): error is StartError {
  if (!(error instanceof StartError)) return false
  return error.cause instanceof NameserverFailure || isUnavailable(error.cause)
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
