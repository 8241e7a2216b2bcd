import fc from 'fast-check'
import { begin, query } from '../../../src/store/database.ts'
import {
  freshName,
  newDomain,
  newRRset,
  rrset,
  type RRsetBody,
  type ShownRRset,
  succeeded,
} from '../../support/clients/api.ts'
import type { Answer, Client } from '../../support/clients/client.ts'
import { told, update } from '../../support/clients/dyndns.ts'
import { depth } from '../../support/depth.ts'
import { useService } from '../../support/harness.ts'
import { SEED } from '../../support/random.ts'
import { test } from '../../support/serial.ts'
import { contentsOf, entriesOf, restore, undo } from '../../support/state/history.ts'
import { statementsOf } from '../../support/statements.ts'

// What one RRset could do to a whole zone at its secondaries (contract §8.10).

const service = useService({ THROTTLE: 'off' })

const CONTENTS: Record<string, string> = {
  A: '192.0.2.1',
  AAAA: '2001:db8::1',
  DNAME: 'elsewhere.example.',
  DS: `1 13 2 ${'ab'.repeat(32)}`,
  NS: 'ns.example.',
  TXT: '"a"',
}

/** `a.b NS` as an RRset; the apex is written `@`. */
function item(text: string): { subname: string; type: string; ttl: number; records: string[] } {
  const [subname, type] = text.split(' ') as [string, string]
  return { subname: subname.replace('@', ''), type, ttl: 3600, records: [CONTENTS[type]!] }
}

const items = (texts: string) => (texts === '' ? [] : texts.split(', ').map(item))

/** A domain with these RRsets. */
async function zone(texts: string) {
  const { api, ...account } = await service().account()
  const domain = await newDomain(api)
  const path = `/domains/${domain}/rrsets/`
  succeeded(await api.post(path, items(texts)), 201)
  return { api, domain, path, ...account }
}

/** The problem of an RRset: `below` would be occluded by `cut`. */
function text(domain: string, below: string, cut: string): string {
  const [one, other] = [below, cut].map((key) => key.replace(' ', `.${domain}. `).replace('@.', ''))
  const rule = cut.endsWith('NS') ? 'No NS or DS is allowed below a delegation.' : 'Nothing is allowed below a DNAME.'
  return `${one} would be occluded by ${other}. (${rule})`
}

const problem = (...texts: string[]) => ({ non_field_errors: texts })

/** Examples; the property below compares many more with a model. */
const REFUSED: [present: string, added: string, below: string, cut: string][] = [
  ['a NS', 'b.a NS', 'b.a NS', 'a NS'],
  ['a NS', 'b.a DS', 'b.a DS', 'a NS'],
  ['ba NS, b.a A, c.b.a DS', 'a NS', 'c.b.a DS', 'a NS'],
  ['a DNAME', 'c.b.a TXT', 'c.b.a TXT', 'a DNAME'],
  ['b.a A', 'a DNAME', 'b.a A', 'a DNAME'],
  ['@ DNAME', 'a A', 'a A', '@ DNAME'],
  ['a A', '@ DNAME', 'a A', '@ DNAME'],
  ['* A', '@ DNAME', '* A', '@ DNAME'],
]

for (const [present, added, below, cut] of REFUSED) {
  test(`beside ${present}, the API refuses ${added}`, async (t) => {
    const { api, domain, path } = await zone(present)
    const before = await contentsOf(api, domain)
    const expected = problem(text(domain, below, cut))
    for (const query of ['', '?dry_run=true']) {
      t.like(await api.post(path + query, item(added)), { status: 400, json: expected })
      for (const method of ['POST', 'PUT', 'PATCH'] as const) {
        const answer = await api.send(method, path + query, [rrset({ subname: 'x.y', type: 'A' }), item(added)])
        t.is(answer.status, 400)
        t.deepEqual((answer.json as unknown[])[1], expected)
        // A DNAME at the apex occludes the other item, too.
        t.is(JSON.stringify((answer.json as unknown[])[0]) === '{}', cut !== '@ DNAME')
      }
    }
    t.deepEqual(await contentsOf(api, domain), before)
  })
}

