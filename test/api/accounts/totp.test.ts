import { randomBytes } from 'node:crypto'
import { base32, codeAt, stepAt } from '../../../src/service/accounts/totp-codes.ts'
import { encryptAgain } from '../../../src/service/operation/stored-secrets.ts'
import type { Answer, Client } from '../../support/clients/client.ts'
import { type Link, linksTo, linkTo, OVERTAKEN, type Person, person, said } from '../../support/clients/people.ts'
import {
  addFactor,
  addPolicies,
  addToken,
  codeFor,
  stopClocks,
  type Token,
  type TokenOptions,
} from '../../support/clients/tokens.ts'
import { eventually } from '../../support/eventually.ts'
import { useService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'
import { startService } from '../../support/servers/service.ts'

// Contract §12, and the row for TOTP in §3.2. The tests set the clock, to control the TOTP time step.

const service = useService({ PUBLIC_URL: 'https://dns.example.net:8443' })

const LOGIN_REQUIRED = '{"detail":"Login token required."}'
const MFA_REQUIRED = '{"detail":"Multi-factor authentication required."}'
const PERMISSION = '{"detail":"You do not have permission to perform this action."}'
const CREDENTIALS = '{"detail":"Authentication credentials were not provided."}'
const NOT_FOUND = '{"detail":"Not found."}'
const CONFIRM = '{"detail":"This operation requires confirmation. Please check your mailbox for instructions!"}'
const NAME_TAKEN = '{"non_field_errors":["An authentication factor with this name already exists."]}'
const INVALID = '{"code":["Invalid code."]}'
const CORRECT = '{"detail":"The code was correct."}'
const ACTIVATED = '{"detail":"Your TOTP token has been activated!"}'
const ABSENT = '00000000-0000-4000-8000-000000000000'

interface ShownFactor {
  id: string
  created: string
  last_used: string | null
  name: string
  secret: string
  uri: string
}

let clock: number
let realNow: () => string

test.before(() => {
  realNow = service().system.now
  clock = Date.parse(realNow())
  service().system.now = () => new Date(clock).toISOString().replace('Z', '000Z')
})

test.after.always(() => {
  service().system.now = realNow
})

/** Advances the clock, so that every factor accepts codes again. */
function passTime(steps = 3): void {
  clock += steps * 30_000
}

const login: TokenOptions = { mfa: false, permManageTokens: true, permCreateDomain: true, permDeleteDomain: true }

async function loggedIn(members: TokenOptions = {}): Promise<Person & { token: Token; api: Client }> {
  const somebody = await person(service())
  const token = await addToken(service(), somebody.id, { ...login, ...members })
  return { ...somebody, token, api: token.api }
}

/** The link in the mail that a request causes. Advances the clock, as mails of the same time have no order. */
async function linkAfter(email: string, request: () => Promise<Answer>): Promise<Link> {
  clock += 1
  const before = linksTo(service(), email).length
  const { status, text } = await request()
  if (status !== 202) throw new Error(text)
  // A notice of what was done before may arrive after it.
  await eventually(() => linksTo(service(), email).length > before)
  return linksTo(service(), email).at(-1)!
}

/** A link that is void once the account's credentials have changed. */
async function deletionLink({ email, credentials }: Person, code?: string): Promise<Link> {
  return linkAfter(email, () => service().anonymous.post('/auth/account/delete/', { ...credentials, code }))
}

/** A new factor of an account without MFA, created by the link in a mail. */
async function newFactor({ api, email }: { api: Client; email: string }, name = ''): Promise<ShownFactor> {
  const { path } = await linkAfter(email, () => api.post('/auth/totp/', { name }))
  return (await service().anonymous.post(path)).json as ShownFactor
}

/** A new factor that has been used once, which enables MFA. */
async function usedFactor(somebody: { api: Client; email: string }): Promise<ShownFactor> {
  const factor = await newFactor(somebody)
  const { status } = await verify(service().anonymous, factor)
  if (status !== 200) throw new Error('not activated')
  passTime()
  return factor
}

async function verify(api: Client, { id }: { id: string }, offset = 0) {
  return api.post(`/auth/totp/${id}/verify/`, { code: await codeFor(service(), id, offset) })
}

async function mfaOf({ id }: Token): Promise<boolean | null> {
  const [row] = await service().sql<{ mfa: boolean | null }>('select mfa from tokens where id = :id', {
    id,
  })
  return row!.mfa
}

test('without MFA, the link in a mail creates a factor', async (t) => {
  const somebody = await loggedIn()
  const answer = await somebody.api.post('/auth/totp/', { name: ' My phone ' })
  t.deepEqual(said(answer), [202, CONFIRM])
  t.is(answer.headers['allow'], 'GET, POST, HEAD, OPTIONS')
  t.is((await somebody.api.get('/auth/totp/')).text, '[]')
  const link = await linkTo(service(), somebody.email)
  t.is(link.action, 'create-totp')
  t.is((await service().anonymous.get(link.path)).status, 200)
  const created = await service().anonymous.post(link.path)
  const { id, secret } = created.json as ShownFactor
  const now = service().system.now()
  const uri = `otpauth://totp/dns.example.net:${somebody.email}?secret=${secret}&issuer=dns.example.net`
  const factor = { id, created: now, last_used: null, name: 'My phone' }
  t.deepEqual(said(created), [200, JSON.stringify({ ...factor, secret, uri })])
  t.regex(secret, /^[A-Z2-7]{52}$/)
  t.is(created.headers['cache-control'], 'no-store')
  // The secret is shown once.
  t.deepEqual(said(await somebody.api.get(`/auth/totp/${id}/`)), [200, JSON.stringify(factor)])
  t.deepEqual(said(await somebody.api.get('/auth/totp/')), [200, JSON.stringify([factor])])
  // The link works once, and an unused factor does not enable MFA.
  t.deepEqual(said(await service().anonymous.post(link.path)), [409, OVERTAKEN])
  t.is((await somebody.api.get('/domains/')).status, 200)
})

test('with MFA, a login token after the MFA step creates a factor without a mail', async (t) => {
  const somebody = await loggedIn()
  await usedFactor(somebody)
  const stepped = await addToken(service(), somebody.id, { ...login, mfa: true })
  const answer = await stepped.api.post('/auth/totp/', { name: 'second' })
  const { id, secret, uri } = answer.json as ShownFactor
  const members = { id, created: service().system.now(), last_used: null, name: 'second', secret, uri }
  t.deepEqual(said(answer), [201, JSON.stringify(members)])
  t.is(answer.headers['cache-control'], 'no-store')
  t.deepEqual(said(await somebody.api.post('/auth/totp/', { name: 'third' })), [403, MFA_REQUIRED])
  t.is(((await stepped.api.get('/auth/totp/')).json as ShownFactor[]).map(({ name }) => name).join(), 'second,')
})

test('enabling MFA voids earlier links that create factors', async (t) => {
  const somebody = await loggedIn()
  const first = await newFactor(somebody, 'first')
  const { path } = await linkAfter(somebody.email, () => somebody.api.post('/auth/totp/', { name: 'second' }))
  t.deepEqual(said(await verify(service().anonymous, first)), [200, ACTIVATED])
  t.deepEqual(said(await service().anonymous.post(path)), [409, OVERTAKEN])
})

test('a link that creates a factor is valid for an hour', async (t) => {
  const somebody = await loggedIn()
  const { path } = await linkAfter(somebody.email, () => somebody.api.post('/auth/totp/'))
  passTime(121)
  const text = 'This code is invalid, possibly because it expired (validity: 01:00:00).'
  t.deepEqual(said(await service().anonymous.post(path)), [400, `{"non_field_errors":["${text}"]}`])
})

test('names of factors are unique in an account and have at most 64 characters', async (t) => {
  const somebody = await loggedIn()
  await newFactor(somebody, 'one')
  t.deepEqual(said(await somebody.api.post('/auth/totp/', { name: 'one' })), [400, NAME_TAKEN])
  const other = await newFactor(somebody, '🔑'.repeat(64))
  const path = `/auth/totp/${other.id}/`
  t.deepEqual(said(await somebody.api.patch(path, { name: 'one' })), [400, NAME_TAKEN])
  t.is((await somebody.api.patch(path, { name: '🔑'.repeat(64) })).status, 200)
  const long = '{"name":["Ensure this field has no more than 64 characters."]}'
  t.deepEqual(said(await somebody.api.post('/auth/totp/', { name: 'x'.repeat(65) })), [400, long])
  t.deepEqual(said(await somebody.api.put(path, { name: 'x'.repeat(65) })), [400, long])
  for (const [name, told] of [
    [null, 'This field may not be null.'],
    [[], 'Not a valid string.'],
    ['a\0', 'Null characters are not allowed.'],
  ] as const) {
    t.deepEqual(said(await somebody.api.post('/auth/totp/', { name })), [400, `{"name":["${told}"]}`])
  }
  // Another account may use the same name; of two links for one name, only the first works.
  t.is((await newFactor(await loggedIn(), 'one')).name, 'one')
  const ask = () => somebody.api.post('/auth/totp/', { name: 'two' })
  const links = [await linkAfter(somebody.email, ask), await linkAfter(somebody.email, ask)]
  t.is((await service().anonymous.post(links[1]!.path)).status, 200)
  t.deepEqual(said(await service().anonymous.post(links[0]!.path)), [400, NAME_TAKEN])
})

for (const method of ['PUT', 'PATCH']) {
  test(`${method} of a factor changes only the name`, async (t) => {
    const somebody = await loggedIn()
    const { id, created } = await newFactor(somebody, 'before')
    const path = `/auth/totp/${id}/`
    const shown = (name: string) => JSON.stringify({ id, created, last_used: null, name })
    const members = { name: 'after', id: ABSENT, created: null, last_used: 1, secret: 'x' }
    t.deepEqual(said(await somebody.api.send(method, path, members)), [200, shown('after')])
    t.deepEqual(said(await somebody.api.send(method, path, {})), [200, shown('after')])
    t.deepEqual(said(await somebody.api.send(method, path, { name: '' })), [200, shown('')])
    t.deepEqual(said(await somebody.api.get(path)), [200, shown('')])
  })
}

test('foreign, absent and malformed factors are 404', async (t) => {
  const [somebody, other] = [await loggedIn(), await loggedIn()]
  const factor = await newFactor(other)
  for (const id of [factor.id, ABSENT, factor.id.toUpperCase(), 'x', '%27']) {
    const path = `/auth/totp/${id}/`
    t.deepEqual(said(await somebody.api.get(path)), [404, NOT_FOUND])
    t.deepEqual(said(await somebody.api.patch(path, { name: null })), [404, NOT_FOUND])
    t.deepEqual(said(await somebody.api.put(path, 'x')), [404, NOT_FOUND])
    t.deepEqual(said(await somebody.api.post(`${path}verify/`, {})), [404, NOT_FOUND])
    t.deepEqual(said(await somebody.api.delete(path)), [204, ''])
  }
  t.is((await other.api.get(`/auth/totp/${factor.id}/`)).status, 200)
})

test('deleting the last used factor disables MFA and voids links', async (t) => {
  const somebody = await loggedIn()
  const factor = await usedFactor(somebody)
  await verify(somebody.api, factor)
  const pending = await addToken(service(), somebody.id, login)
  t.is((await pending.api.get('/domains/')).status, 403)
  const { path } = await deletionLink(somebody, await codeFor(service(), factor.id, 1))
  t.deepEqual(said(await pending.api.delete(`/auth/totp/${factor.id}/`)), [403, MFA_REQUIRED])
  t.deepEqual(said(await somebody.api.delete(`/auth/totp/${factor.id}/`)), [204, ''])
  t.is((await pending.api.get('/domains/')).status, 200)
  t.deepEqual(said(await service().anonymous.post(path)), [409, OVERTAKEN])
})

test('deleting an unused factor voids no links', async (t) => {
  const somebody = await loggedIn()
  const factor = await newFactor(somebody)
  const { path } = await deletionLink(somebody)
  t.is((await somebody.api.delete(`/auth/totp/${factor.id}/`)).status, 204)
  t.is((await service().anonymous.post(path)).status, 200)
})

test('the first code of a factor requires no token and voids links', async (t) => {
  const somebody = await loggedIn()
  const factor = await newFactor(somebody)
  const { path } = await deletionLink(somebody)
  const answer = await verify(service().anonymous, factor)
  t.deepEqual(said(answer), [200, ACTIVATED])
  t.is(answer.headers['allow'], 'POST, OPTIONS')
  t.deepEqual(said(await service().anonymous.post(path)), [409, OVERTAKEN])
  const { last_used } = (await somebody.api.get(`/auth/totp/${factor.id}/`)).json as ShownFactor
  t.is(last_used, service().system.now())
  // It completes the MFA step of no login token.
  t.is(await mfaOf(somebody.token), false)
  passTime()
  t.deepEqual(said(await verify(service().anonymous, factor)), [401, CREDENTIALS])
  t.deepEqual(said(await service().anonymous.post(`/auth/totp/${ABSENT}/verify/`, { code: '1' })), [401, CREDENTIALS])
  t.deepEqual(said(await verify(somebody.api, factor)), [200, CORRECT])
  t.is(await mfaOf(somebody.token), true)
})

test('a login token may verify the first code; that does not complete its MFA step', async (t) => {
  const somebody = await loggedIn()
  const factor = await newFactor(somebody)
  t.deepEqual(said(await verify(somebody.api, factor)), [200, ACTIVATED])
  t.is(await mfaOf(somebody.token), false)
  t.is((await somebody.api.get('/domains/')).status, 403)
})

test('codes of the previous and next time step are accepted, codes two steps away are not', async (t) => {
  const somebody = await loggedIn()
  const factor = await usedFactor(somebody)
  for (const offset of [-2, 2]) t.deepEqual(said(await verify(somebody.api, factor, offset)), [400, INVALID])
  for (const offset of [-1, 0, 1]) t.deepEqual(said(await verify(somebody.api, factor, offset)), [200, CORRECT])
  for (const offset of [-1, 0, 1]) t.deepEqual(said(await verify(somebody.api, factor, offset)), [400, INVALID])
  passTime(1)
  t.deepEqual(said(await verify(somebody.api, factor)), [400, INVALID])
  t.deepEqual(said(await verify(somebody.api, factor, 1)), [200, CORRECT])
})

test('a code is valid for one factor only', async (t) => {
  const [somebody, other] = [await loggedIn(), await loggedIn()]
  const [factor, foreign] = [await usedFactor(somebody), await usedFactor(other)]
  const code = await codeFor(service(), foreign.id)
  t.deepEqual(said(await somebody.api.post(`/auth/totp/${factor.id}/verify/`, { code })), [400, INVALID])
  t.deepEqual(said(await verify(somebody.api, foreign)), [404, NOT_FOUND])
  t.deepEqual(said(await verify(other.api, foreign)), [200, CORRECT])
})

for (const [code, texts] of [
  [undefined, ['This field is required.']],
  [null, ['This field may not be null.']],
  ['', ['This field may not be blank.']],
  ['  ', ['This field may not be blank.']],
  ['12345', ['Ensure this field has at least 6 characters.']],
  ['1234567', ['Ensure this field has no more than 6 characters.']],
  ['12345a', ['This value does not match the required pattern.']],
  ['１２３４５６', ['This value does not match the required pattern.']],
  ['12a', ['Ensure this field has at least 6 characters.', 'This value does not match the required pattern.']],
  [['123456'], ['Not a valid string.']],
  [12345, ['Ensure this field has at least 6 characters.']],
] as const) {
  test(`code ${JSON.stringify(code)} is refused`, async (t) => {
    const factor = await newFactor(await loggedIn())
    const answer = await service().anonymous.post(`/auth/totp/${factor.id}/verify/`, code === undefined ? {} : { code })
    t.deepEqual(said(answer), [400, JSON.stringify({ code: texts })])
  })
}

test('a token that may not read or create factors is told why, as the matrix of permissions says', async (t) => {
  const somebody = await loggedIn()
  await usedFactor(somebody)
  const ask = async (method: string, options: TokenOptions) => {
    const { api } = await addToken(service(), somebody.id, options)
    return said(await api.send(method, '/auth/totp/', method === 'GET' ? undefined : {}))
  }
  for (const method of ['GET', 'POST']) {
    t.deepEqual(said(await service().anonymous.send(method, '/auth/totp/', {})), [401, CREDENTIALS])
    t.deepEqual(await ask(method, { ...login, mfa: null }), [403, LOGIN_REQUIRED])
    t.deepEqual(await ask(method, { ...login, mfa: true, permManageTokens: false }), [403, PERMISSION])
    const { api, id } = await addToken(service(), somebody.id, { ...login, mfa: true })
    await addPolicies(service(), id, { write: false })
    t.deepEqual(said(await api.send(method, '/auth/totp/', method === 'GET' ? undefined : {})), [403, PERMISSION])
  }
  t.deepEqual(await ask('POST', login), [403, MFA_REQUIRED])
})

// Contract §12: the secrets of TOTP factors are encrypted in the database, and bound to their factor.

const LOGIN = { mfa: false, permManageTokens: true }

test('the database does not contain the secret that the creation of a factor returns', async (t) => {
  const { id: accountId, email } = await person(service())
  const { api } = await addToken(service(), accountId, LOGIN)
  await api.post('/auth/totp/', {})
  const created = await service().anonymous.post((await linkTo(service(), email)).path)
  const { id, secret } = created.json as { id: string; secret: string }
  const [row] = await service().sql<{ secret: Buffer }>('select secret from totp_factors where id = :id', {
    id,
  })
  const octets = Buffer.from(decodeBase32(secret))
  t.is(base32(octets), secret)
  t.is(row!.secret.length, 12 + 16 + 32)
  t.false(row!.secret.includes(octets.subarray(0, 4)))
  const code = codeAt(octets, stepAt(service().system.now()))
  t.is((await api.post(`/auth/totp/${id}/verify/`, { code })).status, 200)
})

test('a secret that was copied to another factor is of no use', async (t) => {
  const [victim, thief] = [await person(service()), await person(service())]
  const [theirs, known] = [await addFactor(service(), victim.id), await addFactor(service(), thief.id)]
  const code = await codeFor(service(), known)
  await service().sql(
    'update totp_factors set secret = (select secret from totp_factors where id = :known) where id = :theirs',
    { known, theirs },
  )
  const { api } = await addToken(service(), victim.id, LOGIN)
  t.is((await api.post(`/auth/totp/${theirs}/verify/`, { code })).status, 503)
  t.true(service().logged().includes(`no key of KEY_ENCRYPTION_KEYS decrypts the secret of TOTP factor ${theirs}`))
  await service().sql('delete from totp_factors where id = :theirs', { theirs })
})

test('the key can be changed: with both keys all factors work, and after encrypt-again without the old one', async (t) => {
  const { system, backends } = service()
  const key = randomBytes(32).toString('base64')
  const old = system.config.keyEncryptionKeys[0]!.toString('base64')
  const both = await startService(backends, { KEY_ENCRYPTION_KEYS: `${key}, ${old}` })
  const single = await startService(backends, { KEY_ENCRYPTION_KEYS: key })
  stopClocks(service(), both, single)
  const { id } = await person(service())
  const factor = await addFactor(service(), id)
  const { secret } = await addToken(service(), id, LOGIN)
  const verify = async ({ clientOf }: typeof both, offset: number) => {
    const code = await codeFor(service(), factor, offset)
    return (await clientOf(secret).post(`/auth/totp/${factor}/verify/`, { code })).status
  }
  try {
    t.deepEqual([await verify(single, -1), await verify(both, -1)], [503, 200])
    const code = await codeFor(service(), factor, 1)
    t.true((await encryptAgain(both.system)).factors > 0)
    const answer = await single.clientOf(secret).post(`/auth/totp/${factor}/verify/`, { code })
    t.is(answer.status, 200)
  } finally {
    await Promise.all([both.stop(), single.stop()])
  }
})

/** RFC 4648 §6, without padding. */
function decodeBase32(text: string): number[] {
  const bits = Array.from(text, (symbol) =>
    'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(symbol).toString(2).padStart(5, '0'),
  )
  return bits
    .join('')
    .match(/.{8}/g)!
    .map((octet) => parseInt(octet, 2))
}
