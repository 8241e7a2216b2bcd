import { newRRset, setMinimumTtl, succeeded } from '../../support/clients/api.ts'
import { Client } from '../../support/clients/client.ts'
import { amend, amendment, newDoors, rrsetsOf } from '../../support/clients/powerdns.ts'
import { addPolicies, addToken } from '../../support/clients/tokens.ts'
import { lookUp } from '../../support/dns/dns.ts'
import { useService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'
import { changesIn, entriesOf } from '../../support/state/history.ts'

// Contract §20.4: changes of RRsets by PowerDNS' API.

const service = useService()

const txt = (domain: string, changetype: string, content: string, members = {}) =>
  amendment(domain, { name: `_acme-challenge.${domain}.`, type: 'TXT', changetype, records: [{ content }], ...members })

test('REPLACE creates, changes and deletes RRsets, DELETE deletes them', async (t) => {
  const { door, zone, domain } = await newDoors(service(), { subname: 'old' }, { subname: 'gone' })
  const answer = await amend(
    door,
    zone,
    amendment(domain),
    amendment(domain, { name: `OLD.${domain}.`, records: [{ content: '192.0.2.7' }, { content: '192.0.2.8' }] }),
    amendment(domain, { name: `gone.${domain}.`, changetype: 'delete', records: undefined, ttl: undefined }),
    amendment(domain, { name: `absent.${domain}.`, changetype: 'DELETE' }),
    amendment(domain, { type: 'aaaa', ttl: '300', records: [{ content: '2001:DB8::1' }] }),
  )
  t.is(answer.status, 204)
  t.is(answer.text, '')
  t.deepEqual(await rrsetsOf(door, zone), {
    'old A': ['192.0.2.7', '192.0.2.8'],
    'www A': ['192.0.2.1'],
    'www AAAA': ['2001:db8::1'],
  })
  t.deepEqual(await lookUp(service().powerDns, `www.${domain}`, 'A'), ['192.0.2.1'])
  const emptied = await amend(door, zone, amendment(domain, { records: [] }))
  t.is(emptied.status, 204)
  t.false('www A' in (await rrsetsOf(door, zone)))
})

test('a request is one entry of the history, by its token', async (t) => {
  const { account, api, door, zone, domain } = await newDoors(service())
  await amend(door, zone, amendment(domain), txt(domain, 'EXTEND', '"a"'))
  const [entry] = await entriesOf(api, domain)
  t.like(entry, { source: 'powerdns-api', count: 2 })
  t.like(entry!.token, { id: account.tokenId })
  t.is((await changesIn(api, domain, entry!)).length, 2)
  await amend(door, zone, amendment(domain))
  t.is((await entriesOf(api, domain)).length, 2)
})

test('comments are dropped, and change nothing', async (t) => {
  const { api, door, zone, domain } = await newDoors(service(), { subname: 'www' })
  const comments = [{ content: 'a', account: 'b', modified_at: 1 }]
  t.is((await amend(door, zone, amendment(domain, { records: undefined, ttl: undefined, comments }))).status, 204)
  t.is((await amend(door, zone, amendment(domain, { comments }))).status, 204)
  t.is((await entriesOf(api, domain)).length, 2)
  t.regex((await door.get(zone)).text, /"comments":\[\],"name":"www\./)
})

test('EXTEND adds a record that is not there, PRUNE removes one that is', async (t) => {
  const { door, zone, domain } = await newDoors(service())
  const contents = async () => (await rrsetsOf(door, zone))['_acme-challenge TXT']
  for (const [kind, content, expected] of [
    ['EXTEND', '"a"', ['"a"']],
    ['EXTEND', '"a"', ['"a"']],
    ['EXTEND', '"b"', ['"a"', '"b"']],
    ['PRUNE', '"c"', ['"a"', '"b"']],
    ['PRUNE', '"a"', ['"b"']],
    ['PRUNE', '"b"', undefined],
    ['PRUNE', '"b"', undefined],
  ] as const) {
    t.is((await amend(door, zone, txt(domain, kind, content))).status, 204)
    t.deepEqual(await contents(), expected)
  }
})

test('EXTEND and PRUNE compare contents, not their spelling', async (t) => {
  const { door, zone, domain } = await newDoors(service(), { subname: 'www', type: 'AAAA', records: ['2001:db8::1'] })
  const aaaa = (changetype: string, content: string) =>
    amendment(domain, { type: 'AAAA', changetype, records: [{ content }] })
  await amend(door, zone, aaaa('EXTEND', '2001:DB8:0::1'))
  t.deepEqual(await rrsetsOf(door, zone), { 'www AAAA': ['2001:db8::1'] })
  await amend(door, zone, aaaa('PRUNE', '2001:0db8::0001'))
  t.deepEqual(await rrsetsOf(door, zone), {})
})

test('changes of one RRset in one request are made one after the other', async (t) => {
  const { api, door, zone, domain } = await newDoors(service(), {
    subname: '_acme-challenge',
    type: 'TXT',
    records: ['"old"'],
  })
  const answer = await amend(
    door,
    zone,
    txt(domain, 'DELETE', '"old"'),
    txt(domain, 'REPLACE', '"a"', { ttl: 300 }),
    txt(domain, 'EXTEND', '"b"', { ttl: 300 }),
    txt(domain, 'EXTEND', '"c"', { ttl: 300 }),
    txt(domain, 'PRUNE', '"a"', { ttl: 300 }),
  )
  t.is(answer.status, 204)
  t.deepEqual(await rrsetsOf(door, zone), { '_acme-challenge TXT': ['"b"', '"c"'] })
  const [entry] = await entriesOf(api, domain)
  t.is(entry!.count, 1)
})

test('PRUNE leaves a TTL below the minimum', async (t) => {
  const { door, zone, domain } = await newDoors(service(), {
    subname: 'www',
    ttl: 60,
    records: ['192.0.2.1', '192.0.2.2'],
  })
  await setMinimumTtl(service(), domain, 300)
  t.is((await amend(door, zone, amendment(domain, { changetype: 'PRUNE', ttl: 60 }))).status, 204)
  t.deepEqual(await rrsetsOf(door, zone), { 'www A': ['192.0.2.2'] })
  t.is((await amend(door, zone, amendment(domain, { changetype: 'EXTEND', ttl: 60 }))).status, 204)
  t.deepEqual(await rrsetsOf(door, zone), { 'www A': ['192.0.2.2', '192.0.2.1'] })
})

const www = (domain: string) => `RRset www.${domain}. IN A: `
const record = (members: object) => ({ records: [{ content: '192.0.2.1', ...members }] })
for (const [what, members, error] of [
  ['of no type', { type: undefined }, () => 'type: null is not a type'],
  ['of a relative name', { name: 'www' }, () => 'name: "www" is not an absolute name'],
  [
    'of a name outside of the zone',
    { name: 'www.other.test.' },
    () => 'RRset www.other.test. IN A: Name is out of zone',
  ],
  [
    'of no kind',
    { changetype: undefined },
    (d) => `${www(d)}changetype: must be one of REPLACE, DELETE, EXTEND, PRUNE`,
  ],
  ['without records', { records: undefined }, (d) => `${www(d)}records: a list is required`],
  ['without TTL', { ttl: undefined }, (d) => `${www(d)}ttl: a whole number is required`],
  ['with a fraction as TTL', { ttl: 60.5 }, (d) => `${www(d)}ttl: a whole number is required`],
  ['with a small TTL', { ttl: 1 }, (d) => `${www(d)}ttl: Ensure this value is greater than or equal to 60.`],
  ['with a large TTL', { ttl: 86401 }, (d) => `${www(d)}ttl: Ensure this value is less than or equal to 86400.`],
  ['with disabled records', record({ disabled: true }), (d) => `${www(d)}disabled: records cannot be disabled here`],
  ['with a priority', record({ priority: 10 }), (d) => `${www(d)}priority: belongs into the content`],
  ['with a content that is no text', record({ content: 1 }), (d) => `${www(d)}content: 1 is not a text`],
  ['with a null character', record({ content: '\0' }), (d) => `${www(d)}content: "\\u0000" is not a text`],
  ['with wrong records', record({ content: 'a' }), (d) => `${www(d)}Record content for type A malformed`],
  ['of the SOA', { type: 'SOA', changetype: 'DELETE' }, () => 'IN SOA: type: You cannot tinker with the SOA RR set.'],
  ['of LUA', { type: 'LUA', ...record({ content: 'A "x"' }) }, () => 'IN LUA: type: '],
  ['of ALIAS', { type: 'ALIAS', ...record({ content: 'a.test.' }) }, () => 'IN ALIAS: type: '],
  ['with a CNAME beside', { type: 'CNAME', ...record({ content: 'a.test.' }) }, () => 'IN CNAME: '],
  [
    'that repeats records',
    { records: [{ content: '192.0.2.1' }, { content: '192.0.2.1' }] },
    (d) => `${www(d)}Duplicate`,
  ],
  ['by EXTEND of two', { changetype: 'EXTEND', records: [{}, {}] }, (d) => `${www(d)}records: exactly one is required`],
  ['by EXTEND to another TTL', { changetype: 'EXTEND', ttl: 300 }, (d) => `${www(d)}ttl: The RRset has the TTL 3600.`],
] as [string, Record<string, unknown>, (domain: string) => string][]) {
  test(`a change ${what} is refused, and the whole request with it`, async (t) => {
    const { door, zone, domain } = await newDoors(service(), { subname: 'www', records: ['192.0.2.9'] })
    const before = (await door.get(zone)).text
    const other = amendment(domain, { name: `other.${domain}.` })
    const { status, json } = await amend(door, zone, other, amendment(domain, members))
    t.is(status, 422)
    const text = (json as { error: string }).error
    t.true(text.includes(error(domain)), text)
    t.is((await door.get(zone)).text, before)
  })
}

test('a name with an empty label is not that of the apex', async (t) => {
  const { door, zone, domain } = await newDoors(service())
  const { status, json } = await amend(door, zone, amendment(domain, { name: `.${domain}.` }))
  t.deepEqual([status, json], [422, { error: `RRset .${domain}. IN A: Name is out of zone` }])
  t.deepEqual(await rrsetsOf(door, zone), {})
})

test('an RRset cannot be replaced or deleted twice', async (t) => {
  const { door, zone, domain } = await newDoors(service())
  for (const changetype of ['REPLACE', 'DELETE']) {
    const one = amendment(domain, { changetype })
    const { status, json } = await amend(door, zone, one, { ...one, name: `WWW.${domain}.` })
    const error = `RRset www.${domain}. IN A: Duplicate RRset with changetype ${changetype}`
    t.deepEqual([status, json], [422, { error }])
  }
})

test('all RRsets with problems are named', async (t) => {
  const { door, zone, domain } = await newDoors(service())
  const { status, json } = await amend(
    door,
    zone,
    amendment(domain, { ttl: 1 }),
    amendment(domain, { name: `-.${domain}.`, ttl: 1 }),
  )
  const error = `${www(domain)}ttl: Ensure this value is greater than or equal to 60.`
  t.is(status, 422)
  t.is((json as { error: string }).error, error)
  t.true((json as { errors: string[] }).errors.length > 1)
})

test('policies decide what a token may change, and other RRsets stay', async (t) => {
  const { account, door, zone, domain } = await newDoors(service())
  const { id, secret } = await addToken(service(), account.id, {})
  await addPolicies(service(), id, { write: false }, { domain, subname: '_acme-challenge', type: 'TXT', write: true })
  const confined = new Client(door.url, secret, 'powerdns')
  t.is((await amend(confined, zone, txt(domain, 'EXTEND', '"a"'))).status, 204)
  const refused = await amend(confined, zone, txt(domain, 'EXTEND', '"b"'), amendment(domain))
  t.deepEqual([refused.status, refused.json], [403, { error: 'Insufficient token permissions.' }])
  t.deepEqual(await rrsetsOf(door, zone), { '_acme-challenge TXT': ['"a"'] })
})

test('a dry run shows the changes, and makes none', async (t) => {
  const { api, door, zone, domain } = await newDoors(service(), { subname: 'www' })
  const { status, json } = await door.patch(`${zone}?dry_run=true`, { rrsets: [amendment(domain, { ttl: 300 })] })
  const state = (ttl: number) => ({ ttl, records: ['192.0.2.1'] })
  const changes = [{ subname: 'www', type: 'A', before: state(3600), after: state(300) }]
  t.deepEqual([status, json], [200, { changes }])
  t.is((await entriesOf(api, domain)).length, 2)
})

test('a condition on the tag of the zone holds until somebody writes', async (t) => {
  const { door, zone, domain } = await newDoors(service())
  const tag = String(succeeded(await door.get(zone), 200).headers['etag'])
  const send = (rrset: object) => door.patch(zone, { rrsets: [rrset] }, { headers: { 'if-match': tag } })
  t.is((await send(amendment(domain))).status, 204)
  const { status, json } = await send(amendment(domain, { ttl: 300 }))
  t.deepEqual([status, json], [412, { error: 'Precondition failed.' }])
})

for (const clients of [2, 8, 32]) {
  test(`${clients} clients that extend and prune one RRset lose no record`, async (t) => {
    const { door, zone, domain } = await newDoors(service(), {
      subname: '_acme-challenge',
      type: 'TXT',
      records: ['"base"'],
    })
    const one = async (i: number) => {
      const statuses = [(await amend(door, zone, txt(domain, 'EXTEND', `"gone ${i}"`))).status]
      statuses.push((await amend(door, zone, txt(domain, 'EXTEND', `"kept ${i}"`))).status)
      statuses.push((await amend(door, zone, txt(domain, 'PRUNE', `"gone ${i}"`))).status)
      return statuses
    }
    const statuses = await Promise.all(Array.from({ length: clients }, (_, i) => one(i)))
    t.deepEqual(new Set(statuses.flat()), new Set([204]))
    const { '_acme-challenge TXT': records } = await rrsetsOf(door, zone)
    const expected = ['"base"', ...Array.from({ length: clients }, (_, i) => `"kept ${i}"`)]
    t.deepEqual(records?.toSorted(), expected.toSorted())
    const served = await lookUp(service().powerDns, `_acme-challenge.${domain}`, 'TXT')
    t.deepEqual(served.toSorted(), expected.toSorted())
  })
}

test('extending beside writes of the other door loses none', async (t) => {
  const { api, door, zone, domain } = await newDoors(service())
  await newRRset(api, domain, { subname: '_acme-challenge', type: 'TXT', records: ['"base"'] })
  await Promise.all(
    Array.from({ length: 12 }, (_, i) =>
      i % 2 === 0 ? amend(door, zone, txt(domain, 'EXTEND', `"${i}"`)) : newRRset(api, domain, { subname: `w${i}` }),
    ),
  )
  const { '_acme-challenge TXT': records, ...others } = await rrsetsOf(door, zone)
  t.deepEqual(records?.toSorted(), ['"base"', ...[0, 2, 4, 6, 8, 10].map((i) => `"${i}"`)].toSorted())
  t.is(Object.keys(others).length, 6)
})
