import { execFile } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findProgram } from '../../../src/installation/programs.ts'
import { commandFor, unprivilegedAccount } from '../../../src/private-servers/account.ts'
import { readLog } from '../../../src/private-servers/daemon.ts'
import { removeInstanceFolder } from '../../../src/private-servers/instance-folder.ts'
import { type PowerDns, startPowerDns } from '../../../src/private-servers/powerdns.ts'
import type { Backends } from '../../../src/process/create-system.ts'
import { type Backend, makeBackend } from './backends.ts'
import { newFolder } from './folders.ts'
import { noteLog } from './logs.ts'
import { createDatabase, type Database } from './postgres/databases.ts'
import { type Pdns, pdnsOf } from './powerdns/driver.ts'
import { type Proxy, startProxy } from './proxy.ts'
import { type LocalService, startService } from './service.ts'

/**
 * The servers that a service needs: a PowerDNS, from which this machine can transfer all zones, a proxy in front of its
 * API, and a database.
 */
export interface Servers {
  /** The servers of a service; its PowerDNS is the proxy. */
  backends: Backends
  /** Records the calls to PowerDNS, and injects faults. */
  proxy: Proxy
  /** PowerDNS as it runs now. */
  powerDns: PowerDns
  /** Starts PowerDNS again after it ended, with the same ports and API key, and the same zones unless it lost them. */
  restartPowerDns: (options?: { empty: boolean }) => Promise<void>
  pdns: Pdns
  /** Runs pdnsutil on PowerDNS' zones, as its user, and returns what it prints. PowerDNS may run, or not. */
  pdnsutil(...args: string[]): Promise<string>
  /** Stops PowerDNS and the proxy, and drops the database. */
  close(): Promise<void>
}

/** @param makeDatabase without it, a database in the Postgres of this run */
export async function startServers(kind?: Backend, makeDatabase?: () => Promise<Database>): Promise<Servers> {
  const folder = newFolder()
  let backend = await makeBackend(kind)
  const options = { transferAddresses: ['127.0.0.0/8'], durable: false, progress: () => undefined }
  const start = (given: { dnsPort: number; apiPort?: number; apiKey?: string }) =>
    startPowerDns(folder, { ...given, ...options, backend })
  const [powerDns, database] = await Promise.all([start({ dnsPort: 0 }), (makeDatabase ?? createDatabase)()])
  const proxy = await startProxy(powerDns.apiUrl)
  let log: string | undefined
  noteLog('powerdns', () => log ?? readLog(folder))
  return {
    backends: { databaseUrl: database.url, pdnsApiUrl: proxy.url, pdnsApiKey: powerDns.apiKey },
    proxy,
    powerDns,
    async restartPowerDns({ empty } = { empty: false }) {
      const { dnsPort, apiPort, apiKey } = powerDns
      await powerDns.exited
      if (empty) {
        rmSync(join(folder, 'lmdb'), { recursive: true, force: true })
        backend = await makeBackend(kind)
      }
      Object.assign(powerDns, await start({ dnsPort, apiPort, apiKey }))
    },
    pdns: pdnsOf(powerDns),
    async pdnsutil(...args) {
      const options = [`--config-dir=${join(folder, 'config')}`, ...args]
      const run = { account: unprivilegedAccount('pdns'), deathSignal: 'SIGKILL' } as const
      const command = commandFor(findProgram('pdnsutil')!, options, run)
      return (await promisify(execFile)(command.file, command.args, command.as)).stdout
    },
    async close() {
      await proxy.close()
      await powerDns.stop()
      log = readLog(folder)
      await removeInstanceFolder(folder)
      await database.drop()
    },
  }
}

/** A service, and its PowerDNS, which lets nobody transfer zones unless its settings say so. */
export interface Closed {
  powerDns: PowerDns
  service: LocalService
  stop(): Promise<void>
}

/** Starts a service whose users may let any address transfer their zones. @param dns where PowerDNS answers */
export async function startClosed(dns: { dnsHosts?: string[]; dnsPort: number }): Promise<Closed> {
  const folder = newFolder()
  const backend = await makeBackend()
  const powerDns = await startPowerDns(folder, { ...dns, backend, progress: () => undefined })
  const database = await createDatabase()
  const { apiUrl: pdnsApiUrl, apiKey: pdnsApiKey } = powerDns
  const service = await startService({ databaseUrl: database.url, pdnsApiUrl, pdnsApiKey }, { PRIVATE_TRANSFERS: 'on' })
  return {
    powerDns,
    service,
    async stop() {
      await service.stop()
      await database.drop()
      await powerDns.stop()
      await removeInstanceFolder(folder)
    },
  }
}
