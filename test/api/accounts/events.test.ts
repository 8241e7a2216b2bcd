import { randomBytes } from 'node:crypto'
import { newDomain } from '../../support/clients/api.ts'
import { Authenticator, optionsOf } from '../../support/clients/authenticator.ts'
import type { Answer } from '../../support/clients/client.ts'
import * as people from '../../support/clients/people.ts'
import { freshEmail, PASSWORD, person } from '../../support/clients/people.ts'
import { addFactor, addPolicies, addToken, codeFor, forgetCodes, wrongCode } from '../../support/clients/tokens.ts'
import { eventually } from '../../support/eventually.ts'
import { useService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'

// The log has an event for each change of accounts, tokens and transfers (docs/operators/monitor.md).

const service = useService({
  ...{ REGISTRATION: 'open', LOCAL_PUBLIC_SUFFIXES: 'dyn.test' },
  PUBLIC_URL: 'https://dns.example.net',
})

type Line = Record<string, unknown>
type Send = (headers: Record<string, string>) => Promise<Answer>

const LOGIN = { mfa: true, permManageTokens: true }

/** The answer to a request, and its events without what all of them have. */
async function eventsOf(send: Send): Promise<{ answer: Answer; events: Line[] }> {
  const id = randomBytes(8).toString('hex')
  const answer = await send({ 'x-request-id': id })
  const lines = () =>
    service()
      .logged()
      .split('\n')
      .filter((line) => line.includes(`"request":"${id}"`))
      .map((line) => JSON.parse(line) as Line)
  await eventually(async () => lines().some(({ message }) => message === 'request'))
  const events = lines().filter(({ message }) => message === 'event')
  const common = ['timestamp', 'level', 'message', 'request']
  const specific = (line: Line) => Object.fromEntries(Object.entries(line).filter(([name]) => !common.includes(name)))
  return { answer, events: events.map(specific) }
}

function post(path: string, body?: unknown): Send {
  return (headers) => service().anonymous.post(path, body, { headers })
}

test('refused passwords, of any account or none, and by the rate of the account', async (t) => {
  const { id: account, credentials, email } = await person(service())
  const disabled = await person(service(), { state: 'disabled' })
  for (const [body, path, known] of [
    [{ ...credentials, password: 'wrong' }, '/auth/login/', account],
    [{ ...credentials, password: 'wrong' }, '/auth/account/delete/', account],
    [{ email, password: 'wrong', new_email: freshEmail() }, '/auth/account/change-email/', account],
    [disabled.credentials, '/auth/login/', disabled.id],
    [{ email: freshEmail(), password: PASSWORD }, '/auth/login/', null],
  ] as const) {
    const { answer, events } = await eventsOf(post(path, body))
    t.is(answer.status, 403)
    t.deepEqual(events, [{ event: 'login_failed', account: known, by: 'password' }])
  }
})

test('sign-up, activation with a token, and settings of the account', async (t) => {
  const email = freshEmail()
  const domain = `${email.split('@')[0]}.dyn.test`
  const signedUp = await eventsOf(post('/auth/', { email, password: PASSWORD, domain }))
  const { id: account } = (await people.accountOf(service(), email))!
  t.deepEqual(signedUp.events, [{ event: 'account_created', account, by: 'request' }])
  const { path } = await people.linkTo(service(), email)
  const { answer, events } = await eventsOf(post(path))
  const { id: token } = answer.json as { id: string }
  t.deepEqual(events, [
    { event: 'account_activated', account, by: 'link' },
    { event: 'token_created', account, token, by: 'link' },
  ])
  // A sign-up for a taken address changes nothing.
  t.deepEqual((await eventsOf(post('/auth/', { email, password: PASSWORD }))).events, [])
  const { api, id: by } = await addToken(service(), account, LOGIN)
  const changed = await eventsOf((headers) => api.patch('/auth/account/', { outreach_preference: false }, { headers }))
  t.deepEqual(changed.events, [{ event: 'account_changed', account, by }])
})

test('login and logout', async (t) => {
  const { id: account, credentials } = await person(service())
  const { answer, events } = await eventsOf(post('/auth/login/', credentials))
  const { id: token, token: secret } = answer.json as { id: string; token: string }
  t.deepEqual(events, [{ event: 'token_created', account, token, by: 'password' }])
  const left = await eventsOf((headers) => service().clientOf(secret).post('/auth/logout/', undefined, { headers }))
  t.deepEqual(left.events, [{ event: 'token_deleted', account, token, by: token }])
})

test('change of address, password and deletion by links', async (t) => {
  const someone = await person(service())
  const account = someone.id
  const token = (await addToken(service(), account)).id
  const reset = await people.resetLink(service(), someone)
  const body = { new_password: PASSWORD, revoke_tokens: true }
  t.deepEqual((await eventsOf(post(reset.path, body))).events, [
    { event: 'password_changed', account, by: 'link' },
    { event: 'token_deleted', account, token, by: 'link' },
  ])
  t.deepEqual((await eventsOf(post(reset.path, body))).events, [])
  const email = freshEmail()
  const change = await people.emailChangeLink(service(), someone, email)
  t.deepEqual((await eventsOf(post(change.path))).events, [{ event: 'address_changed', account, by: 'link' }])
  const credentials = { email, password: PASSWORD }
  const deletion = await people.deletionLink(service(), { ...someone, email, credentials }, 2)
  t.deepEqual((await eventsOf(post(deletion.path))).events, [{ event: 'account_deleted', account, by: 'link' }])
})

test('second factors and their codes', async (t) => {
  const { id: account, email } = await person(service())
  const { api, id: by } = await addToken(service(), account, LOGIN)
  await api.post('/auth/totp/', {})
  const created = await eventsOf(post((await people.linkTo(service(), email)).path))
  const { id: factor } = created.answer.json as { id: string }
  t.deepEqual(created.events, [{ event: 'factor_created', account, factor, by: 'link' }])
  const path = `/auth/totp/${factor}/verify/`
  const wrong = await wrongCode(service(), factor)
  const verify = (code: string) => eventsOf((headers) => api.post(path, { code }, { headers }))
  t.deepEqual((await verify(wrong)).events, [{ event: 'code_failed', account, by: 'request' }])
  const code = await codeFor(service(), factor)
  t.deepEqual((await eventsOf(post(path, { code }))).events, [
    { event: 'factor_activated', account, factor, by: 'request' },
  ])
  await forgetCodes(service(), factor)
  const passed = await verify(await codeFor(service(), factor))
  t.deepEqual(passed.events, [{ event: 'mfa_passed', account, factor, by }])
  const second = await eventsOf((headers) => api.post('/auth/totp/', { name: 'second' }, { headers }))
  const { id: other } = second.answer.json as { id: string }
  t.deepEqual(second.events, [{ event: 'factor_created', account, factor: other, by }])
  const used = await addFactor(service(), account)
  const removed = await eventsOf((headers) => api.delete(`/auth/totp/${used}/`, { headers }))
  t.deepEqual(removed.events, [{ event: 'factor_deleted', account, factor: used, by }])
})

test('passkeys, and what is refused of them', async (t) => {
  const authenticator = new Authenticator('https://dns.example.net')
  const { id: account, email } = await person(service())
  const { api, id: by } = await addToken(service(), account, LOGIN)
  const [login, second, keys] = ['/auth/login/passkey/', '/auth/token/passkey/', '/auth/passkeys/']
  const asked = { name: 'key', passkey: authenticator.create(await optionsOf(api, keys)) }
  t.deepEqual((await eventsOf((headers) => api.post(keys, asked, { headers }))).events, [])
  const { events } = await eventsOf(post((await people.linkTo(service(), email)).path))
  const [{ id: factor }] = (await api.get(keys)).json as [{ id: string }]
  t.deepEqual(events, [{ event: 'factor_created', account, factor, by: 'link' }])
  const verify = async (lies = {}) => {
    const passkey = authenticator.sign(await optionsOf(api, second), lies)
    return (await eventsOf((headers) => api.post(second, { passkey }, { headers }))).events
  }
  t.deepEqual(await verify({ isVerified: false }), [{ event: 'code_failed', account, by }])
  t.deepEqual(await verify(), [{ event: 'mfa_passed', account, factor, by }])
  const lie = authenticator.sign(await optionsOf(api, second), { type: 'x' })
  const deletion = { email, password: PASSWORD, passkey: lie }
  t.deepEqual((await eventsOf(post('/auth/account/delete/', deletion))).events, [
    { event: 'code_failed', account, by: 'request' },
  ])
  const signIn = async (lies = {}) =>
    eventsOf(post(login, { passkey: authenticator.sign(await optionsOf(service().anonymous, login), lies) }))
  t.deepEqual((await signIn({ counter: 1 })).events, [{ event: 'login_failed', account, by: 'passkey' }])
  t.deepEqual((await signIn({ id: 'AAAA' })).events, [{ event: 'login_failed', account: null, by: 'passkey' }])
  const signedIn = await signIn()
  const { id: token } = signedIn.answer.json as { id: string }
  t.deepEqual(signedIn.events, [{ event: 'token_created', account, token, by: 'passkey' }])
  const removed = await eventsOf((headers) => api.delete(`${keys}${factor}/`, { headers }))
  t.deepEqual(removed.events, [{ event: 'factor_deleted', account, factor, by }])
})

test('tokens and policies', async (t) => {
  const { id: account } = await person(service())
  const { api, id: by } = await addToken(service(), account, LOGIN)
  const send = async (method: string, path: string, body?: unknown) =>
    eventsOf((headers) => api.send(method, path, body, { headers }))
  const { answer, events } = await send('POST', '/auth/tokens/', {})
  const { id: token } = answer.json as { id: string }
  t.deepEqual(events, [{ event: 'token_created', account, token, by }])
  const changed = await send('PATCH', `/auth/tokens/${token}/`, { name: 'router' })
  t.deepEqual(changed.events, [{ event: 'token_changed', account, token, by }])
  const rrsets = `/auth/tokens/${token}/policies/rrsets/`
  const fallback = { domain: null, subname: null, type: null }
  const added = await send('POST', rrsets, fallback)
  const { id: policy } = added.answer.json as { id: string }
  t.deepEqual(added.events, [{ event: 'policy_created', account, token, policy, by }])
  const opened = await send('PATCH', `${rrsets}${policy}/`, { perm_write: true })
  t.deepEqual(opened.events, [{ event: 'policy_changed', account, token, policy, by }])
  const dropped = await send('DELETE', `${rrsets}${policy}/`)
  t.deepEqual(dropped.events, [{ event: 'policy_deleted', account, token, policy, by }])
  t.deepEqual((await send('DELETE', `${rrsets}${policy}/`)).events, [])
  t.deepEqual((await send('DELETE', `/auth/tokens/${token}/`)).events, [{ event: 'token_deleted', account, token, by }])
  t.deepEqual((await send('DELETE', `/auth/tokens/${token}/`)).events, [])
})

test('who may transfer a zone', async (t) => {
  const { id: account, api, tokenId: by } = await service().account()
  const domain = await newDomain(api)
  const put = (tsig: boolean) => {
    const wanted = { addresses: ['192.0.2.7'], notify: [], tsig }
    return eventsOf((headers) => api.put(`/domains/${domain}/transfers/`, wanted, { headers }))
  }
  for (const tsig of [false, true]) {
    t.deepEqual((await put(tsig)).events, [{ event: 'transfers_changed', account, domain, by }])
    t.deepEqual((await put(tsig)).events, [])
  }
})

test('the note of a domain, without what it says', async (t) => {
  const { id: account, api, tokenId: by } = await service().account()
  const domain = await newDomain(api)
  const patch = (note: string) => eventsOf((headers) => api.patch(`/domains/${domain}/`, { note }, { headers }))
  for (const note of ['Ask Alice.', '']) {
    t.deepEqual((await patch(note)).events, [{ event: 'note_changed', account, domain, by }])
    t.deepEqual((await patch(note)).events, [])
  }
})

test('a change that is refused is no event', async (t) => {
  const { id } = await person(service())
  const { api, id: tokenId } = await addToken(service(), id, LOGIN)
  await addPolicies(service(), tokenId, { write: true })
  const { answer, events } = await eventsOf((headers) => api.post('/auth/tokens/', { name: [] }, { headers }))
  t.is(answer.status, 400)
  t.deepEqual(events, [])
})

test('no event has an e-mail address or a secret', (t) => {
  const events = service()
    .logged()
    .split('\n')
    .filter((line) => line.includes('"message":"event"'))
  t.true(events.length > 20)
  for (const line of events) t.notRegex(line, /@|argon2|password[^_"]/)
})
