import type { JWTPayload } from 'jose'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { request } from 'undici'
import { projectFolder } from '../../../src/installation/project.ts'
import { hashPassword } from '../../../src/service/accounts/passwords.ts'
import { beginAttempt } from '../../../src/service/sign-on/browser.ts'
import { withGroups } from '../../../src/service/sign-on/group-memberships.ts'
import { query } from '../../../src/store/database.ts'
import type { Answer } from '../../support/clients/client.ts'
import { lettersTo } from '../../support/clients/mails.ts'
import { freshEmail, insertAccount, PASSWORD } from '../../support/clients/people.ts'
import { eventually } from '../../support/eventually.ts'
import { type OwnService, useServers } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'
import { freePort } from '../../support/servers/ports.ts'
import { Browser, codeIn, saidTo } from '../../support/sign-on/browser.ts'
import { CLIENT, startIssuer, type TestIssuer } from '../../support/sign-on/issuer.ts'

// Single sign-on (contract §11.4), with oidc-provider as the issuer.

const PUBLIC = 'https://dns.example.test'
const servers = useServers()
let issuer: TestIssuer
let service: OwnService

function settings(more: Record<string, string> = {}) {
  return {
    PUBLIC_URL: PUBLIC,
    OIDC_ISSUER: issuer.url,
    OIDC_CLIENT_ID: CLIENT.id,
    OIDC_CLIENT_SECRET: CLIENT.secret,
    OIDC_NAME: 'Example Company',
    OIDC_SIGN_UP: 'example.test',
    ...more,
  }
}

test.before('an issuer', async () => {
  issuer = await startIssuer(PUBLIC)
  service = await servers().serve(settings())
})
test.after.always('the issuer stops', () => issuer.close())

const sql = <Row>(text: string, values: Record<string, unknown> = {}) => query<Row>(servers().system.db, text, values)

let people = 0

/** Somebody at the issuer, who sits down at a browser. */
function someone(claims = {}, sub = `sub-${++people}`): { email: string; sub: string; browser: Browser } {
  const email = freshEmail()
  issuer.people.set(sub, { email, email_verified: true, ...claims })
  issuer.person = sub
  return { email, sub, browser: new Browser(service.anonymous, PUBLIC) }
}

/** An account that somebody else, or the same person, has made before. */
async function account(email: string, columns: { state?: 'active' | 'pending' | 'disabled' } = {}): Promise<string> {
  return insertAccount(servers().system, { email, passwordHash: await hashPassword(PASSWORD, 'test'), ...columns })
}

async function logIn(email: string): Promise<string> {
  return ((await service.anonymous.post('/auth/login/', { email, password: PASSWORD })).json as { token: string }).token
}

/** The identities and accounts that there are, of which no refused sign-in makes one. */
async function made(): Promise<unknown> {
  const text = `select (select count(*) from identities) as identities, (select count(*) from tokens) as tokens,
    (select coalesce(jsonb_agg(to_jsonb(accounts) order by id), '[]') from accounts) as accounts`
  return sql(text)
}

async function own(
  answer: Answer,
): Promise<{ token: { mfa: boolean; max_age: string }; account: { id: string; email: string } }> {
  return (await service.clientOf((answer.json as { token: string }).token).get('/auth/token/')).json as never
}

test('a first sign-in creates an account, and the next one finds it, whatever its address is by then', async (t) => {
  const { browser, email, sub } = someone()
  const answer = await browser.signIn()
  t.is(answer.status, 200)
  const first = await own(answer)
  t.is(first.account.email, email)
  t.is(first.token.mfa, false)
  t.is(first.token.max_age, '12:00:00')
  t.deepEqual([...browser.cookies], [])
  issuer.people.set(sub, { email: freshEmail(), email_verified: true })
  t.deepEqual((await own(await browser.signIn())).account, first.account)
  issuer.people.set(sub, {})
  t.deepEqual((await own(await browser.signIn())).account, first.account)
})

test('an address with an account: only its owner links it, and is told', async (t) => {
  const { browser, email } = someone()
  const id = await account(email)
  const other = someone()
  await account(other.email)
  issuer.person = [...issuer.people.keys()].at(-2)!
  const code = codeIn(await browser.callback())
  const before = await made()
  const answer = await browser.exchange(code)
  t.is(answer.status, 409)
  t.regex(answer.text, /Sign in to it once in another way within ten minutes/)
  t.deepEqual(await made(), before)

  const link = (secret: string) =>
    browser.send('POST', '/auth/oidc/link/', { code }, { authorization: `Token ${secret}` })
  t.is((await link('nonsense')).status, 401)
  const foreign = await link(await logIn(other.email))
  t.is(foreign.status, 403)
  t.regex(foreign.text, new RegExp(`The address ${email} has an account already`))
  t.deepEqual(
    ((await made()) as [{ identities: number }])[0].identities,
    (before as [{ identities: number }])[0].identities,
  )
  const login = await logIn(email)
  const withoutCookie = await new Browser(service.anonymous, PUBLIC).send(
    ...(['POST', '/auth/oidc/link/', { code }, { authorization: `Token ${login}` }] as const),
  )
  t.is(withoutCookie.status, 403)
  t.is((await link(login)).status, 204)
  await eventually(() => lettersTo(service.system, email).length === 1)
  t.regex(lettersTo(service.system, email)[0]!.subject, /linked with single sign-on/)
  t.is((await own(await browser.signIn())).account.id, id)
  t.is((await link(login)).status, 403)
})

