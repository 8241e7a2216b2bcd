import { setTimeout as sleep } from 'node:timers/promises'
import { MEASURING_PAUSE } from '../src/service/operation/measuring.ts'
import { openDatabase, query } from '../src/store/database.ts'
import { freePort } from '../test/support/servers/ports.ts'
import { alternating, percentile, state } from './support/measure.ts'
import type { Setup } from './support/setup.ts'
import { rrset } from './support/zones.ts'

const DOMAINS = 100_000
const SCRAPES = 200
const REQUESTS = 300

const milliseconds = (time: number) => `${time.toFixed(2)} ms`

/** What metrics cost with many domains: a scrape, and the requests that are measured. */
export async function metrics(setup: Setup): Promise<void> {
  const port = await freePort()
  const measured = await setup.another({ METRICS_PORT: String(port) })
  const scrape = async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  await setup.api('POST', '/domains/', { name: 'metrics.test' })
  const db = openDatabase(setup.databaseUrl, 1)
  // Without zones, because no audit comes so soon; and without the trigger, which would update the account each time.
  await query(db, 'alter table domains disable trigger domains_count')
  await query(
    db,
    `insert into domains (name, owner_id, minimum_ttl, version, size, created, published, touched)
     select 'm' || n || '.test', owner_id, minimum_ttl, version, size, created, published, touched
     from domains, generate_series(1, ${DOMAINS}) n where name = 'metrics.test'`,
  )
  await query(db, 'alter table domains enable trigger domains_count')
  await db.end()
  const read = (service: typeof measured) => service.api('GET', '/domains/metrics.test/')
  const write = (service: typeof measured, i: number) =>
    service.api('PUT', '/domains/metrics.test/rrsets/', [{ ...rrset('www', i) }])
  for (const [what, request] of [
    ['read', read],
    ['write', write],
  ] as const) {
    const [off, on] = await alternating(
      REQUESTS,
      (i) => request(setup, 2 * i),
      (i) => request(measured, 2 * i + 1),
    )
    state(`${what}, not measured, p50`, milliseconds(percentile(off!, 0.5)))
    state(`${what}, measured, p50`, milliseconds(percentile(on!, 0.5)))
  }
  await sleep(MEASURING_PAUSE + 1_000)
  const [times] = await alternating(SCRAPES, scrape)
  const [, domains] = /^zoneplane_domains\{delegation="unknown"\} (\d+)/m.exec(await scrape()) ?? []
  if (Number(domains) < DOMAINS) throw new Error(`the metrics tell of ${domains} domains`)
  state(`scrape with ${DOMAINS} domains, p50`, milliseconds(percentile(times!, 0.5)))
  state(`scrape with ${DOMAINS} domains, p99`, milliseconds(percentile(times!, 0.99)))
}
