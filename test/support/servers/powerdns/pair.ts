import { randomBytes } from 'node:crypto'
import { type PowerDns, startPowerDns } from '../../../../src/private-servers/powerdns.ts'
import type { Backends } from '../../../../src/process/create-system.ts'
import type { System } from '../../../../src/system.ts'
import { commandsOn } from '../../command-line.ts'
import { ask, dataOf } from '../../dns/dns.ts'
import { eventually, eventuallyIs } from '../../eventually.ts'
import { newFolder } from '../folders.ts'
import { createDatabase } from '../postgres/databases.ts'
import { type Proxy, startProxy } from '../proxy.ts'
import { type Pdns, pdnsOf } from './driver.ts'

/** One of two PowerDNS, with a proxy in front of its API. */
export interface Primary {
  /** As the service names it. */
  name: string
  powerDns: PowerDns
  /** Takes any API key, so that it tells callers apart. */
  proxy: Proxy
  pdns: Pdns
  /** Starts it again after it ended, with its zones. */
  restart(): Promise<void>
}

/** Two PowerDNS for one service, and its database. */
export interface Pair {
  /** Both primaries, in their order, by the proxies. */
  backends: Backends
  primaries: [Primary, Primary]
  close(): Promise<void>
}

/** Makes one the active one, unless it is; zones may be written meanwhile. Resolves when the service uses it. */
export async function makeActive(system: System, { name }: Primary): Promise<void> {
  if (system.primaries.active.name === name) return
  await eventually(async () => (await commandsOn(() => system)('primary', 'use', name))[0])
  await eventuallyIs(() => system.primaries.active.name, name)
  await eventually(() => system.nameserver.problem === undefined)
}

/** The addresses of `www` that one answers. */
export async function servedAt({ powerDns }: Primary, domain: string): Promise<unknown[]> {
  return dataOf(await ask(powerDns, `www.${domain}`, 'A'), 'A')
}

/**
 * Starts two PowerDNS.
 * @param shared the settings of the backend whose database both have; undefined: each has an LMDB of its own
 */
export async function startPair(shared?: string[]): Promise<Pair> {
  const database = await createDatabase()
  // Otherwise each would notice zones that the other one has got only after a while.
  const backend = shared && [...shared, 'zone-cache-refresh-interval=0']
  const apiKey = randomBytes(24).toString('hex')
  const start = async (): Promise<Primary> => {
    const folder = newFolder()
    const options = { apiKey, transferAddresses: ['127.0.0.0/8'], durable: false, backend, progress: () => undefined }
    const powerDns = await startPowerDns(folder, { dnsPort: 0, ...options })
    const proxy = await startProxy(powerDns.apiUrl, apiKey)
    return {
      name: new URL(proxy.url).host,
      powerDns,
      proxy,
      pdns: pdnsOf(powerDns),
      async restart() {
        await powerDns.exited
        const { dnsPort, apiPort } = powerDns
        Object.assign(powerDns, await startPowerDns(folder, { dnsPort, apiPort, ...options }))
      },
    }
  }
  const primaries: [Primary, Primary] = [await start(), await start()]
  const [{ proxy: one }, { proxy: other }] = primaries
  return {
    backends: { databaseUrl: database.url, pdnsApiUrl: `${one.url}, ${other.url}`, pdnsApiKey: apiKey },
    primaries,
    async close() {
      for (const { proxy, powerDns } of primaries) {
        await proxy.close()
        await powerDns.stop()
      }
      await database.drop()
    },
  }
}