test('the owner sees the link of the account, and ends it with a new login', async (t) => {
  const ops = freshEmail()
  await account(ops)
  const grouped = await servers().serve(
    settings({ OIDC_GROUPS: `admins=${ops}:admin; all=${freshEmail()}:viewer`, OIDC_TRUST_EMAIL: 'on' }),
  )
  const { email } = someone({ groups: ['admins'] })
  const other = freshEmail()
  const id = await account(email)
  await account(other)
  const owner = grouped.clientOf(await logIn(email))
  const link = async () =>
    (await owner.get('/auth/oidc/link/')).json as { linked: string | null; last_used: string | null }
  t.deepEqual(await link(), { linked: null, last_used: null })
  t.is((await owner.delete('/auth/oidc/link/')).status, 204)
  const browser = new Browser(grouped.anonymous, PUBLIC)
  const { token } = (await browser.signIn()).json as { token: string }
  const codeBefore = codeIn(await browser.callback())
  const { linked, last_used: lastUsed } = await link()
  t.true(linked !== null && lastUsed !== null && linked <= lastUsed)
  const memberships = async () => (await owner.get('/auth/memberships/')).json as unknown[]
  t.is((await memberships()).length, 1)

  const age = async (time: string) =>
    sql('update tokens set created = now() - cast(:time as interval) where owner_id = :id', {
      id,
      time,
    })
  await age('11 minutes')
  const old = await owner.delete('/auth/oidc/link/')
  t.is(old.status, 403)
  t.regex(old.text, /Sign in again: the link can be ended only within ten minutes of a login/)
  t.is((await grouped.clientOf(await logIn(other)).delete('/auth/oidc/link/')).status, 204)
  t.is((await link()).linked, linked)
  t.is((await memberships()).length, 1)

  await age('9 minutes')
  t.is((await owner.delete('/auth/oidc/link/')).status, 204)
  t.deepEqual(await link(), { linked: null, last_used: null })
  t.is((await grouped.clientOf(token).get('/domains/')).status, 401)
  t.is((await browser.exchange(codeBefore)).status, 400)
  t.is((await owner.get('/domains/')).status, 200)
  t.deepEqual(await memberships(), [])
  // Either of the two services sends it.
  const letters = () =>
    [service, grouped]
      .flatMap(({ system }) => lettersTo(system, email))
      .filter(({ subject }) => /not linked/.test(subject))
  await eventually(() => letters().length > 0)
  t.is(letters().length, 1)
  await grouped.stop()
})

test('the only way to sign in to an account is not ended', async (t) => {
  const { browser, email } = someone()
  const { token } = (await browser.signIn()).json as { token: string }
  const api = service.clientOf(token)
  const [only, without] = [await api.delete('/auth/oidc/link/'), await servers().serve(settings({ PASSWORDS: 'off' }))]
  t.is(only.status, 409)
  t.deepEqual(only.json, {
    detail: 'Nobody could sign in to this account any more. Add a passkey, or set a password first.',
  })
  const text = 'update accounts set password_hash = :hash where email = :email'
  await sql(text, { email, hash: await hashPassword(PASSWORD, 'test') })
  const off = await without.clientOf(token).delete('/auth/oidc/link/')
  t.deepEqual(
    [off.status, off.json],
    [409, { detail: 'Nobody could sign in to this account any more. Add a passkey first.' }],
  )
  t.is((await api.get('/domains/')).status, 200)
  t.is((await api.delete('/auth/oidc/link/')).status, 204)
  // The login had begun there.
  t.is((await api.get('/domains/')).status, 401)
  const own = (await service.clientOf(await logIn(email)).get('/auth/oidc/link/')).json
  t.deepEqual(own, { linked: null, last_used: null })
  await without.stop()
})

test('an API token and a login before its second factor link nothing', async (t) => {
  const { browser, email } = someone()
  const id = await account(email)
  const code = codeIn(await browser.callback())
  for (const mfa of [null, false]) {
    const secret = `secret ${String(mfa)} ${email}`.replaceAll(' ', '')
    const text = `insert into tokens (created, owner_id, secret_hash, mfa, perm_manage_tokens)
      values (now(), :id, sha256(convert_to(:secret, 'UTF8')), :mfa, true)`
    await sql(text, { id, secret, mfa })
    if (mfa === false) {
      const factor = `insert into totp_factors (id, account_id, created, name, secret, last_used)
        values (gen_random_uuid(), :id, now(), '', '', now())`
      await sql(factor, { id })
    }
    const answer = await browser.send('POST', '/auth/oidc/link/', { code }, { authorization: `Token ${secret}` })
    t.is(answer.status, 403, String(mfa))
  }
  await sql('delete from totp_factors where account_id = :id', { id })
})

