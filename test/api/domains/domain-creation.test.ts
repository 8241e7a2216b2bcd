import { query } from '../../../src/store/database.ts'
import { freshName, newDomain, type ShownRRset, succeeded } from '../../support/clients/api.ts'
import { addPolicies } from '../../support/clients/tokens.ts'
import { ask, dataOf, lookUp } from '../../support/dns/dns.ts'
import { useService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'

const service = useService({ NAMESERVERS: 'ns1.example.net, ns2.example.net' })

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
  await query(service().system.db, 'update accounts set limit_domains = 1 where id = :id', { id })
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
  await query(service().system.db, 'update tokens set auto_policy = true where id = :tokenId', { tokenId })
  const name = freshName()
  service().proxy.fail(({ method, body }) =>
    method === 'POST' && body.includes(`"${name}."`) ? { refuse: 500 } : 'pass',
  )
  const answer = await api.post('/domains/', { name })
  service().proxy.heal()
  t.is(answer.status, 503)
  const policies = await query(service().system.db, 'select from policies where token_id = :tokenId', { tokenId })
  t.is(policies.length, 1)
})
