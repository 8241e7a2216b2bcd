import {
  callsFor,
  domainOf,
  newDomain,
  newRRset,
  rrset,
  type ShownRRset,
  succeeded,
} from '../../support/clients/api.ts'
import type { Answer, Client } from '../../support/clients/client.ts'
import { useService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'
import { statementsOf } from '../../support/statements.ts'

const service = useService()

/** A domain with www/A and www/TXT, the path of its RRsets, and a counter of the PowerDNS requests of a write. */
async function zone() {
  const { api } = await service().account()
  const domain = await newDomain(api)
  const a = await newRRset(api, domain, { records: ['192.0.2.1', '192.0.2.2'] })
  await newRRset(api, domain, { type: 'TXT', records: ['"a"'] })
  async function calls(work: () => Promise<Answer>): Promise<[number, Answer]> {
    const before = callsFor(service(), domain)
    const answer = await work()
    return [callsFor(service(), domain) - before, answer]
  }
  return { api, domain, a, path: `/domains/${domain}/rrsets/`, calls }
}

type Write = (api: Client, path: string) => Promise<Answer>

const EFFECTIVE: [what: string, write: Write, status: number][] = [
  ['a creation at a new name', (api, path) => api.post(path, rrset({ subname: 'new' })), 201],
  ['a creation at an existing name', (api, path) => api.post(path, rrset({ type: 'AAAA', records: ['::1'] })), 201],
  ['a delegation', (api, path) => api.post(path, rrset({ subname: 'x', type: 'NS', records: ['a.test.'] })), 201],
  ['a change of a TTL', (api, path) => api.patch(`${path}www/A/`, { ttl: 60 }), 200],
  ['a change of records', (api, path) => api.patch(`${path}www/A/`, { records: ['192.0.2.2'] }), 200],
  ['a replacement', (api, path) => api.put(`${path}www/A/`, rrset()), 200],
  ['a deletion', (api, path) => api.delete(`${path}www/A/`), 204],
  ['a deletion by PATCH', (api, path) => api.patch(`${path}www/A/`, { records: [] }), 204],
  ['a deletion by PUT', (api, path) => api.put(`${path}www/A/`, rrset({ records: [] })), 204],
]

for (const [what, write, status] of EFFECTIVE) {
  test(`${what} sends one request to the API of PowerDNS, and updates published and touched`, async (t) => {
    const { api, domain, path, calls } = await zone()
    const other = await domainOf(api, await newDomain(api))
    const before = await domainOf(api, domain)
    const [made, answer] = await calls(() => write(api, path))
    t.deepEqual(await domainOf(api, other.name), other)
    t.is(answer.status, status, answer.text)
    t.is(made, 1)
    const { created, published, touched } = await domainOf(api, domain)
    t.deepEqual([created, touched], [before.created, published])
    t.true(published > before.published)
  })
}

const IDLE: [what: string, write: Write, status: number][] = [
  ['PATCH {}', (api, path) => api.patch(`${path}www/A/`, {}), 200],
  ['PATCH with the same records in another order', (api, path) => api.patch(`${path}www/A/`, { records: ['192.0.2.2', '192.0.2.1'] }), 200],
  ['PUT of the same RRset', (api, path) => api.put(`${path}www/A/`, rrset({ records: ['192.0.2.1', '192.0.2.2'] })), 200],
  ['PATCH with another spelling', (api, path) => api.patch(`${path}www/TXT/`, { records: [' "\\097"'] }), 200],
] // prettier-ignore

for (const [what, write, status] of IDLE) {
  test(`${what} sends no request to PowerDNS and updates only touched`, async (t) => {
    const { api, domain, path, calls } = await zone()
    const before = (await api.get(path)).json as ShownRRset[]
    const { published } = await domainOf(api, domain)
    const [made, answer] = await calls(() => write(api, path))
    t.is(answer.status, status)
    t.is(made, 0)
    const shown = answer.json as ShownRRset
    const was = before.find(({ type, subname }) => type === shown.type && subname === shown.subname)!
    t.true(shown.touched > was.touched)
    t.is(answer.text, JSON.stringify({ ...was, touched: shown.touched }))
    const after = before.map((other) => (other === was ? shown : other))
    t.is((await api.get(path)).text, JSON.stringify(after))
    t.like(await domainOf(api, domain), { published, touched: shown.touched })
  })
}

const WITHOUT_EFFECT: [what: string, write: Write, status: number][] = [
  ['the deletion of an absent RRset', (api, path) => api.delete(`${path}absent/A/`), 204],
  ['the deletion of an absent type', (api, path) => api.delete(`${path}www/AAAA/`), 204],
  ['a refused RRset', (api, path) => api.post(path, rrset({ subname: 'x', records: ['x'] })), 400],
  ['a second creation', (api, path) => api.post(path, rrset()), 400],
  ['a PUT of an absent RRset', (api, path) => api.put(`${path}absent/A/`, rrset()), 404],
  ['a refused change', (api, path) => api.patch(`${path}www/A/`, { ttl: 1 }), 400],
]

for (const [what, write, status] of WITHOUT_EFFECT) {
  test(`${what} sends no request to PowerDNS and changes nothing`, async (t) => {
    const { api, domain, path, calls } = await zone()
    const before = [(await api.get(path)).text, await domainOf(api, domain)]
    const [made, answer] = await calls(() => write(api, path))
    t.is(answer.status, status)
    t.is(made, 0)
    t.deepEqual([(await api.get(path)).text, await domainOf(api, domain)], before)
  })
}

test('reading RRsets and lists of domains sends no request to PowerDNS', async (t) => {
  const { api, path, calls } = await zone()
  for (const read of [path, `${path}www/A/`, `${path}?type=A`, '/domains/']) {
    const [made] = await calls(() => api.get(read))
    t.is(made, 0)
  }
})

/** The number of SQL statements of a write. They are counted in the whole process, so tests run one by one. */
async function count(write: () => Promise<Answer>, status: number): Promise<number> {
  return (await statementsOf(async () => succeeded(await write(), status))).length
}

test('the number of SQL statements of a write does not depend on the number of RRsets and records', async (t) => {
  const { api } = await service().account()
  const [small, big] = [await newDomain(api), await newDomain(api)]
  for (let i = 0; i < 30; i++) await newRRset(api, big, { subname: `n${i}` })
  for (const type of ['TXT', 'CAA', 'AAAA', 'NS', 'MX', 'PTR', 'SRV']) {
    const [content] = { TXT: ['"a"'], CAA: ['0 issue "a"'], AAAA: ['::1'], MX: ['1 a.'], SRV: ['1 1 1 a.'] }[type] ?? [
      'a.b.',
    ]
    await newRRset(api, big, { type, records: [content] })
  }
  const many = Array.from({ length: 500 }, (_, i) => `10.0.${i >> 8}.${i & 255}`)
  const writes: [string, (path: string, records: string[]) => Promise<Answer>, number][] = [
    ['POST', (path, records) => api.post(path, rrset({ records })), 201],
    ['PATCH without effect', (path) => api.patch(`${path}www/A/`, {}), 200],
    ['PATCH', (path) => api.patch(`${path}www/A/`, { ttl: 60 }), 200],
    ['PUT', (path, records) => api.put(`${path}www/A/`, rrset({ records: [...records, '192.0.2.77'] })), 200],
    ['DELETE', (path) => api.delete(`${path}www/A/`), 204],
    ['DELETE without effect', (path) => api.delete(`${path}www/A/`), 204],
  ]
  for (const [what, write, status] of writes) {
    const few = await count(() => write(`/domains/${small}/rrsets/`, ['192.0.2.1']), status)
    const more = await count(() => write(`/domains/${big}/rrsets/`, many), status)
    t.is(more, few, what)
    t.true(few > 0)
  }
})