/** Refused sign-ins: the settings, what the issuer says, what there is before, and what the person is told. */
const REFUSED: [title: string, more: Record<string, string>, claims: object, before: (email: string) => Promise<unknown>, told: RegExp][] =
  [
    ['no address', {}, { email: undefined }, none, /tells this service no e-mail address/],
    ['a text that is no address', {}, { email: 'a b' }, none, /tells this service no e-mail address/],
    ['an address that is not verified', {}, { email_verified: false }, none, /does not say that the address \S+ is yours/],
    ['an address of which nothing is said', {}, { email_verified: undefined }, none, /does not say that/],
    ['a text instead of a truth value', {}, { email_verified: 'false' }, none, /does not say that/],
    ['an unverified address of an account, which is trusted', { OIDC_TRUST_EMAIL: 'on' }, { email_verified: false }, account, /does not say that/],
    ['sign-up off', { OIDC_SIGN_UP: 'off' }, {}, none, /There is no account with the address \S+, .*Ask the operator/],
    ['an address of another domain', { OIDC_SIGN_UP: 'example.org' }, {}, none, /There is no account with the address/],
    ['an address below the domain', {}, { email: `${freshEmail()}.example.org` }, none, /There is no account/],
    ['a disabled account', {}, {}, (email) => account(email, { state: 'disabled' }), /Your account is disabled/],
    ['a disabled account, which is trusted', { OIDC_TRUST_EMAIL: 'on' }, {}, (email) => account(email, { state: 'disabled' }), /Your account is disabled/],
  ] // prettier-ignore

async function none(): Promise<void> {}

for (const [title, more, claims, before, told] of REFUSED) {
  test(`nothing is created or linked: ${title}`, async (t) => {
    const strict = await servers().serve(settings(more))
    const { email } = someone(claims)
    await before(email)
    const there = await made()
    const answer = await new Browser(strict.anonymous, PUBLIC).callback()
    t.is(answer.status, 403)
    t.regex(saidTo(answer), told)
    t.deepEqual(await made(), there)
    await strict.stop()
  })
}

test('two identities with one address: the second one gets no account, also if addresses are trusted', async (t) => {
  const { browser, email } = someone()
  await browser.signIn()
  const trusting = await servers().serve(settings({ OIDC_TRUST_EMAIL: 'on' }))
  for (const { anonymous } of [service, trusting]) {
    someone({ email: email.toUpperCase() })
    const there = await made()
    const answer = await new Browser(anonymous, PUBLIC).callback()
    t.is(answer.status, 403)
    t.regex(saidTo(answer), /belongs to somebody else at Example Company, who perhaps had this address before/)
    t.deepEqual(await made(), there)
  }
  await trusting.stop()
})

test('whoever vouches for addresses links at once; a pending account gives way, with its password', async (t) => {
  const trusting = await servers().serve(settings({ OIDC_TRUST_EMAIL: 'on' }))
  const { email } = someone()
  const id = await account(email)
  t.is((await own(await new Browser(trusting.anonymous, PUBLIC).signIn())).account.id, id)
  const { email: squatted, browser } = someone()
  await account(squatted, { state: 'pending' })
  t.is((await own(await browser.signIn())).account.email, squatted)
  t.is((await service.anonymous.post('/auth/login/', { email: squatted, password: PASSWORD })).status, 403)
  await trusting.stop()
})

/** Ways in which a callback fails, and what the person is told. */
const CALLBACKS: [title: string, come: (browser: Browser, path: string) => Promise<Answer>, told: RegExp][] = [
  ['in another browser', (_, path) => new Browser(service.anonymous, PUBLIC).send('GET', path), /sent no cookie/],
  [
    'in a browser that has begun another sign-in since',
    async (browser, path) => {
      await browser.begin()
      return browser.send('GET', path)
    },
    /not the sign-in that this browser began last/,
  ],
  ['with a cookie of somebody else', async (browser, path) => withCookie(browser, path, 'AAAA'), /sent no cookie/],
  ['with an old cookie', async (browser, path) => withCookie(browser, path, oldCookie()), /more than ten minutes/],
  ['without state', async (browser, path) => browser.send('GET', path.replace(/state=[^&]*/, '')), /not the sign-in/],
  ['with another state', async (browser, path) => browser.send('GET', path.replace('state=', 'state=x')), /not the sign-in/],
  ['with the issuer of somebody else', async (browser, path) => browser.send('GET', path.replace(/iss=[^&]*/, 'iss=https%3A%2F%2Fother.test')), /is not valid/],
  ['without the issuer', async (browser, path) => browser.send('GET', path.replace(/&iss=[^&]*/, '')), /is not valid/],
  ['with a code of somebody else', async (browser, path) => browser.send('GET', path.replace('code=', 'code=x')), /was used before, or took too long/],
  ['with an error', async (browser, path) => browser.send('GET', path.replace(/code=[^&]*/, 'error=server_error&error_description=Call+0900')), /^Example Company could not sign you in \(server_error\)\. Sign in again, or ask whoever runs it\.$/],
  ['with an error that is markup', async (browser, path) => browser.send('GET', path.replace(/code=[^&]*/, 'error=%3Cb%3E')), /\(unknown error\)/],
] // prettier-ignore

for (const [title, come, told] of CALLBACKS) {
  test(`a callback ${title} signs nobody in`, async (t) => {
    const { browser } = someone()
    const path = await browser.begin()
    const there = await made()
    const answer = await come(browser, path)
    t.is(answer.status, 403)
    t.regex(saidTo(answer), told)
    t.is(answer.headers['cache-control'], 'no-store')
    t.deepEqual(await made(), there)
  })
}

