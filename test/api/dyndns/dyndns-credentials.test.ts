import test from 'ava'
import { query } from '../../../src/store/database.ts'
import { type Account, emailOf } from '../../support/clients/accounts.ts'
import { freshName, newDomain } from '../../support/clients/api.ts'
import { basic, told, update } from '../../support/clients/dyndns.ts'
import { exchange, plainRequest } from '../../support/clients/raw.ts'
import {
  addFactor,
  addPolicies,
  addToken,
  lastUsed,
  setState,
  type TokenOptions,
} from '../../support/clients/tokens.ts'
import { useService } from '../../support/harness.ts'

// Contract §10.2: the three forms of credentials.

const service = useService({ THROTTLE: 'off' })

let account: Account
let email: string
let domain: string
let second: string
let foreign: string

test.before('accounts with domains', async () => {
  account = await service().account()
  domain = await newDomain(account.api, freshName())
  second = await newDomain(account.api, freshName())
  const other = await service().account()
  foreign = await newDomain(other.api, freshName())
  email = await emailOf(service().system, account.id)
})

/** The parameters of a valid update, without credentials. */
const validUpdate = () => ({ hostname: `www.${domain}`, myip: '192.0.2.1' })

/** Sends an update with exactly this header, and returns the answer. */
async function withHeader(authorization: string, query = `hostname=www.${domain}&myip=192.0.2.1`) {
  const line = `GET /nic/update?${query}`
  const { status, body, headers } = await exchange(
    service().url,
    plainRequest(line, [`Authorization: ${authorization}`]),
  )
  return { told: [status, body], type: headers['content-type'], challenge: headers['www-authenticate'] }
}

const encoded = (text: string, encoding: BufferEncoding = 'utf8') => Buffer.from(text, encoding).toString('base64')
const HEADER = 'Invalid token header. '
const BASIC = 'Invalid basic auth token header. '

for (const [title, header, answer] of [
  ['Token', () => `Token ${account.secret}`, [200, 'good']],
  ['the scheme in any case', () => `tOKEN ${account.secret}`, [200, 'good']],
  ['Token without secret', () => 'Token', [401, `${HEADER}No credentials provided.`]],
  ['Token with two', () => `Token ${account.secret} x`, [401, `${HEADER}Token string should not contain spaces.`]],
  ['Token with an unknown secret', () => 'Token unknown', [401, 'Invalid token.']],
  ['Basic', () => `Basic ${encoded(`:${account.secret}`)}`, [200, 'good']],
  ['Basic in any case', () => `bAsIc ${encoded(`:${account.secret}`)}`, [200, 'good']],
  ['Basic without padding', () => `Basic ${encoded(`:${account.secret}`).replace(/=+$/, '')}`, [200, 'good']],
  ['Basic without credentials', () => 'Basic', [401, `${BASIC}No credentials provided.`]],
  [
    'Basic with two',
    () => `Basic ${encoded(`:${account.secret}`)} x`,
    [401, `${BASIC}Basic authentication string should not contain spaces.`],
  ],
  ['Basic with an unknown secret', () => `Basic ${encoded(`${domain}:unknown`)}`, [401, 'badauth']],
  ['Basic without colon', () => `Basic ${encoded(account.secret)}`, [401, 'badauth']],
  ['Basic with two colons', () => `Basic ${encoded(`${domain}:${account.secret}:`)}`, [401, 'badauth']],
  ['Basic with a user and no secret', () => `Basic ${encoded(`${domain}:`)}`, [401, 'badauth']],
  ['Basic with invalid base64', () => 'Basic %%%', [401, 'badauth']],
  ['Basic with invalid UTF-8', () => `Basic ${encoded('\xff\xfe:\xfd', 'latin1')}`, [401, 'badauth']],
  ['Basic with a zero octet', () => `Basic ${encoded(`\0@\0:${account.secret}`)}`, [401, 'badauth']],
  ['another scheme', () => `Bearer ${account.secret}`, [401, 'No username URL parameter provided.']],
  ['a secret alone', () => account.secret, [401, 'No username URL parameter provided.']],
] as const) {
  test(`the header: ${title}`, async (t) => {
    const { told, type, challenge } = await withHeader(header())
    t.deepEqual(told, [...answer])
    t.is(type, 'text/plain')
    t.is(challenge, answer[0] === 401 ? 'Token' : undefined)
  })
}

