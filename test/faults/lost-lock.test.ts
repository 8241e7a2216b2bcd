import pg from 'pg'
import { query } from '../../src/store/database.ts'
import { newDomainWithWww } from '../support/clients/api.ts'
import { discrepanciesOf } from '../support/dns/discrepancies.ts'
import { eventually, eventuallyIs } from '../support/eventually.ts'
import { useServers, type OwnService } from '../support/harness.ts'
import { test } from '../support/serial.ts'
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

const rrset = (address: string) => ({ subname: 'www', type: 'A', ttl: 300, records: [address] })

/** Breaks the connection of the open transaction; and of a repair of another zone, if one runs. */
async function breakTransaction(): Promise<void> {
  if ((await breakTransactions(servers())) === 0) throw new Error('no transaction was open')
}

async function isUnmarked(zone: string): Promise<boolean> {
  return (
    (await query(servers().system.db, 'select from marks where zone = :zone and not settled', { zone })).length === 0
  )
}

test('a creation that lost its lock during the push is answered 503 and leaves no zone', async (t) => {
  const { api } = first
  const name = 'lost-creation.example'
  const push = servers().proxy.stop(({ method }) => method === 'POST')
  const answering = api.post('/domains/', { name })
  await push.arrived
  await breakTransaction()
  await eventually(() => isUnmarked(name))
  push.release('pass')
  t.is((await answering).status, 503)
  t.deepEqual(await discrepanciesOf(servers(), name), [])
  t.is((await api.post('/domains/', { name })).status, 201)
  t.deepEqual(await discrepanciesOf(servers(), name), [])
})

test('a write that lost its lock during the push is answered 503, and a later write prevails', async (t) => {
  const name = 'lost-write.example'
  await newDomainWithWww(first.api, name)
  const push = servers().proxy.stop(({ method }) => method === 'PATCH')
  const answering = first.api.put(`/domains/${name}/rrsets/www/A/`, rrset('192.0.2.2'))
  await push.arrived
  await breakTransaction()
  await eventually(() => isUnmarked(name))
  t.is((await second.api.put(`/domains/${name}/rrsets/www/A/`, rrset('192.0.2.3'))).status, 200)
  push.release('pass')
  t.is((await answering).status, 503)
  t.deepEqual(await discrepanciesOf(servers(), name), [])
  t.like((await second.api.get(`/domains/${name}/rrsets/www/A/`)).json, { records: ['192.0.2.3'] })
})

test('a write that lost its lock does not delete the mark of another write', async (t) => {
  const name = 'claimed.example'
  await newDomainWithWww(first.api, name)
  const isPatch = ({ method }: { method: string }) => method === 'PATCH'
  const lost = servers().proxy.stop(isPatch)
  const losing = first.api.put(`/domains/${name}/rrsets/www/A/`, rrset('192.0.2.2'))
  await lost.arrived
  await breakTransaction()
  const taken = servers().proxy.stop(isPatch)
  const taking = second.api.put(`/domains/${name}/rrsets/www/A/`, rrset('192.0.2.3'))
  await taken.arrived
  // PowerDNS applies the late push, but its sender gets 422.
  lost.release({ spoil: 422 })
  t.is((await losing).status, 400)
  t.false(await isUnmarked(name))
  taken.release('swallow')
  t.is((await taking).status, 503)
  t.deepEqual(await discrepanciesOf(servers(), name), [])
  t.like((await second.api.get(`/domains/${name}/rrsets/www/A/`)).json, { records: ['192.0.2.1'] })
})

test('a deletion that lost its lock during the push is answered 503, and the zone is restored', async (t) => {
  const { api } = first
  const name = 'lost-deletion.example'
  await newDomainWithWww(api, name)
  const push = servers().proxy.stop(({ method }) => method === 'DELETE')
  const answering = api.delete(`/domains/${name}/`)
  await push.arrived
  await breakTransaction()
  await eventually(() => isUnmarked(name))
  push.release('pass')
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
  const marking = async () =>
    query<{ pid: number }>(
      servers().system.db,
      `select pid from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()
       and starts_with(query, 'insert into marks')`,
    )
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
  const isPatch = ({ method }: { method: string }) => method === 'PATCH'
  const write = servers().proxy.stop(isPatch)
  const failing = api.post(`/domains/${name}/rrsets/`, rrset('192.0.2.1'))
  await write.arrived
  const repair = servers().proxy.stop(isPatch)
  write.release('swallow')
  t.is((await failing).status, 503)
  await repair.arrived
  const other = new pg.Client(servers().backends.databaseUrl)
  await other.connect()
  await other.query('begin; lock table marks in share mode')
  repair.release({ refuse: 422 })
  const keeping = async () =>
    query(
      servers().system.db,
      `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()
       and starts_with(query, 'insert into marks')`,
    )
  await eventuallyIs(async () => (await keeping()).length, 1)
  await t.throwsAsync(other.query('select from domains where name = $1 for update nowait', [name]), {
    message: /could not obtain lock/,
  })
  await other.end()
  t.deepEqual(await discrepanciesOf(servers(), name), [])
})