function withCookie(browser: Browser, path: string, value: string): Promise<Answer> {
  return browser.send('GET', path, undefined, { cookie: `__Host-zoneplane-sign-in=${value}` })
}

function oldCookie(): string {
  const then = new Date(Date.now() - 601_000).toISOString()
  return beginAttempt({ ...service.system, now: () => then }).cookie
}

test('a callback that the person has refused says so', async (t) => {
  const { browser } = someone()
  issuer.person = ''
  t.is(saidTo(await browser.callback()), 'Example Company did not let you in, or you cancelled.')
})

test('a callback works once', async (t) => {
  const { browser } = someone()
  const path = await browser.begin()
  const asked = issuer.asked.length
  const answers = await Promise.all([browser.send('GET', path), browser.send('GET', path)])
  t.deepEqual(answers.map(({ status }) => status).sort(), [303, 403])
  t.is(issuer.asked.slice(asked).filter((line) => line === 'POST /token').length, 1)
  const late = await browser.send('GET', path)
  t.is(saidTo(late), 'This sign-in was used before. Sign in again.')
})

test('a code works once, within a minute, in its browser', async (t) => {
  const { browser, email } = someone()
  const code = codeIn(await browser.callback())
  const thief = new Browser(service.anonymous, PUBLIC)
  const stranger = await thief.exchange(code)
  t.is(stranger.status, 403)
  t.regex(stranger.text, /sent no cookie/)
  await thief.begin()
  t.is((await thief.exchange(code)).status, 400)
  t.is((await browser.exchange('x')).status, 400)
  const answers = await Promise.all([browser.exchange(code), browser.exchange(code)])
  const refused = answers.find(({ status }) => status !== 200)!
  t.true([400, 403].includes(refused.status))
  const [first] = await sql<{ n: number }>(
    'select count(*) as n from tokens join accounts on accounts.id = owner_id where email = :email',
    { email },
  )
  t.is(first!.n, 1)

  const late = codeIn(await browser.callback())
  await sql(`update sign_ins set code_expires = now() - interval '1 second' where code_hash is not null`)
  t.is((await browser.exchange(late)).status, 400)
})

test('the code is handed over for a minute, in a fragment, and the cookie is for the browser alone', async (t) => {
  const { browser } = someone()
  const begun = await browser.send('POST', '/auth/oidc/')
  t.regex(
    String(begun.headers['set-cookie']),
    /^__Host-zoneplane-sign-in=[\w-]+; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax; Secure$/,
  )
  const { searchParams } = new URL((begun.json as { url: string }).url)
  t.is(searchParams.get('code_challenge_method'), 'S256')
  t.is(searchParams.get('redirect_uri'), `${PUBLIC}/api/v1/auth/oidc/callback/`)
  const answer = await browser.callback()
  t.regex(String(answer.headers['location']), /^https:\/\/dns\.example\.test\/console\/signed-in#[1-9A-Za-z]{28}$/)
  t.is(answer.headers['referrer-policy'], 'no-referrer')
  const [row] = await sql<{ seconds: number }>(
    'select cast(extract(epoch from max(code_expires) - now()) as integer) as seconds from sign_ins where code_hash is not null',
  )
  t.true(row!.seconds > 0 && row!.seconds <= 60)
})

/** ID tokens of a lying issuer. */
const LIES: Record<string, (claims: JWTPayload) => Promise<string>> = {
  'for another audience': (claims) => issuer.sign({ ...claims, aud: 'somebody else' }),
  'for another audience, too': (claims) => issuer.sign({ ...claims, aud: [CLIENT.id, 'x'], azp: 'x' }),
  'of another sign-in': (claims) => issuer.sign({ ...claims, nonce: 'another' }),
  'without a nonce': ({ nonce, ...claims }) => issuer.sign({ ...claims, was: nonce }),
  'of another issuer': (claims) => issuer.sign({ ...claims, iss: 'https://other.test' }),
  'that has expired': (claims) => issuer.sign({ ...claims, exp: Math.floor(Date.now() / 1000) - 90 }),
  'with a name that is none': (claims) => issuer.sign({ ...claims, sub: 'a\u0000b' }),
  'with a name that is too long': (claims) => issuer.sign({ ...claims, sub: 'a'.repeat(256) }),
  'without a subject': ({ sub, ...claims }) => issuer.sign({ ...claims, was: sub }),
  'that nobody has signed': async (claims) => `${base64({ alg: 'none' })}.${base64(claims)}.`,
  'whose signature is missing': async (claims) => `${base64({ alg: 'RS256', kid: 'first' })}.${base64(claims)}.`,
  'that the client could have signed': (claims) =>
    new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(new TextEncoder().encode(CLIENT.secret)),
  'with a key that is not the issuer’s': async (claims) => (await strangers()).sign(claims),
  'with a key that has expired': async (claims) => (await strangers()).sign(claims, { kid: 'former' }),
}

function base64(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

let stranger: Promise<TestIssuer> | undefined
function strangers(): Promise<TestIssuer> {
  return (stranger ??= startIssuer(PUBLIC))
}
test.after.always('the other issuer stops', async () => (await stranger)?.close())

for (const [title, lie] of Object.entries(LIES)) {
  test(`an ID token ${title} signs nobody in`, async (t) => {
    const { browser } = someone()
    const there = await made()
    issuer.lie = lie
    const answer = await browser.callback()
    issuer.lie = undefined
    t.is(answer.status, 403)
    t.is(
      saidTo(answer),
      'The answer of Example Company is not valid. Sign in again; if that fails, tell the operator of this service.',
    )
    t.deepEqual(await made(), there)
  })
}

test('a new key of the issuer is found, a minute after the former ones were read', async (t) => {
  const { browser } = someone()
  t.is((await browser.signIn()).status, 200)
  const { privateKey, publicKey } = await generateKeyPair('RS256')
  issuer.moreKeys = [{ ...(await exportJWK(publicKey)), kid: 'second', use: 'sig', alg: 'RS256' }]
  issuer.lie = (claims) => new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'second' }).sign(privateKey)
  const { now } = Date
  Date.now = () => now() + 61_000
  const answer = await browser.callback()
  Date.now = now
  issuer.lie = undefined
  issuer.moreKeys = []
  t.is(answer.status, 303)
})

