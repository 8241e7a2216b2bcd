#!/usr/bin/env node
import { run } from './cli/run.ts'
import { ConfigError, readConfig } from './config.ts'
import { createLog } from './log.ts'
import { closeSystem, createSystem, prepare, requireNameserver } from './server.ts'
import type { System } from './system.ts'

// The operator's command line. Each command calls functions of service/.

process.exitCode = (await run(process.argv.slice(2), withSystem)) ? 0 : 1

/** Runs `work` on the servers that the environment names. PowerDNS must answer only if `nameserver` is true. */
async function withSystem<T>(nameserver: boolean, work: (system: System) => Promise<T>): Promise<T> {
  const config = readConfig(process.env)
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
