import { query } from '../../../src/store/database.ts'
import { type Account, emailOf } from '../../support/clients/accounts.ts'
import { domainOf, freshName, newDomain, rrset, type ShownDomain, succeeded } from '../../support/clients/api.ts'
import { Client } from '../../support/clients/client.ts'
import { addFactor, addPolicies, addToken, setState } from '../../support/clients/tokens.ts'
import { useService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'

// The presented token (contract §5.8). Every kind of caller is in test/http/access/matrix.test.ts.

const service = useService()

interface Shown {
  token: Record<string, unknown>
  policies: { domain: string | null; perm_write: boolean }[]
  account: { id: string | null; email: string; domains: number | null }
  mfa_pending: boolean
}

async function shownTo(api: Client): Promise<Shown> {
  return succeeded(await api.get('/auth/token/'), 200).json as Shown
}

test('a token without any permission sees itself, as its account does, and its account', async (t) => {
  const account = await service().account()
  const { id, secret, api } = await addToken(service(), account.id, { name: 'router' })
  const { text } = succeeded(await api.get('/auth/token/'), 200)
  const shown = JSON.parse(text) as Shown
  t.deepEqual(Object.keys(shown), ['token', 'policies', 'account', 'mfa_pending', 'membership'])
  const { json } = succeeded(await account.api.get(`/auth/tokens/${id}/`), 200)
  t.is(JSON.stringify(shown.token), JSON.stringify(json))
  t.false('token' in shown.token)
  t.false(text.includes(secret))
  const email = await emailOf(service().system, account.id)
  t.deepEqual([shown.policies, shown.account, shown.mfa_pending], [[], { id: account.id, email, domains: 0 }, false])
})

test('it has the number of the domains of the account, as it is now', async (t) => {
  const { api } = await service().account()
  const number = async () => (await shownTo(api)).account.domains
  const [first] = [await newDomain(api), await newDomain(api)]
  await newDomain((await service().account()).api)
  t.is(await number(), 2)
  succeeded(await api.delete(`/domains/${first}/`), 204)
  t.is(await number(), 1)
})

test('a restricted token sees its policies, in the order of their list', async (t) => {
  const account = await service().account()
  const { id, api } = await addToken(service(), account.id)
  const domain = await newDomain(account.api)
  await addPolicies(service(), id, { write: false }, { domain, write: true }, { subname: 'www', write: true })
  const { json } = succeeded(await account.api.get(`/auth/tokens/${id}/policies/rrsets/`), 200)
  const { policies } = await shownTo(api)
  t.is(JSON.stringify(policies), JSON.stringify(json))
  t.deepEqual(
    policies.map((policy) => policy.domain),
    [null, domain, null],
  )
})

test('an override token learns the address of the account that it acts for, and not its id', async (t) => {
  const [account, owner] = [await service().account(), await service().account()]
  const { id, api } = await addToken(service(), owner.id, { userOverrideId: account.id })
  await addPolicies(service(), id, { write: true })
  const { text } = succeeded(await api.get('/auth/token/'), 200)
  t.false(text.includes(account.id))
  const shown = JSON.parse(text) as Shown
  const email = await emailOf(service().system, account.id)
  t.deepEqual(shown.account, { id: null, email, domains: null })
  t.like(shown.token, { owner: await emailOf(service().system, owner.id), user_override: email })
})

test('a login sees whether it still has to verify a code', async (t) => {
  const account = await service().account()
  const before = await addToken(service(), account.id, { mfa: false, permManageTokens: true })
  const after = await addToken(service(), account.id, { mfa: true, permManageTokens: true })
  t.like(await shownTo(before.api), { mfa_pending: false, token: { mfa: false } })
  await addFactor(service(), account.id)
  t.like(await shownTo(before.api), {
    ...{ mfa_pending: true, token: { mfa: false } },
    account: { id: account.id, domains: null },
  })
  t.like(await shownTo(after.api), { mfa_pending: false, token: { mfa: true } })
  t.like(await shownTo(account.api), { mfa_pending: false, token: { mfa: null } })
})

test('a token that does not authenticate sees nothing', async (t) => {
  const account = await service().account()
  const expired = await addToken(service(), account.id, { maxAge: '0' })
  t.is((await service().anonymous.get('/auth/token/')).status, 401)
  t.is((await expired.api.get('/auth/token/')).status, 401)
  await setState(service(), account.id, 'disabled')
  t.is((await account.api.get('/auth/token/')).status, 401)
})

// Contract §3.3: which domains an override token sees is tested in test/store/constraints.test.ts, for each function that looks
// domains up, and in test/http/access/matrix.test.ts, for each endpoint.

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

// Contract §5.5 and `last_used` (§3.1), with a clock that the tests set.

const CREATED = '2030-01-01T00:00:00.000001Z'

function setClock(time: string): void {
  service().system.now = () => time
}

interface Timed {
  id: string
  created: string
  last_used: string | null
  is_valid: boolean
  token: string
}

/** A token that is created at CREATED, its account, and ways to read it. */
async function made(members: object) {
  setClock(CREATED)
  const account: Account = await service().account()
  const shown = succeeded(await account.api.post('/auth/tokens/', members), 201).json as Timed
  const path = `/auth/tokens/${shown.id}/`
  return {
    account,
    shown,
    path,
    api: new Client(service().url, shown.token),
    read: async () => succeeded(await account.api.get(path), 200).json as Timed,
  }
}

test('times keep their microseconds', async (t) => {
  const { shown, api, read } = await made({})
  t.is(shown.created, CREATED)
  setClock('2030-01-01T00:00:00.000010Z')
  t.is((await api.get('/domains/')).status, 200)
  t.is((await read()).last_used, '2030-01-01T00:00:00.000010Z')
  setClock('2030-01-01T00:00:01.000000Z')
  t.is((await api.get('/domains/')).status, 200)
  t.is((await read()).last_used, '2030-01-01T00:00:01.000000Z')
})

for (const [what, members, ...moments] of [
  [
    'its age exceeds max_age, to the microsecond, however it is used',
    { max_age: '1 00:00:00.000001' },
    ['2030-01-01T12:00:00.000000Z', true],
    ['2030-01-02T00:00:00.000002Z', true],
    ['2030-01-02T00:00:00.000003Z', false],
  ],
  [
    'it was unused for longer than max_unused_period',
    { max_unused_period: 3600 },
    ['2030-01-01T01:00:00.000001Z', true],
    ['2030-01-01T02:00:00.000001Z', true],
    ['2030-01-01T03:00:00.000002Z', false],
    ['2030-01-01T02:30:00.000000Z', true],
  ],
  [
    'one of its limits is exceeded',
    { max_age: 7200, max_unused_period: 3600 },
    ['2030-01-01T01:00:00.000001Z', true],
    ['2030-01-01T02:00:00.000001Z', true],
    ['2030-01-01T02:00:00.000002Z', false],
  ],
] as [string, object, ...[time: string, valid: boolean][]][]) {
  test(`a token is valid until ${what}`, async (t) => {
    const { api, read } = await made(members)
    for (const [time, valid] of moments) {
      setClock(time)
      const { last_used: before } = await read()
      t.is((await read()).is_valid, valid, time)
      t.is((await api.get('/domains/')).status, valid ? 200 : 401, time)
      t.is((await read()).last_used, valid ? time : before)
    }
  })
}

test('max_unused_period counts from the creation of a token that was never used', async (t) => {
  const { api, read } = await made({ max_unused_period: '00:00:10' })
  setClock('2030-01-01T00:00:10.000002Z')
  t.false((await read()).is_valid)
  t.is((await api.get('/domains/')).text, '{"detail":"Invalid token."}')
  t.is((await read()).last_used, null)
})

for (const [settings, revival] of [
  [{ max_age: '0' }, { max_age: null }],
  [{ max_age: 60 }, { max_age: '10 00:00:00' }],
  [{ max_unused_period: 60 }, { max_unused_period: null }],
  [
    { max_unused_period: 60, max_age: 60 },
    { max_unused_period: '10 00:00:00', max_age: '10 00:00:00' },
  ],
] as const) {
  test(`a change of its limits makes an expired token valid again: ${JSON.stringify([settings, revival])}`, async (t) => {
    const { account, api, path, read } = await made(settings)
    setClock('2030-01-02T00:00:00.000000Z')
    t.false((await read()).is_valid)
    t.is((await api.get('/domains/')).status, 401)
    const revived = await account.api.patch(path, revival)
    t.true((revived.json as Timed).is_valid)
    t.is((await api.get('/domains/')).status, 200)
  })
}

test('a new token with a max_age of zero is valid only at the moment of its creation', async (t) => {
  const { shown, read } = await made({ max_age: 0 })
  t.true(shown.is_valid)
  setClock('2030-01-01T00:00:00.000002Z')
  t.false((await read()).is_valid)
})

test('months and years that were set in SQL are shown in days', async (t) => {
  const { account, shown, read } = await made({})
  await query(service().system.db, `update tokens set max_age = '1 year 2 mons 3 days 04:05:06.5' where id = :id`, {
    id: shown.id,
  })
  t.is(((await read()) as Timed & { max_age: string }).max_age, '428 04:05:06.500000')
  t.is((await account.api.get('/auth/tokens/')).status, 200)
})