test('the clocks may differ by a minute', async (t) => {
  const { browser } = someone()
  issuer.lie = (claims) => issuer.sign({ ...claims, exp: Math.floor(Date.now() / 1000) - 30 })
  t.is((await browser.signIn()).status, 200)
  issuer.lie = undefined
})

test('several factors at the issuer count, or all sign-ins if the operator says so', async (t) => {
  const { browser } = someone()
  const mfa = async (from: Browser, claims: JWTPayload) => {
    issuer.lie = (signed) => issuer.sign({ ...signed, ...claims })
    const answer = await from.signIn()
    issuer.lie = undefined
    return (await own(answer)).token.mfa
  }
  t.false(await mfa(browser, {}))
  t.false(await mfa(browser, { amr: ['pwd'], acr: '0' }))
  t.false(await mfa(browser, { amr: 'mfa' }))
  t.true(await mfa(browser, { amr: ['pwd', 'mfa'] }))
  t.true(await mfa(browser, { acr: 'https://refeds.org/profile/mfa' }))
  const trusting = await servers().serve(settings({ OIDC_MFA: 'trust', OIDC_SESSION: '3600' }))
  const answer = await new Browser(trusting.anonymous, PUBLIC).signIn()
  const { token } = await own(answer)
  t.true(token.mfa)
  t.is(token.max_age, '01:00:00')
  await trusting.stop()
})

test('an issuer that does not answer, answers nonsense, or too much: people are told, and it can come back', async (t) => {
  const begun = someone().browser
  const path = await begun.begin()
  const { browser } = someone()
  for (const instead of [
    (_: unknown, response: import('node:http').ServerResponse) => response.writeHead(500).end(),
    () => undefined,
    (_: unknown, response: import('node:http').ServerResponse) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const more = () => {
        if (!response.destroyed && response.write(' '.repeat(65_536))) setImmediate(more)
        else response.once('drain', more)
      }
      more()
    },
  ]) {
    const fresh = await servers().serve(settings())
    const there = await made()
    issuer.instead = instead
    t.deepEqual((await fresh.anonymous.get('/auth/oidc/')).json, { name: 'Example Company', reachable: false })
    const answer = await new Browser(fresh.anonymous, PUBLIC).send('POST', '/auth/oidc/')
    t.is(answer.status, 503)
    t.regex(answer.text, /Example Company does not answer\. Nothing was changed; please retry\./)
    t.deepEqual(await made(), there)
    issuer.instead = undefined
    await fresh.stop()
  }
  issuer.instead = (_, response) => response.writeHead(502).end()
  const answer = await begun.send('GET', path)
  t.is(answer.status, 503)
  t.regex(saidTo(answer), /Example Company does not answer/)
  issuer.instead = undefined
  t.is((await browser.signIn()).status, 200)
})

test('each step may come to another process', async (t) => {
  const [other, third] = [await servers().serve(settings()), await servers().serve(settings())]
  const { browser } = someone()
  const path = await browser.begin()
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join()
  const code = codeIn(await other.anonymous.get(path, { headers: { cookie } }))
  t.is((await third.anonymous.post('/auth/oidc/token/', { code }, { headers: { cookie } })).status, 200)
  await Promise.all([other.stop(), third.stop()])
})

test('two first sign-ins of one person at once make one account', async (t) => {
  const { email, browser } = someone()
  const second = new Browser(service.anonymous, PUBLIC)
  const paths = [await browser.begin(), await second.begin()]
  const answers = await Promise.all([browser.send('GET', paths[0]!), second.send('GET', paths[1]!)])
  t.true(answers.some(({ status }) => status === 303))
  t.true(answers.every(({ status }) => status === 303 || status === 403))
  const rows = await sql('select from accounts where email = :email', { email })
  t.is(rows.length, 1)
})

/** A logout token, as the issuer makes them. */
function logoutToken(claims: object, header: Record<string, string> = {}): Promise<string> {
  const now = Math.floor(Date.now() / 1000)
  const events = { 'http://schemas.openid.net/event/backchannel-logout': {} }
  const usual = { iss: issuer.url, aud: CLIENT.id, iat: now, exp: now + 120, jti: freshEmail(), events }
  return issuer.sign({ ...usual, ...claims }, { typ: 'logout+jwt', ...header })
}

