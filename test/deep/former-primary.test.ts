import test from 'ava'
import { formerPrimaries } from '../../src/store/connections/hosts.ts'
import { newDomain, rrset, succeeded } from '../support/api.ts'
import type { Client } from '../support/client.ts'
import { depth } from '../support/depth.ts'
import { discrepanciesInTheEnd } from '../support/dns/discrepancies.ts'
import { eventuallyHas, eventuallyIs } from '../support/eventually.ts'
import { useServers, type TestProcess } from '../support/harness.ts'
import { PostgresPair } from '../support/servers/postgres-pair.ts'
import { askPostgres } from '../support/servers/postgres-server.ts'
import { startPostgresProxy } from '../support/servers/postgres-proxy.ts'
import { startOurs } from '../support/servers/programs.ts'
import { environmentFor } from '../support/servers/service.ts'

// A standby is promoted although the primary still accepts writes: an asynchronous one, so that these would be lost.

const TERMINATE = `select pg_terminate_backend(pid) from pg_stat_activity
  where backend_type = 'client backend' and pid <> pg_backend_pid()`

let postgres: PostgresPair
const servers = useServers(undefined, async () => (postgres = await PostgresPair.start({ isSynchronous: false })))
let service: TestProcess

test.serial(
  'a process leaves the former primary, to which its connections are open, and tells that it runs',
  async (t) => {
    service = await servers().start()
    await newDomain(service.api, 'before.example')
    await postgres.awaitStandby()
    await postgres.promote()
    await eventuallyHas(() => service.output(), 'a standby has replaced Postgres')
    await eventuallyHas(() => service.output(), 'a former primary of Postgres still accepts writes')
    const { host } = new URL(postgres.urls.former)
    t.true(service.output().includes(`"servers":"${host}"`))
    await createsAtPrimary(service.api, 'after.example')
    // The test's own process learns which of the two is the former one: it runs no service that would.
    await formerPrimaries(servers().backends.databaseUrl)
    t.deepEqual(await formerPrimaries(servers().backends.databaseUrl), [host])
  },
)

test.serial('a new process, and a command, use the newer one of the two', async (t) => {
  for (let i = 0; i < depth(1, 5); i++) {
    const process = await servers().start()
    await createsAtPrimary(process.api, `new-${i}.example`)
    await process.kill()
    const { ended, output } = startOurs(['domain', 'list'], environmentFor(servers().backends))
    t.is(await ended, 0, output())
    t.true(output().includes(`new-${i}.example`))
  }
})

test.serial('new connections of a process never lead to the former primary, which comes back', async (t) => {
  await createsAtPrimary(service.api, 'connections.example')
  const path = '/domains/connections.example/rrsets/'
  succeeded(await service.api.post(path, rrset()), 201)
  for (let i = 0; i < depth(6, 20); i++) {
    if (i % 5 === 0) await postgres.restartFormer()
    await askPostgres(postgres.urls.primary, TERMINATE)
    const records = [`192.0.2.${i}`]
    await eventuallyIs(async () => (await service.api.put(`${path}www/A/`, rrset({ records }))).status, 200)
    t.deepEqual(await askPostgres(postgres.urls.primary, `select from rrsets where records = '{192.0.2.${i}}'`), [{}])
  }
  t.deepEqual(await askPostgres(postgres.urls.former, `select from domains where name = 'connections.example'`), [])
  t.deepEqual(await discrepanciesInTheEnd(servers()), [])
})

test.serial('behind one address, the former primary is refused, and the log says why', async (t) => {
  const proxy = await startPostgresProxy(postgres.urls.primary)
  t.teardown(() => proxy.close())
  const { api, output } = await servers().start({ DATABASE_URL: proxy.url })
  await createsAtPrimary(api, 'address.example')
  proxy.leadTo(postgres.urls.former)
  await eventuallyHas(output, 'the server is a former primary: it is on timeline 00000001, and 00000002')
  t.is((await api.get('/domains/')).status, 503)
  t.is((await api.post('/domains/', { name: 'refused.example' })).status, 503)
  proxy.leadTo(postgres.urls.primary)
  await eventuallyIs(async () => (await api.get('/domains/')).status, 200)
  await createsAtPrimary(api, 'again.example')
})

/** Creates a domain, which is then in the database of the primary, and not in that of the former one. */
async function createsAtPrimary(api: Client, name: string): Promise<void> {
  await eventuallyIs(async () => (await api.post('/domains/', { name })).status, 201)
  const sql = `select from domains where name = '${name}'`
  if ((await askPostgres(postgres.urls.primary, sql)).length !== 1) throw new Error(`${name} is not at the primary`)
  if ((await askPostgres(postgres.urls.former, sql)).length !== 0) throw new Error(`${name} is at the former primary`)
}
