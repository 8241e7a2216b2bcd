import { query } from '../../../src/store/database.ts'
import { domainOf, freshName, newDomain, newRRset, rrset, type ShownDomain } from '../../support/clients/api.ts'
import type { Client } from '../../support/clients/client.ts'
import { useService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'
import { addPolicies, addToken } from '../../support/clients/tokens.ts'

const service = useService()

const NOT_FOUND = '{"detail":"Not found."}'

/** An account with two domains, and an override token for it whose owner has a domain, too. */
async function bound(limitDomains: number | null = null) {
  const [account, owner] = [await service().account({ limitDomains }), await service().account()]
  const flags = { permCreateDomain: true, permDeleteDomain: true }
  const { id: tokenId, api } = await addToken(service(), owner.id, { ...flags, userOverrideId: account.id })
  const [named, unnamed] = [await newDomain(account.api), await newDomain(account.api)]
  for (const domain of [named, unnamed]) await newRRset(account.api, domain)
  const foreign = await newDomain(owner.api)
  return { account, owner, tokenId, api, named, unnamed, foreign }
}

async function listed(api: Client, query = ''): Promise<string[]> {
  return ((await api.get(`/domains/${query}`)).json as ShownDomain[]).map(({ name }) => name)
}

test("without policies, an override token sees all domains of the bound account and none of its owner's", async (t) => {
  const { api, named, unnamed, foreign } = await bound()
  t.deepEqual(await listed(api), [unnamed, named])
  t.is((await domainOf(api, named)).name, named)
  t.is((await api.get(`/domains/${foreign}/`)).text, NOT_FOUND)
  t.is((await api.patch(`/domains/${named}/rrsets/www/A/`, { ttl: 60 })).status, 200)
})

for (const write of [true, false]) {
  test(`with policies, it sees only the domains that they name, even if they ${write ? 'permit' : 'forbid'} writing`, async (t) => {
    const { api, tokenId, named, unnamed } = await bound()
    await addPolicies(service(), tokenId, { write: true }, { domain: named, type: 'TXT', write })
    t.deepEqual(await listed(api), [named])
    t.is((await domainOf(api, named)).name, named)
    t.is((await api.get(`/domains/${named}/rrsets/www/A/`)).status, 200)
    t.deepEqual(await listed(api, `?owns_qname=www.${named}`), [named])
    t.deepEqual(await listed(api, `?owns_qname=www.${unnamed}`), [])
  })
}

test('an invisible domain behaves like an absent one', async (t) => {
  const { api, account, tokenId, named, unnamed } = await bound()
  await addPolicies(service(), tokenId, { write: true }, { domain: named, write: true })
  const before = (await account.api.get(`/domains/${unnamed}/rrsets/`)).text
  for (const [method, path] of [
    ['GET', `/domains/${unnamed}/`],
    ['GET', `/domains/${unnamed}/rrsets/`],
    ['POST', `/domains/${unnamed}/rrsets/`],
    ['GET', `/domains/${unnamed}/rrsets/www/A/`],
    ['PUT', `/domains/${unnamed}/rrsets/www/A/`],
    ['PATCH', `/domains/${unnamed}/rrsets/www/A/`],
    ['DELETE', `/domains/${unnamed}/rrsets/www/A/`],
  ] as const) {
    const answer = await api.send(method, path, method === 'GET' ? undefined : rrset({ subname: 'b' }))
    t.deepEqual([answer.status, answer.text], [404, NOT_FOUND], `${method} ${path}`)
  }
  t.is((await api.delete(`/domains/${unnamed}/`)).status, 204)
  t.is((await account.api.get(`/domains/${unnamed}/rrsets/`)).text, before)
})

test('with only a default policy, it sees no domain', async (t) => {
  const { api, tokenId, named } = await bound()
  await addPolicies(service(), tokenId, { write: true })
  t.deepEqual(await listed(api), [])
  t.is((await api.get(`/domains/${named}/`)).status, 404)
})

test('the longest visible domain owns a name', async (t) => {
  const { api, account, tokenId, named } = await bound()
  await newDomain(account.api, `sub.${named}`)
  await addPolicies(service(), tokenId, { write: true }, { domain: named, write: true })
  t.deepEqual(await listed(account.api, `?owns_qname=a.sub.${named}`), [`sub.${named}`])
  t.deepEqual(await listed(api, `?owns_qname=a.sub.${named}`), [named])
})

test('the domains that it creates belong to the bound account and count for its limit', async (t) => {
  const { api, account, owner } = await bound(3)
  const name = await newDomain(api)
  t.is((await domainOf(account.api, name)).name, name)
  t.is((await owner.api.get(`/domains/${name}/`)).status, 404)
  t.is((await api.post('/domains/', { name: freshName() })).status, 403)
})

test('it sees the domains that it creates only with auto_policy', async (t) => {
  const { api, tokenId } = await bound()
  await addPolicies(service(), tokenId, { write: false })
  const hidden = await newDomain(api)
  await query(service().system.db, 'update tokens set auto_policy = true where id = :tokenId', { tokenId })
  const shown = await newDomain(api)
  t.deepEqual(await listed(api), [shown])
  t.is((await api.get(`/domains/${hidden}/`)).status, 404)
  t.is((await api.post(`/domains/${shown}/rrsets/`, rrset())).status, 201)
})
