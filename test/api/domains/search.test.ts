import { freshName, newDomain, newRRset, newZone, succeeded } from '../../support/clients/api.ts'
import type { Answer, Client } from '../../support/clients/client.ts'
import { addPolicies, addToken } from '../../support/clients/tokens.ts'
import { useService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'

// Contract §7.5: `search` in the lists of domains, of deleted domains, and of RRsets.

const service = useService()

interface Shown {
  name: string
  subname: string
}

const shown = (answer: Answer) => succeeded(answer, 200).json as Shown[]

async function domains(api: Client, text: string, more = ''): Promise<string[]> {
  return shown(await api.get(`/domains/?search=${encodeURIComponent(text)}${more}`)).map(({ name }) => name)
}

test('domains are found by a part of their name, in any case, newest first', async (t) => {
  const { api } = await service().account()
  for (const name of ['shop.one.test', 'other.test', 'myshop.test']) await newDomain(api, name)
  t.deepEqual(await domains(api, 'shop'), ['myshop.test', 'shop.one.test'])
  t.deepEqual(await domains(api, 'SHOP.'), ['myshop.test', 'shop.one.test'])
  t.deepEqual(await domains(api, 'y'), ['myshop.test'])
  t.deepEqual(await domains(api, ''), ['myshop.test', 'other.test', 'shop.one.test'])
  t.deepEqual(await domains(api, 'shop', '&owns_qname=a.shop.one.test'), ['shop.one.test'])
  t.deepEqual(await domains(api, 'other', '&owns_qname=a.shop.one.test'), [])
  t.deepEqual(await domains(api, 'other', '&owns_qname=a.shop.one.test&cursor='), [])
})

test('labels in Unicode find their Punycode', async (t) => {
  const { api } = await service().account()
  const name = 'xn--bcher-kva.example.test'
  await newDomain(api, name)
  for (const text of ['bücher', 'BÜCHER.example', 'bcher', 'XN--', 'ample.test']) {
    t.deepEqual(await domains(api, text), [name], text)
  }
})

for (const text of [
  '%',
  '_',
  '.test.',
  ' ',
  'shop%',
  '\0',
  '\ufffd',
  "'",
  '\\',
  'ü b',
  'a'.repeat(254),
  'ü'.repeat(1000),
]) {
  test(`what no name contains finds nothing: ${JSON.stringify(text).slice(0, 20)}`, async (t) => {
    const { api } = await service().account()
    const domain = await newDomain(api, freshName())
    t.deepEqual(await domains(api, text), [])
    t.deepEqual(shown(await api.get(`/domains/${domain}/rrsets/?search=${encodeURIComponent(text)}`)), [])
    t.deepEqual(await domains(api, text, '&deleted=true'), [])
  })
}

test('deleted domains are found likewise', async (t) => {
  const { api } = await service().account()
  const [first, second] = [await newDomain(api, 'gone-first.test'), await newDomain(api, 'gone-second.test')]
  for (const name of [first, second]) succeeded(await api.delete(`/domains/${name}/`), 204)
  t.deepEqual(await domains(api, 'FIRST', '&deleted=true'), [first])
  t.deepEqual(await domains(api, 'gone', '&deleted=true'), [second, first])
  t.deepEqual(await domains(api, 'gone'), [])
})

test('RRsets are found by a part of their subname, and by the other filters, too', async (t) => {
  const { api, domain, rrsets } = await newZone(service(), {}, { subname: 'www.shop' }, { subname: 'mail' })
  await newRRset(api, domain, { subname: '*.shop', type: 'TXT', records: ['"x"'] })
  const subnames = async (filter: string) => shown(await api.get(`${rrsets}?${filter}`)).map(({ subname }) => subname)
  t.deepEqual(await subnames('search=SHOP'), ['*.shop', 'www.shop'])
  t.deepEqual(await subnames('search=shop&type=A'), ['www.shop'])
  t.deepEqual(await subnames('search=w&subname=www'), ['www'])
  t.deepEqual(await subnames('search=*'), ['*.shop'])
  // The name of the domain does not count.
  t.deepEqual(await subnames(`search=${domain}`), [])
  t.is((await subnames('search=')).length, 5)
  t.is((await api.get(`${rrsets}?search=x&type=SOA`)).status, 403)
})

test('pages and totals are those of what is found', async (t) => {
  const { id, api } = await service().account()
  await service().sql(
    `insert into domains (name, owner_id, minimum_ttl, version, size, created, published, touched)
     select case n % 2 when 0 then 'even-' else 'odd-' end || n || '.test', :id, 60, 1, 0,
       now() - interval '1 second' * n, now(), now()
     from generate_series(1, 1010) as n`,
    { id },
  )
  const required = await api.get('/domains/?search=even')
  t.is(required.status, 400)
  t.true(required.text.includes('(505 total)'), required.text)
  t.regex(String(required.headers['link']), /\/domains\/\?cursor=&search=even>; rel="first"$/)
  const first = succeeded(await api.get('/domains/?search=even&cursor='), 200)
  const next = /<([^>]*)>; rel="next"/.exec(String(first.headers['link']))![1]!
  const last = await api.get(next.replace(/^.*\/api\/v1/, ''))
  t.deepEqual(
    [shown(first).length, shown(last).map(({ name }) => name)],
    [500, [1002, 1004, 1006, 1008, 1010].map((n) => `even-${n}.test`)],
  )
})

test('a token finds only what it sees', async (t) => {
  const { account, api, domain } = await newZone(service(), {})
  const hidden = await newDomain(api)
  const owner = await service().account()
  const confined = await addToken(service(), owner.id, { userOverrideId: account.id })
  await addPolicies(service(), confined.id, { write: true }, { domain, write: false })
  t.deepEqual(await domains(confined.api, '.test'), [domain])
  t.is((await confined.api.get(`/domains/${hidden}/rrsets/?search=w`)).status, 404)
  t.deepEqual(await domains(owner.api, '.test'), [])
  const restricted = await addToken(service(), account.id)
  await addPolicies(service(), restricted.id, { write: false })
  t.deepEqual(await domains(restricted.api, '.test'), [hidden, domain])
})
