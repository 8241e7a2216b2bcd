import { addFirstPasskey, Authenticator, optionsOf } from '../../support/clients/authenticator.ts'
import type { Client } from '../../support/clients/client.ts'
import { allLettersTo, letterTo } from '../../support/clients/mails.ts'
import { deletionLink, linkTo, OVERTAKEN, type Person, person, said } from '../../support/clients/people.ts'
import { addFactor, addToken, codeFor, type Token, type TokenOptions } from '../../support/clients/tokens.ts'
import { useService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'

// Contract §12.1: passkeys as second factor and alone, and what they have in common with TOTP (§12).

const ORIGIN = 'https://dns.example.net:8443'
const service = useService({ PUBLIC_URL: ORIGIN })

const LOGIN = '/auth/login/passkey/'
const SECOND = '/auth/token/passkey/'
const KEYS = '/auth/passkeys/'

const PERMISSION = '{"detail":"You do not have permission to perform this action."}'
const MFA_REQUIRED = '{"detail":"Multi-factor authentication required."}'
const LOGIN_REQUIRED = '{"detail":"Login token required."}'
const CONFIRM = '{"detail":"This operation requires confirmation. Please check your mailbox for instructions!"}'
const NAME_TAKEN = '{"non_field_errors":["An authentication factor with this name already exists."]}'
const CORRECT = '{"detail":"The passkey was correct."}'
const TOO_OLD = '{"detail":"Sign in again: a passkey can be added only within ten minutes of a login."}'
const LAST = '{"detail":"Sign in again: the last second factor can be deleted only within ten minutes of a login."}'

interface Shown {
  id: string
  created: string
  last_used: string | null
  name: string
  backed_up: boolean
}

const flags: TokenOptions = { mfa: false, permManageTokens: true, permCreateDomain: true, permDeleteDomain: true }

type LoggedIn = Person & { token: Token; api: Client; authenticator: Authenticator }

async function loggedIn(options: TokenOptions = {}): Promise<LoggedIn> {
  const somebody = await person(service())
  const token = await addToken(service(), somebody.id, { ...flags, ...options })
  return { ...somebody, token, api: token.api, authenticator: new Authenticator(ORIGIN) }
}

/** Somebody with a passkey, whose session has passed it. */
async function withPasskey(): Promise<LoggedIn> {
  const somebody = await loggedIn()
  await addFirstPasskey(service(), somebody, somebody.authenticator)
  await verify(somebody)
  return somebody
}

async function verify({ api, authenticator }: Pick<LoggedIn, 'api' | 'authenticator'>) {
  return api.post(SECOND, { passkey: authenticator.sign(await optionsOf(api, SECOND)) })
}

async function signIn({ authenticator }: Pick<LoggedIn, 'authenticator'>) {
  return service().anonymous.post(LOGIN, { passkey: authenticator.sign(await optionsOf(service().anonymous, LOGIN)) })
}

async function add({ api }: { api: Client }, name = 'other', authenticator = new Authenticator(ORIGIN)) {
  return api.post(KEYS, { name, passkey: authenticator.create(await optionsOf(api, KEYS)) })
}

async function listed({ api }: { api: Client }): Promise<Shown[]> {
  return (await api.get(KEYS)).json as Shown[]
}

/** Lets an hour pass for a token. */
async function age({ token }: LoggedIn): Promise<void> {
  await service().sql(`update tokens set created = created - interval '11 min' where id = :id`, token as never)
}

test('the first passkey is added by the link in a mail; from then on, sessions need it', async (t) => {
  const somebody = await loggedIn()
  const { api, email, authenticator } = somebody
  const options = await optionsOf(api, KEYS)
  t.like(options, { rp: { id: 'dns.example.net' }, user: { name: email }, excludeCredentials: [], attestation: 'none' })
  const answer = await api.post(KEYS, { name: ' My\nlaptop ', passkey: authenticator.create(options) })
  t.deepEqual(said(answer), [202, CONFIRM])
  t.deepEqual(await listed(somebody), [])
  t.is((await signIn(somebody)).status, 400)
  const letter = await letterTo(service().system, email)
  t.is(letter.subject, 'Confirm your new passkey')
  t.true(letter.text.includes('The passkey is called "My\\nlaptop".'))
  const { path, action } = await linkTo(service(), email)
  t.is(action, 'create-passkey')
  const detail = 'Success! Your passkey has been added. You can now sign in with it.'
  t.deepEqual(said(await service().anonymous.post(path)), [200, JSON.stringify({ detail })])
  t.deepEqual(said(await service().anonymous.post(path)), [409, OVERTAKEN])
  t.is((await letterTo(service().system, email, 2)).subject, 'A passkey was added to your account')
  const [shown] = await listed(somebody)
  t.like(shown, { last_used: null, name: 'My\nlaptop', backed_up: false })
  t.deepEqual(said(await api.get('/domains/')), [403, PERMISSION])
  t.deepEqual(said(await api.delete(`${KEYS}${shown!.id}/`)), [403, MFA_REQUIRED])
  t.deepEqual(said(await verify(somebody)), [200, CORRECT])
  t.is((await api.get('/domains/')).status, 200)
})

test('a passkey signs in alone, as after a second factor', async (t) => {
  const somebody = await withPasskey()
  somebody.authenticator.isCopied = true
  const answer = await signIn(somebody)
  t.is(answer.status, 200)
  t.is(answer.headers['cache-control'], 'no-store')
  const { token, ...rest } = answer.json as { token: string }
  t.like(rest, {
    owner: somebody.email,
    mfa: true,
    max_age: '7 00:00:00',
    max_unused_period: '01:00:00',
    name: 'login',
  })
  const { json } = await service().clientOf(token).get('/auth/token/')
  t.like(json, { mfa_pending: false, account: { id: somebody.id } })
  const [shown] = await listed(somebody)
  t.true(shown!.backed_up)
  t.not(shown!.last_used, null)
  const known = 'select known_networks as networks from accounts where id = :id'
  t.deepEqual(await service().sql(known, { id: somebody.id }), [{ networks: ['127.0.0.1'] }])
})

for (const algorithm of ['EdDSA', 'RS256'] as const) {
  test(`a passkey can have a key of ${algorithm}`, async (t) => {
    const somebody = { ...(await loggedIn()), authenticator: new Authenticator(ORIGIN, algorithm) }
    await addFirstPasskey(service(), somebody, somebody.authenticator)
    t.is((await signIn(somebody)).status, 200)
  })
}

test('options for everybody name no account; those for a token name its credentials', async (t) => {
  const somebody = await withPasskey()
  t.like(await optionsOf(service().anonymous, LOGIN), { allowCredentials: [], rpId: 'dns.example.net' })
  t.like(await optionsOf(somebody.api, LOGIN), { allowCredentials: [] })
  const known = [{ type: 'public-key', id: somebody.authenticator.id, transports: ['usb'] }]
  t.like(await optionsOf(somebody.api, SECOND), { allowCredentials: known })
  t.like(await optionsOf(somebody.api, KEYS), { excludeCredentials: known })
})

test('the name for authenticators is neither the id nor the address of the account, and stays', async (t) => {
  const somebody = await withPasskey()
  const { user } = await optionsOf(somebody.api, KEYS)
  const octets = Buffer.from(user!.id, 'base64url')
  t.is(octets.length, 16)
  t.not(octets.toString('hex'), somebody.id.replaceAll('-', ''))
  t.is((await optionsOf(somebody.api, KEYS)).user!.id, user!.id)
  t.not((await optionsOf((await withPasskey()).api, KEYS)).user!.id, user!.id)
})

test('after a password, a passkey completes the login, like a code', async (t) => {
  const { credentials, authenticator, id } = await withPasskey()
  const totp = await addFactor(service(), id)
  for (const way of ['passkey', 'code']) {
    const { token } = (await service().anonymous.post('/auth/login/', credentials)).json as { token: string }
    const api = service().clientOf(token)
    t.is((await api.get('/domains/')).status, 403)
    t.is((await api.get(KEYS)).status, 200)
    const { status } =
      way === 'passkey'
        ? await verify({ api, authenticator })
        : await api.post(`/auth/totp/${totp}/verify/`, { code: await codeFor(service(), totp) })
    t.is(status, 200)
    t.is((await api.get('/domains/')).status, 200)
  }
})

test('with MFA enabled by TOTP, a new login adds a passkey at once, with a notice', async (t) => {
  const somebody = await loggedIn({ mfa: true })
  await addFactor(service(), somebody.id)
  const answer = await add(somebody, 'second')
  t.is(answer.status, 201)
  const shown = answer.json as Shown
  t.deepEqual(shown, { id: shown.id, created: shown.created, last_used: null, name: 'second', backed_up: false })
  t.is((await letterTo(service().system, somebody.email)).subject, 'A passkey was added to your account')
  await age(somebody)
  t.deepEqual(said(await somebody.api.post(`${KEYS}options/`, {})), [403, TOO_OLD])
})

test('a stolen session that is old adds no passkey, also if its challenge is new', async (t) => {
  const somebody = await withPasskey()
  const options = await optionsOf(somebody.api, KEYS)
  await age(somebody)
  const passkey = new Authenticator(ORIGIN).create(options)
  t.deepEqual(said(await somebody.api.post(KEYS, { name: 'thief', passkey })), [403, TOO_OLD])
  t.is((await listed(somebody)).length, 1)
})

test('the last second factor is deleted only after a new login, whichever it is', async (t) => {
  const somebody = await withPasskey()
  const [first] = await listed(somebody)
  const totp = await addFactor(service(), somebody.id)
  await age(somebody)
  // It is not the last one.
  t.is((await somebody.api.delete(`${KEYS}${first!.id}/`)).status, 204)
  t.is((await letterTo(service().system, somebody.email, 3)).subject, 'A passkey was removed from your account')
  t.deepEqual(said(await somebody.api.delete(`/auth/totp/${totp}/`)), [403, LAST])
  t.is((await addToken(service(), somebody.id, flags).then(({ api }) => api.get('/domains/'))).status, 403)
  const newer = await addToken(service(), somebody.id, { ...flags, mfa: true })
  const { id } = (await add(newer)).json as Shown
  t.is((await somebody.api.delete(`/auth/totp/${totp}/`)).status, 204)
  t.deepEqual(said(await somebody.api.delete(`${KEYS}${id}/`)), [403, LAST])
  t.is((await newer.api.delete(`${KEYS}${id}/`)).status, 204)
  t.is((await addToken(service(), somebody.id, flags).then(({ api }) => api.get('/domains/'))).status, 200)
})

test('of the last two second factors, an old session deletes one, also if it deletes both at once', async (t) => {
  const somebody = await withPasskey()
  const [{ id }] = (await listed(somebody)) as [Shown]
  const totp = await addFactor(service(), somebody.id)
  await age(somebody)
  const paths = [`${KEYS}${id}/`, `/auth/totp/${totp}/`]
  const statuses = await Promise.all(paths.map(async (path) => (await somebody.api.delete(path)).status))
  t.deepEqual(statuses.sort(), [204, 403])
})

test('adding and deleting a passkey void earlier links', async (t) => {
  const somebody = await loggedIn()
  const early = await deletionLink(service(), somebody)
  await addFirstPasskey(service(), somebody, somebody.authenticator, 'key', 2)
  t.deepEqual(said(await service().anonymous.post(early.path)), [409, OVERTAKEN])
  await verify(somebody)
  const passkey = somebody.authenticator.sign(await optionsOf(somebody.api, SECOND))
  const asked = await service().anonymous.post('/auth/account/delete/', { ...somebody.credentials, passkey })
  t.is(asked.status, 202)
  const { path } = await linkTo(service(), somebody.email, 4)
  const [{ id }] = (await listed(somebody)) as [Shown]
  t.is((await somebody.api.delete(`${KEYS}${id}/`)).status, 204)
  t.deepEqual(said(await service().anonymous.post(path)), [409, OVERTAKEN])
})

test('names are unique in an account and can be changed; a key can be added once', async (t) => {
  const somebody = await withPasskey()
  const [first] = await listed(somebody)
  t.deepEqual(said(await add(somebody, 'key')), [400, NAME_TAKEN])
  const other = (await add(somebody, 'other')).json as Shown
  const path = `${KEYS}${other.id}/`
  t.deepEqual(said(await somebody.api.patch(path, { name: 'key' })), [400, NAME_TAKEN])
  const long = '{"name":["Ensure this field has no more than 64 characters."]}'
  t.deepEqual(said(await somebody.api.patch(path, { name: 'x'.repeat(65) })), [400, long])
  t.deepEqual((await somebody.api.patch(path, { name: 'new', backed_up: true })).json, { ...other, name: 'new' })
  t.deepEqual((await somebody.api.get(path)).json, { ...other, name: 'new' })
  t.deepEqual((await listed(somebody)).map(({ id }) => id).sort(), [first!.id, other.id].sort())
  const again = '{"passkey":["This passkey has already been added."]}'
  t.deepEqual(said(await add(somebody, 'third', somebody.authenticator)), [400, again])
  // Nor can another account take it over: also a link finds that out, if both were asked for at once.
  const [thief, early] = [await loggedIn(), await loggedIn()]
  t.deepEqual(said(await add(thief, 'stolen', somebody.authenticator)), [400, again])
  t.is((await add(early, 'own', thief.authenticator)).status, 202)
  t.is((await add(thief, 'own', thief.authenticator)).status, 202)
  t.is((await service().anonymous.post((await linkTo(service(), early.email)).path)).status, 200)
  t.deepEqual(said(await service().anonymous.post((await linkTo(service(), thief.email)).path)), [400, again])
})

test('foreign, absent and malformed passkeys are 404', async (t) => {
  const [somebody, other] = [await withPasskey(), await withPasskey()]
  const [{ id }] = (await listed(other)) as [Shown]
  for (const each of [id, '00000000-0000-4000-8000-000000000000', id.toUpperCase(), 'x']) {
    const path = `${KEYS}${each}/`
    t.is((await somebody.api.get(path)).status, 404)
    t.is((await somebody.api.patch(path, { name: null })).status, 404)
    t.deepEqual(said(await somebody.api.delete(path)), [204, ''])
  }
  t.is((await other.api.get(`${KEYS}${id}/`)).status, 200)
})

test('API tokens, restricted tokens and logins before their second factor change no passkeys', async (t) => {
  const somebody = await withPasskey()
  const [{ id }] = (await listed(somebody)) as [Shown]
  const tries = [
    ['GET', KEYS],
    ['POST', KEYS],
    ['POST', `${KEYS}options/`],
    ['GET', `${KEYS}${id}/`],
    ['PATCH', `${KEYS}${id}/`],
    ['DELETE', `${KEYS}${id}/`],
    ['POST', SECOND],
    ['POST', `${SECOND}options/`],
  ] as const
  for (const [options, expected] of [
    [{ ...flags, mfa: null }, LOGIN_REQUIRED],
    [{ ...flags, mfa: true, permManageTokens: false }, PERMISSION],
  ] as const) {
    const { api } = await addToken(service(), somebody.id, options)
    for (const [method, path] of tries) {
      t.deepEqual(said(await api.send(method, path, method === 'GET' ? undefined : {})), [403, expected], path)
    }
  }
  const pending = await addToken(service(), somebody.id, flags)
  for (const [method, path] of tries.slice(0, 6)) {
    const expected = method === 'GET' ? 200 : 403
    t.is(
      (await pending.api.send(method, path, method === 'GET' ? undefined : {})).status,
      expected,
      `${method} ${path}`,
    )
  }
  t.is((await listed(somebody)).length, 1)
})

for (const [what, path, more] of [
  ['change of address', '/auth/account/change-email/', { new_email: 'new@example.test' }],
  ['deletion', '/auth/account/delete/', {}],
] as const) {
  test(`${what}: with passkeys alone it needs one, with a challenge of whichever kind, once`, async (t) => {
    const somebody = await withPasskey()
    const ask = (members: object) => service().anonymous.post(path, { ...somebody.credentials, ...more, ...members })
    const required = '{"passkey":["This field is required."]}'
    t.deepEqual(said(await ask({})), [400, required])
    t.deepEqual(said(await ask({ code: '123456' })), [400, required])
    const before = (await allLettersTo(service().system, somebody.email)).length
    const passkey = somebody.authenticator.sign(await optionsOf(service().anonymous, LOGIN))
    t.is((await ask({ passkey, password: 'wrong password' })).status, 403)
    t.is((await ask({ passkey })).status, 202)
    t.is((await ask({ passkey })).status, 400)
    t.is((await ask({ passkey: somebody.authenticator.sign(await optionsOf(somebody.api, SECOND)) })).status, 202)
    const stranger = await withPasskey()
    const foreign = stranger.authenticator.sign(await optionsOf(service().anonymous, LOGIN))
    t.is((await ask({ passkey: foreign })).status, 400)
    t.is((await ask({ passkey: somebody.authenticator.sign(await optionsOf(stranger.api, SECOND)) })).status, 400)
    if (what === 'deletion') t.is((await allLettersTo(service().system, somebody.email)).length, before + 2)
  })

  test(`${what}: with both kinds, either is enough`, async (t) => {
    const somebody = await withPasskey()
    const totp = await addFactor(service(), somebody.id)
    const ask = (members: object) => service().anonymous.post(path, { ...somebody.credentials, ...more, ...members })
    t.deepEqual(said(await ask({})), [400, '{"code":["This field is required."]}'])
    t.is((await ask({ code: await codeFor(service(), totp) })).status, 202)
    t.is((await ask({ passkey: somebody.authenticator.sign(await optionsOf(somebody.api, SECOND)) })).status, 202)
  })

  test(`${what}: without a second factor, a passkey is not asked for, nor looked at`, async (t) => {
    const somebody = await loggedIn()
    const { authenticator, api, credentials } = somebody
    authenticator.create(await optionsOf(api, KEYS))
    const passkey = authenticator.sign(await optionsOf(service().anonymous, LOGIN))
    t.is((await service().anonymous.post(path, { ...credentials, ...more, passkey })).status, 202)
    const text = '{"passkey":["This is not a response of a passkey."]}'
    t.deepEqual(said(await service().anonymous.post(path, { ...credentials, ...more, passkey: {} })), [400, text])
  })
}

test('a new password leaves passkeys, and sessions still need them', async (t) => {
  const somebody = await withPasskey()
  const { path } = await linkAfterReset(somebody)
  t.is((await service().anonymous.post(path, { new_password: 'another password' })).status, 200)
  const credentials = { email: somebody.email, password: 'another password' }
  const { token } = (await service().anonymous.post('/auth/login/', credentials)).json as { token: string }
  t.is((await service().clientOf(token).get('/domains/')).status, 403)
  t.is((await signIn(somebody)).status, 200)
})

async function linkAfterReset({ email }: Person) {
  await service().anonymous.post('/auth/account/reset-password/', { email })
  return linkTo(service(), email, 3)
}