/** User names for the account's token, and whether they are accepted. */
const users: [string, () => string, boolean][] = [
  ['an empty one', () => '', true],
  ['the e-mail address', () => email, true],
  ['the e-mail address in another case', () => email.toUpperCase(), false],
  ['another e-mail address', () => 'somebody@example.test', false],
  ['a domain', () => domain, true],
  ['a domain in another case', () => domain.toUpperCase(), true],
  ['a name in a domain', () => `a.b.${domain}`, true],
  ['a wildcard', () => `*.a.${domain}`, true],
  ['a wildcard at a domain', () => `*.${domain}`, true],
  ['two wildcards', () => `*.*.${domain}`, false],
  ['a list of names', () => `a.${domain},b.${domain}`, true],
  ['a list with blanks', () => `a.${domain}, B.${domain}`, true],
  ['a list with an empty element', () => `a.${domain},`, false],
  ['a list with a foreign name', () => `a.${domain},a.${foreign}`, false],
  ['a foreign domain', () => foreign, false],
  ['a word without dots', () => 'somebody', false],
  ['a name that ends like a domain', () => `x${domain}`, false],
  ['the parent of a domain', () => 'test', false],
  ['a name with a final dot', () => `${domain}.`, false],
  ['a name with an empty label', () => `a..${domain}`, false],
  ['a name with other characters', () => `ü.${domain}`, false],
  ['a blank', () => ' ', false],
]
for (const [title, user, allowed] of users) {
  test(`the user name: ${title} is ${allowed ? '' : 'not '}accepted`, async (t) => {
    const answer = allowed ? [200, 'good'] : [401, 'badauth']
    t.deepEqual(told(await update(service().anonymous, validUpdate(), basic(user(), account.secret))), answer)
    const parameters = { ...validUpdate(), username: user(), password: account.secret }
    t.deepEqual(told(await update(service().anonymous, parameters)), answer)
  })
}

test('a user name may list domains of which only one is updated', async (t) => {
  const headers = basic(`${domain},${second}`, account.secret)
  t.deepEqual(told(await update(service().anonymous, validUpdate(), headers)), [200, 'good'])
  t.deepEqual(told(await update(service().anonymous, { myip: '192.0.2.1' }, headers)), [
    400,
    'Cannot update subdomains from more than one domain.',
  ])
})

test('a user name in Latin-1 is accepted', async (t) => {
  const other = await service().account()
  const own = await newDomain(other.api, freshName())
  await query(service().system.db, `update accounts set email = 'jürgen@example.test' where id = :id`, { id: other.id })
  for (const encoding of ['latin1', 'utf8'] as const) {
    const credentials = encoded(`jürgen@example.test:${other.secret}`, encoding)
    const { told } = await withHeader(`Basic ${credentials}`, `hostname=${own}&myip=192.0.2.1`)
    t.deepEqual(told, [200, 'good'], encoding)
  }
})

for (const [title, parameters, text] of [
  ['none', {}, 'No username URL parameter provided.'],
  ['a secret alone', { password: 'x' }, 'No username URL parameter provided.'],
  ['a user alone', { username: 'x' }, 'No password URL parameter provided.'],
  ['an empty user alone', { username: '' }, 'No password URL parameter provided.'],
  ['an unknown secret', { username: '', password: 'x' }, 'badauth'],
  ['an empty secret', { username: '', password: '' }, 'badauth'],
] as const) {
  test(`parameters: ${title}`, async (t) => {
    const answer = await update(service().anonymous, { ...validUpdate(), ...parameters })
    t.deepEqual(told(answer), [401, text])
    t.is(answer.headers['www-authenticate'], 'Token')
  })
}

