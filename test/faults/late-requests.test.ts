import test, { type ExecutionContext } from 'ava'
import { setTimeout as sleep } from 'node:timers/promises'
import { IDLE_TIMEOUT } from '../../src/limits.ts'
import { query } from '../../src/store/database.ts'
import { startWithCaches } from '../support/caches.ts'
import { discrepanciesOf } from '../support/dns/discrepancies.ts'
import { eventually, eventuallyIs } from '../support/eventually.ts'
import { useServers, type TestProcess } from '../support/harness.ts'
import type { Call } from '../support/servers/proxy.ts'
import { breakTransactions } from '../support/transactions.ts'

// A request reaches PowerDNS after its sender has lost the zone's lock, or the sender stands still (architecture.md, "The
// mark before the push"). No process compares all serials during these tests: that happens at a start and every ten minutes.

const servers = useServers()

test.afterEach.always(() => servers().killServices())

const rrset = (address: string, subname = 'www') => ({ subname, type: 'A', ttl: 300, records: [address] })
const isPatch = ({ method }: Call) => method === 'PATCH'
const isCreation = ({ method }: Call) => method === 'POST'
/** The question for the zone's serial, before its change is sent, by a service that asks the API. */
const isQuestion = ({ method, path }: Call) => method === 'GET' && path.startsWith('/zones?zone=')

async function twoServices(name: string, start: () => Promise<TestProcess> = () => servers().start()) {
  const services = [await start(), await servers().start()] as const
  await services[1].api.post('/domains/', { name })
  await services[1].api.post(`/domains/${name}/rrsets/`, rrset('192.0.2.1'))
  return services
}

/** A change that is held up on its way, while its sender was killed and another service has written 192.0.2.3. */
async function overtaken(t: ExecutionContext, name: string) {
  const [first, second] = await twoServices(name)
  const push = servers().proxy.stop(isPatch)
  const answering = first.api.put(`/domains/${name}/rrsets/www/A/`, rrset('192.0.2.2')).catch(() => undefined)
  const late = await push.arrived
  await first.kill()
  await answering
  t.is((await second.api.put(`/domains/${name}/rrsets/www/A/`, rrset('192.0.2.3'))).status, 200)
  return { second, push, late }
}

async function marksOf(zone: string): Promise<{ settled: boolean }[]> {
  return query(servers().system.db, 'select settled from marks where zone = :zone', { zone })
}

/** The address of `www` at PowerDNS. */
async function served(name: string): Promise<string | undefined> {
  const path = `/zones/${name}.?rrset_name=www.${name}.&rrset_type=A`
  const { rrsets } = (await servers().pdns('GET', path)).json as { rrsets: { records: { content: string }[] }[] }
  return rrsets[0]?.records[0]?.content
}

/** The status of PowerDNS' answer to a call, once it has applied it. */
async function statusOf(call: Call): Promise<number | undefined> {
  await eventually(() => call.status)
  return call.status
}

test.serial('a change that arrives after a later write is found and undone within seconds', async (t) => {
  const name = 'late-change.example'
  const { late, push } = await overtaken(t, name)
  t.deepEqual(await marksOf(name), [{ settled: true }])
  push.release('pass')
  t.is(await statusOf(late), 204)
  await eventuallyIs(() => served(name), '192.0.2.3')
  t.deepEqual(await discrepanciesOf(servers(), name), [])
  await eventuallyIs(async () => (await marksOf(name)).length, 0)
})

test.serial('writes while late requests are expected send only their changes', async (t) => {
  const name = 'expected.example'
  const { second, push } = await overtaken(t, name)
  servers().proxy.calls.length = 0
  t.is((await second.api.post(`/domains/${name}/rrsets/`, rrset('192.0.2.4', 'other'))).status, 201)
  const [patch, ...more] = servers().proxy.calls.filter(isPatch)
  t.deepEqual(more, [])
  const { rrsets } = JSON.parse(patch!.body) as { rrsets: { name: string; type: string }[] }
  t.deepEqual(
    rrsets.map(({ name, type }) => `${name} ${type}`),
    [`other.${name}. A`, `${name}. SOA`],
  )
  t.deepEqual(await marksOf(name), [{ settled: true }])
  push.release('cut')
  t.deepEqual(await discrepanciesOf(servers(), name), [])
})

test.serial('a creation that arrives after its repair leaves no zone', async (t) => {
  const name = 'late-creation.example'
  const [first] = [await servers().start(), await servers().start()]
  const push = servers().proxy.stop(isCreation)
  const answering = first.api.post('/domains/', { name }).catch(() => undefined)
  const late = await push.arrived
  await first.kill()
  await answering
  await eventuallyIs(async () => (await marksOf(name))[0]?.settled, true)
  push.release('pass')
  t.is(await statusOf(late), 201)
  await eventuallyIs(async () => (await servers().pdns('GET', `/zones/${name}.`)).status, 404)
  t.deepEqual(await discrepanciesOf(servers(), name), [])
})

