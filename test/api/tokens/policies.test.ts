import { query, transaction } from '../../../src/store/database.ts'
import { domainOf, newDomain, newRRset, rrset, succeeded } from '../../support/clients/api.ts'
import { addPolicies, addToken, type PolicyRow } from '../../support/clients/tokens.ts'
import { lookUp } from '../../support/dns/dns.ts'
import { eventually } from '../../support/eventually.ts'
import { useService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'
import { waitingForLocks } from '../../support/state/transactions.ts'

// Contract §6.5. The order of policies (§6.4) is tested in test/service/policies.test.ts, and each of its levels over HTTP,
// for all endpoints, in test/http/access/matrix.test.ts.

const service = useService()

const INSUFFICIENT = '{"detail":"Insufficient token permissions."}'
const FORBIDDEN = '{"detail":"You do not have permission to perform this action."}'
const NOT_FOUND = '{"detail":"Not found."}'

type Rules = (domain: string, other: string) => PolicyRow[]

/** A token with policies, a domain that has www/A, and another domain. */
async function restricted(rules: Rules) {
  const account = await service().account()
  const [domain, other] = [await newDomain(account.api), await newDomain(account.api)]
  const shown = await newRRset(account.api, domain)
  await addPolicies(service(), account.tokenId, ...rules(domain, other))
  return { ...account, domain, other, shown, path: `/domains/${domain}/rrsets/` }
}

for (const [method, body] of [
  ['PUT', JSON.stringify(rrset({ ttl: 60 }))],
  ['PUT', '{'],
  ['PATCH', '{}'],
  ['PATCH', '{"ttl":"x"}'],
  ['PATCH', '{"records":[]}'],
  ['DELETE', ''],
] as const) {
  test(`${method} ${body} of a forbidden RRset is 403`, async (t) => {
    const { api, path, shown } = await restricted(() => [{ write: false }])
    const options = body === '' ? {} : { body, headers: { 'content-type': 'application/json' } }
    const answer = await api.send(method, `${path}www/A/`, undefined, options)
    t.deepEqual([answer.status, answer.text], [403, INSUFFICIENT])
    t.deepEqual((await api.get(`${path}www/A/`)).json, shown)
  })
}

test('for an absent RRset, PUT and PATCH are 404 and DELETE is 204, without a check of the policies', async (t) => {
  const { api, path } = await restricted(() => [{ write: false }])
  for (const method of ['PUT', 'PATCH']) {
    const answer = await api.send(method, `${path}absent/A/`, rrset())
    t.deepEqual([answer.status, answer.text], [404, NOT_FOUND])
  }
  t.is((await api.delete(`${path}absent/A/`)).status, 204)
})

test('a permitted RRset can be changed and deleted', async (t) => {
  const { api, path } = await restricted((domain) => [{ write: false }, { domain, type: 'A', write: true }])
  t.is((await api.patch(`${path}www/A/`, { ttl: 60 })).status, 200)
  t.is((await api.put(`${path}www/A/`, rrset())).status, 200)
  t.is((await api.delete(`${path}www/A/`)).status, 204)
})

test('policies never restrict reads', async (t) => {
  const { api, domain, other, path, shown } = await restricted((name) => [
    { write: false },
    { domain: name, write: false },
  ])
  t.deepEqual((await api.get(`${path}www/A/`)).json, shown)
  t.is(((await api.get(path)).json as unknown[]).length, 2)
  t.is(((await api.get('/domains/')).json as unknown[]).length, 2)
  t.is((await domainOf(api, domain)).name, domain)
  t.is((await domainOf(api, other)).name, other)
})

/** Policies, and whether they permit deleting a domain with an NS RRset at its apex and an A RRset at www. */
const DELETIONS: [title: string, rules: Rules, allowed: boolean][] = [
  ['a permissive policy for another domain', (_, other) => [{ write: false }, { domain: other, write: true }], false],
  [
    'a restrictive policy that names the domain, even if it matches no RRset there',
    (domain) => [{ write: true }, { domain, subname: 'absent', type: 'TXT', write: false }],
    false,
  ],
  [
    'a restrictive policy that names another domain',
    (_, other) => [{ write: true }, { domain: other, write: false }],
    true,
  ],
  [
    'permission for all existing types',
    () => [{ write: false }, { type: 'A', write: true }, { type: 'NS', write: true }],
    true,
  ],
  ['permission for all but the NS RRset', () => [{ write: false }, { type: 'A', write: true }], false],
  ['permission for all but one RRset', () => [{ write: true }, { subname: 'www', write: false }], false],
  ['a restrictive policy for an absent RRset', () => [{ write: true }, { type: 'TXT', write: false }], true],
]

for (const [title, rules, allowed] of DELETIONS) {
  test(`${title} ${allowed ? 'permits' : 'forbids'} deleting the domain`, async (t) => {
    const { api, domain } = await restricted(rules)
    const answer = await api.delete(`/domains/${domain}/`)
    t.deepEqual([answer.status, answer.text], allowed ? [204, ''] : [403, FORBIDDEN])
    t.is((await api.get(`/domains/${domain}/`)).status, allowed ? 404 : 200)
  })
}

test('deleting a domain requires permission for the apex NS even if it is absent', async (t) => {
  const { api, domain, path, tokenId } = await restricted(() => [])
  succeeded(await api.delete(`${path}@/NS/`), 204)
  await addPolicies(service(), tokenId, { write: false }, { type: 'A', write: true })
  t.is((await api.delete(`/domains/${domain}/`)).text, FORBIDDEN)
})

test('deleting an absent domain is 204, whatever the policies', async (t) => {
  const { api } = await restricted(() => [{ write: false }])
  t.is((await api.delete('/domains/absent.test/')).status, 204)
})

test('a token with auto_policy may write in the domains that it creates, and nowhere else', async (t) => {
  const { api, tokenId, path } = await restricted(() => [{ write: false }])
  await query(service().system.db, 'update tokens set auto_policy = true where id = :tokenId', { tokenId })
  const name = await newDomain(api)
  const policies = await query(
    service().system.db,
    `select domains.name, subname, type, perm_write from policies join domains on domains.id = domain_id
     where token_id = :tokenId`,
    { tokenId },
  )
  t.deepEqual(policies, [{ name, subname: null, type: null, perm_write: true }])
  t.is((await api.post(`/domains/${name}/rrsets/`, rrset())).status, 201)
  t.is((await api.post(path, rrset({ subname: 'b' }))).text, INSUFFICIENT)
  t.is((await api.delete(`/domains/${name}/`)).status, 204)
})

test('a token without auto_policy gets no policy for the domains that it creates', async (t) => {
  const { api, tokenId } = await restricted(() => [{ write: false }])
  await newDomain(api)
  const policies = await query(service().system.db, 'select from policies where token_id = :tokenId', { tokenId })
  t.is(policies.length, 1)
})

test('a change of policies applies to a request that is waiting for the lock of its domain', async (t) => {
  const { api, domain, path, tokenId } = await restricted(() => [{ write: true }])
  const { db } = service().system
  const [answer] = await transaction(db, async (trx) => {
    await query(trx, 'select from domains where name = :domain for no key update', { domain })
    const answer = api.patch(`${path}www/A/`, { ttl: 60 })
    await eventually(() => waitingForLocks(db))
    await addPolicies(service(), tokenId, { domain, write: false })
    return [answer]
  })
  t.is((await answer).text, INSUFFICIENT)
})

/** A token with policies that may create domains: of the account, or an override token. */
async function withCreation(rules: Rules, kind: 'own' | 'override' = 'own') {
  const account = await service().account()
  const [domain, other] = [await newDomain(account.api), await newDomain(account.api)]
  await newRRset(account.api, domain)
  const bound = { permCreateDomain: true, userOverrideId: kind === 'own' ? null : account.id }
  const owner = kind === 'own' ? account : await service().account()
  const { id: tokenId, api } = await addToken(service(), owner.id, bound)
  await addPolicies(service(), tokenId, ...rules(domain, other))
  return { account, api, domain, other, tokenId }
}

test('a domain below another one, which hides names of that one, requires permission for an NS RRset there', async (t) => {
  const { account, api, domain, tokenId } = await withCreation((domain) => [
    { write: false },
    { domain, subname: 'mine', type: 'NS', write: true },
  ])
  await query(service().system.db, 'update tokens set auto_policy = true where id = :tokenId', { tokenId })
  for (const name of [`www.${domain}`, `x.mine.${domain}`]) {
    const zonefile = '@ 60 A 192.0.2.66'
    t.deepEqual([(await api.post('/domains/', { name, zonefile })).text, name], [INSUFFICIENT, name])
  }
  t.deepEqual(await lookUp(service().powerDns, `www.${domain}`, 'A'), ['192.0.2.1'])
  // The closest domain above decides: in its own ones, the token may write everything.
  await newDomain(api, `mine.${domain}`)
  await newDomain(api, `x.mine.${domain}`)
  await newDomain(account.api, `www.${domain}`)
})

test('an override token does not have that permission in domains that it does not see', async (t) => {
  for (const write of [false, true]) {
    const { api, domain, other } = await withCreation((domain) => [{ write }, { domain, write: true }], 'override')
    t.is((await api.get(`/domains/${other}/`)).status, 404)
    t.is((await api.post('/domains/', { name: `www.${other}` })).text, INSUFFICIENT)
    await newDomain(api, `www.${domain}`)
  }
})