test('the first form of credentials that is present decides', async (t) => {
  const right = { username: '', password: account.secret }
  const wrong = { username: '', password: 'wrong' }
  const { authorization } = basic('', account.secret)
  const send = (parameters: Record<string, string>, header: string) =>
    update(service().anonymous, { ...validUpdate(), ...parameters }, { authorization: header })
  t.deepEqual(told(await send(wrong, `Token ${account.secret}`)), [200, 'good'])
  t.deepEqual(told(await send(right, 'Token wrong')), [401, 'Invalid token.'])
  t.deepEqual(told(await send(right, 'Token')), [401, `${HEADER}No credentials provided.`])
  t.deepEqual(told(await send(wrong, authorization)), [200, 'good'])
  t.deepEqual(told(await send(right, basic('', 'wrong').authorization)), [401, 'badauth'])
  t.deepEqual(told(await send(right, 'Basic')), [401, `${BASIC}No credentials provided.`])
  t.deepEqual(told(await send(right, `Bearer ${account.secret}`)), [200, 'good'])
})

test('the last value of a repeated parameter counts', async (t) => {
  const query = new URLSearchParams(validUpdate()).toString()
  const twice = `${query}&username=x&password=x&password=${account.secret}&username=`
  t.deepEqual(told(await update(service().anonymous, twice)), [200, 'good'])
})

test('e-mail address and account password are not accepted', async (t) => {
  t.deepEqual(told(await update(service().anonymous, validUpdate(), basic(email, 'password'))), [401, 'badauth'])
})

type Pairs = Record<string, string>

/** The three forms of credentials: the parameters and the headers for a user and a secret. */
const forms: [string, (user: string, secret: string) => [Pairs, Pairs], string][] = [
  ['Token', (_, secret) => [{}, { authorization: `Token ${secret}` }], 'Invalid token.'],
  ['Basic', (user, secret) => [{}, basic(user, secret)], 'badauth'],
  ['parameters', (username, password) => [{ username, password }, {}], 'badauth'],
]

for (const [form, credentials, refusal] of forms) {
  const send = async (secret: string, own = domain) => {
    const [parameters, headers] = credentials(own, secret)
    return update(service().anonymous, { ...validUpdate(), hostname: own, ...parameters }, headers)
  }

  for (const [title, options, allowed] of [
    ['from an allowed network', { allowedSubnets: ['127.0.0.0/8'] }, true],
    ['from another network', { allowedSubnets: ['192.0.2.0/24', '::/0'] }, false],
    ['too old', { created: '2020-01-01', maxAge: '1 day' }, false],
    ['unused for too long', { created: '2020-01-01', lastUsed: '2020-01-02', maxUnusedPeriod: '1 day' }, false],
  ] as [string, TokenOptions, boolean][]) {
    test(`${form}: a token without flags ${title} is ${allowed ? '' : 'not '}accepted`, async (t) => {
      const token = await addToken(service(), account.id, options)
      const before = await lastUsed(service(), token.id)
      t.deepEqual(told(await send(token.secret)), allowed ? [200, 'good'] : [401, refusal])
      t.is((await lastUsed(service(), token.id)) !== before, allowed)
    })
  }

  test(`${form}: the account must be active`, async (t) => {
    const other = await service().account()
    await setState(service(), other.id, 'disabled')
    t.deepEqual(told(await send(other.secret)), [401, form === 'Token' ? 'User inactive or deleted.' : refusal])
  })

  test(`${form}: a login token before its MFA step is refused, in plain text`, async (t) => {
    const user = await service().account()
    await addFactor(service(), user.id)
    const { secret } = await addToken(service(), user.id, { mfa: false })
    const own = await newDomain(user.api, freshName())
    const answer = await send(secret, own)
    t.deepEqual(told(answer), [403, 'You do not have permission to perform this action.'])
    t.is(answer.headers['content-type'], 'text/plain')
  })
}

test("an override token updates the bound account's domains that its policies name", async (t) => {
  const owner = await service().account()
  const token = await addToken(service(), owner.id, { userOverrideId: account.id })
  t.deepEqual(told(await update(token.api, validUpdate())), [200, 'good'])
  t.deepEqual(told(await update(service().anonymous, validUpdate(), basic(email, token.secret))), [200, 'good'])
  await addPolicies(service(), token.id, { write: true }, { domain: second, write: true })
  t.deepEqual(told(await update(token.api, validUpdate())), [404, 'nohost'])
  t.deepEqual(told(await update(service().anonymous, validUpdate(), basic(domain, token.secret))), [401, 'badauth'])
  t.deepEqual(told(await update(token.api, { myip: '192.0.2.1' })), [200, 'good'])
})
