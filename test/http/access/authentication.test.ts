import test from 'ava'
import type { Account } from '../../support/clients/accounts.ts'
import { newDomain } from '../../support/clients/api.ts'
import { exchange, plainRequest } from '../../support/clients/raw.ts'
import { addFactor, addToken, lastUsed, setState, type TokenOptions } from '../../support/clients/tokens.ts'
import { useAccount, useService } from '../../support/harness.ts'

// Contract §3.1; addresses.test.ts tests the client's address.

const service = useService()

const NOT_PROVIDED = 'Authentication credentials were not provided.'
const INVALID = 'Invalid token.'
const INACTIVE = 'User inactive or deleted.'
const NO_CREDENTIALS = 'Invalid token header. No credentials provided.'
const SPACES = 'Invalid token header. Token string should not contain spaces.'
const CHARACTERS = 'Invalid token header. Token string should not contain invalid characters.'

const account = useAccount(service)

/** A read with exactly this `Authorization` header. */
async function get(authorization: string | undefined) {
  const headers = authorization === undefined ? [] : [`Authorization: ${authorization}`]
  return exchange(service().url, plainRequest('GET /api/v1/domains/', headers))
}

for (const [what, header, detail] of [
  ['no header', undefined, NOT_PROVIDED],
  ['an empty header', '', NOT_PROVIDED],
  ['blanks', '  \t ', NOT_PROVIDED],
  ['Bearer', 'Bearer SECRET', NOT_PROVIDED],
  ['Basic', 'Basic SECRET', NOT_PROVIDED],
  ['Digest', 'Digest username="a"', NOT_PROVIDED],
  ['another scheme with blanks', 'Bearer a b c', NOT_PROVIDED],
  ['another scheme with octets', 'Bearer \xff', NOT_PROVIDED],
  ['a scheme that begins with Token', 'Tokens SECRET', NOT_PROVIDED],
  ['a scheme that ends with Token', 'XToken SECRET', NOT_PROVIDED],
  ['the secret alone', 'SECRET', NOT_PROVIDED],
  ['a colon', 'Token: SECRET', NOT_PROVIDED],
  ['an equals sign', 'Token=SECRET', NOT_PROVIDED],
  ['Token alone', 'Token', NO_CREDENTIALS],
  ['Token and blanks', 'Token   ', NO_CREDENTIALS],
  ['token alone in lower case', 'token', NO_CREDENTIALS],
  ['two words', 'Token a b', SPACES],
  ['the secret and a word', 'Token SECRET x', SPACES],
  ['two words and a tab', 'Token a\tb', SPACES],
  ['two words that cannot be decoded', 'Token \xff \xff', SPACES],
  ['an octet that is not UTF-8', 'Token \xff', CHARACTERS],
  ['half a UTF-8 character', 'Token \xc3', CHARACTERS],
  ['a no-break space in Latin-1', 'Token a\xa0b', CHARACTERS],
  ['a secret with an octet that is not UTF-8', 'Token SECRET\xe4', CHARACTERS],
  ['an unknown secret', 'Token unknown', INVALID],
  ['an unknown secret in UTF-8', 'Token \xc3\xa1', INVALID],
  ['a secret in quotes', 'Token "SECRET"', INVALID],
  ['the beginning of a secret', 'Token SECRE', INVALID],
  ['more than a secret', 'Token SECRETx', INVALID],
  ['a secret in another case', 'Token OTHERCASE', INVALID],
  ['two in one header', 'Token SECRET,SECRET', INVALID],
  ['a quote for a database', "Token ';--", INVALID],
  ['a very long secret', `Token ${'x'.repeat(10_000)}`, INVALID],
] as const) {
  test.serial(`401 for ${what}`, async (t) => {
    const { secret } = account()
    const otherCase = secret.replace(/[a-z]/gi, (c) => (c < 'a' ? c.toLowerCase() : c.toUpperCase()))
    const { status, headers, body } = await get(
      header
        ?.replaceAll('OTHERCASE', otherCase)
        .replace(/SECRET/g, secret)
        .replace('SECRE', secret.slice(0, -1)),
    )
    t.deepEqual([status, body], [401, JSON.stringify({ detail })])
    t.is(headers['www-authenticate'], 'Token')
  })
}

for (const form of ['Token SECRET', 'token SECRET', 'TOKEN SECRET', 'tOkEn   SECRET  ', 'Token\tSECRET']) {
  test.serial(`accepted: ${JSON.stringify(form)}`, async (t) => {
    t.is((await get(form.replace('SECRET', account().secret))).status, 200)
  })
}

for (const [what, secret] of [
  ['28 characters with hyphens and underscores', 'aA0-_zZ9-_bB1-_yY8-_cC2-_xX7'],
  ['28 hyphens', '-'.repeat(28)],
  ['40 hexadecimal digits', '0123456789abcdef0123456789ABCDEF01234567'],
  ['one character', '!'],
  ['200 characters', 'x'.repeat(200)],
  ['characters beyond ASCII', 'Pässwört€'],
  ['a letter whose UTF-8 looks like a blank in Latin-1', 'à'],
] as const) {
  test.serial(`any secret whose hash is stored authenticates: ${what}`, async (t) => {
    await addToken(service(), account().id, { secret })
    t.is((await get(`Token ${Buffer.from(secret).toString('latin1')}`)).status, 200)
  })
}

test.serial('a secret in the query, a cookie or the body does not authenticate', async (t) => {
  const { secret } = account()
  const answer = await service().anonymous.post(
    `/domains/?token=${secret}&authorization=Token%20${secret}`,
    {
      token: secret,
    },
    { headers: { cookie: `token=${secret}`, 'x-token': secret } },
  )
  t.deepEqual([answer.status, answer.json], [401, { detail: NOT_PROVIDED }])
})

