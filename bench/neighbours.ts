import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from '../test/support/clients/client.ts'
import { startProxy } from '../test/support/servers/proxy.ts'
import { percentile, state } from './support/measure.ts'
import { changesFor, createOtherAccount, tally } from './support/other-account.ts'
import type { Setup } from './support/setup.ts'
import { rrset, zone } from './support/zones.ts'

// How one account that writes to 15 domains without pause affects the writes of another.

const DOMAINS = 15
const SECONDS = 15
/** Milliseconds that a slow PowerDNS takes. */
const DELAY = 200

interface Attack {
  title: string
  /** The RRsets in a request. */
  rrsets: number
  /** Requests under way for each domain. */
  atOnce: number
  /** Requests a second for each domain, at most. */
  rate: number
  settings: Record<string, string>
}

export async function neighbours({ databaseUrl, pdnsApiUrl, another, ...owner }: Setup): Promise<void> {
  await createOtherAccount(databaseUrl, 'other')
  for (let i = 0; i < DOMAINS; i++) await owner.api('POST', '/domains/', { name: zone(i) })
  const proxy = await startProxy(pdnsApiUrl)
  proxy.fail(({ method }) => (method === 'PATCH' ? { late: DELAY } : 'pass'))
  const slow = { PDNS_API_URL: proxy.url }
  const attacks: Attack[] = [
    // As much as throttling allows for a domain.
    { title: `PowerDNS takes ${DELAY} ms`, rrsets: 1, atOnce: 20, rate: 20, settings: { ...slow, THROTTLE: 'on' } },
    { title: '  without throttling', rrsets: 1, atOnce: 20, rate: 1_000, settings: slow },
    { title: '2,000 RRsets, without throttling', rrsets: 2_000, atOnce: 4, rate: 1_000, settings: {} },
  ]
  for (const [i, attack] of attacks.entries()) {
    const service = await another(attack.settings)
    const other = new Client(service.url, 'other')
    const name = zone(`other${i}`)
    await other.post('/domains/', { name })
    const alone = await changesFor(other, name, SECONDS)
    const stop = new AbortController()
    const attacking = carryOut(attack, new Client(service.url, owner.secret), stop.signal)
    await sleep(1_000)
    const together = await changesFor(other, name, SECONDS)
    stop.abort()
    state(`${attack.title}: change, p50`, `${percentile(alone.times, 0.5).toFixed(0)} ms`)
    state('  while another account writes', `${percentile(together.times, 0.5).toFixed(0)} ms`)
    state('  answers', tally(together.statuses))
    state('  answers to the other account', tally(await attacking))
  }
  await proxy.close()
}

/** Writes to all domains until stopped. Returns the statuses. */
async function carryOut({ rrsets, atOnce, rate }: Attack, client: Client, stop: AbortSignal): Promise<number[]> {
  const statuses: number[] = []
  const bodies = [0, 1].map((i) => JSON.stringify(Array.from({ length: rrsets }, (_, n) => rrset(`host${n}`, n + i))))
  const headers = { 'content-type': 'application/json' }
  const writer = async (domain: number, first: number) => {
    for (let i = first; !stop.aborted; i++) {
      const pause = sleep((1000 * atOnce) / rate)
      const options = { headers, body: bodies[i % 2]! }
      statuses.push((await client.put(`/domains/${zone(domain)}/rrsets/`, undefined, options)).status)
      await pause
    }
  }
  await Promise.all(Array.from({ length: DOMAINS * atOnce }, (_, i) => writer(i % DOMAINS, Math.floor(i / DOMAINS))))
  return statuses
}
