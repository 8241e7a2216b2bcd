import test from 'ava'
import { query } from '../../src/store/database.ts'
import { createAccount } from '../support/accounts.ts'
import type { Answer } from '../support/client.ts'
import { Client } from '../support/client.ts'
import { discrepanciesOf } from '../support/dns/discrepancies.ts'
import { useServers, type TestProcess } from '../support/harness.ts'
import type { Call, Fate } from '../support/servers/proxy.ts'

// Contract §2.3: whatever a call to PowerDNS comes to, the write is done and acknowledged, or 503 and nothing changed.

const servers = useServers()
let service: TestProcess

test.serial.before('a service is started', async () => {
  service = await servers().start()
})

const NOTHING_CHANGED = '{"detail":"The DNS backend is currently unavailable. Nothing was changed; please retry."}'

const fates: Record<string, Fate> = {
  'answers 500 without doing it': { refuse: 500 },
  'answers 500 after doing it': { spoil: 500 },
  'answers 422 after doing it': { spoil: 422 },
  'refuses our credentials': { refuse: 401 },
  'is behind a gateway that answers 502': { refuse: 502 },
  'closes the connection without doing it': 'cut',
  'closes the connection after doing it': 'swallow',
  'does it later, after the connection was closed': { abandoned: 800 },
}

const rrset = (...records: string[]) => ({ subname: 'www', type: 'A', ttl: 300, records })
const change = (api: Client, name: string) => api.put(`/domains/${name}/rrsets/www/A/`, rrset('192.0.2.2'))
const add = (api: Client, name: string) =>
  api.post(`/domains/${name}/rrsets/`, { ...rrset('192.0.2.3'), subname: 'a.b' })
const erase = (api: Client, name: string) => api.delete(`/domains/${name}/rrsets/www/A/`)
const create = (api: Client, name: string) => api.post('/domains/', { name })
const remove = (api: Client, name: string) => api.delete(`/domains/${name}/`)

interface Row {
  what: string
  act: (api: Client, name: string) => Promise<Answer>
  success: number
  /** Which call to PowerDNS fails. */
  call: (call: Call, name: string) => boolean
  /** Fates that are no failure of this call. */
  harmless?: string[]
}

const patch: Row['call'] = ({ method, path }, name) => method === 'PATCH' && path === `/zones/${name}.`

const rows: Row[] = [
  // 422 to a PATCH is a refusal of the content, and has a test of its own.
  { what: 'the change of an RRset', act: change, success: 200, call: patch, harmless: ['answers 422 after doing it'] },
  { what: 'a new RRset', act: add, success: 201, call: patch, harmless: ['answers 422 after doing it'] },
  { what: 'the deletion of an RRset', act: erase, success: 204, call: patch, harmless: ['answers 422 after doing it'] },
  {
    what: 'the creation of a domain',
    act: create,
    success: 201,
    call: ({ method, body }, name) => method === 'POST' && body.includes(`"${name}."`),
  },
  {
    what: 'a created zone’s flush',
    act: create,
    success: 201,
    call: ({ path }, name) => path === `/cache/flush?domain=${name}.`,
  },
  {
    what: 'a created zone’s keys',
    act: create,
    success: 201,
    call: ({ path }, name) => path === `/zones/${name}./cryptokeys`,
  },
  {
    what: 'the deletion of a domain',
    act: remove,
    success: 204,
    call: ({ method, path }, name) => method === 'DELETE' && path === `/zones/${name}.`,
    // These are repeated at once.
    harmless: Object.keys(fates).filter(
      (fate) => fate.startsWith('answers') || fate.startsWith('refuses') || fate.startsWith('is behind'),
    ),
  },
]

let number = 0

for (const { what, act, success, call, harmless = [] } of rows) {
  for (const [how, fate] of Object.entries(fates)) {
    if (harmless.includes(how)) continue
    test(`if PowerDNS ${how}, ${what} is answered 503, nothing is changed, and a retry succeeds`, async (t) => {
      const name = `fails-${number++}.example`
      const { api } = await createAccount(servers().system, service.url)
      if (act !== create) {
        t.is((await create(api, name)).status, 201)
        t.is((await api.post(`/domains/${name}/rrsets/`, rrset('192.0.2.1'))).status, 201)
      }
      const before = await stored(name)
      const stopped = servers().proxy.stop((sent) => call(sent, name))
      const answering = act(api, name)
      await stopped.arrived
      stopped.release(fate)
      const answer = await answering
      t.is(answer.status, 503)
      t.is(answer.text, NOTHING_CHANGED)
      t.is(answer.headers['retry-after'], '5')
      t.is(await stored(name), before)
      t.deepEqual(await discrepanciesOf(servers(), name), [])
      t.is(await stored(name), before)
      t.is((await act(api, name)).status, success)
      t.deepEqual(await discrepanciesOf(servers(), name), [])
    })

    test(`if PowerDNS ${how}, ${what} may be retried at once`, async (t) => {
      const name = `retried-${number++}.example`
      const { api } = await createAccount(servers().system, service.url)
      if (act !== create) {
        t.is((await create(api, name)).status, 201)
        t.is((await api.post(`/domains/${name}/rrsets/`, rrset('192.0.2.1'))).status, 201)
      }
      const stopped = servers().proxy.stop((sent) => call(sent, name))
      const answering = act(api, name)
      await stopped.arrived
      stopped.release(fate)
      t.is((await answering).status, 503)
      t.is((await act(api, name)).status, success)
      t.deepEqual(await discrepanciesOf(servers(), name), [])
    })
  }
}

test('a deletion that PowerDNS answers with 500 is repeated at once', async (t) => {
  const name = 'repeated.example'
  const { api } = await createAccount(servers().system, service.url)
  await create(api, name)
  const stopped = servers().proxy.stop(({ method, path }) => method === 'DELETE' && path === `/zones/${name}.`)
  stopped.release({ refuse: 500 })
  t.is((await remove(api, name)).status, 204)
  t.deepEqual(await discrepanciesOf(servers(), name), [])
})

test('if PowerDNS refuses an RRset, the answer is 400 with its reason, nothing is changed and no mark is left', async (t) => {
  const name = 'refused.example'
  const { api } = await createAccount(servers().system, service.url)
  await create(api, name)
  await api.post(`/domains/${name}/rrsets/`, rrset('192.0.2.1'))
  const before = await stored(name)
  servers()
    .proxy.stop((call) => patch(call, name))
    .release({ refuse: 422 })
  const answer = await change(api, name)
  t.is(answer.status, 400)
  t.is(answer.text, '{"non_field_errors":["The DNS backend refused this RRset: injected"]}')
  t.deepEqual(await query(servers().system.db, 'select from marks where zone = :name', { name }), [])
  t.is(await stored(name), before)
  t.deepEqual(await discrepanciesOf(servers(), name), [])
})

/** Everything that is stored under a name, save the version, which repair moves. */
async function stored(name: string): Promise<string> {
  const sql = `select domains.name, domains.published, domains.touched, rrsets.*
    from domains left join rrsets on domain_id = domains.id where name = :name order by subname, type`
  return JSON.stringify(await query(servers().system.db, sql, { name }))
}