const ago = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString()

/** Tokens of an account or bound to it, and what they are told while it is not active. */
const TOKENS: [what: string, token: (id: string) => [owner: string, options: TokenOptions], detail: string][] = [
  ['its token', (id) => [id, {}], INACTIVE],
  ['a token that is bound to it', (id) => [account().id, { userOverrideId: id }], INACTIVE],
  ['its token that is bound to another', (id) => [id, { userOverrideId: account().id }], INACTIVE],
  ['its token that has expired', (id) => [id, { maxAge: '0' }], INVALID],
  ['its token for other networks', (id) => [id, { allowedSubnets: [] }], INACTIVE],
]

for (const [what, token, detail] of TOKENS) {
  for (const state of ['pending', 'disabled']) {
    test.serial(`while an account is ${state}, ${what} gets 401: ${detail}`, async (t) => {
      const { id } = await service().account()
      const { api } = await addToken(service(), ...token(id))
      await setState(service(), id, state)
      const { status, json } = await api.get('/domains/')
      t.deepEqual([status, json], [401, { detail }])
    })
  }
}

test.serial('a token works again once its account is active again', async (t) => {
  const { id, api } = await service().account()
  await setState(service(), id, 'disabled')
  t.is((await api.get('/domains/')).status, 401)
  await setState(service(), id, 'active')
  t.is((await api.get('/domains/')).status, 200)
})

for (const [what, method, path, status] of [
  ['a success', 'GET', '/domains/', 200],
  ['a refusal for lack of permission', 'POST', '/domains/', 403],
  ['a wrong method', 'PUT', '/domains/', 405],
  ['something absent', 'GET', '/domains/absent.test/', 404],
  ['a refused body', 'POST', '/domains/DOMAIN/rrsets/', 400],
  ['the index', 'GET', '/', 200],
] as const) {
  test.serial(`last_used is updated, to the microsecond, by ${what}`, async (t) => {
    const domain = await newDomain(account().api)
    const { id, api } = await addToken(service(), account().id)
    t.is(await lastUsed(service(), id), null)
    const before = service().system.now()
    t.is((await api.send(method, path.replace('DOMAIN', domain))).status, status)
    const first = (await lastUsed(service(), id))!
    t.true(before <= first && first <= service().system.now(), `${before} ${first}`)
    await api.send(method, path)
    t.true(first < (await lastUsed(service(), id))!)
  })
}

const used = '2026-01-02T03:04:05.678901Z'

for (const [what, options, state] of [
  ['an expired token', { created: ago(90), maxAge: '1 minute' }, 'active'],
  ['an address that is not allowed', { allowedSubnets: ['192.0.2.0/24'] }, 'active'],
  ['a token of an account that is not active', {}, 'disabled'],
] as [string, TokenOptions, string][]) {
  test.serial(`last_used is not updated by ${what}`, async (t) => {
    const { id: owner } = await service().account()
    const { id, api } = await addToken(service(), owner, { lastUsed: used, ...options })
    await setState(service(), owner, state)
    t.is((await api.get('/domains/')).status, 401)
    t.is(await lastUsed(service(), id), used)
  })
}

test.serial('last_used is not updated without authentication', async (t) => {
  const { id, api } = await addToken(service(), account().id, { lastUsed: used })
  await api.send('OPTIONS', '/domains/')
  await api.get('/nothing/')
  await api.get('//root/healthz')
  t.is(await lastUsed(service(), id), used)
})

// The permissions of a login token while its MFA step is missing (contract §3.2).

const PERMISSION = '{"detail":"You do not have permission to perform this action."}'

let manager: Account
let domain: string

test.before('an manager with MFA', async () => {
  manager = await service().account()
  domain = await newDomain(manager.api)
  await addFactor(service(), manager.id)
})

const ALL = { permCreateDomain: true, permDeleteDomain: true, permManageTokens: true }

for (const [method, path] of [
  ['PUT', '/domains/'],
  ['GET', '/domains/absent.test/rrsets/'],
  ['GET', '/domains/DOMAIN/rrsets/@/SOA/'],
  ['PATCH', '/domains/DOMAIN/rrsets/@/NS/'],
] as const) {
  test.serial(`without the MFA step ${method} ${path} is 403, before anything else`, async (t) => {
    const { api } = await addToken(service(), manager.id, { ...ALL, mfa: false })
    const { status, text } = await api.send(method, path.replace('DOMAIN', domain), {})
    t.deepEqual([status, text], [403, PERMISSION])
    // It does not restrict API tokens.
    t.is((await manager.api.get(`/domains/${domain}/rrsets/@/NS/`)).status, 200)
    t.is((await manager.api.get('/auth/account/')).status, 200)
  })
}

test.serial('without the MFA step, the index is 200', async (t) => {
  const { api } = await addToken(service(), manager.id, { mfa: false })
  const { status, json } = await api.get('/')
  t.is(status, 200)
  t.true('logout' in (json as object))
})

for (const [what, prepare] of [
  ['without a factor', async () => undefined],
  ['with a factor that was never used', (id: string) => addFactor(service(), id, { used: false })],
] as const) {
  test.serial(`an manager ${what} requires no MFA step`, async (t) => {
    const { id } = await service().account()
    await prepare(id)
    const { api } = await addToken(service(), id, { mfa: false })
    t.is((await api.get('/domains/')).status, 200)
  })
}