async function logOut(token: string): Promise<Answer> {
  const body = new URLSearchParams({ logout_token: token }).toString()
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  return service.anonymous.send('POST', '/auth/oidc/logout/', undefined, { body, headers })
}

test('the issuer ends sessions: one, or all of a person; API tokens and other people stay', async (t) => {
  const { browser, sub, email } = someone()
  const sid = (await sidOf(browser))!
  const [first, second] = [await browser.signIn(), await new Browser(service.anonymous, PUBLIC).signIn()]
  const works = async (answer: Answer) =>
    (await service.clientOf((answer.json as { token: string }).token).get('/auth/token/')).status
  const [login] = await sql<{ id: string }>('select id from accounts where email = :email', {
    email,
  })
  await sql(
    `insert into tokens (created, owner_id, secret_hash) values (now(), :id, sha256(convert_to(:secret, 'UTF8')))`,
    { id: login!.id, secret: `api${sub}` },
  )
  const other = await someone().browser.signIn()
  const pending = someone({}, sub).browser
  issuer.people.set(sub, { email, email_verified: true })
  t.is((await logOut(await logoutToken({ sub, sid: 'another' }))).status, 200)
  t.deepEqual([await works(first), await works(second)], [200, 200])
  t.is((await logOut(await logoutToken({ sid }))).status, 200)
  t.deepEqual([await works(first), await works(second)], [401, 200])
  const code = codeIn(await pending.callback())
  t.is((await logOut(await logoutToken({ sub }))).status, 200)
  t.deepEqual([await works(second), await works(other)], [401, 200])
  t.is((await pending.exchange(code)).status, 400)
  t.is((await service.clientOf(`api${sub}`).get('/auth/token/')).status, 200)
})

/** The session of a browser at the issuer: the one of its latest sign-in. */
async function sidOf(browser: Browser): Promise<string | undefined> {
  codeIn(await browser.callback())
  const [row] = await sql<{ sid: string }>(
    'select sid from sign_ins where code_hash is not null order by code_expires desc limit 1',
  )
  return row?.sid
}

test('a logout token ends only what began before it', async (t) => {
  const { browser, sub } = someone()
  const answer = await browser.signIn()
  const before = Math.floor(Date.now() / 1000) - 3600
  t.is((await logOut(await logoutToken({ sub, iat: before }))).status, 200)
  t.is((await own(answer)).token.mfa, false)
})

/** Logout tokens that end nothing. */
const FORGED: Record<string, (sub: string) => Promise<string>> = {
  'of another issuer': (sub) => logoutToken({ sub, iss: 'https://other.test' }),
  'for another audience': (sub) => logoutToken({ sub, aud: 'somebody else' }),
  'that has expired': (sub) => logoutToken({ sub, exp: Math.floor(Date.now() / 1000) - 90 }),
  'without an end': (sub) => logoutToken({ sub, exp: undefined }),
  'that is an ID token': (sub) => logoutToken({ sub, events: undefined }),
  'of another event': (sub) => logoutToken({ sub, events: { other: {} } }),
  'with a nonce': (sub) => logoutToken({ sub, nonce: 'x' }),
  'of nobody': () => logoutToken({}),
  'of another type': (sub) => logoutToken({ sub }, { typ: 'at+jwt' }),
  'that nobody has signed': async (sub) => `${base64({ alg: 'none', typ: 'logout+jwt' })}.${base64({ sub })}.`,
  'with a key that is not the issuer’s': async (sub) =>
    (await strangers()).sign({ sub, iss: issuer.url, aud: CLIENT.id }, { typ: 'logout+jwt' }),
  'that is no token': async () => 'nonsense',
}

for (const [title, forge] of Object.entries(FORGED)) {
  test(`a logout token ${title} ends nothing`, async (t) => {
    const { browser, sub } = someone()
    const answer = await browser.signIn()
    const refused = await logOut(await forge(sub))
    t.is(refused.status, 400)
    t.deepEqual(refused.json, { logout_token: ['The logout token is not valid.'] })
    t.is((await own(answer)).token.mfa, false)
  })
}

test('without passwords nobody signs up, logs in or resets one', async (t) => {
  const strict = await servers().serve(settings({ PASSWORDS: 'off' }))
  const { email } = someone()
  const id = await account(email)
  const link = await sql(
    `insert into confirmations (code_hash, account_id, action, parameters, credentials_changed, expires)
    select sha256('code'), id, 'reset-password', '{}', credentials_changed, now() + interval '1 hour' from accounts where id = :id returning true`,
    { id },
  )
  t.is(link.length, 1)
  for (const [path, body] of [
    ['/auth/login/', { email, password: PASSWORD }],
    ['/auth/account/reset-password/', { email }],
    ['/auth/account/change-email/', { email, password: PASSWORD, new_email: freshEmail() }],
    ['/auth/account/delete/', { email, password: PASSWORD }],
    ['/v/reset-password/code/', { new_password: 'another password' }],
  ] as const) {
    const answer = await strict.anonymous.post(path, body)
    t.is(answer.status, 403, path)
    t.regex(answer.text, /Passwords are switched off here\. Sign in with single sign-on\./)
  }
  const { passwords, single_sign_on: name } = (await strict.anonymous.get('/service/')).json as Record<string, unknown>
  t.deepEqual([passwords, name], [false, 'Example Company'])
  await strict.stop()
})

