import { hash } from '@node-rs/argon2'
import { newDomain } from '../../support/clients/api.ts'
import { Client } from '../../support/clients/client.ts'
import { allLettersTo, type Letter, letterTo } from '../../support/clients/mails.ts'
import * as people from '../../support/clients/people.ts'
import { accountOf, PASSWORD, type Person, person, said } from '../../support/clients/people.ts'
import { addFactor, addPolicies, addToken, codeFor, forgetCodes, setState } from '../../support/clients/tokens.ts'
import { useService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'

// Contract §11: login, logout, the account.

// Registration is closed, which keeps no account from this.
const service = useService()

const WRONG = '{"detail":"Invalid username/password."}'

const login = (body: unknown) => service().anonymous.post('/auth/login/', body)

test('a login returns a token with all permissions, valid for a week and for an hour without use', async (t) => {
  const { email, credentials } = await person(service())
  const { status, json, headers } = await login(credentials)
  t.is(status, 200)
  t.is(headers['cache-control'], 'no-store')
  const { id, created, token, ...rest } = json as Record<string, string>
  t.regex(String(id), /^[0-9a-f-]{36}$/)
  t.regex(String(created), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
  t.regex(String(token), /^[1-9A-HJ-NP-Za-km-z]{28}$/)
  t.is(
    JSON.stringify(rest),
    `{"last_used":null,"owner":"${email}","user_override":null,"mfa":false,"max_age":"7 00:00:00",` +
      '"max_unused_period":"01:00:00","name":"login","perm_create_domain":true,"perm_delete_domain":true,' +
      '"perm_manage_tokens":true,"allowed_subnets":["0.0.0.0/0","::/0"],"auto_policy":false,"is_valid":true}',
  )
  t.is(Object.keys(json as object).at(-1), 'token')
  t.is((await new Client(service().url, token).get('/auth/account/')).status, 200)
})

test('a login deletes the login tokens of the account that have expired, and no others', async (t) => {
  const someone = await person(service())
  const ids = async () => {
    const sql = 'select id from tokens where owner_id = :id order by created'
    return (await service().sql<{ id: string }>(sql, { id: someone.id })).map(({ id }) => id)
  }
  const age = `update tokens set created = created - interval '61 min' where owner_id = :id`
  const api = await addToken(service(), someone.id, { maxAge: '00:00:01' })
  const stale = (await login(someone.credentials)).json as { id: string }
  await service().sql(age, { id: someone.id })
  t.deepEqual(new Set(await ids()), new Set([api.id, stale.id]))
  const fresh = (await login(someone.credentials)).json as { id: string }
  const second = (await login(someone.credentials)).json as { id: string }
  t.deepEqual(new Set(await ids()), new Set([api.id, fresh.id, second.id]))
})

test('logout deletes the token of the request, whatever its kind', async (t) => {
  const someone = await person(service())
  const { token } = (await login(someone.credentials)).json as { token: string }
  const weak = await addToken(service(), someone.id)
  await addPolicies(service(), weak.id, { write: false })
  for (const api of [new Client(service().url, token), weak.api]) {
    t.deepEqual(said(await api.post('/auth/logout/')), [204, ''])
    t.deepEqual(said(await api.post('/auth/logout/')), [401, '{"detail":"Invalid token."}'])
  }
  const credentials = '{"detail":"Authentication credentials were not provided."}'
  t.deepEqual(said(await service().anonymous.post('/auth/logout/')), [401, credentials])
})

test('the account endpoint shows the account and the number of domains under management', async (t) => {
  const someone = await person(service())
  const other = await service().account()
  const { api } = await addToken(service(), someone.id, { permManageTokens: true, permCreateDomain: true })
  await newDomain(api)
  const [one, two] = [await newDomain(other.api), await newDomain(other.api)]
  const override = await addToken(service(), someone.id, { userOverrideId: other.id })
  await addPolicies(service(), override.id, { write: false }, { domain: one, write: true })
  await addPolicies(service(), override.id, { domain: two, write: true }, { domain: two, type: 'A', write: true })
  const { id } = someone
  const sql = 'select created from accounts where id = :id'
  const [row] = await service().sql<{ created: string }>(sql, { id })
  const { status, text } = await api.get('/auth/account/')
  t.is(status, 200)
  t.is(
    text,
    `{"created":"${row!.created}","domains_under_management":3,"email":"${someone.email}","id":"${someone.id}",` +
      '"limit_domains":null,"outreach_preference":true}',
  )
})

for (const method of ['PATCH', 'PUT']) {
  test(`${method} changes the outreach preference and nothing else`, async (t) => {
    const { api, id } = await service().account()
    const before = (await api.get('/auth/account/')).text
    const body = { outreach_preference: 'off', email: 'x@y.test', limit_domains: 99, id: null, created: 1 }
    const after = before.replace('"outreach_preference":true', '"outreach_preference":false')
    t.deepEqual(said(await api.send(method, '/auth/account/', body)), [200, after])
    t.is((await api.get('/auth/account/')).text, after)
    t.deepEqual(said(await api.send(method, '/auth/account/', {})), [200, after])
    const wrong = await api.send(method, '/auth/account/', { outreach_preference: 'maybe' })
    t.deepEqual(said(wrong), [400, '{"outreach_preference":["Must be a valid boolean."]}'])
    await setState(service(), id, 'disabled')
    t.is((await api.get('/auth/account/')).status, 401)
  })
}

test('a login replaces a password hash with outdated parameters, and voids no link', async (t) => {
  const old = await hash(PASSWORD, { memoryCost: 8192, timeCost: 1 })
  const someone = await person(service(), { passwordHash: old })
  const { path } = await people.resetLink(service(), someone)
  t.deepEqual(said(await login({ ...someone.credentials, password: 'wrong' })), [403, WRONG])
  t.is((await accountOf(service(), someone.email))!.passwordHash, old)
  t.is((await login(someone.credentials)).status, 200)
  const { passwordHash } = (await accountOf(service(), someone.email))!
  t.regex(passwordHash!, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  t.is((await login(someone.credentials)).status, 200)
  t.is((await accountOf(service(), someone.email))!.passwordHash, passwordHash)
  t.is((await service().anonymous.post(path, { new_password: 'another password' })).status, 200)
})

// Contract §11.1: notices of changes that a thief of the password or of a token would make.

const MANAGER = { mfa: true, permManageTokens: true }

/** The latest mail, once `count` have arrived. */
async function notice({ email }: Person, count = 1): Promise<Letter> {
  return letterTo(service().system, email, count)
}

test('a new password is noticed', async (t) => {
  const someone = await person(service())
  const { path } = await people.resetLink(service(), someone)
  t.is((await service().anonymous.post(path, { new_password: 'another password' })).status, 200)
  t.is((await notice(someone, 2)).subject, 'Your password was changed')
})

test('the first use of a factor and the deletion of a used one are noticed, other uses and deletions are not', async (t) => {
  const someone = await person(service())
  const { api } = await addToken(service(), someone.id, MANAGER)
  const [factor, unused] = [
    await addFactor(service(), someone.id, { used: false }),
    await addFactor(service(), someone.id, { used: false }),
  ]
  const verify = async () => {
    await forgetCodes(service(), factor)
    return api.post(`/auth/totp/${factor}/verify/`, { code: await codeFor(service(), factor) })
  }
  t.is((await verify()).text, '{"detail":"Your TOTP token has been activated!"}')
  t.is((await notice(someone)).subject, 'A second factor was added to your account')
  t.is((await verify()).text, '{"detail":"The code was correct."}')
  t.is((await api.delete(`/auth/totp/${unused}/`)).status, 204)
  t.is((await api.delete(`/auth/totp/${factor}/`)).status, 204)
  t.is((await notice(someone, 2)).subject, 'A second factor was removed from your account')
})

test('a token that may manage tokens is noticed, whether at its creation or later; others and logins are not', async (t) => {
  const someone = await person(service())
  const { api } = await addToken(service(), someone.id, MANAGER)
  const make = async (body: object) => ((await api.post('/auth/tokens/', body)).json as { id: string }).id
  const plain = await make({ name: 'plain', perm_create_domain: true })
  t.is((await service().anonymous.post('/auth/login/', someone.credentials)).status, 200)
  const created = await make({ name: 'one\n"', perm_manage_tokens: true })
  const { subject, text } = await notice(someone)
  t.is(subject, 'A token may manage your account')
  t.true(text.includes('The API token "one\\n\\"" may now'))
  t.is((await api.patch(`/auth/tokens/${created}/`, { name: 'renamed' })).status, 200)
  t.is((await api.patch(`/auth/tokens/${plain}/`, { perm_delete_domain: true })).status, 200)
  t.is((await api.patch(`/auth/tokens/${plain}/`, { perm_manage_tokens: true })).status, 200)
  t.true((await notice(someone, 2)).text.includes('The API token "plain" may now'))
  t.is((await allLettersTo(service().system, someone.email)).length, 2)
})
