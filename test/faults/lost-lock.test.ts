import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { CLAIM_LIFETIME } from '../../src/limits.ts'
import { query } from '../../src/store/database.ts'
import { newDomainWithWww, newRRset, rrset, sendHeld } from '../support/clients/api.ts'
import { discrepanciesOf } from '../support/dns/discrepancies.ts'
import { eventually, eventuallyIs } from '../support/eventually.ts'
import { type OwnService, useServers } from '../support/harness.ts'
import { test } from '../support/serial.ts'
import { unrepaired } from '../support/state/marks.ts'
import { breakTransactions } from '../support/state/transactions.ts'

// The transaction's connection to Postgres breaks during the push, which releases the domain's lock without the process
// noticing. Repair then deletes the mark. Only after that PowerDNS applies the push.

const servers = useServers()

let first: OwnService
let second: OwnService

test.before('two services are started', async () => {
  first = await servers().serve()
  second = await servers().serve()
})

const write = ({ api }: OwnService, name: string, address: string) =>
  api.put(`/domains/${name}/rrsets/www/A/`, rrset({ records: [address] }))

/** Breaks the connection of the open transaction; and of a repair of another zone, if one runs. */
async function breakTransaction(): Promise<void> {
  if ((await breakTransactions(servers())) === 0) throw new Error('no transaction was open')
}

/** The sessions that wait because they set a mark. */
function marking(): Promise<{ pid: number }[]> {
  const sql = `select pid from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()
    and starts_with(query, 'insert into marks')`
  return query(servers().system.db, sql)
}

test('a creation that lost its lock during the push is answered 503 and leaves no zone', async (t) => {
  const { api } = first
  const name = 'lost-creation.example'
  const { answering, release } = await sendHeld(servers(), 'POST', () => api.post('/domains/', { name }))
  await breakTransaction()
  await eventuallyIs(() => unrepaired(servers(), name), [])
  release('pass')
  t.is((await answering).status, 503)
  t.deepEqual(await discrepanciesOf(servers(), name), [])
  t.is((await api.post('/domains/', { name })).status, 201)
  t.deepEqual(await discrepanciesOf(servers(), name), [])
})

test('a write that lost its lock during the push is answered 503, and a later write prevails', async (t) => {
  const name = 'lost-write.example'
  await newDomainWithWww(first.api, name)
  const { answering, release } = await sendHeld(servers(), 'PATCH', () => write(first, name, '192.0.2.2'))
  await breakTransaction()
  await eventuallyIs(() => unrepaired(servers(), name), [])
  t.is((await write(second, name, '192.0.2.3')).status, 200)
  release('pass')
  t.is((await answering).status, 503)
  t.deepEqual(await discrepanciesOf(servers(), name), [])
  t.like((await second.api.get(`/domains/${name}/rrsets/www/A/`)).json, { records: ['192.0.2.3'] })
})

test('a write that lost its lock does not delete the mark of another write', async (t) => {
  const name = 'claimed.example'
  await newDomainWithWww(first.api, name)
  const losing = await sendHeld(servers(), 'PATCH', () => write(first, name, '192.0.2.2'))
  await breakTransaction()
  const taking = await sendHeld(servers(), 'PATCH', () => write(second, name, '192.0.2.3'))
  // PowerDNS applies the late push, but its sender gets 422.
  losing.release({ spoil: 422 })
  t.is((await losing.answering).status, 400)
  t.deepEqual(await unrepaired(servers(), name), [name])
  taking.release('swallow')
  t.is((await taking.answering).status, 503)
  t.deepEqual(await discrepanciesOf(servers(), name), [])
  t.like((await second.api.get(`/domains/${name}/rrsets/www/A/`)).json, { records: ['192.0.2.1'] })
})

test('a write that lost its lock while it waited for a connection to PowerDNS sends nothing', async (t) => {
  const [name, other] = ['waiting.example', 'busy.example']
  const busy = await servers().serve({ PDNS_CONNECTIONS: '1' })
  for (const each of [name, other]) await newDomainWithWww(busy.api, each)
  const holding = await sendHeld(servers(), 'PATCH', () => write(busy, other, '192.0.2.2'))
  const answering = write(busy, name, '192.0.2.2')
  await eventuallyIs(() => unrepaired(servers(), name), [name])
  await eventually(() => busy.system.nameserver.load.waiting > 0)
  await breakTransaction()
  t.is((await write(second, name, '192.0.2.3')).status, 200)
  await sleep(CLAIM_LIFETIME)
  servers().proxy.calls.length = 0
  holding.release('pass')
  t.is((await answering).status, 503)
  t.is((await holding.answering).status, 503)
  t.false(servers().proxy.calls.some(({ method, path }) => method === 'PATCH' && path === `/zones/${name}.`))
  for (const each of [name, other]) t.deepEqual(await discrepanciesOf(servers(), each), [])
  t.like((await second.api.get(`/domains/${name}/rrsets/www/A/`)).json, { records: ['192.0.2.3'] })
})

test('a deletion that lost its lock during the push is answered 503, and the zone is restored', async (t) => {
  const { api } = first
  const name = 'lost-deletion.example'
  await newDomainWithWww(api, name)
  const { answering, release } = await sendHeld(servers(), 'DELETE', () => api.delete(`/domains/${name}/`))
  await breakTransaction()
  await eventuallyIs(() => unrepaired(servers(), name), [])
  release('pass')
  t.is((await answering).status, 503)
  t.deepEqual(await discrepanciesOf(servers(), name), [])
  t.is((await api.get(`/domains/${name}/rrsets/www/A/`)).status, 200)
})

test('if the mark cannot be set, the whole write is rolled back', async (t) => {
  const { api } = first
  const name = 'unmarkable.example'
  await newDomainWithWww(api, name)
  const other = new pg.Client(servers().backends.databaseUrl)
  await other.connect()
  // The insert of the mark waits. Then its connection breaks.
  await other.query('begin; lock table marks in share mode')
  const answering = api.delete(`/domains/${name}/rrsets/www/A/`)
  await eventuallyIs(async () => (await marking()).length, 1)
  for (const { pid } of await marking()) await query(servers().system.db, 'select pg_terminate_backend(:pid)', { pid })
  await eventuallyIs(async () => (await marking()).length, 0)
  await other.query('rollback')
  await other.end()
  t.is((await answering).status, 503)
  t.deepEqual(await discrepanciesOf(servers(), name), [])
  t.is((await api.get(`/domains/${name}/rrsets/www/A/`)).status, 200)
})

test('a repair that fails keeps the mark before it releases the lock, so that no write loses its claim', async (t) => {
  const { api } = first
  const name = 'unrepaired.example'
  await api.post('/domains/', { name })
  const failing = await sendHeld(servers(), 'PATCH', () => newRRset(api, name))
  const repair = servers().proxy.stop(({ method }) => method === 'PATCH')
  failing.release('swallow')
  await t.throwsAsync(failing.answering, { message: /^503 / })
  await repair.arrived
  const other = new pg.Client(servers().backends.databaseUrl)
  await other.connect()
  await other.query('begin; lock table marks in share mode')
  repair.release({ refuse: 422 })
  await eventuallyIs(async () => (await marking()).length, 1)
  await t.throwsAsync(other.query('select from domains where name = $1 for update nowait', [name]), {
    message: /could not obtain lock/,
  })
  await other.end()
  t.deepEqual(await discrepanciesOf(servers(), name), [])
})
