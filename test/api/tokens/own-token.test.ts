import { emailOf } from '../../support/clients/accounts.ts'
import { newDomain, succeeded } from '../../support/clients/api.ts'
import type { Client } from '../../support/clients/client.ts'
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