/** Contents that some secondary refuses, and whether the API does. docs/operators/secondaries.md lists those that it accepts. */
const SECONDARIES: [what: string, rrsets: RRsetBody[], accepted: boolean][] = [
  ['NS and DS below another delegation', items('a NS, b.a NS, b.a DS'), false],
  ['a wildcard NS', items('* NS'), true],
  ['a deeper wildcard NS', items('*.a NS'), true],
  ['a DNAME at the apex', items('@ DNAME'), true],
  ['more than 100 records', [rrset({ records: Array.from({ length: 101 }, (_, i) => `192.0.2.${i}`) })], true],
  [
    'four TXT of 20 kB',
    ['a', 'b', 'c', 'd'].map((subname) => rrset({ subname, type: 'TXT', records: [`"${'x'.repeat(20_000)}"`] })),
    true,
  ],
  ['a fingerprint shorter than its hash', [rrset({ type: 'SSHFP', records: ['4 2 aabb'] })], true],
  ['a DHCID of one octet', [rrset({ type: 'DHCID', records: ['AA=='] })], true],
  ['a NAPTR without a substitution', [rrset({ type: 'NAPTR', records: ['1 1 "u" "x" "c" .'] })], false],
]

for (const [what, rrsets, isAccepted] of SECONDARIES) {
  test(`${what}: the API ${isAccepted ? 'accepts' : 'refuses'} what some secondaries refuse`, async (t) => {
    const { api, path } = await zone('')
    t.is((await api.post(path, rrsets)).status, isAccepted ? 201 : 400)
  })
}

test('in one request, the RRset below is refused at its position; what the request deletes does not count', async (t) => {
  const { api, domain, path } = await zone('a NS, d DNAME')
  const answer = await api.patch(path, items('n A, c.x DS, x NS, y.d A'))
  const below = [problem(text(domain, 'c.x DS', 'x NS')), {}, problem(text(domain, 'y.d A', 'd DNAME'))]
  t.deepEqual([answer.status, answer.json], [400, [{}, ...below]])

  const gone = (key: string) => ({ ...item(key), records: [] })
  succeeded(await api.patch(path, [...items('b.a NS, y.d A'), gone('a NS'), gone('d DNAME')]), 200)
  succeeded(await api.patch(path, [...items('a NS, d DNAME'), gone('b.a NS'), gone('y.d A')]), 200)
  t.deepEqual(Object.keys(await contentsOf(api, domain)), [' NS', 'a NS', 'd DNAME'])
})

test('other problems come first, in bulk too', async (t) => {
  const { api, path } = await zone('a NS')
  const answer = await api.post(path, [item('b.a NS'), { ...item('x A'), records: ['x'] }])
  const malformed = problem('Record content for type A malformed: Text input is malformed.')
  t.deepEqual([answer.status, answer.json], [400, [{}, malformed]])
})

test('zone files with occluded NS, DS or names below a DNAME are refused, new and for a domain', async (t) => {
  const { api, domain } = await zone('z A')
  const file = 'a NS ns.test.\nb.a NS ns.test.\nc.a A 192.0.2.1\nd DNAME x.test.\ne.d A 192.0.2.1\n'
  const problems = (name: string) => ({
    zonefile: [`b.a.${name}/NS: ${text(name, 'b.a NS', 'a NS')}`, `e.d.${name}/A: ${text(name, 'e.d A', 'd DNAME')}`],
  })
  const name = freshName()
  t.like(await api.post('/domains/', { name, zonefile: file }), { status: 400, json: problems(name) })
  t.is((await api.get(`/domains/${name}/`)).status, 404)
  for (const query of ['', '?dry_run=true']) {
    const options = { headers: { 'content-type': 'text/dns' }, body: file }
    const answer = await api.send('PUT', `/domains/${domain}/zonefile/${query}`, undefined, options)
    t.like(answer, { status: 400, json: problems(domain) })
  }
})

