import test, { type ExecutionContext } from 'ava'
import pLimit from 'p-limit'
import { query } from '../../src/store/database.ts'
import { createAccount } from '../support/clients/accounts.ts'
import { succeeded } from '../support/clients/api.ts'
import type { Answer, Client } from '../support/clients/client.ts'
import { discrepanciesOf } from '../support/dns/discrepancies.ts'
import { useServers, type OwnService } from '../support/harness.ts'
import type { Call, Fate } from '../support/servers/proxy.ts'

// Contract §2.3: however a call to PowerDNS fails, the write succeeds, or is answered 503 and changes nothing.

const servers = useServers()
let service: OwnService

test.serial.before('a service is started', async () => {
  service = await servers().serve()
})

const NOTHING_CHANGED = '{"detail":"The DNS backend is currently unavailable. Nothing was changed; please retry."}'

const fates: Record<string, Fate> = {
  'answers 500 without applying the request': { refuse: 500 },
  'answers 500 after applying the request': { spoil: 500 },
  'answers 422 after applying the request': { spoil: 422 },
  'refuses our credentials': { refuse: 401 },
  'is behind a gateway that answers 502': { refuse: 502 },
  'closes the connection without applying the request': 'cut',
  'closes the connection after applying the request': 'swallow',
  'closes the connection and applies the request later': { abandoned: 800 },
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
  /** Fates that do not make the operation fail. */
  harmless?: string[]
}

const patch: Row['call'] = ({ method, path }, name) => method === 'PATCH' && path === `/zones/${name}.`

// A test of its own covers 422 to a PATCH: PowerDNS refuses the content.
const CONTENT_REFUSAL = ['answers 422 after applying the request']

const rows: Row[] = [
  { what: 'the change of an RRset', act: change, success: 200, call: patch, harmless: CONTENT_REFUSAL },
  { what: 'a new RRset', act: add, success: 201, call: patch, harmless: CONTENT_REFUSAL },
  { what: 'the deletion of an RRset', act: erase, success: 204, call: patch, harmless: CONTENT_REFUSAL },
  {
    what: 'the creation of a domain (its zone)',
    act: create,
    success: 201,
    call: ({ method, body }, name) => method === 'POST' && body.includes(`"${name}."`),
  },
  {
    what: 'the creation of a domain (cache flush)',
    act: create,
    success: 201,
    call: ({ path }, name) => path === `/cache/flush?domain=${name}.`,
  },
  {
    what: 'the creation of a domain (its keys)',
    act: create,
    success: 201,
    call: ({ path }, name) => path === `/zones/${name}./cryptokeys`,
  },
  {
    what: 'the creation of a domain (its private key)',
    act: create,
    success: 201,
    call: ({ path }, name) => path.startsWith(`/zones/${name}./cryptokeys/`),
  },
  {
    what: 'the deletion of a domain',
    act: remove,
    success: 204,
    call: ({ method, path }, name) => method === 'DELETE' && path === `/zones/${name}.`,
    // The service repeats the request at once.
    harmless: Object.keys(fates).filter(
      (fate) => fate.startsWith('answers') || fate.startsWith('refuses') || fate.startsWith('is behind'),
    ),
  },
]

let number = 0

/** So many tests at once that the service need not let writes wait for their turn. */
const room = pLimit(8)

/** A test with an account of its own, when there is room. */
function testInTurn(title: string, work: (t: ExecutionContext, api: Client) => Promise<void>): void {
  test(title, (t) => room(async () => work(t, (await createAccount(servers().system, service.url)).api)))
}

/** Creates a domain with an RRset. */
async function prepare(api: Client, name: string): Promise<void> {
  succeeded(await create(api, name), 201)
  succeeded(await api.post(`/domains/${name}/rrsets/`, rrset('192.0.2.1')), 201)
}

for (const { what, act, success, call, harmless = [] } of rows) {
  for (const [how, fate] of Object.entries(fates)) {
    if (harmless.includes(how)) continue
    const title = `if PowerDNS ${how}, ${what} is answered 503, nothing is changed, and a retry succeeds`
    testInTurn(title, async (t, api) => {
      const name = `fails-${number++}.example`
      if (act !== create) await prepare(api, name)
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
      t.like(await act(api, name), { status: success })
      t.deepEqual(await discrepanciesOf(servers(), name), [])
    })

    testInTurn(`if PowerDNS ${how}, ${what} can be retried at once`, async (t, api) => {
      const name = `retried-${number++}.example`
      if (act !== create) await prepare(api, name)
      const stopped = servers().proxy.stop((sent) => call(sent, name))
      const answering = act(api, name)
      await stopped.arrived
      stopped.release(fate)
      t.is((await answering).status, 503)
      t.like(await act(api, name), { status: success })
      t.deepEqual(await discrepanciesOf(servers(), name), [])
    })
  }
}

testInTurn('if PowerDNS answers 500 to the deletion of a zone, the service repeats it at once', async (t, api) => {
  const name = 'repeated.example'
  await prepare(api, name)
  const stopped = servers().proxy.stop(({ method, path }) => method === 'DELETE' && path === `/zones/${name}.`)
  stopped.release({ refuse: 500 })
  t.is((await remove(api, name)).status, 204)
  t.deepEqual(await discrepanciesOf(servers(), name), [])
})

const REFUSAL =
  'if PowerDNS refuses an RRset, the answer is 400 with its reason, nothing is changed and no mark remains'
testInTurn(REFUSAL, async (t, api) => {
  const name = 'refused.example'
  await prepare(api, name)
  const before = await stored(name)
  servers()
    .proxy.stop((call) => patch(call, name))
    .release({ refuse: 422 })
  const answer = await change(api, name)
  t.is(answer.status, 400)
  t.is(answer.text, '{"non_field_errors":["The DNS backend refused this RRset: injected"]}')
  t.deepEqual(await query(servers().system.db, 'select from marks where zone = :name and not settled', { name }), [])
  t.is(await stored(name), before)
  t.deepEqual(await discrepanciesOf(servers(), name), [])
})

/** A domain and its RRsets in the database, without the version, which repair increments. */
async function stored(name: string): Promise<string> {
  const sql = `select domains.name, domains.published, domains.touched, rrsets.*
    from domains left join rrsets on domain_id = domains.id where name = :name order by subname, type`
  return JSON.stringify(await query(servers().system.db, sql, { name }))
}