test('no code, token or secret is in the log', async (t) => {
  const { browser } = someone()
  const path = await browser.begin()
  const code = codeIn(await browser.send('GET', path))
  const { token } = (await browser.exchange(code)).json as { token: string }
  const query = new URLSearchParams(path.split('?')[1])
  for (const secret of [code, token, query.get('code')!, query.get('state')!, encodeURIComponent(CLIENT.secret)])
    t.false(service.logged().includes(secret))
  t.true(service.logged().includes('"by":"sign-on","event":"token_created"'))
})

test('without an issuer there is no such path', async (t) => {
  const without = await servers().serve({})
  for (const path of ['', 'callback/', 'token/', 'link/', 'logout/']) {
    const { statusCode, body } = await request(`${without.url}/api/v1/auth/oidc/${path}`)
    await body.dump()
    t.is(statusCode, 404)
  }
  await without.stop()
})

test('groups make members at each sign-in, and end what they made at the next one without them', async (t) => {
  const [ops, two] = [freshEmail(), freshEmail()]
  const [opsId, twoId] = [await account(ops), await account(two)]
  const rows = `readers=${ops}:viewer; admins=${ops}:admin; two=${two}:editor; lost=${freshEmail()}:admin`
  const grouped = await servers().serve(settings({ OIDC_GROUPS: rows }))
  const { email, sub } = someone({ groups: ['readers', 'others'] })
  const browser = new Browser(grouped.anonymous, PUBLIC)
  const members = () =>
    sql<{ account: string; role: string; source: string }>(
      `select account_id as account, role, source from members
       where person_id = (select id from accounts where email = :email) order by role`,
      { email },
    )
  const signIn = async (groups: unknown) => {
    issuer.people.set(sub, { email, email_verified: true, groups })
    issuer.person = sub
    return browser.callback()
  }
  const enter = async (groups: unknown) => browser.exchange(codeIn(await signIn(groups)))
  const reader = { account: opsId, role: 'viewer', source: 'group' }
  await enter(['readers', 'others'])
  t.deepEqual(await members(), [reader])
  await enter(['readers', 'admins', 'two', 'lost'])
  t.deepEqual(await members(), [
    { ...reader, role: 'admin' },
    { account: twoId, role: 'editor', source: 'group' },
  ])
  const { token } = (await enter('readers')).json as { token: string }
  t.deepEqual(await members(), [reader])

  const api = grouped.clientOf(token)
  const [membership] = (await api.get('/auth/memberships/')).json as { id: string }[]
  const opened = (await api.post(`/auth/memberships/${membership!.id}/token/`)).json as { token: string }
  t.is((await grouped.clientOf(opened.token).get('/domains/')).status, 200)
  await sql('update accounts set password_hash = :hash where email = :email', {
    hash: await hashPassword(PASSWORD, 'test'),
    email,
  })
  const byPassword = await grouped.clientOf(await logIn(email)).post(`/auth/memberships/${membership!.id}/token/`)
  t.is(byPassword.status, 403)
  t.regex(byPassword.text, /Sign in with single sign-on to act for this account/)
  const owner = grouped.clientOf(await logIn(ops))
  for (const answer of [
    await owner.patch(`/auth/members/${membership!.id}/`, { role: 'admin' }),
    await owner.delete(`/auth/members/${membership!.id}/`),
  ]) {
    t.is(answer.status, 403)
    t.regex(answer.text, /The groups of single sign-on decide about this member/)
  }
  const refused = await signIn(['others'])
  t.is(refused.status, 403)
  t.regex(
    saidTo(refused),
    /^Only members of these groups may use this service: readers, admins, two, lost\. You are in none/,
  )
  t.deepEqual(await members(), [])
  t.is((await grouped.clientOf(opened.token).get('/domains/')).status, 401)

  const there = await made()
  const { sub: nobody } = someone({ groups: ['others'] })
  t.is((await new Browser(grouped.anonymous, PUBLIC).callback()).status, 403)
  t.deepEqual(await made(), there)
  t.is(typeof nobody, 'string')
  await grouped.stop()
})

test('what somebody has made by hand stays as it is, whatever the groups; an invitation gives way', async (t) => {
  const ops = freshEmail()
  const opsId = await account(ops)
  const grouped = await servers().serve(settings({ OIDC_GROUPS: `admins=${ops}:admin; all=${freshEmail()}:viewer` }))
  const { email } = someone({ groups: ['admins'] })
  const text = `insert into members (created, account_id, email, role, confined, source)
    values (now(), :opsId, :email, 'viewer', false, 'invitation')`
  await sql(text, { opsId, email })
  const browser = new Browser(grouped.anonymous, PUBLIC)
  const all = async () => sql('select role, source from members where account_id = :opsId', { opsId })
  t.is((await browser.signIn()).status, 200)
  t.deepEqual(await all(), [{ role: 'admin', source: 'group' }])
  await sql(`update members set source = 'operator', role = 'viewer' where account_id = :opsId`, {
    opsId,
  })
  await browser.signIn()
  t.deepEqual(await all(), [{ role: 'viewer', source: 'operator' }])
  issuer.people.set(issuer.person, { email, email_verified: true, groups: ['all'] })
  await browser.signIn()
  t.deepEqual(await all(), [{ role: 'viewer', source: 'operator' }])
  await grouped.stop()
})

