import { query } from '../../../src/store/database.ts'
import { domainOf, freshName, newDomain, rrset, type ShownDomain } from '../../support/clients/api.ts'
import type { Client } from '../../support/clients/client.ts'
import { addPolicies, addToken } from '../../support/clients/tokens.ts'
import { useService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'

// Contract §3.3: which domains an override token sees is tested in test/store/viewers.test.ts, for each function that looks
// domains up, and in test/http/access/matrix.test.ts, for each endpoint.

const service = useService()

/** An account with a domain, and an override token for it. */
async function bound(limitDomains: number | null = null) {
  const [account, owner] = [await service().account({ limitDomains }), await service().account()]
  const flags = { permCreateDomain: true, permDeleteDomain: true }
  const { id: tokenId, api } = await addToken(service(), owner.id, { ...flags, userOverrideId: account.id })
  return { account, owner, tokenId, api, named: await newDomain(account.api) }
}

async function listed(api: Client, query = ''): Promise<string[]> {
  return ((await api.get(`/domains/${query}`)).json as ShownDomain[]).map(({ name }) => name)
}

test('the longest visible domain owns a name', async (t) => {
  const { api, account, tokenId, named } = await bound()
  await newDomain(account.api, `sub.${named}`)
  await addPolicies(service(), tokenId, { write: true }, { domain: named, write: true })
  t.deepEqual(await listed(account.api, `?owns_qname=a.sub.${named}`), [`sub.${named}`])
  t.deepEqual(await listed(api, `?owns_qname=a.sub.${named}`), [named])
})

test('the domains that it creates belong to the bound account and count for its limit', async (t) => {
  const { api, account, owner } = await bound(2)
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