test.serial('a write does not hide a change that was applied unseen: it publishes the whole zone', async (t) => {
  const name = 'unseen.example'
  const [, second] = await twoServices(name)
  const content = `ns1.zoneplane.test. hostmaster.${name}. 1 3600 600 1209600 3600`
  const changes = [
    { name: `www.${name}.`, type: 'A', ttl: 300, records: [{ content: '192.0.2.99', disabled: false }] },
    { name: `${name}.`, type: 'SOA', ttl: 300, records: [{ content, disabled: false }] },
  ].map((change) => ({ ...change, changetype: 'REPLACE' }))
  await servers().pdns('PATCH', `/zones/${name}.`, { rrsets: changes })
  t.is(await served(name), '192.0.2.99')
  t.is((await second.api.post(`/domains/${name}/rrsets/`, rrset('192.0.2.4', 'other'))).status, 201)
  t.is(await served(name), '192.0.2.1')
  t.deepEqual(await discrepanciesOf(servers(), name), [])
})

test.serial('a process that stood still sends nothing after another has taken over', async (t) => {
  const name = 'stood-still.example'
  const [first, second] = await twoServices(name, () => startWithCaches(servers()))
  const question = servers().proxy.stop(isQuestion)
  const answering = first.api.put(`/domains/${name}/rrsets/www/A/`, rrset('192.0.2.2'))
  await question.arrived
  first.signal('SIGSTOP')
  await breakTransactions(servers())
  t.is((await second.api.put(`/domains/${name}/rrsets/www/A/`, rrset('192.0.2.3'))).status, 200)
  servers().proxy.calls.length = 0
  question.release('pass')
  await sleep(1_000)
  first.signal('SIGCONT')
  t.is((await answering).status, 503)
  t.deepEqual(servers().proxy.calls.filter(isPatch), [])
  t.is(await served(name), '192.0.2.3')
  t.deepEqual(await discrepanciesOf(servers(), name), [])
})

test.serial('a process that stands still loses the zone to others after IDLE_TIMEOUT', async (t) => {
  const name = 'stands-still.example'
  const [first, second] = await twoServices(name)
  const push = servers().proxy.stop(isPatch)
  const answering = first.api.put(`/domains/${name}/rrsets/www/A/`, rrset('192.0.2.2'))
  await push.arrived
  first.signal('SIGSTOP')
  const write = () => second.api.put(`/domains/${name}/rrsets/www/A/`, rrset('192.0.2.3'))
  t.is((await write()).status, 503)
  await eventuallyIs(async () => (await write()).status, 200)
  push.release('cut')
  first.signal('SIGCONT')
  t.is((await answering).status, 503)
  t.is(await served(name), '192.0.2.3')
  t.deepEqual(await discrepanciesOf(servers(), name), [])
})

test.serial('a push may take longer than IDLE_TIMEOUT', async (t) => {
  const name = 'long-push.example'
  const [first] = await twoServices(name)
  const push = servers().proxy.stop(isPatch)
  // PowerDNS has more time for many RRsets.
  const many = Array.from({ length: 2_000 }, (_, i) => rrset('192.0.2.2', `n${i}`))
  const answering = first.api.patch(`/domains/${name}/rrsets/`, many)
  await push.arrived
  await sleep(IDLE_TIMEOUT + 3_000)
  push.release('pass')
  t.is((await answering).status, 200)
  t.deepEqual(await discrepanciesOf(servers(), name), [])
})

test.serial('deleting a domain whose creation failed waits until nothing of it is served', async (t) => {
  const name = 'failed-creation.example'
  const { api } = await servers().start()
  const push = servers().proxy.stop(isCreation)
  const answering = api.post('/domains/', { name })
  await push.arrived
  push.release({ spoil: 500 })
  // Repair meets a failure, so the zone stays.
  servers().proxy.fail(({ method }) => (method === 'DELETE' ? { refuse: 500 } : 'pass'))
  t.is((await answering).status, 503)
  t.is((await servers().pdns('GET', `/zones/${name}.`)).status, 200)
  t.is((await api.delete(`/domains/${name}/`)).status, 503)
  servers().proxy.heal()
  t.is((await api.delete(`/domains/${name}/`)).status, 204)
  t.is((await servers().pdns('GET', `/zones/${name}.`)).status, 404)
})
