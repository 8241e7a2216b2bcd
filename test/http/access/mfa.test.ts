import test from 'ava'
import type { Account } from '../../support/clients/accounts.ts'
import { newDomain } from '../../support/clients/api.ts'
import { addFactor, addToken } from '../../support/clients/tokens.ts'
import { useService } from '../../support/harness.ts'

// The permissions of a login token while its MFA step is missing (contract §3.2).

const service = useService()

const PERMISSION = '{"detail":"You do not have permission to perform this action."}'

let account: Account
let domain: string

test.before('an account with MFA', async () => {
  account = await service().account()
  domain = await newDomain(account.api)
  await addFactor(service(), account.id)
})

const ALL = { permCreateDomain: true, permDeleteDomain: true, permManageTokens: true }

for (const [method, path] of [
  ['PUT', '/domains/'],
  ['GET', '/domains/absent.test/rrsets/'],
  ['GET', '/domains/DOMAIN/rrsets/@/SOA/'],
  ['PATCH', '/domains/DOMAIN/rrsets/@/NS/'],
] as const) {
  test.serial(`without the MFA step ${method} ${path} is 403, before anything else`, async (t) => {
    const { api } = await addToken(service(), account.id, { ...ALL, mfa: false })
    const { status, text } = await api.send(method, path.replace('DOMAIN', domain), {})
    t.deepEqual([status, text], [403, PERMISSION])
    // It does not restrict API tokens.
    t.is((await account.api.get(`/domains/${domain}/rrsets/@/NS/`)).status, 200)
    t.is((await account.api.get('/auth/account/')).status, 200)
  })
}

test.serial('without the MFA step, the index is 200', async (t) => {
  const { api } = await addToken(service(), account.id, { mfa: false })
  const { status, json } = await api.get('/')
  t.is(status, 200)
  t.true('logout' in (json as object))
})

for (const [what, prepare] of [
  ['without a factor', async () => undefined],
  ['with a factor that was never used', (id: string) => addFactor(service(), id, { used: false })],
] as const) {
  test.serial(`an account ${what} requires no MFA step`, async (t) => {
    const { id } = await service().account()
    await prepare(id)
    const { api } = await addToken(service(), id, { mfa: false })
    t.is((await api.get('/domains/')).status, 200)
  })
}
