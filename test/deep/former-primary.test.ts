import test from 'ava'
import { query } from '../../src/store/database.ts'
import { newDomain } from '../support/clients/api.ts'
import type { Client } from '../support/clients/client.ts'
import { depth } from '../support/depth.ts'
import { discrepanciesInTheEnd } from '../support/dns/discrepancies.ts'
import { eventuallyHas, eventuallyIs } from '../support/eventually.ts'
import { useServers } from '../support/harness.ts'
import { PostgresPair } from '../support/servers/postgres/postgres-pair.ts'
import { startPostgresProxy } from '../support/servers/postgres/postgres-proxy.ts'
import { askPostgres } from '../support/servers/postgres/postgres-server.ts'

// A standby is promoted although the primary still accepts writes: an asynchronous one, so that these would be lost.

let postgres: PostgresPair
const servers = useServers(undefined, async () => (postgres = await PostgresPair.start({ isSynchronous: false })))

test.serial('a process leaves the former primary, to which its connections are open', async (t) => {
  const { api, output } = await servers().start()
  await newDomain(api, 'before.example')
  await postgres.awaitStandby()
  await postgres.promote()
  await eventuallyHas(output, 'Postgres restarted or failed over')
  await createsAtPrimary(api, 'after.example')
  // The system of the test leaves like a process: when a connection for counters is replaced.
  const { counters } = servers().system.pools
  const isThere = `select from domains where name = 'after.example'`
  await eventuallyIs(async () => (await query(counters, isThere)).length, 1)
  t.deepEqual(await discrepanciesInTheEnd(servers()), [])
})

test.serial('a former primary is refused if the address leads to it again, and the log says why', async (t) => {
  const proxy = await startPostgresProxy(postgres.urls.primary)
  t.teardown(() => proxy.close())
  const { api, output } = await servers().start({ DATABASE_URL: proxy.url })
  const leadTo = (url: string) => {
    proxy.leadTo(url)
    proxy.cut()
  }
  for (let i = 0; i < depth(2, 5); i++) {
    await createsAtPrimary(api, `address-${i}.example`)
    leadTo(postgres.urls.former)
    await eventuallyHas(output, 'the server is a former primary: it is on timeline 00000001, and 00000002')
    await postgres.restartFormer()
    t.is((await api.get('/domains/')).status, 503)
    t.is((await api.post('/domains/', { name: `refused-${i}.example` })).status, 503)
    leadTo(postgres.urls.primary)
    await eventuallyIs(async () => (await api.get('/domains/')).status, 200)
  }
  await createsAtPrimary(api, 'again.example')
  t.deepEqual(await discrepanciesInTheEnd(servers()), [])
})

/** Creates a domain, which is then in the database of the primary, and not in that of the former one. */
async function createsAtPrimary(api: Client, name: string): Promise<void> {
  await eventuallyIs(async () => (await api.post('/domains/', { name })).status, 201)
  const sql = `select from domains where name = '${name}'`
  if ((await askPostgres(postgres.urls.primary, sql)).length !== 1) throw new Error(`${name} is not at the primary`)
  if ((await askPostgres(postgres.urls.former, sql)).length !== 0) throw new Error(`${name} is at the former primary`)
}