test('undo and restore do not bring back what would be occluded now', async (t) => {
  const { api, domain, path } = await zone('b.a DS')
  const [withDs] = await entriesOf(api, domain)
  succeeded(await api.delete(`${path}b.a/DS/`), 204)
  const [deletion] = await entriesOf(api, domain)
  succeeded(await api.post(path, item('a NS')), 201)
  const expected = { status: 400, json: problem(text(domain, 'b.a DS', 'a NS')) }
  t.like(await undo(api, domain, deletion!), expected)
  // The state of that time has no delegation.
  succeeded(await restore(api, domain, { version: withDs!.version }), 200)
  t.deepEqual(Object.keys(await contentsOf(api, domain)), [' NS', 'b.a DS'])
})

test('an update of dynamic DNS below a DNAME is refused', async (t) => {
  const { api, domain, path } = await zone('a DNAME')
  const refused = await update(api, { hostname: `b.a.${domain}`, myip: '192.0.2.1' })
  t.is(refused.status, 400)
  t.true(refused.text.includes(text(domain, 'b.a A', 'a DNAME')))
  succeeded(await api.delete(`${path}a/DNAME/`), 204)
  t.deepEqual(told(await update(api, { hostname: `b.a.${domain}`, myip: '192.0.2.1' })), [200, 'good'])
})

/** Puts RRsets into the database, as an earlier version accepted them. */
async function plant(domain: string, texts: string): Promise<void> {
  for (const { subname, type, ttl, records } of items(texts)) {
    await query(
      service().system.db,
      `with domain as (update domains set size = size + 1 where name = :domain returning id)
       insert into rrsets (domain_id, subname, type, ttl, records, created, touched)
       select id, :subname, :type, :ttl, :records, now(), now() from domain`,
      { domain, subname, type, ttl, records },
    )
  }
}

test('a zone that has such contents already stays writable, and they can be changed and deleted', async (t) => {
  const { api, domain, path } = await zone('a NS, d DNAME')
  await plant(domain, 'b.a NS, b.a DS, e.d A')
  succeeded(await api.post(path, items('www A, x.a A, y NS')), 201)
  succeeded(await api.patch(`${path}b.a/NS/`, { ttl: 60 }), 200)
  succeeded(
    await api.patch(path, [
      { subname: 'a', type: 'NS', ttl: 60 },
      { subname: 'e.d', type: 'A', ttl: 60 },
    ]),
    200,
  )
  t.is((await api.post(path, item('e.d TXT'))).status, 400)
  succeeded(await api.delete(`${path}a/NS/`), 204)
  t.is((await api.post(path, item('a NS'))).status, 400)
  succeeded(await api.delete(`${path}e.d/A/`), 204)

  await plant(domain, 'e.d A')
  succeeded(await api.delete(`/domains/${domain}/`), 204)
  succeeded(await api.post('/domains/', { name: domain, restore: true }), 201)
  t.true('e.d A' in (await contentsOf(api, domain)))
})

test('of two simultaneous writes that occlude each other, one is refused', async (t) => {
  const { api, path } = await zone('')
  for (let i = 0; i < 5; i++) {
    const writes = [item(`x${i} NS`), item(`y.x${i} DS`)]
    const answers = await Promise.all(writes.map((body) => api.post(path, body)))
    t.deepEqual(answers.map(({ status }) => status).sort(), [201, 400])
  }
})

/** The statements of a write that creates RRsets. */
async function statements(api: Client, path: string, texts: string): Promise<number> {
  return (await statementsOf(async () => succeeded(await api.post(path, items(texts)), 201))).length
}

test('only a new delegation or DNAME takes one more statement, however many there are', async (t) => {
  const { api, path } = await zone('p.q A')
  const plain = await statements(api, path, 'u.v A')
  t.is(await statements(api, path, 'a NS'), plain + 1)
  t.is(await statements(api, path, 'b DNAME'), plain + 1)
  t.is(await statements(api, path, 'c.c NS, d.d NS, e DNAME, f.f.f A'), plain + 1)
  t.is(await statements(api, path, 'g.a A, g.f A'), plain)
})

