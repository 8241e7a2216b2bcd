import { ANCESTORS, SMALL_ZONE } from '../../../src/service/zone/rectification.ts'
import { query } from '../../../src/store/database.ts'
import { newDomain, newZone, rrset, type ShownRRset, succeeded } from '../../support/clients/api.ts'
import { lookUp } from '../../support/dns/dns.ts'
import { useService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'
import { statementsOf } from '../../support/statements.ts'

// With another backend, all zones are always rectified.
const service = useService({ THROTTLE: 'off' }, 'lmdb')

const SIZES = [1, 100, 1000]

/** `size` RRsets, some at deeper names, with an address that depends on `round`. */
function many(size: number, round: number) {
  return Array.from({ length: size }, (_, i) =>
    rrset({ subname: `n${i}${i % 3 === 0 ? '.sub' : ''}`, records: [`192.0.2.${round}`] }),
  )
}

/**
 * Statements about RRsets and marks, and changes at PowerDNS, of one write. Other statements do not depend on the contents,
 * and repair may send some of them, and read the zone, too, when it looks at the mark of a long write.
 */
async function cost(domain: string, write: () => Promise<unknown>): Promise<[statements: string[], changes: number]> {
  const changes = () =>
    service().proxy.calls.filter(({ method, path }) => method !== 'GET' && path.includes(domain)).length
  const before = changes()
  const statements = await statementsOf(write)
  const own = statements.filter((text) => /rrsets|insert into marks/.test(text)).sort()
  return [own, changes() - before]
}

test('a bulk write sends the same SQL statements, and one request to the API of PowerDNS, for any number of items', async (t) => {
  const { api } = await service().account()
  const costs: Record<'create' | 'change', [string[], number]>[] = []
  for (const size of SIZES) {
    const domain = await newDomain(api)
    const rrsets = `/domains/${domain}/rrsets/`
    const create = await cost(domain, async () => succeeded(await api.post(rrsets, many(size + 1, 1)), 201))
    // The first half is deleted, the second half changes except for one RRset, and as many new ones are created.
    const [kept, ...items] = many(size + 1, 2)
    const mixed = [
      ...items.map((item, i) => (i < size / 2 ? { ...item, records: [] } : item)),
      ...many(size, 3).map((item) => ({ ...item, subname: `x.${String(item.subname)}` })),
      { ...kept, records: ['192.0.2.1'] },
    ]
    const change = await cost(domain, async () => succeeded(await api.put(rrsets, mixed), 200))
    costs.push({ create, change })
  }
  const [first, ...others] = costs
  for (const other of others) t.deepEqual(other, first)
  t.deepEqual([first!.create[1], first!.change[1]], [1, 1])
})

test('a request of nearly 4 MiB is stored, and shown and served unchanged', async (t) => {
  const { api, domain, rrsets } = await newZone(service())
  const items = Array.from({ length: 7_500 }, (_, i) =>
    rrset({ subname: `n${i}`, type: 'TXT', records: [`"${'x'.repeat(240)}${i}"`, `"${'y'.repeat(240)}${i}"`] }),
  )
  const written = succeeded(await api.put(rrsets, items), 200).json as ShownRRset[]
  t.is(written.length, items.length)
  for (const i of [0, 5_000, 7_499]) {
    t.is(written[i]!.subname, `n${i}`)
    const { records } = (await api.get(`${rrsets}n${i}/TXT/`)).json as ShownRRset
    t.deepEqual(records, items[i]!.records)
    t.deepEqual((await lookUp(service().powerDns, `n${i}.${domain}.`, 'TXT')).sort(), [...records].sort())
  }
})

for (const method of ['POST', 'PUT', 'PATCH'] as const) {
  test(`a ${method} has at most 20,000 items, whatever they contain`, async (t) => {
    const { api, rrsets } = await newZone(service())
    const items = Array.from({ length: 20_001 }, (_, i) => ({ subname: `n${i}`, type: 'A', ttl: 60, records: [] }))
    const tooMany = await api.send(method, rrsets, items)
    const text = 'Ensure this request has no more than 20000 items.'
    t.deepEqual([tooMany.status, tooMany.json], [400, { non_field_errors: [text] }])
    if (method === 'POST')
      t.deepEqual((await api.post(rrsets, Array(20_001).fill(7))).json, { non_field_errors: [text] })
    const most = await api.send(method, rrsets, items.slice(1))
    t.is(most.status, method === 'POST' ? 400 : 200)
    t.is((most.json as unknown[]).length, method === 'POST' ? 20_000 : 0)
  })
}

test('a write that has too many names above it to look for delegations has the zone rectified', async (t) => {
  const { api, domain, rrsets } = await newZone(service())
  succeeded(await api.post(rrsets, many(SMALL_ZONE, 1)), 201)
  const isRectified = async () => {
    const sql = 'select rectify from domains where name = :domain'
    const [row] = await query<{ rectify: boolean }>(service().system.db, sql, { domain })
    return row!.rectify
  }
  // The deletions have no effect, but 34 ancestors each, which no other name has.
  const deletions = Array.from({ length: Math.ceil(ANCESTORS / 34) + 1 }, (_, i) => {
    const label = i.toString(36).padStart(4, '0')
    return rrset({ subname: Array<string>(35).fill(label).join('.'), records: [] })
  })
  succeeded(await api.patch(rrsets, [rrset({ subname: 'n1', records: ['192.0.2.2'] })]), 200)
  t.false(await isRectified())
  succeeded(await api.patch(rrsets, [rrset({ subname: 'n1', records: ['192.0.2.3'] }), ...deletions]), 200)
  t.true(await isRectified())
  t.deepEqual(await lookUp(service().powerDns, `n1.${domain}.`, 'A'), ['192.0.2.3'])
})

test('problems of duplicate items list at most 100 positions, those of the same subname and type', async (t) => {
  const { api, rrsets } = await newZone(service())
  const types = Array.from({ length: 203 }, (_, i) => (i % 2 === 0 ? 'A' : 'X'))
  const answer = await api.post(
    rrsets,
    types.map((type) => ({ type })),
  )
  // 101 others of type A, and 100 of the other one.
  const expected = types.map((type, i) => {
    const others = [...types.keys()].filter((at) => types[at] === type && at !== i)
    const named = others.slice(0, 100).join(', ') + (others.length > 100 ? ', …' : '')
    return { non_field_errors: [`Same subname and type as in position(s) ${named}, but must be unique.`] }
  })
  t.deepEqual([answer.status, answer.json], [400, expected])
})
