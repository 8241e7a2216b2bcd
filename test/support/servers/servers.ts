import { randomBytes } from 'node:crypto'
import { removeInstanceFolder } from '../../../dev/instance-folder.ts'
import { startPowerDns, type PowerDns } from '../../../dev/powerdns.ts'
import type { Backends } from '../../../src/server.ts'
import { openDatabase, query } from '../../../src/store/database.ts'
import { parse } from '../client.ts'
import { newFolder } from './folders.ts'
import { startProxy, type Proxy } from './proxy.ts'

/** The servers that a service needs: a PowerDNS, a proxy in front of its API, and a database. */
export interface Servers {
  /** The servers of a service; its PowerDNS is the proxy. */
  backends: Backends
  /** Records the calls to PowerDNS, and injects faults. */
  proxy: Proxy
  /** PowerDNS as it runs now. */
  powerDns: PowerDns
  /** Starts PowerDNS again after it ended, with the same zones, ports and API key. */
  restartPowerDns: () => Promise<void>
  /** Sends a request directly to PowerDNS, not through the proxy. */
  pdns(method: string, path: string, body?: unknown): Promise<{ status: number; json: unknown }>
  /** Stops PowerDNS and the proxy, and drops the database. */
  close(): Promise<void>
}

/** @param backend settings of PowerDNS' backend, if not LMDB */
export async function startServers(backend?: readonly string[]): Promise<Servers> {
  const folder = newFolder()
  const start = (given: { dnsPort: number; apiPort?: number; apiKey?: string }) =>
    startPowerDns(folder, { ...given, backend, durable: false, progress: () => undefined })
  const [powerDns, database] = await Promise.all([start({ dnsPort: 0 }), createDatabase()])
  const proxy = await startProxy(powerDns.apiUrl)
  return {
    backends: { databaseUrl: database.url, pdnsApiUrl: proxy.url, pdnsApiKey: powerDns.apiKey },
    proxy,
    powerDns,
    async restartPowerDns() {
      const { dnsPort, apiPort, apiKey } = powerDns
      await powerDns.exited
      Object.assign(powerDns, await start({ dnsPort, apiPort, apiKey }))
    },
    async pdns(method, path, body) {
      const response = await fetch(`${powerDns.apiUrl}/api/v1/servers/localhost${path}`, {
        method,
        headers: { 'x-api-key': powerDns.apiKey, connection: 'close' },
        body: body === undefined ? null : JSON.stringify(body),
      })
      return { status: response.status, json: parse(await response.text()) }
    },
    async close() {
      await proxy.close()
      await powerDns.stop()
      await removeInstanceFolder(folder)
      await database.drop()
    },
  }
}

/** @param template of the new database; without it, one with our tables */
export async function createDatabase(
  template = 'template_zoneplane',
): Promise<{ url: string; drop: () => Promise<void> }> {
  const server = process.env['TEST_POSTGRES_URL']!
  const name = `test_${randomBytes(6).toString('hex')}`
  const run = async (sql: string) => {
    const db = openDatabase(server, 1)
    await query(db, sql).finally(() => db.end())
  }
  await run(`create database ${name} template ${template}`)
  const url = new URL(server)
  url.pathname = `/${name}`
  return { url: url.href, drop: () => run(`drop database ${name} with (force)`) }
}
