import * as accounts from '../../../src/store/accounts/accounts.ts'
import { newDomain } from '../../support/clients/api.ts'
import { allLettersTo } from '../../support/clients/mails.ts'
import { type Person, person, said } from '../../support/clients/people.ts'
import { addFactor, addToken, codeFor, stopClocks, wrongCode } from '../../support/clients/tokens.ts'
import { type TestService, useService, withService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'

// Contract §11.2: with MFA enabled, a change of address and a deletion need a code; and how often codes may be wrong.

const service = useService()

test.before('the clock stops', () => {
  stopClocks(service())
})

const WRONG = '{"code":["Invalid code."]}'
const REQUIRED = '{"code":["This field is required."]}'

async function withFactor(own: TestService = service()): Promise<Person & { factor: string }> {
  const someone = await person(own)
  return { ...someone, factor: await addFactor(own, someone.id) }
}

for (const [what, path, more] of [
  ['change of address', '/auth/account/change-email/', { new_email: 'new@example.test' }],
  ['deletion', '/auth/account/delete/', {}],
] as const) {
  const ask = (someone: Person, members: object) =>
    service().anonymous.post(path, { ...someone.credentials, ...more, ...members })

  test(`${what}: with MFA enabled it needs a code, which works once`, async (t) => {
    const someone = await withFactor()
    t.deepEqual(said(await ask(someone, {})), [400, REQUIRED])
    t.deepEqual(said(await ask(someone, { code: await wrongCode(service(), someone.factor) })), [400, WRONG])
    t.deepEqual(await allLettersTo(service().system, someone.email), [])
    const code = await codeFor(service(), someone.factor)
    t.is((await ask(someone, { code })).status, 202)
    t.deepEqual(said(await ask(someone, { code })), [400, WRONG])
  })

  test(`${what}: a code of any used factor is accepted, one of an unused or foreign factor is not`, async (t) => {
    const [someone, other] = [await withFactor(), await withFactor()]
    const second = await addFactor(service(), someone.id)
    const unused = await addFactor(service(), someone.id, { used: false })
    for (const factor of [unused, other.factor]) {
      t.deepEqual(said(await ask(someone, { code: await codeFor(service(), factor) })), [400, WRONG])
    }
    t.is((await ask(someone, { code: await codeFor(service(), second) })).status, 202)
  })

  test(`${what}: the password is looked at before the code`, async (t) => {
    const someone = await withFactor()
    const password = 'a wrong password'
    t.is((await ask(someone, { password })).status, 403)
    t.is((await ask(someone, { password, code: await codeFor(service(), someone.factor) })).status, 403)
  })

  test(`${what}: without MFA a code is not needed and not checked, but it must be well-formed`, async (t) => {
    const someone = await person(service())
    await addFactor(service(), someone.id, { used: false })
    t.is((await ask(someone, {})).status, 202)
    t.is((await ask(someone, { code: '123456' })).status, 202)
    const text = '{"code":["Ensure this field has at least 6 characters."]}'
    t.deepEqual(said(await ask(someone, { code: '12345' })), [400, text])
  })
}

test('deletion: the code is looked at before the domains', async (t) => {
  const [someone, { api }] = [await withFactor(), await service().account()]
  const name = await newDomain(api)
  const sql = 'update domains set owner_id = :owner where name = :name'
  await service().sql(sql, { owner: someone.id, name })
  t.deepEqual(said(await service().anonymous.post('/auth/account/delete/', someone.credentials)), [400, REQUIRED])
})

test('after ten wrong codes in an hour for an account, codes are 429 everywhere, and for no other account', async (t) => {
  const settings = { THROTTLE: 'on', THROTTLE_RATES: 'account_management_active=1000/min' }
  await withService(settings, async (own) => {
    stopClocks(own)
    const [someone, other] = [await withFactor(own), await withFactor(own)]
    const paths = [
      `/auth/totp/${someone.factor}/verify/`,
      '/auth/account/change-email/',
      '/auth/account/delete/',
    ] as const
    const ask = async (path: string, { id, credentials }: Person, code: string) => {
      const { api } = await addToken(own, id, { mfa: false, permManageTokens: true })
      const body = { ...credentials, new_email: 'new@example.test', code }
      return path.includes('totp') ? api.post(path, { code }) : own.anonymous.post(path, body)
    }
    // A right code between them does not count, and forgives nothing.
    for (let i = 0; i < 10; i++) {
      if (i === 5) t.is((await ask(paths[2], someone, await codeFor(own, someone.factor, -1))).status, 202)
      const code = await wrongCode(own, someone.factor)
      t.deepEqual(said(await ask(paths[i % 3]!, someone, code)), [400, WRONG])
    }
    for (const path of paths) {
      const { status, json, headers } = await ask(path, someone, await codeFor(own, someone.factor, 1))
      t.is(status, 429)
      const seconds = Number(headers['retry-after'])
      t.true(seconds > 3000 && seconds <= 3600)
      t.deepEqual(json, { detail: `Request was throttled. Expected available in ${seconds} seconds.` })
    }
    t.is((await ask(paths[2], other, await codeFor(own, other.factor))).status, 202)
  })
})

test('of simultaneous wrong codes, ten are looked at', async (t) => {
  await withService({ THROTTLE: 'on' }, async (own) => {
    stopClocks(own)
    const { id, factor } = await withFactor(own)
    const { api } = await addToken(own, id, { mfa: false, permManageTokens: true })
    const code = await wrongCode(own, factor)
    const asked = Array.from({ length: 30 }, () => api.post(`/auth/totp/${factor}/verify/`, { code }))
    const answers = await Promise.all(asked)
    t.is(answers.filter(({ status }) => status === 400).length, 10)
    t.is(answers.filter(({ status }) => status === 429).length, 20)
  })
})

test('a network is known once somebody has passed the second factor there', async (t) => {
  const { id, credentials, factor } = await withFactor()
  const known = async () => (await accounts.get(service().system.db, id))!.knownNetworks
  const { token } = (await service().anonymous.post('/auth/login/', credentials)).json as { token: string }
  t.deepEqual(await known(), [])
  const code = await codeFor(service(), factor)
  t.is((await service().clientOf(token).post(`/auth/totp/${factor}/verify/`, { code })).status, 200)
  t.deepEqual(await known(), ['127.0.0.1'])
})

test('logins before the second factor never keep the owner from logging in: the oldest ones go', async (t) => {
  const { id, credentials, factor } = await withFactor()
  const passed = await addToken(service(), id, { mfa: true })
  await service().sql(
    `insert into tokens (created, owner_id, secret_hash, mfa, name)
     select now() - i * interval '1 s', cast(:id as uuid), sha256(cast(cast(:id as uuid) || '-' || i as bytea)), false, 'login' from generate_series(1, 1000) as i`,
    { id },
  )
  const { status, json } = await service().anonymous.post('/auth/login/', credentials)
  t.is(status, 200)
  const code = await codeFor(service(), factor)
  const owner = service().clientOf((json as { token: string }).token)
  t.is((await owner.post(`/auth/totp/${factor}/verify/`, { code })).status, 200)
  t.is((await passed.api.get('/domains/')).status, 200)
  const halfOpen = 'select count(*) as n from tokens where owner_id = :id and not mfa'
  t.deepEqual(await service().sql(halfOpen, { id }), [{ n: 999 }])
})

test('of a network, as many logins before the second factor are accepted in a minute as may fail', async (t) => {
  const settings = { THROTTLE: 'on', TRUSTED_PROXIES: '127.0.0.1' }
  await withService(settings, async (own) => {
    const { credentials } = await withFactor(own)
    const from = (address: string) => ({ headers: { 'x-forwarded-for': address } })
    const logIn = async (address: string) =>
      (await own.anonymous.post('/auth/login/', credentials, from(address))).status
    for (let i = 0; i < 10; i++) t.is(await logIn('192.0.2.1'), 200)
    t.is(await logIn('192.0.2.1'), 429)
    t.is(await logIn('192.0.2.2'), 200)
  })
})
