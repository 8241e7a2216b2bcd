import { query } from '../../../src/store/database.ts'
import type { Account } from '../../support/clients/accounts.ts'
import { newDomain, newRRset, rrset, succeeded } from '../../support/clients/api.ts'
import { person, said } from '../../support/clients/people.ts'
import { addFactor, addPasskey, addToken } from '../../support/clients/tokens.ts'
import { useService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'

// The fixed limits of contract §16 that are far above use. The database is filled without the API.

const service = useService()

function exceeded(text: string): [number, string] {
  return [403, JSON.stringify({ detail: `Limit exceeded: ${text}.` })]
}

/** Adds tokens to an account, beside those it has. */
async function addTokens({ id }: Pick<Account, 'id'>, count: number, mfa: boolean | null = null): Promise<void> {
  await query(
    service().system.db,
    `insert into tokens (created, owner_id, secret_hash, mfa)
     select now(), :id, sha256(convert_to(cast(gen_random_uuid() as text), 'UTF8')), :mfa
     from generate_series(1, cast(:count as integer))`,
    { id, count, mfa },
  )
}

test('an account can have 1,000 API tokens, also if it creates several at once', async (t) => {
  const account = await service().account()
  await addTokens(account, 997)
  await addTokens(account, 10, false)
  const answers = await Promise.all(Array.from({ length: 5 }, () => account.api.post('/auth/tokens/')))
  t.deepEqual(answers.map(({ status }) => status).sort(), [201, 201, 403, 403, 403])
  const text = 'an account can have at most 1000 tokens'
  t.deepEqual(said(answers.find(({ status }) => status === 403)!), exceeded(text))
  t.is((await account.api.post('/auth/tokens/', { name: 1, max_age: 'x' })).status, 400, 'other problems come first')
  t.is((await (await service().account()).api.post('/auth/tokens/')).status, 201)
  const { id } = answers.find(({ status }) => status === 201)!.json as { id: string }
  succeeded(await account.api.delete(`/auth/tokens/${id}/`), 204)
  t.is((await account.api.post('/auth/tokens/')).status, 201)
})

test('an account with 1,000 API tokens can log in; beyond 1,000 login tokens it cannot', async (t) => {
  const someone = await person(service())
  const login = () => service().anonymous.post('/auth/login/', someone.credentials)
  await addTokens(someone, 1_000)
  await addTokens(someone, 999, false)
  t.is((await login()).status, 200)
  t.deepEqual(said(await login()), exceeded('an account can have at most 1000 login tokens'))
})

test('a token can have 2,000 policies, and the last of them is still obeyed', async (t) => {
  const { api, tokenId } = await service().account()
  const path = `/auth/tokens/${tokenId}/policies/rrsets/`
  const domain = await newDomain(api)
  succeeded(await api.post(path, { domain: null, subname: null, type: null, perm_write: true }), 201)
  await query(
    service().system.db,
    `insert into policies (created, token_id, subname) select now(), :tokenId, 'h' || n from generate_series(1, 1998) as n`,
    { tokenId },
  )
  const policy = (subname: string) => ({ domain: null, subname, type: 'A', perm_write: true })
  succeeded(await api.post(path, policy('h1998')), 201)
  t.deepEqual(said(await api.post(path, policy('more'))), exceeded('a token can have at most 2000 policies'))
  t.is((await api.post(path, policy('h1998'))).status, 409)
  t.is((await api.post(`/domains/${domain}/rrsets/`, rrset({ subname: 'h1997' }))).status, 403)
  t.is((await api.post(`/domains/${domain}/rrsets/`, rrset({ subname: 'h1998' }))).status, 201)
})

test('a domain can have 250,000 RRsets; at the limit RRsets can be changed, exchanged and deleted', async (t) => {
  const { api, secret } = await service().account()
  const domain = await newDomain(api)
  const path = `/domains/${domain}/rrsets/`
  await newRRset(api, domain, { subname: 'a' })
  // All that the service counts.
  await query(service().system.db, 'update domains set size = 249999 where name = :domain', { domain })
  const text = 'a domain can have at most 250000 RRsets'
  t.deepEqual(said(await api.post(path, [rrset({ subname: 'b' }), rrset({ subname: 'c' })])), exceeded(text))
  succeeded(await api.post(path, rrset({ subname: 'b' })), 201)
  t.deepEqual(said(await api.post(path, rrset({ subname: 'c' }))), exceeded(text))
  t.is((await api.post(path, rrset({ subname: 'c', records: ['x'] }))).status, 400)
  const update = await service().anonymous.get(
    `//root/nic/update?username=${domain}&password=${secret}&hostname=x.${domain}`,
  )
  t.deepEqual([update.status, update.text], [403, `Limit exceeded: ${text}.`])
  t.is((await api.patch(`${path}a/A/`, { ttl: 7200 })).status, 200)
  const exchange = [rrset({ subname: 'a', records: [] }), rrset({ subname: 'c' })]
  t.is((await api.put(path, exchange)).status, 200)
  t.is((await api.delete(`${path}b/A/`)).status, 204)
  t.is((await api.post(path, rrset({ subname: 'd' }))).status, 201)
})

test('an account can have 20 passkeys, besides its TOTP factors', async (t) => {
  const someone = await person(service())
  const { api } = await addToken(service(), someone.id, { mfa: true, permManageTokens: true })
  await addFactor(service(), someone.id)
  const ask = () => api.post('/auth/passkeys/options/', {}, { headers: { host: 'localhost' } })
  for (let i = 0; i < 20; i++) {
    t.is((await ask()).status, 200)
    await addPasskey(service(), someone.id)
  }
  t.deepEqual(said(await ask()), exceeded('an account can have at most 20 passkeys'))
})

test('an account can have 20 TOTP factors, with MFA enabled or not', async (t) => {
  const someone = await person(service())
  const { api } = await addToken(service(), someone.id, { mfa: true, permManageTokens: true })
  for (const used of [false, true]) {
    for (let i = 0; i < 20; i++) await addFactor(service(), someone.id, { used })
    const answer = await api.post('/auth/totp/', { name: 'more' })
    t.deepEqual(said(answer), exceeded('an account can have at most 20 TOTP factors'))
    await query(service().system.db, 'delete from totp_factors where account_id = :id', { id: someone.id })
  }
  t.is((await api.post('/auth/totp/', { name: 'more' })).status, 202)
})