test('a code ends when another sign-in of the person has other groups, or none', async (t) => {
  const ops = freshEmail()
  await account(ops)
  const grouped = await servers().serve(settings({ OIDC_GROUPS: `admins=${ops}:admin; readers=${ops}:viewer` }))
  const { email, sub } = someone()
  // Another browser each time, and the same person.
  const signIn = async (groups: string[]) => {
    issuer.people.set(sub, { email, email_verified: true, groups })
    issuer.person = sub
    const browser = new Browser(grouped.anonymous, PUBLIC)
    return { browser, answer: await browser.callback() }
  }
  const roles = async () =>
    (
      await sql<{ role: string }>(
        `select role from members where source = 'group' and
       account_id = (select id from accounts where email = :ops)`,
        { ops },
      )
    ).map(({ role }) => role)
  for (const [groups, status] of [
    [['readers'], 303],
    [[], 403],
  ] as const) {
    const former = await signIn(['admins'])
    const other = await signIn(['admins'])
    t.is((await signIn([...groups])).answer.status, status)
    for (const { browser, answer } of [former, other]) {
      const late = await browser.exchange(codeIn(answer))
      t.is(late.status, 400)
      t.regex(late.text, /This code was used before, has expired/)
    }
    t.deepEqual(await roles(), [])
  }
  // Two sign-ins with the same groups keep each other from nothing.
  const both = [await signIn(['admins']), await signIn(['admins'])]
  for (const { browser, answer } of both) t.is((await browser.exchange(codeIn(answer))).status, 200)
  t.deepEqual(await roles(), ['admin'])
  await grouped.stop()
})

test('two people join accounts of each other at once', async (t) => {
  const [one, other] = [freshEmail(), freshEmail()]
  const [oneId, otherId] = [await account(one), await account(other)]
  const rows = `ones=${one}:viewer; others=${other}:viewer`
  const grouped = await servers().serve(settings({ OIDC_GROUPS: rows }))
  let waiting = 0
  // Whoever has locked its own account waits until the other has, too, if that can be.
  const meet = async () => {
    waiting++
    for (let turn = 0; turn < 50 && waiting < 2; turn++) await delay(10)
  }
  await Promise.all([
    withGroups(grouped.system, oneId, ['others'], meet),
    withGroups(grouped.system, otherId, ['ones'], meet),
  ])
  const text = `select account_id as account, person_id as person from members where account_id = any (:ids)`
  const made = await sql<{ account: string; person: string }>(text, { ids: [oneId, otherId] })
  const pairs = made.map(({ account, person }) => `${account} ${person}`)
  t.deepEqual(pairs.sort(), [`${oneId} ${otherId}`, `${otherId} ${oneId}`].sort())
  await grouped.stop()
})

test('a logout at the issuer ends the sessions that act for other accounts, too', async (t) => {
  const ops = freshEmail()
  await account(ops)
  const grouped = await servers().serve(settings({ OIDC_GROUPS: `admins=${ops}:admin` }))
  const { sub } = someone({ groups: ['admins'] })
  const { token } = (await new Browser(grouped.anonymous, PUBLIC).signIn()).json as { token: string }
  const api = grouped.clientOf(token)
  const [membership] = (await api.get('/auth/memberships/')).json as { id: string }[]
  const opened = (await api.post(`/auth/memberships/${membership!.id}/token/`)).json as {
    token: string
    max_age: string
  }
  t.regex(opened.max_age, /^(12:00:00|11:59:)/)
  t.is((await logOut(await logoutToken({ sub }))).status, 200)
  t.is((await grouped.clientOf(opened.token).get('/domains/')).status, 401)
  await grouped.stop()
})

test('the settings of the documents for oidc-provider work', async (t) => {
  const text = readFileSync(join(projectFolder(), 'docs', 'operators', 'accounts.md'), 'utf8')
  const [block = ''] = /(?<=\n\n) {4}\{\n[^]*?\n {4}\}/.exec(text) ?? []
  const documented = JSON.parse(block) as Record<string, unknown>
  const publicUrl = 'https://dns.example.net'
  const other = await startIssuer(publicUrl, 0, { clients: [{ ...documented, client_secret: CLIENT.secret } as never] })
  const served = await servers().serve({ ...settings(), OIDC_ISSUER: other.url, PUBLIC_URL: publicUrl })
  other.person = 'somebody'
  other.people.set(other.person, { email: freshEmail(), email_verified: true })
  t.is((await new Browser(served.anonymous, publicUrl).signIn()).status, 200)
  await served.stop()
  await other.close()
})

test('the service starts while the issuer is down, and prints the address of the callback', async (t) => {
  const port = String(await freePort())
  const url = `http://127.0.0.1:${port}`
  const more = { OIDC_ISSUER: 'http://127.0.0.1:9', PORT: port, PUBLIC_URL: url }
  const started = await servers().start(settings(more))
  t.true(started.output().includes(`Single sign-on comes back to ${url}/api/v1/auth/oidc/callback/\n`))
  t.deepEqual((await started.anonymous.get('/auth/oidc/')).json, { name: 'Example Company', reachable: false })
  await started.kill()
})
