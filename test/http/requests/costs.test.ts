import { Socket as Datagrams } from 'node:dgram'
import type { Account } from '../../support/clients/accounts.ts'
import { freshName, newDomain, newRRset, newZone, rrset, succeeded } from '../../support/clients/api.ts'
import type { Answer, Client } from '../../support/clients/client.ts'
import { update } from '../../support/clients/dyndns.ts'
import { amend, amendment, doorOf, ZONES } from '../../support/clients/powerdns.ts'
import { addPolicies, addToken } from '../../support/clients/tokens.ts'
import { useService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'
import { packetsOf, statementsOf } from '../../support/statements.ts'

// What each kind of request costs behind the service: exact numbers, so that a review sees each change of them.

const service = useService()

/** Runs `send`, and returns the numbers of statements, of packets to Postgres, and of requests and queries to PowerDNS. */
async function costsOf(send: () => Promise<unknown>): Promise<number[]> {
  const { proxy } = service()
  const datagrams = Datagrams.prototype as unknown as { send: (...args: unknown[]) => void }
  const { send: sendDatagram } = datagrams
  let queries = 0
  datagrams.send = function counted(...args) {
    queries++
    sendDatagram.apply(this, args)
  }
  const calls = proxy.calls.length
  let packets = 0
  try {
    const statements = await statementsOf(async () => {
      packets = await packetsOf(send)
    })
    return [statements.length, packets, proxy.calls.length - calls, queries]
  } finally {
    datagrams.send = sendDatagram
  }
}

interface Place {
  account: Account
  domain: string
  api: Client
  /** A client with a restricted token. */
  restricted: Client
  door: Client
}

let place: Place
let count = 0
/** A number that no request had yet. */
const next = () => ++count

test.before('a domain', async () => {
  const { account, domain, api } = await newZone(service(), rrset({ subname: 'www' }), rrset({ subname: 'same' }))
  const { api: restricted, id } = await addToken(service(), account.id)
  await addPolicies(service(), id, { write: false }, { domain, pattern: '*', write: true })
  place = { account, domain, api, restricted, door: doorOf(account) }
})

const path = (rest = '') => `/domains/${place.domain}/rrsets/${rest}`
const records = () => [`192.0.2.${next()}`]
const ten = () => Array.from({ length: 10 }, (_, i) => rrset({ subname: `n${i}`, records: records() }))
const amended = () => amendment(place.domain, { records: records().map((content) => ({ content, disabled: false })) })

/** What one of each sends: SQL statements, packets to Postgres, requests and queries to PowerDNS. */
const ROWS: [title: string, send: () => Promise<Answer>, costs: [number, number, number, number]][] = [
  ['the index', () => place.api.get('/'), [1, 1, 0, 0]],
  ['GET of an RRset', () => place.api.get(path('www/A/')), [3, 2, 0, 0]],
  ['GET of all RRsets', () => place.api.get(path()), [3, 2, 0, 0]],
  ['GET of a zone file', () => place.api.get(`/domains/${place.domain}/zonefile/`), [7, 2, 0, 0]],
  ['PATCH of a domain', () => place.api.patch(`/domains/${place.domain}/`, { note: `${next()}` }), [12, 5, 0, 0]],
  ['GET of the domains', () => place.api.get('/domains/'), [2, 2, 0, 0]],
  ['POST of an RRset', () => place.api.post(path(), rrset({ subname: `p${next()}` })), [14, 5, 1, 1]],
  ['PATCH of an RRset', () => place.api.patch(path('www/A/'), { records: records() }), [14, 5, 1, 1]],
  ['PATCH by a restricted token', () => place.restricted.patch(path('www/A/'), { records: records() }), [15, 5, 1, 1]],
  ['PATCH without effect', () => place.api.patch(path('same/A/'), { ttl: 3600 }), [12, 4, 0, 0]],
  ['PATCH of ten RRsets', () => place.api.patch(path(), ten()), [14, 5, 1, 1]],
  [
    'dynDNS',
    () => update(place.api, { hostname: place.domain, myip: `192.0.2.${next()}`, myipv6: 'preserve' }),
    [14, 6, 1, 1],
  ],
  ['PATCH at PowerDNS’ API', () => amend(place.door, `${ZONES}/${place.domain}.`, amended()), [14, 5, 1, 1]],
  ['POST of a domain', () => place.api.post('/domains/', { name: freshName() }), [21, 7, 5, 0]],
]

for (const [title, send, costs] of ROWS) {
  test(`${title} sends as much as the table says`, async (t) => {
    const measured = async () => costsOf(async () => t.true((await send()).status < 300))
    // The first one opens connections.
    await measured()
    const all: number[][] = []
    while (all.length < 5) all.push(await measured())
    // Where the machine is busy, packets can be sent together, and the service's own loops come in between.
    const medians = costs.map((_, i) => all.map((each) => each[i]!).sort((a, b) => a - b)[2])
    t.deepEqual(medians, costs, JSON.stringify(all))
  })
}

test('DELETE of an RRset, and of a domain, sends as much each time', async (t) => {
  const { api } = place
  const deleted = async (target: string) => costsOf(async () => succeeded(await api.delete(target), 204))
  await newRRset(api, place.domain, { subname: 'gone' })
  // Whether its name is still there decides about the proofs of its absence.
  t.deepEqual(await deleted(path('gone/A/')), [15, 6, 1, 1])
  t.deepEqual(await deleted(`/domains/${await newDomain(api)}/`), [15, 8, 1, 0])
})
