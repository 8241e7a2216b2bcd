import test, { type ExecutionContext } from 'ava'
import pLimit from 'p-limit'
import { query } from '../../src/store/database.ts'
import { createAccount } from '../support/clients/accounts.ts'
import { newDomainWithWww } from '../support/clients/api.ts'
import type { Answer, Client } from '../support/clients/client.ts'
import { discrepanciesOf } from '../support/dns/discrepancies.ts'
import { useServed, useServers } from '../support/harness.ts'
import { type Call, type Fate, toZone } from '../support/servers/proxy.ts'

// Contract §2.3: however a call to PowerDNS fails, the write succeeds, or is answered 503 and changes nothing.

const servers = useServers()
const service = useServed(servers)

const NOT_MADE =
  '{"detail":"The DNS backend is currently unavailable. The change was not made, but DNS can show it for a moment; please retry."}'

const fates: Record<string, Fate> = {
  'answers 500 without applying the request': { refuse: 500 },
  'answers 500 after applying the request': { spoil: 500 },
  'answers 422 after applying the request': { spoil: 422 },
  'refuses our credentials': { refuse: 401 },
  'is behind a gateway that answers 502': { refuse: 502 },
  'is behind a gateway that answers 500 and delivers later': { gateway: 500, later: 800 },
  'is behind a gateway that answers 504 and delivers later': { gateway: 504, later: 800 },
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
/** A domain exists with all RRsets of a zone file or not at all. */
const RRSETS = 20
const zonefile = Array.from({ length: RRSETS }, (_, i) => `h${i} 300 TXT ${i}\n`).join('')
const importAll = (api: Client, name: string) => api.post('/domains/', { name, zonefile })
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

const patch = toZone('PATCH')

// 422 to contents means that PowerDNS refuses them: test/api/domains/backend-refusal.test.ts and zonefile-import.test.ts.
const CONTENT_REFUSAL = ['answers 422 after applying the request']

/** The calls that create a domain, in order. */
const CREATION: [which: string, call: Row['call']][] = [
  ['its zone', ({ method, body }, name) => method === 'POST' && body.includes(`"${name}."`)],
  ['cache flush', ({ path }, name) => path === `/cache/flush?domain=${name}.`],
  ['its keys', ({ path }, name) => path === `/zones/${name}./cryptokeys`],
  ['its private key', ({ path }, name) => path.startsWith(`/zones/${name}./cryptokeys/`)],
]

const rows: Row[] = [
  { what: 'the change of an RRset', act: change, success: 200, call: patch, harmless: CONTENT_REFUSAL },
  { what: 'a new RRset', act: add, success: 201, call: patch, harmless: CONTENT_REFUSAL },
  { what: 'the deletion of an RRset', act: erase, success: 204, call: patch, harmless: CONTENT_REFUSAL },
  ...CREATION.flatMap(([which, call]): Row[] => [
    { what: `the creation of a domain (${which})`, act: create, success: 201, call },
    { what: `the import of a domain (${which})`, act: importAll, success: 201, call, harmless: CONTENT_REFUSAL },
  ]),
  {
    what: 'the deletion of a domain',
    act: remove,
    success: 204,
    call: toZone('DELETE'),
    // The service repeats the request at once.
    harmless: Object.keys(fates).filter((fate) => fate.startsWith('answers') || fate.startsWith('refuses')),
  },
]

/** Acts again; on a busy machine, also while a repair has the zone's lock for longer than a write waits for it. */
async function actAgain(act: Row['act'], api: Client, name: string): Promise<Answer> {
  for (let left = 10; ; left--) {
    const answer = await act(api, name)
    if (left === 0 || answer.status !== 503 || !answer.text.includes('Nothing was changed')) return answer
  }
}

let number = 0

/** So many tests at once that the service need not let writes wait for their turn. */
const room = pLimit(8)

/** A test with an account of its own, when there is room. */
function testInTurn(title: string, work: (t: ExecutionContext, api: Client) => Promise<void>): void {
  test(title, (t) => room(async () => work(t, (await createAccount(servers().system, service().url)).api)))
}

for (const { what, act, success, call, harmless = [] } of rows) {
  for (const [how, fate] of Object.entries(fates)) {
    if (harmless.includes(how)) continue
    const title = `if PowerDNS ${how}, ${what} is answered 503, nothing is changed, and a retry succeeds`
    testInTurn(title, async (t, api) => {
      const name = `fails-${number++}.example`
      if (act !== create && act !== importAll) await newDomainWithWww(api, name)
      const before = await stored(name)
      const stopped = servers().proxy.stop((sent) => call(sent, name))
      const answering = act(api, name)
      await stopped.arrived
      stopped.release(fate)
      const answer = await answering
      t.is(answer.status, 503)
      t.is(answer.text, NOT_MADE)
      t.is(answer.headers['retry-after'], '5')
      t.is(await stored(name), before)
      t.deepEqual(await discrepanciesOf(servers(), name), [])
      t.is(await stored(name), before)
      t.like(await actAgain(act, api, name), { status: success })
      if (act === importAll) t.is((JSON.parse(await stored(name)) as unknown[]).length, RRSETS + 1)
      t.deepEqual(await discrepanciesOf(servers(), name), [])
    })

    testInTurn(`if PowerDNS ${how}, ${what} can be retried at once`, async (t, api) => {
      const name = `retried-${number++}.example`
      if (act !== create && act !== importAll) await newDomainWithWww(api, name)
      const stopped = servers().proxy.stop((sent) => call(sent, name))
      const answering = act(api, name)
      await stopped.arrived
      stopped.release(fate)
      t.is((await answering).status, 503)
      t.like(await actAgain(act, api, name), { status: success })
      t.deepEqual(await discrepanciesOf(servers(), name), [])
    })
  }
}

testInTurn('if PowerDNS answers 500 to the deletion of a zone, the service repeats it at once', async (t, api) => {
  const name = 'repeated.example'
  await newDomainWithWww(api, name)
  const stopped = servers().proxy.stop((call) => toZone('DELETE')(call, name))
  stopped.release({ refuse: 500 })
  t.is((await remove(api, name)).status, 204)
  t.deepEqual(await discrepanciesOf(servers(), name), [])
})

/** A domain and its RRsets in the database, without the version, which repair increments. */
async function stored(name: string): Promise<string> {
  const sql = `select domains.name, domains.published, domains.touched, rrsets.*
    from domains left join rrsets on domain_id = domains.id where name = :name order by subname, type`
  return JSON.stringify(await query(servers().system.db, sql, { name }))
}
