import {
  callsFor,
  domainOf,
  freshName,
  newDomain,
  newRRset,
  newZone,
  sendHeld,
  setMinimumTtl,
  type ShownDomain,
  type ShownRRset,
  succeeded,
} from '../../support/clients/api.ts'
import { addPolicies } from '../../support/clients/tokens.ts'
import { ask, dataOf, lookUp } from '../../support/dns/dns.ts'
import { dsByBind } from '../../support/dns/validators.ts'
import { useService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'

const service = useService({ NAMESERVERS: 'ns1.example.net, ns2.example.net' })

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/
const NOT_FOUND = '{"detail":"Not found."}'

/** A domain with its members in the contract's order, as compact JSON. */
function inOrder({ created, published, name, keys, minimum_ttl, touched }: ShownDomain): string {
  return JSON.stringify({
    ...{ created, published, name },
    keys: keys.map(({ dnskey, ds, flags, keytype, managed }) => ({ dnskey, ds, flags, keytype, managed })),
    ...{ minimum_ttl, touched },
  })
}

function withoutKeys({ created, published, name, minimum_ttl, touched }: ShownDomain) {
  return { created, published, name, minimum_ttl, touched }
}

test('creating a domain is 201 and shows its members in order, and so does GET', async (t) => {
  const { api } = await service().account()
  const name = freshName()
  const answer = await api.post('/domains/', { name })
  t.is(answer.status, 201)
  const domain = answer.json as ShownDomain
  t.is(answer.text, inOrder(domain))
  t.is(domain.name, name)
  t.is(domain.minimum_ttl, 60)
  t.is(domain.keys.length, 1)
  t.regex(domain.created, TIME)
  t.deepEqual([domain.published, domain.touched], [domain.created, domain.created])
  const shown = await api.get(`/domains/${name}/`)
  t.deepEqual([shown.status, shown.text], [200, answer.text])
})

test("the list contains the account's domains without keys, newest first", async (t) => {
  const { api } = await service().account()
  const other = await service().account()
  const own: string[] = []
  for (let i = 0; i < 4; i++) {
    own.push(await newDomain(api))
    await newDomain(other.api)
  }
  const shown = await Promise.all(own.toReversed().map((name) => domainOf(api, name)))
  const answer = await api.get('/domains/')
  t.is(answer.status, 200)
  t.is(answer.text, JSON.stringify(shown.map(withoutKeys)))
})

test('a foreign domain behaves like an absent one', async (t) => {
  const [{ api }, other] = [await service().account(), await newZone(service(), {})]
  for (const name of [other.domain, freshName(), '@', other.domain.toUpperCase()]) {
    for (const path of ['', 'rrsets/', 'rrsets/www/A/', 'rrsets/@/NS/', 'rrsets/@/SOA/']) {
      for (const method of path === '' ? ['GET'] : ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
        const options = { body: '{', headers: { 'content-type': 'application/json' } }
        const { status, text } = await api.send(
          method,
          `/domains/${name}/${path}`,
          undefined,
          method === 'GET' ? {} : options,
        )
        t.deepEqual([status, text], [404, NOT_FOUND], `${method} ${path}`)
      }
    }
  }
  t.deepEqual((await api.get(`/domains/?owns_qname=${other.domain}`)).json, [])
  t.false((await api.get('/domains/')).text.includes(other.domain))
  t.is((await other.api.get(other.one)).status, 200)
})

test('the name in the path is matched literally', async (t) => {
  const { api } = await service().account()
  const name = await newDomain(api)
  const others = [name.toUpperCase(), `${name}.`, `%20${name}`, `${name}%00`, `www.${name}`, '%2A', '_', '..%2e', '%ff']
  for (const other of others) {
    const answer = await api.get(`/domains/${other}/`)
    t.deepEqual([answer.status, answer.text], [404, NOT_FOUND], other)
  }
  t.is((await api.get(`/domains/${name.replace('.', '%2e')}/`)).status, 200)
})

test('read-only and unknown members are ignored, whatever their values', async (t) => {
  const { api } = await service().account()
  const name = freshName()
  const wrong = { name, created: 1, published: 'x', touched: [], keys: null, minimum_ttl: 'x', owner: {} }
  const domain = succeeded(await api.post('/domains/', wrong), 201).json as ShownDomain
  t.is(domain.minimum_ttl, 60)
  t.regex(domain.created, TIME)
})

test('the operator can change the minimum TTL of one domain', async (t) => {
  const { api } = await service().account()
  const [name, other] = [await newDomain(api), await newDomain(api)]
  await setMinimumTtl(service(), name, 3600)
  t.is((await domainOf(api, name)).minimum_ttl, 3600)
  t.is((await domainOf(api, other)).minimum_ttl, 60)
  const shown = ((await api.get('/domains/')).json as ShownDomain[]).map(({ minimum_ttl }) => minimum_ttl)
  t.deepEqual(shown, [60, 3600])
})

const LIMIT = '{"detail":"Domain limit exceeded. Please contact support to create additional domains."}'
const DISALLOWED = '{"name":["This domain name conflicts with an existing domain, or is disallowed by policy."]}'

test('a new domain has one RRset, the apex NS with the configured name servers', async (t) => {
  const { api } = await service().account()
  const name = await newDomain(api)
  const rrsets = (await api.get(`/domains/${name}/rrsets/`)).json as ShownRRset[]
  const stored = rrsets.map(({ subname, type, ttl, records }) => ({ subname, type, ttl, records }))
  t.deepEqual(stored, [{ subname: '', type: 'NS', ttl: 3600, records: ['ns1.example.net.', 'ns2.example.net.'] }])
})

test('DNS answers SOA and NS of a new domain once the response arrives, even if it answered REFUSED before', async (t) => {
  const { api } = await service().account()
  const name = freshName()
  t.is((await ask(service().powerDns, name, 'SOA')).rcode, 'REFUSED')
  await newDomain(api, name)
  const [soa] = await lookUp(service().powerDns, name, 'SOA')
  t.regex(soa!, new RegExp(`^ns1\\.example\\.net\\. hostmaster\\.${name}\\. \\d+ 3600 600 1209600 3600$`))
  t.deepEqual(await lookUp(service().powerDns, name, 'NS'), ['ns1.example.net.', 'ns2.example.net.'])
  const { answers } = await ask(service().powerDns, name, 'NS')
  const ttls = answers.flatMap((rr) => (rr.type === 'NS' ? rr.ttl : []))
  t.deepEqual(ttls, [3600, 3600])
})

test('a new domain is signed, has CDS and CDNSKEY, and its NSEC3 chain has no salt and no extra iterations', async (t) => {
  const { api } = await service().account()
  const name = await newDomain(api)
  t.is((await lookUp(service().powerDns, name, 'DNSKEY')).length, 1)
  t.is((await lookUp(service().powerDns, name, 'CDS')).length, 2)
  t.is((await lookUp(service().powerDns, name, 'CDNSKEY')).length, 1)
  t.deepEqual(await lookUp(service().powerDns, name, 'NSEC3PARAM'), ['1 0 0 -'])
  t.is(dataOf(await ask(service().powerDns, name, 'SOA'), 'RRSIG').length, 1)
  const denial = await ask(service().powerDns, `absent.${name}`, 'A')
  t.is(denial.rcode, 'NXDOMAIN')
  t.true(denial.authorities.some(({ type }) => type === 'NSEC3'))
})

test('an account can create as many domains as its limit allows', async (t) => {
  const { api } = await service().account({ limitDomains: 2 })
  const name = await newDomain(api)
  await newDomain(api)
  const answer = await api.post('/domains/', { name: freshName() })
  t.deepEqual([answer.status, answer.text], [403, LIMIT])
  succeeded(await api.delete(`/domains/${name}/`), 204)
  await newDomain(api)
})

test('an account whose limit was lowered keeps its domains and cannot create another', async (t) => {
  const { api, id } = await service().account()
  await newDomain(api)
  await newDomain(api)
  await service().sql('update accounts set limit_domains = 1 where id = :id', { id })
  t.is((await api.post('/domains/', { name: freshName() })).text, LIMIT)
  t.is(((await api.get('/domains/')).json as unknown[]).length, 2)
})

test('20 creations at once do not exceed the limit', async (t) => {
  const { api } = await service().account({ limitDomains: 5 })
  const answers = await Promise.all(Array.from({ length: 20 }, () => api.post('/domains/', { name: freshName() })))
  t.is(answers.filter(({ status }) => status === 201).length, 5)
  const others = answers.filter(({ status }) => status !== 201)
  t.deepEqual(new Set(others.map(({ status, text }) => `${status} ${text}`)), new Set([`403 ${LIMIT}`]))
  t.is(((await api.get('/domains/')).json as unknown[]).length, 5)
})

test('a zone at PowerDNS that is not ours is not taken over', async (t) => {
  const { api } = await service().account()
  const name = freshName()
  const zone = { name: `${name}.`, kind: 'Native', nameservers: ['ns.other.test.'] }
  const made = await service().pdns('POST', '/zones', zone)
  t.is(made.status, 201)
  const answer = await api.post('/domains/', { name })
  t.deepEqual([answer.status, answer.text], [400, DISALLOWED])
  t.deepEqual(await lookUp(service().powerDns, name, 'NS'), ['ns.other.test.'])
  t.is((await api.get('/domains/')).text, '[]')
})

test('a creation that PowerDNS does not apply leaves no policy behind', async (t) => {
  const { api, tokenId } = await service().account()
  await addPolicies(service(), tokenId, { write: false })
  await service().sql('update tokens set auto_policy = true where id = :tokenId', { tokenId })
  const name = freshName()
  service().proxy.fail(({ method, body }) =>
    method === 'POST' && body.includes(`"${name}."`) ? { refuse: 500 } : 'pass',
  )
  const answer = await api.post('/domains/', { name })
  service().proxy.heal()
  t.is(answer.status, 503)
  const policies = await service().sql('select from policies where token_id = :tokenId', { tokenId })
  t.is(policies.length, 1)
})

const FORBIDDEN = '{"detail":"You do not have permission to perform this action."}'

test('a deleted domain is gone from the API, from PowerDNS and from DNS when the response arrives', async (t) => {
  const { api, domain: name } = await newZone(service(), {})
  t.deepEqual(await lookUp(service().powerDns, `www.${name}`, 'A'), ['192.0.2.1'])
  const answer = await api.delete(`/domains/${name}/`)
  t.deepEqual([answer.status, answer.text], [204, ''])
  t.is((await ask(service().powerDns, `www.${name}`, 'A')).rcode, 'REFUSED')
  t.is((await ask(service().powerDns, name, 'SOA')).rcode, 'REFUSED')
  t.is((await service().pdns('GET', `/zones/${name}.`)).status, 404)
  t.is((await api.get(`/domains/${name}/`)).status, 404)
  t.is((await api.get(`/domains/${name}/rrsets/`)).status, 404)
  t.is((await api.get('/domains/')).text, '[]')
})

test('a domain that is deleted and created again has none of its old RRsets', async (t) => {
  const { api, domain: name } = await newZone(service(), {})
  succeeded(await api.delete(`/domains/${name}/`), 204)
  await newDomain(api, name)
  t.is(((await api.get(`/domains/${name}/rrsets/`)).json as unknown[]).length, 1)
  t.is((await ask(service().powerDns, `www.${name}`, 'A')).rcode, 'NXDOMAIN')
})

test('deleting a domain deletes the policies that name it, and no others', async (t) => {
  const { api } = await service().account()
  const restricted = await service().account()
  const [name, other] = [await newDomain(restricted.api), await newDomain(restricted.api)]
  const rules = [
    { domain: name, write: true },
    { domain: name, type: 'A', write: true },
    { domain: other, write: true },
  ]
  await addPolicies(service(), restricted.tokenId, { write: true }, ...rules)
  succeeded(await api.delete(`/domains/${name}/`), 204)
  t.is((await domainOf(restricted.api, name)).name, name, 'nobody else deletes it')
  succeeded(await restricted.api.delete(`/domains/${name}/`), 204)
  const left = await service().sql<{ name: string | null }>(
    'select domains.name from policies left join domains on domains.id = domain_id where token_id = :tokenId',
    { tokenId: restricted.tokenId },
  )
  t.deepEqual(left.map((row) => row.name).sort(), [null, other].sort())
})

test('deleting a foreign domain is 204 and does not delete it', async (t) => {
  const { api } = await service().account()
  const owner = await service().account()
  const name = await newDomain(owner.api)
  const before = await domainOf(owner.api, name)
  t.is((await api.delete(`/domains/${name}/`)).status, 204)
  t.deepEqual(await domainOf(owner.api, name), before)
  t.deepEqual((await lookUp(service().powerDns, name, 'SOA')).length, 1)
})

test('deleting a foreign domain does not wait for the writes of its owner', async (t) => {
  const { api } = await service().account()
  const owner = await service().account()
  const name = await newDomain(owner.api)
  const { answering, release } = await sendHeld(service(), 'PATCH', () => newRRset(owner.api, name))
  const answer = await api.delete(`/domains/${name}/`)
  release('pass')
  t.deepEqual([answer.status, answer.text], [204, ''])
  t.is((await answering).domain, name)
})

test('deleting an absent or a malformed name is 204, every time, and costs PowerDNS nothing', async (t) => {
  const { api, domain: name } = await newZone(service())
  const absent = freshName()
  for (const malformed of [
    absent,
    absent,
    '@',
    '*',
    'a..b',
    '%00',
    '_',
    `${name}.`,
    name.toUpperCase(),
    'x'.repeat(300),
    '%F0%9F%98%80',
  ]) {
    const answer = await api.delete(`/domains/${malformed}/`)
    t.deepEqual([answer.status, answer.text], [204, ''], malformed)
  }
  t.is(callsFor(service(), absent), 0)
  t.is((await domainOf(api, name)).name, name)
})

test('deleting without perm_delete_domain is 403, even for absent and foreign domains', async (t) => {
  const { api } = await service().account({ permDeleteDomain: false })
  const own = await newDomain(api)
  for (const name of [own, freshName(), await newDomain((await service().account()).api), '@']) {
    const answer = await api.delete(`/domains/${name}/`)
    t.deepEqual([answer.status, answer.text], [403, FORBIDDEN], name)
  }
  t.is((await domainOf(api, own)).name, own)
})

test('deleting a parent domain keeps its child domains', async (t) => {
  const { api, domain: name } = await newZone(service())
  const child = await newDomain(api, `child.${name}`)
  succeeded(await api.delete(`/domains/${name}/`), 204)
  t.is((await domainOf(api, child)).name, child)
  t.is((await lookUp(service().powerDns, child, 'SOA')).length, 1)
})

test('a domain has one generated ECDSA P-256 key', async (t) => {
  const { api } = await service().account()
  const { keys } = await domainOf(api, await newDomain(api))
  t.is(keys.length, 1)
  const { dnskey, flags, keytype, managed } = keys[0]!
  t.regex(dnskey, /^257 3 13 [A-Za-z0-9+/]{86}==$/)
  t.deepEqual({ flags, keytype, managed }, { flags: 257, keytype: 'csk', managed: true })
})

test('the DS records have digest types 2 and 4 of the DNSKEY, in this order, in lower-case hex', async (t) => {
  const { api } = await service().account()
  for (const name of [await newDomain(api), await newDomain(api, 'a-b_c.1.d2.xn--p1acf.keys.test')]) {
    const [key] = (await domainOf(api, name)).keys
    t.deepEqual(key!.ds, await dsByBind(name, key!.dnskey))
  }
})

test('the key in DNS is the one that the API shows', async (t) => {
  const { api } = await service().account()
  const name = await newDomain(api)
  const [key] = (await domainOf(api, name)).keys
  const spaceless = (lines: string[]) => lines.map((line) => line.replace(/ (?=\S+$)/, '').replaceAll(' ', ''))
  const contents = key!.dnskey.replaceAll(' ', '')
  t.deepEqual(spaceless(await lookUp(service().powerDns, name, 'DNSKEY')), [contents])
  t.deepEqual(spaceless(await lookUp(service().powerDns, name, 'CDNSKEY')), [contents])
  const cds = (await lookUp(service().powerDns, name, 'CDS')).map((line) => line.toLowerCase().replaceAll(' ', ''))
  t.deepEqual(
    cds,
    key!.ds.map((ds) => ds.replaceAll(' ', '')),
  )
})

test('every domain has its own key', async (t) => {
  const { api } = await service().account()
  const names = [await newDomain(api), await newDomain(api), await newDomain(api)]
  const keys = await Promise.all(names.map(async (name) => (await domainOf(api, name)).keys[0]!.dnskey))
  t.is(new Set(keys).size, 3)
})