test('names below a name are found by an index, so the time does not depend on the size of the zone', async (t) => {
  const { domain } = await zone('b.a TXT')
  await using trx = await begin(service().system.db)
  // Postgres may choose any plan for a small table. Without sorting, only an index in this order remains.
  await query(trx.db, 'set local enable_sort = off')
  const plan = await query<{ 'QUERY PLAN': string }>(
    trx.db,
    `explain select from rrsets where domain_id = (select id from domains where name = :domain)
       and reverse(subname) collate "C" >= 'a.' and reverse(subname) collate "C" < 'a/'
     order by reverse(subname) collate "C" limit 1`,
    { domain },
  )
  t.regex(plan.map((line) => line['QUERY PLAN']).join('\n'), /rrsets_below/)
})

const KEY = fc
  .tuple(fc.constantFrom('@', 'a', 'b', 'b.a', 'c.b.a', '*.a', 'ba'), fc.constantFrom('NS', 'DS', 'DNAME', 'A', 'TXT'))
  .filter(([subname, type]) => subname !== '@' || type === 'DNAME' || type === 'TXT')
  .map((parts) => parts.join(' '))
/** The RRsets that a request creates or replaces, and those that it deletes. */
const REQUEST = fc
  .uniqueArray(fc.tuple(KEY, fc.integer({ min: 0, max: 3 })), { selector: ([key]) => key, minLength: 1, maxLength: 6 })
  .map((choices) => choices.map(([key, choice]) => ({ ...item(key), ...(choice === 0 ? { records: [] } : {}) })))

/** Whether nothing is occluded that must not be, and PowerDNS accepts the zone: it refuses NS beside DNAME. */
function isClean(keys: string[]): boolean {
  if (keys.some((key) => key.endsWith(' DNAME') && key !== ' DNAME' && keys.includes(key.replace('DNAME', 'NS'))))
    return false
  return keys.every((below) =>
    keys.every((cut) => {
      const [[inner, innerType], [outer, outerType]] = [below.split(' '), cut.split(' ')] as [string[], string[]]
      const isBelow = outer === '' ? inner !== '' : inner!.endsWith(`.${outer}`)
      if (!isBelow || (outerType !== 'NS' && outerType !== 'DNAME')) return true
      return outerType === 'NS' && (outer === '' || !['NS', 'DS'].includes(innerType!))
    }),
  )
}

test('a bulk write is refused exactly if it would occlude, after any others', async (t) => {
  const { api } = await service().account()
  await fc.assert(
    fc.asyncProperty(fc.array(REQUEST, { minLength: 1, maxLength: 8 }), async (requests) => {
      const domain = await newDomain(api)
      let present = [' NS']
      for (const request of requests) {
        const keys = (isKept: boolean) =>
          request.flatMap(({ subname, type, records }) => (records.length > 0 === isKept ? [`${subname} ${type}`] : []))
        const [written, deleted] = [keys(true), keys(false)]
        const next = [...new Set([...present, ...written])].filter((key) => !deleted.includes(key))
        const answer: Answer = await api.patch(`/domains/${domain}/rrsets/`, request)
        t.is(answer.status, isClean(next) ? 200 : 400, JSON.stringify({ present, request }) + answer.text)
        if (answer.status === 200) present = next
      }
      const shown = succeeded(await api.get(`/domains/${domain}/rrsets/`), 200).json as ShownRRset[]
      t.deepEqual(shown.map(({ subname, type }) => `${subname} ${type}`).sort(), present.sort())
      succeeded(await api.delete(`/domains/${domain}/`), 204)
    }),
    { numRuns: depth(12, 40), seed: SEED },
  )
})

test('a new delegation in a domain of many names is refused for the one below it', async (t) => {
  const { api, domain, path } = await zone('')
  const many = Array.from({ length: 100 }, (_, i) => rrset({ subname: `n${i}.a` }))
  succeeded(await api.post(path, [...many, item('n7.b.a NS')]), 201)
  await newRRset(api, domain, { subname: 'b', type: 'NS', records: ['ns.example.'] })
  t.like(await api.post(path, item('a NS')), { json: problem(text(domain, 'n7.b.a NS', 'a NS')) })
  t.is((await api.post(path, item('a DNAME'))).status, 400)
})
