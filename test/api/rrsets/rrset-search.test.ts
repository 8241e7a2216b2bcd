import { query } from '../../../src/store/database.ts'
import { newDomain, newRRset, newZone, rrset, shared, type ShownRRset, succeeded } from '../../support/clients/api.ts'
import type { Answer, Client } from '../../support/clients/client.ts'
import { addFactor, addPolicies, addToken } from '../../support/clients/tokens.ts'
import { useService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'

// Contract §15.12: the search for records in all domains of an account.

const service = useService()

const ADDRESS = '2001:db8::1'

const shown = (answer: Answer) => succeeded(answer, 200).json as ShownRRset[]

const search = (api: Client, filters: Record<string, string>) =>
  api.get(`/rrsets/?${new URLSearchParams(filters).toString()}`)

/** The names and types of the RRsets that are found, newest first. */
async function found(api: Client, filters: Record<string, string>): Promise<string[]> {
  return shown(await search(api, filters)).map(({ name, type }) => `${name} ${type}`)
}

/** An account with two domains, both of which point to an address. */
async function site() {
  const { account, api, domain } = await newZone(service(), {}, { subname: 'a', type: 'AAAA', records: [ADDRESS] })
  const other = await newDomain(api)
  await newRRset(api, other, { subname: 'b', type: 'AAAA', records: ['2001:db8::2', ADDRESS] })
  return { account, api, domain, other }
}

test('a content is found in all domains of the account, newest first, as the list of a domain shows it', async (t) => {
  const { api, domain, other } = await site()
  const stranger = await newZone(service(), { type: 'AAAA', records: [ADDRESS] })
  const answer = await search(api, { content: ADDRESS })
  const lists = [other, domain].map(async (name) => shown(await api.get(`/domains/${name}/rrsets/?type=AAAA`)))
  t.is(answer.text, JSON.stringify((await Promise.all(lists)).flat()))
  t.is(shown(answer).length, 2)
  t.deepEqual(await found(stranger.api, { content: ADDRESS }), [`www.${stranger.domain}. AAAA`])
  t.deepEqual(await found(api, { content: '2001:db8::' }), [])
})

test('the content may have any form of an address, and with a type any form of that type', async (t) => {
  const { api, domain, other } = await site()
  const both = [`b.${other}. AAAA`, `a.${domain}. AAAA`]
  for (const content of ['2001:DB8:0:0::1', ` ${ADDRESS} `]) t.deepEqual(await found(api, { content }), both)
  t.deepEqual(await found(api, { content: '2001:DB8::0:1', type: 'AAAA' }), both)
  t.deepEqual(await found(api, { content: '192.0.2.1', type: 'A' }), [`www.${domain}. A`])
  t.is((await search(api, { content: '192.0.2.1', type: 'TXT' })).status, 400)
  await newRRset(api, domain, { subname: 'mail', type: 'MX', records: ['10 mx.example.com.'] })
  await newRRset(api, domain, { subname: 'text', type: 'TXT', records: ['"a b" "c"'] })
  t.deepEqual(await found(api, { content: '010  mx.example.com.', type: 'MX' }), [`mail.${domain}. MX`])
  t.deepEqual(await found(api, { content: '010  mx.example.com.' }), [])
  t.deepEqual(await found(api, { content: '10 mx.example.com.' }), [`mail.${domain}. MX`])
  t.deepEqual(await found(api, { content: '"a b"   "c"', type: 'TXT' }), [`text.${domain}. TXT`])
  for (const content of ['"a b"', 'a b', '%', 'é', '\0', '192.0.2.1%1', 'fe80::1%eth0', "'"]) {
    t.deepEqual(await found(api, { content }), [], content)
  }
})

test('a name is found in whichever domain it is, exactly', async (t) => {
  const { api, domain } = await site()
  const name = `www.${domain}`
  await newRRset(api, domain, { type: 'TXT', records: ['"x"'] })
  await newRRset(api, domain, { subname: '*', type: 'TXT', records: ['"x"'] })
  t.deepEqual(await found(api, { name }), [`${name}. TXT`, `${name}. A`])
  t.deepEqual(await found(api, { name: `${name.toUpperCase()}.` }), [`${name}. TXT`, `${name}. A`])
  t.deepEqual(await found(api, { name, type: 'A' }), [`${name}. A`])
  t.deepEqual(await found(api, { name, content: '192.0.2.1' }), [`${name}. A`])
  t.deepEqual(await found(api, { name, content: '192.0.2.2' }), [])
  t.deepEqual(await found(api, { name: domain }), [`${domain}. NS`])
  t.deepEqual(await found(api, { name: `*.${domain}` }), [`*.${domain}. TXT`])
  t.deepEqual(await found(api, { name: `x${name}` }), [])
  // Below a domain of its own, the name may also be in the domain above.
  const lower = await newDomain(api, name)
  t.deepEqual(await found(api, { name }), [`${lower}. NS`, `${name}. TXT`, `${name}. A`])
  t.deepEqual(await found(api, { name, domain: lower }), [`${lower}. NS`])
  t.deepEqual(await found(api, { name, domain }), [`${name}. TXT`, `${name}. A`])
  await newRRset(api, domain, { subname: 'xn--bcher-kva', records: ['192.0.2.9'] })
  t.deepEqual(await found(api, { name: `Bücher.${domain}` }), [`xn--bcher-kva.${domain}. A`])
  for (const odd of ['.', '..', 'a..b', '*', '%', '\0', 'a*.test', 'x'.repeat(300)]) {
    t.deepEqual(await found(api, { name: odd }), [], odd)
  }
})

test('a domain narrows the search', async (t) => {
  const { api, domain } = await site()
  t.deepEqual(await found(api, { content: ADDRESS, domain }), [`a.${domain}. AAAA`])
  for (const odd of ['', 'foreign.test', `${domain}.`, '\0', '%']) {
    t.deepEqual(await found(api, { content: ADDRESS, domain: odd }), [], odd)
  }
})

for (const [filters, body] of [
  [{}, '{"non_field_errors":["Give content or name."]}'],
  [{ type: 'A' }, '{"non_field_errors":["Give content or name."]}'],
  [{ domain: 'a.test' }, '{"non_field_errors":["Give content or name."]}'],
  [{ content: ' ' }, '{"content":["This field may not be blank."]}'],
  [{ name: '' }, '{"name":["This field may not be blank."]}'],
  [{ content: 'x', type: 'A' }, '{"content":["Record content for type A malformed: Text input is malformed."]}'],
  [{ content: 'x', type: 'TXT' }, '{"content":["Data for TXT records must be given using quotation marks."]}'],
  [{ name: 'x', type: 'ALIAS' }, '{"type":["The ALIAS RR set type is currently unsupported."]}'],
  [{ name: 'x', type: 'SOA' }, '{"type":["You cannot tinker with the SOA RR set. It is managed automatically."]}'],
  [
    { content: '', name: '', type: '\0' },
    '{"content":["This field may not be blank."],"name":["This field may not be blank."],' +
      '"type":["Type must be uppercase alphanumeric and start with a letter."]}',
  ],
] as [Record<string, string>, string][]) {
  test(`bad input is 400, and names its parameter: ${JSON.stringify(filters)}`, async (t) => {
    const { api } = await service().account()
    const { status, text } = await search(api, filters)
    t.deepEqual([status, text], [400, body])
  })
}

test('a token finds what it sees', async (t) => {
  const { account, api, domain, other } = await site()
  const owner = await service().account()
  const confined = await addToken(service(), owner.id, { userOverrideId: account.id })
  t.is((await found(confined.api, { content: ADDRESS })).length, 2)
  await addPolicies(service(), confined.id, { write: true }, { domain, write: false })
  t.deepEqual(await found(confined.api, { content: ADDRESS }), [`a.${domain}. AAAA`])
  t.deepEqual(await found(confined.api, { name: `b.${other}` }), [])
  t.deepEqual(await found(confined.api, { content: ADDRESS, domain: other }), [])
  t.deepEqual(await found(owner.api, { content: ADDRESS }), [])
  const restricted = await addToken(service(), account.id)
  await addPolicies(service(), restricted.id, { write: false })
  t.is((await found(restricted.api, { content: ADDRESS })).length, 2)
  t.is((await search(service().anonymous, { content: ADDRESS })).status, 401)
  const login = await addToken(service(), account.id, { mfa: false })
  await addFactor(service(), account.id)
  t.is((await search(login.api, { content: ADDRESS })).status, 403)
  t.is((await search(api, { content: ADDRESS })).status, 200)
})

test('pages contain every RRset once, and keep the filters', async (t) => {
  const { api, domain, other } = await site()
  await query(
    service().system.db,
    `insert into rrsets (domain_id, subname, type, ttl, records, created, touched)
     select id, 'n' || n, 'A', 60, '{192.0.2.7}', now() - interval '1 second' * n, now()
     from domains, generate_series(1, 300) as n where name in (:domain, :other)`,
    { domain, other },
  )
  const filters = { content: '192.0.2.7', type: 'A' }
  const required = await search(api, filters)
  t.is(required.status, 400)
  t.true(required.text.includes('(600 total)'), required.text)
  t.regex(String(required.headers['link']), /\/rrsets\/\?content=192\.0\.2\.7&cursor=&type=A>; rel="first"$/)
  const first = await search(api, { ...filters, cursor: '' })
  const next = /<([^>]*)>; rel="next"/.exec(String(first.headers['link']))![1]!
  const last = await api.get(next.replace(/^.*\/api\/v1/, ''))
  t.deepEqual([shown(first).length, shown(last).length], [500, 100])
  t.is(new Set([...shown(first), ...shown(last)].map(({ name }) => name)).size, 600)
  const times = [...shown(first), ...shown(last)].map(({ created }) => created)
  t.deepEqual(times, times.toSorted().reverse())
  const prev = /<([^>]*)>; rel="prev"/.exec(String(last.headers['link']))![1]!
  t.is((await api.get(prev.replace(/^.*\/api\/v1/, ''))).text, first.text)
  t.is((await search(api, { ...filters, cursor: 'x' })).status, 404)
})

for (const [column, amount] of [
  ['size', 1_000_001],
  ['record_octets', 268_435_457],
] as const) {
  test(`an account with too much to search has to give a domain or a name: ${column}`, async (t) => {
    const { api, domain, other } = await site()
    const state = (value: number) =>
      query(service().system.db, `update domains set ${column} = :value where name = :other`, { value, other })
    await state(amount)
    const { status, text } = await search(api, { content: ADDRESS })
    const reason = 'This account has too many RRsets to search them all. Give a domain or a name.'
    t.deepEqual([status, text], [400, JSON.stringify({ domain: [reason] })])
    t.is((await found(api, { content: ADDRESS, domain: other })).length, 1)
    t.is((await found(api, { content: ADDRESS, name: `a.${domain}` })).length, 1)
    await state(1000)
    t.is((await found(api, { content: ADDRESS })).length, 2)
  })
}

test('what a write has changed is found at once', async (t) => {
  const { api, domain } = await site()
  succeeded(await api.put(`/domains/${domain}/rrsets/`, [rrset({ records: ['192.0.2.77'] })]), 200)
  t.deepEqual(await found(api, { content: '192.0.2.77' }), [`www.${domain}. A`])
  t.deepEqual(await found(api, { content: '192.0.2.1' }), [])
})

test('an account searches one at a time, and keeps no other account waiting', async (t) => {
  const { account, api, domain } = await site()
  const other = await service().account()
  const leave = await service().system.bounds.searches.take(`searches of ${account.id}`)
  let isAnswered = false
  const answering = found(api, { name: `a.${domain}` }).then((names) => {
    isAnswered = true
    return names
  })
  for (let i = 0; i < 20; i++) t.deepEqual(await found(other.api, { content: ADDRESS }), [])
  t.false(isAnswered)
  leave()
  t.deepEqual(await answering, [`a.${domain}. AAAA`])
})

const AUTOMATIC = ['SOA', 'RRSIG', 'NSEC', 'NSEC3', 'NSEC3PARAM', 'KEY', 'OPT']

/** A domain with some RRsets as the API shows them, newest first. */
async function zone() {
  const { api } = await service().account()
  const domain = await newDomain(api)
  const ns = succeeded(await api.get(`/domains/${domain}/rrsets/@/NS/`), 200).json as ShownRRset
  const all = [ns]
  for (const [subname, type, record] of [
    ['www', 'A', '192.0.2.1'],
    ['', 'A', '192.0.2.1'],
    ['www', 'TXT', '"a"'],
    ['', 'TXT', '"a"'],
    ['*', 'A', '192.0.2.1'],
    ['a.www', 'A', '192.0.2.1'],
  ] as const) {
    all.unshift(await newRRset(api, domain, { subname, type, records: [record] }))
  }
  return { api, path: `/domains/${domain}/rrsets/`, all }
}

test('the list contains all RRsets of the domain, newest first, each as GET of one RRset shows it', async (t) => {
  const { api, path, all } = await zone()
  const answer = await api.get(path)
  t.deepEqual([answer.status, answer.text], [200, JSON.stringify(all)])
})

/** Queries, and which RRsets they select. */
const FILTERS: [query: string, wanted: (rrset: ShownRRset) => boolean][] = [
  ['type=A', ({ type }) => type === 'A'],
  ['type=TXT', ({ type }) => type === 'TXT'],
  ['subname=www', ({ subname }) => subname === 'www'],
  ['subname=', ({ subname }) => subname === ''],
  ['subname', ({ subname }) => subname === ''],
  ['subname=*', ({ subname }) => subname === '*'],
  ['subname=%2A', ({ subname }) => subname === '*'],
  ['subname=a.www', ({ subname }) => subname === 'a.www'],
  ['subname=www&type=TXT', ({ subname, type }) => subname === 'www' && type === 'TXT'],
  ['type=NS&subname=', ({ type }) => type === 'NS'],
  ['type=A&type=TXT', ({ type }) => type === 'TXT'],
  ['subname=www&subname=', ({ subname }) => subname === ''],
  ['unknown=1&format=api', () => true],
  ['Type=A', () => true],
  ['subname=@', () => false],
  ['subname=...', () => false],
  ['subname=www...', () => false],
  ['subname=WWW', () => false],
  ['subname=%20www', () => false],
  ['subname=absent', () => false],
  ['subname=%00', () => false],
  ['subname=%ff', () => false],
  ['subname=%F0%9F%98%80', () => false],
  ['type=', () => false],
  ['type=a', () => false],
  ['type=soa', () => false],
  ['type=AAAA', () => false],
  ['type=ALIAS', () => false],
  ['type=DNSKEY', () => false],
  ['type=CDS', () => false],
  ['type=%00', () => false],
  ['type=SOA&type=A', ({ type }) => type === 'A'],
]

test('type and subname filter by equality, and combine', async (t) => {
  const { api, path, all } = await zone()
  for (const [query, wanted] of FILTERS) {
    const answer = await api.get(`${path}?${query}`)
    t.deepEqual([answer.status, answer.text], [200, JSON.stringify(all.filter(wanted))], query)
  }
})

const empty = shared(async () => {
  const { api } = await service().account()
  return { api, path: `/domains/${await newDomain(api)}/rrsets/` }
})

for (const type of AUTOMATIC) {
  const denied = `{"detail":"You cannot tinker with the ${type} RRset."}`

  test(`a filter by ${type} is 403`, async (t) => {
    const { api, path } = await empty()
    for (const query of [`type=${type}`, `type=A&type=${type}`, `subname=www&type=${type}`]) {
      const answer = await api.get(`${path}?${query}`)
      t.deepEqual([answer.status, answer.text], [403, denied], query)
    }
  })

  test(`${type} in the path of an RRset is 403 for every method`, async (t) => {
    const { api, path } = await empty()
    for (const subname of ['@', 'www']) {
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
        const body = method === 'GET' ? undefined : {}
        const answer = await api.send(method, `${path}${subname}/${type}/`, body)
        t.deepEqual([answer.status, answer.text], [403, denied], method)
      }
    }
  })
}
