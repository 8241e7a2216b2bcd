import test from 'ava'
import fc from 'fast-check'
import { newDomain, type ShownRRset } from '../support/clients/api.ts'
import { depth } from '../support/depth.ts'
import { discrepanciesOf } from '../support/dns/discrepancies.ts'
import { lookUp } from '../support/dns/dns.ts'
import { useServers } from '../support/harness.ts'

// Random sequences of requests: statuses, errors and RRsets are those of a model, and at the end DNS, too.

const servers = useServers()

/** An item of a request; undefined members are not sent. */
interface Item {
  subname: string
  type: string
  ttl: number | undefined
  records: string[] | undefined
}

/** A request to the collection, with an array (`bulk`) or one RRset (`collection`), or to one RRset (`one`). */
interface Request {
  method: 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  items: Item[]
  kind: 'bulk' | 'collection' | 'one'
}

/** Valid and invalid records by type. */
const CONTENTS: Record<string, string[][]> = {
  A: [['192.0.2.1'], ['192.0.2.1', '192.0.2.2'], ['x']],
  TXT: [['"a"'], ['"b"', '"c"'], ['x']],
  CNAME: [['a.test.'], ['b.test.'], ['a.test.', 'b.test.']],
  SOA: [['x']],
}

const ITEM: fc.Arbitrary<Item> = fc
  .record({
    subname: fc.constantFrom('', 'a', 'b', '*', 'c.a'),
    type: fc.constantFrom('A', 'A', 'TXT', 'CNAME', 'SOA'),
  })
  .chain(({ subname, type }) =>
    fc.record({
      subname: fc.constant(subname),
      type: fc.constant(type),
      ttl: fc.constantFrom(60, 3600, 3600, 1, undefined),
      records: fc.constantFrom(...CONTENTS[type]!, CONTENTS[type]![0], [], [], undefined),
    }),
  )

const REQUEST: fc.Arbitrary<Request> = fc.oneof(
  fc.record({
    kind: fc.constant('bulk' as const),
    method: fc.constantFrom('POST', 'PUT', 'PATCH', 'PATCH'),
    items: fc.array(ITEM, { maxLength: 4 }),
  }),
  fc.record({
    kind: fc.constant('collection' as const),
    method: fc.constant('POST' as const),
    items: fc.tuple(ITEM),
  }),
  fc.record({
    kind: fc.constant('one' as const),
    method: fc.constantFrom('PUT', 'PATCH', 'DELETE'),
    items: fc.tuple(ITEM),
  }),
)

/** The model's zone: TTL and records by type and subname. */
type State = Map<string, { ttl: number; records: string[] }>

const key = ({ subname, type }: Pick<Item, 'subname' | 'type'>) => `${type} ${subname}`

/** The status, the invalid items and the new state that contract §§8.3 to 8.7 require, written as simply as possible. */
function expected(state: State, { kind, method, items }: Request): { status: number; wrong: boolean[]; state: State } {
  const refused = (status: number, wrong: boolean[] = []) => ({ status, wrong, state })
  const [first] = items
  if (kind === 'one') {
    if (first!.type === 'SOA') return refused(403)
    if (method === 'DELETE') return { status: 204, wrong: [], state: without(state, key(first!)) }
    if (!state.has(key(first!))) return refused(404)
  }
  const wrong = items.map((item) => isWrong(state, method, items, item))
  if (wrong.includes(true)) return refused(400, wrong)
  const next = new Map(state)
  for (const item of items) {
    const before = state.get(key(item))
    const records = item.records ?? before!.records
    if (records.length === 0) next.delete(key(item))
    else next.set(key(item), { ttl: item.ttl ?? before!.ttl, records })
  }
  const isDeletion = kind === 'one' && first!.records?.length === 0
  return { status: isDeletion ? 204 : method === 'POST' ? 201 : 200, wrong: [], state: next }
}

function sortedByKey(rrsets: Iterable<readonly [string, unknown]>): unknown {
  return [...rrsets].sort(([a], [b]) => (a < b ? -1 : 1))
}

function without(state: State, key: string): State {
  return new Map([...state].filter(([other]) => other !== key))
}

function isWrong(state: State, method: Request['method'], items: Item[], item: Item): boolean {
  const { subname, type, ttl, records } = item
  const before = state.get(key(item))
  if (items.filter((other) => key(other) === key(item)).length > 1) return true
  if (type === 'SOA' || ttl === 1) return true
  const removes = records?.length === 0
  const isPartial = method === 'PATCH' && (before !== undefined || removes)
  if (!isPartial && (ttl === undefined || records === undefined)) return true
  if (method === 'POST' && (removes || before !== undefined)) return true
  if (removes) return false
  const removed = items.filter((other) => method !== 'POST' && other.records?.length === 0).map(key)
  const beside = [
    ...items.filter((other) => other.records?.length !== 0).map(key),
    ...[...state.keys()].filter((other) => !removed.includes(other)),
  ].filter((other) => other.endsWith(` ${subname}`) && other !== key(item))
  if (beside.some((other) => type === 'CNAME' || other.startsWith('CNAME '))) return true
  if ((records ?? []).includes('x')) return true
  return type === 'CNAME' && (subname === '' || (records?.length ?? 0) > 1)
}

test('answers to random requests, RRsets and DNS are what a model of the contract expects', async (t) => {
  const { api } = await servers().serve()
  let zones = 0
  await fc.assert(
    fc.asyncProperty(fc.array(REQUEST, { minLength: 1, maxLength: 12 }), async (requests) => {
      const domain = await newDomain(api, `model${++zones}.test`)
      const collection = `/domains/${domain}/rrsets/`
      const shown = async () => (await api.get(collection)).json as ShownRRset[]
      const [ns] = await shown()
      let state: State = new Map([['NS ', { ttl: ns!.ttl, records: ns!.records }]])
      for (const request of requests) {
        const [first] = request.items
        const path = request.kind === 'one' ? `${collection}${first!.subname}.../${first!.type}/` : collection
        const answer = await api.send(request.method, path, request.kind === 'bulk' ? request.items : first)
        const model = expected(state, request)
        t.is(answer.status, model.status, JSON.stringify({ request, answer: answer.text }))
        if (request.kind === 'bulk' && model.status === 400) {
          const wrong = (answer.json as object[]).map((problems) => Object.keys(problems).length > 0)
          t.deepEqual(wrong, model.wrong)
        }
        state = model.state
        const present = (await shown()).map(
          (rrset) => [key(rrset), { ttl: rrset.ttl, records: rrset.records }] as const,
        )
        t.deepEqual(sortedByKey(present), sortedByKey(state))
      }
      t.deepEqual(await discrepanciesOf(servers(), domain), [])
      for (const [rrsetKey, { records }] of state) {
        const [type, subname] = rrsetKey.split(' ') as [string, string]
        const served = await lookUp(servers().powerDns, subname === '' ? domain : `${subname}.${domain}`, type)
        t.deepEqual(served.sort(), [...records].sort(), rrsetKey)
      }
    }),
    { numRuns: depth(15, 500) },
  )
})
