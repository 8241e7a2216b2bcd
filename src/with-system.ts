import { ConfigError, readConfig } from './config.ts'
import { dataFolderOf, recallServers } from './data-folder.ts'
import { createLog } from './log.ts'
import { closeSystem, createSystem, prepare, requireNameserver } from './server.ts'
import type { System } from './system.ts'

/**
 * Runs `work` on the servers that the environment names; if it names none, on those of the service that runs with
 * private servers on the data folder. PowerDNS must answer only if `nameserver` is true.
 * @throws ConfigError, StartError; errors of `work`
 */
export async function withSystem<T>(nameserver: boolean, work: (system: System) => Promise<T>): Promise<T> {
  const config = readConfig(environment())
  const { databaseUrl, pdnsApiUrl, pdnsApiKey } = config
  if (databaseUrl === undefined || pdnsApiUrl === undefined || pdnsApiKey === undefined) {
    throw new ConfigError('DATABASE_URL, PDNS_API_URL and PDNS_API_KEY must be set: they name the servers to work on')
  }
  const backends = { databaseUrl, pdnsApiUrl, pdnsApiKey }
  const system = createSystem(config, backends, createLog(config.logLevel))
  try {
    await prepare(system, backends)
    if (nameserver) await requireNameserver(system, backends)
    return await work(system)
  } finally {
    await closeSystem(system)
  }
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
