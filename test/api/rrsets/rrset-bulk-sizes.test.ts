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

test('1,000 RRsets can be created, changed and deleted in one request, and DNS answers them', async (t) => {
  const { api, domain, rrsets } = await newZone(service())
  const created = succeeded(await api.post(rrsets, many(1000, 1)), 201).json as ShownRRset[]
  t.deepEqual(
    created.map(({ subname }) => subname),
    many(1000, 1).map(({ subname }) => subname),
  )
  for (const i of [0, 1, 999]) {
    t.deepEqual(await lookUp(service().powerDns, `${created[i]!.subname}.${domain}`, 'A'), ['192.0.2.1'])
  }
  const answer = succeeded(await api.patch(rrsets, many(1000, 2)), 200)
  t.is(answer.headers['content-length'], String(Buffer.byteLength(answer.text)))
  t.is((answer.json as ShownRRset[]).length, 1000)
  t.deepEqual(await lookUp(service().powerDns, `n998.${domain}`, 'A'), ['192.0.2.2'])
  t.is(
    succeeded(
      await api.patch(
        rrsets,
        many(1000, 2).map((item) => ({ ...item, records: [] })),
      ),
      200,
    ).text,
    '[]',
  )
  t.deepEqual(await lookUp(service().powerDns, `n998.${domain}`, 'A'), [])
  t.is(((await api.get(rrsets)).json as ShownRRset[]).length, 1)
})

test('the list of problems is complete even for 1,000 items', async (t) => {
  const { api, rrsets } = await newZone(service())
  const items = many(1000, 1).map((item, i) => (i % 2 === 0 ? item : { ...item, records: ['x'] }))
  const answer = await api.post(rrsets, items)
  t.is(answer.status, 400)
  const malformed = { non_field_errors: ['Record content for type A malformed: Text input is malformed.'] }
  t.deepEqual(
    answer.json,
    items.map((_, i) => (i % 2 === 0 ? {} : malformed)),
  )
  t.is(((await api.get(rrsets)).json as ShownRRset[]).length, 1)
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

test('problems of duplicate items list at most 100 positions', async (t) => {
  const { api, rrsets } = await newZone(service())
  const text = (positions: number[], more: string) => ({
    non_field_errors: [`Same subname and type as in position(s) ${positions.join(', ')}${more}, but must be unique.`],
  })
  const positions = Array.from({ length: 102 }, (_, i) => i)
  const all = await api.post(
    rrsets,
    Array.from({ length: 101 }, () => rrset()),
  )
  t.deepEqual((all.json as object[])[100], text(positions.slice(0, 100), ''))
  const more = await api.post(
    rrsets,
    Array.from({ length: 102 }, () => rrset()),
  )
  t.deepEqual((more.json as object[])[0], text(positions.slice(1, 101), ', …'))
  t.deepEqual((more.json as object[])[101], text(positions.slice(0, 100), ', …'))
})

test('every item with a problem gets its own text, even if earlier items have the same problem', async (t) => {
  const { api, rrsets } = await newZone(service())
  const required = ['This field is required.']
  const blank = ['This field may not be blank.']
  const kinds: [item: unknown, problems: object][] = [
    [7, { non_field_errors: ['Expected a dictionary, but got int.'] }],
    [{ type: 7 }, { type: ['Expected a string, but got int.'] }],
    [{}, { type: required, ttl: required, records: required }],
    [{ type: ' ' }, { type: blank, ttl: required, records: required }],
    [
      { type: ' ', ttl: '60' },
      { type: blank, records: required },
    ],
    [
      { type: ' ', ttl: 60, records: [' '] },
      { type: blank, records: ['Item 0: This field may not be blank.'] },
    ],
    [
      { type: '\ud800', ttl: 'x', records: [null, 1] },
      {
        type: ['Surrogate characters are not allowed: U+D800.'],
        ttl: ['A valid integer is required.'],
        records: ['Item 0: This field may not be null.', 'Item 1: Must be a string.'],
      },
    ],
  ]
  const items = [...kinds, ...kinds.flatMap((kind) => [kind, kind, kind])]
  for (const method of ['POST', 'PUT', 'PATCH', 'POST'] as const) {
    const { status, json } = await api.send(
      method,
      rrsets,
      items.map(([item]) => item),
    )
    t.deepEqual([status, json], [400, items.map(([, problems]) => problems)])
  }
})

test('the listed positions of interleaved duplicates are those of the same subname and type', async (t) => {
  const { api, rrsets } = await newZone(service())
  const { status, json } = await api.post(
    rrsets,
    Array.from({ length: 240 }, (_, i) => ({ type: i % 2 === 0 ? 'A' : 'X' })),
  )
  const expected = Array.from({ length: 240 }, (_, i) => {
    const others = Array.from({ length: 120 }, (_, at) => 2 * at + (i % 2)).filter((at) => at !== i)
    const named = others.slice(0, 100).join(', ')
    return { non_field_errors: [`Same subname and type as in position(s) ${named}, …, but must be unique.`] }
  })
  t.deepEqual([status, json], [400, expected])
})

const ADDRESSES = Array.from({ length: 4092 }, (_, i) => `10.0.${i >> 8}.${i & 255}`)
const tooLong = (size: number) =>
  `Ensure this field has no more than 64000 characters after JSON encoding (it has ${size}).`

for (const method of ['POST', 'PUT', 'PATCH'] as const) {
  test(`the limits of an RRset apply to each item of a ${method}`, async (t) => {
    const { api, rrsets } = await newZone(service())
    const txt = (length: number) => rrset({ subname: 't', type: 'TXT', records: [`"${'x'.repeat(length)}"`] })
    const wrong = await api.send(method, rrsets, [rrset({ records: ADDRESSES }), txt(64_000), rrset({ subname: 'b' })])
    t.deepEqual(
      [wrong.status, wrong.json],
      [400, [{ records: ['Ensure this field has no more than 4091 elements.'] }, { records: [tooLong(64_008)] }, {}]],
    )
    const right = await api.send(method, rrsets, [
      rrset({ records: ADDRESSES.slice(1) }),
      txt(62_000),
      rrset({ subname: 'b' }),
    ])
    t.is(right.status, method === 'POST' ? 201 : 200)
    t.is((right.json as ShownRRset[])[0]!.records.length, 4091)
  })
}
