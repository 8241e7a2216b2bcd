#!/usr/bin/env node
import { parseArgs } from 'node:util'
import { ConfigError, readConfig } from './config.ts'
import { NameserverFailure, StartError, Unavailable } from './errors.ts'
import { createLog } from './log.ts'
import { closeSystem, createSystem, prepare } from './server.ts'
import { reconcileAll } from './service/reconcile.ts'
import type { System } from './system.ts'

// The operator's command line: each sub-command is a row of COMMANDS and a function of service/.

const USAGE = `Usage: zoneplane <command> [options]

  reconcile [--contents]   compare the zones at PowerDNS with the database, and repair those that differ;
                           by their serials, with --contents also by what they hold (a request for each zone)

It reads the environment of the service: DATABASE_URL, PDNS_API_URL, PDNS_API_KEY and NAMESERVERS must be set.
Exit code: 0 if it did what it was asked to, 1 if not.`

/** A wrong call; the message says what is wrong with it. */
class UsageError extends Error {}

const COMMANDS: Record<string, (args: string[]) => Promise<boolean>> = {
  async reconcile(args) {
    const { contents } = options(args, { contents: { type: 'boolean', default: false } })
    return withSystem(async (system) => {
      const { doubtful, left } = await reconcileAll(system, { contents })
      const errors = new Map(left.map(({ zone, lastError }) => [zone, lastError]))
      for (const zone of doubtful) {
        console.log(errors.has(zone) ? `${zone}: not repaired: ${errors.get(zone) ?? 'busy'}` : `${zone}: repaired`)
      }
      if (doubtful.length === 0) console.log('All zones are as the database says.')
      return left.length === 0
    })
  },
}

process.exitCode = (await run(process.argv.slice(2))) ? 0 : 1

/** Whether the command did what it was asked to. */
async function run([name = '', ...args]: string[]): Promise<boolean> {
  if (name === '--help' || name === '-h' || args.includes('--help') || args.includes('-h')) {
    console.log(USAGE)
    return true
  }
  try {
    const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
    if (command === undefined) throw new UsageError(name === '' ? 'no command given' : `no such command: ${name}`)
    return await command(args)
  } catch (error) {
    if (error instanceof UsageError) console.error(`zoneplane: ${error.message}\n\n${USAGE}`)
    else console.error(isExpected(error) ? `zoneplane: ${error.message}` : error)
    return false
  }
}

function options<T extends NonNullable<Parameters<typeof parseArgs>[0]>['options']>(args: string[], known: T) {
  try {
    return parseArgs({ args, options: known }).values
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

function isExpected(error: unknown): error is Error {
  return [ConfigError, StartError, NameserverFailure, Unavailable].some((kind) => error instanceof kind)
}

/** Runs `work` on the servers that the environment names. */
async function withSystem<T>(work: (system: System) => Promise<T>): Promise<T> {
  const config = readConfig(process.env)
  const { databaseUrl, pdnsApiUrl, pdnsApiKey } = config
  if (databaseUrl === undefined || pdnsApiUrl === undefined || pdnsApiKey === undefined) {
    throw new ConfigError('DATABASE_URL, PDNS_API_URL and PDNS_API_KEY must be set: they name the servers to work on')
  }
  const backends = { databaseUrl, pdnsApiUrl, pdnsApiKey }
  const system = createSystem(config, backends, createLog('error'))
  try {
    await prepare(system, backends)
    return await work(system)
  } finally {
    await closeSystem(system)
  }
}
