import test from 'ava'
import { randomBytes } from 'node:crypto'
import type { Account } from '../../support/clients/accounts.ts'
import { newDomain } from '../../support/clients/api.ts'
import type { Answer, Client } from '../../support/clients/client.ts'
import { addPolicies, addToken, type Token } from '../../support/clients/tokens.ts'
import { useService } from '../../support/harness.ts'

// Contract §1.2: which error a request with several errors gets.

const service = useService({ BODY_LIMIT: '4096' })

const CREDENTIALS = '{"detail":"Authentication credentials were not provided."}'
const PERMISSION = '{"detail":"You do not have permission to perform this action."}'
const NOT_FOUND = '{"detail":"Not found."}'
const UNSUPPORTED = '{"detail":"Unsupported media type \\"text/plain\\" in request."}'
const notAllowed = (method: string) => `{"detail":"Method \\"${method}\\" not allowed."}`
const tinker = (type: string) => `{"detail":"You cannot tinker with the ${type} RRset."}`
const NOT_DRY = '{"dry_run":["Not supported here."]}'
const TOO_LARGE = '{"detail":"Payload too large."}'

/** More than any route accepts. */
const large = 'x'.repeat(5 * 1024 * 1024)
const asText = { 'content-type': 'text/plain' }
const ifTag = { 'if-match': '"x"' }
const asJson = { 'content-type': 'application/json' }

let account: Account
let full: Account
let plain: Token
let restricted: Token
/** A token of `account` that is bound to another account, which alone may change it. */
let bound: Token
let domain: string
let foreign: string

test.before('accounts', async () => {
  account = await service().account()
  full = await service().account({ limitDomains: 0 })
  domain = await newDomain(account.api)
  foreign = await newDomain((await service().account()).api)
  plain = await addToken(service(), account.id)
  restricted = await addToken(service(), account.id)
  await addPolicies(service(), restricted.id, { write: false })
  bound = await addToken(service(), account.id, { userOverrideId: full.id })
  const rrset = { subname: 'www', type: 'A', ttl: 60, records: ['192.0.2.1'] }
  await account.api.post(`/domains/${domain}/rrsets/`, rrset)
})

const own = (rest = '') => `/domains/${domain}/rrsets/${rest}`
const others = (rest = '') => `/domains/${foreign}/rrsets/${rest}`
const ofBound = (rest = '') => `/auth/tokens/${bound.id}/${rest}`
const anonymous = () => service().anonymous
const owner = () => account.api

/** Requests that violate two adjacent rules, and the answer of the first rule. */
const rows: [string, () => Promise<Answer>, number, string][] = [
  // 1 before 2
  ['a preflight is answered before routing', () => preflight('/nothing/'), 200, ''],
  ['a preflight is answered before the path is decoded', () => preflight('/%zz/'), 200, ''],
  // 2 before 4
  ['an unrouted path is 404 before 401', () => anonymous().get('/nothing/'), 404, NOT_FOUND],
  ['a plain OPTIONS requires no authentication', () => anonymous().send('OPTIONS', own()), 200, ''],
  ['a plain OPTIONS does not check the domain', () => anonymous().send('OPTIONS', others()), 200, ''],
  // 4 before 5, 7, 9
  ['no token is 401 before a foreign domain is 404', () => anonymous().get(others()), 401, CREDENTIALS],
  [
    'no token is 401 before an absent domain is 404',
    () => anonymous().get('/domains/a.test/rrsets/'),
    401,
    CREDENTIALS,
  ],
  ['no token is 401 before 405', () => anonymous().put('/domains/', {}), 401, CREDENTIALS],
  ['no token is 401 before 405 on one RRset', () => anonymous().post(own('www/A/'), {}), 401, CREDENTIALS],
  ['no token is 401 before 403', () => anonymous().get(own('@/SOA/')), 401, CREDENTIALS],
  ['no token is 401 before 413', () => send(anonymous(), 'POST', '/domains/', large, asJson), 401, CREDENTIALS],
  ['no token is 401 before 415', () => send(anonymous(), 'POST', '/domains/', 'x', asText), 401, CREDENTIALS],
  ['no token is 401 before 400', () => send(anonymous(), 'POST', '/domains/', '{', asJson), 401, CREDENTIALS],
  // 5 within itself
  ['a missing flag is 403 before the quota', () => withoutFlagAndQuota(), 403, PERMISSION],
  ['a foreign domain is 404 before an automatic type is 403', () => owner().get(others('@/SOA/')), 404, NOT_FOUND],
  // 5 before 7
  ['a foreign domain is 404 before 405', () => owner().post(others('www/A/'), {}), 404, NOT_FOUND],
  ['a foreign domain is 404 before 405 on the collection', () => owner().delete(others()), 404, NOT_FOUND],
  ['an automatic type is 403 before 405', () => owner().post(own('@/SOA/'), {}), 403, tinker('SOA')],
  // 5 before 8
  ['a missing flag is 403 before an absent domain', () => plain.api.delete('/domains/absent.test/'), 403, PERMISSION],
  [
    'an automatic type is 403 before an absent RRset is 404',
    () => owner().get(own('nothing/NSEC3/')),
    403,
    tinker('NSEC3'),
  ],
  // 5 before 9
  ['a foreign domain is 404 before 413', () => send(owner(), 'POST', others(), large, asJson), 404, NOT_FOUND],
  ['a foreign domain is 404 before 415', () => send(owner(), 'POST', others(), 'x', asText), 404, NOT_FOUND],
  ['a foreign domain is 404 before 400', () => send(owner(), 'POST', others(), '{', asJson), 404, NOT_FOUND],
  [
    'a token that the caller only reads is 403 before 400',
    () => owner().patch(ofBound(), { name: null }),
    403,
    PERMISSION,
  ],
  ['so are its policies', () => owner().post(ofBound('policies/rrsets/'), { type: 1 }), 403, PERMISSION],
  ['so are its policies, before 404', () => owner().patch(ofBound('policies/rrsets/x/'), { type: 1 }), 403, PERMISSION],
  ['a missing flag is 403 before 413', () => send(plain.api, 'POST', '/domains/', large, asJson), 403, PERMISSION],
  ['a missing flag is 403 before 400', () => send(plain.api, 'POST', '/domains/', '{', asJson), 403, PERMISSION],
  ['a reached quota is 403 before 413', () => send(full.api, 'POST', '/domains/', large, asJson), 403, quota()],
  ['a reached quota is 403 before 415', () => send(full.api, 'POST', '/domains/', 'x', asText), 403, quota()],
  ['a reached quota is 403 before 400', () => send(full.api, 'POST', '/domains/', '{', asJson), 403, quota()],
  ['a reached quota is 403 before the name is checked', () => full.api.post('/domains/', {}), 403, quota()],
  // 7 before 8 and 9
  ['405 goes before an absent RRset is 404', () => owner().post(own('nothing/A/'), {}), 405, notAllowed('POST')],
  ['405 goes before 413', () => send(owner(), 'PUT', '/domains/', large, asJson), 405, notAllowed('PUT')],
  ['405 goes before 400', () => send(owner(), 'PUT', `/domains/${domain}/`, '{', asJson), 405, notAllowed('PUT')],
  // 7 within itself, and before 9 and 10
  [
    'a missing flag is 403 before dry_run is 400',
    () => plain.api.delete('/domains/absent.test/?dry_run=true'),
    403,
    PERMISSION,
  ],
  ['405 goes before dry_run is 400', () => owner().put('/domains/?dry_run=true', {}), 405, notAllowed('PUT')],
  ['dry_run is 400 before 415', () => send(owner(), 'POST', '/domains/?dry_run=true', 'x', asText), 400, NOT_DRY],
  ['dry_run is 400 before 412', () => send(owner(), 'DELETE', '/auth/tokens/x/?dry_run=1', '', ifTag), 400, NOT_DRY],
  // 8 before 9, and within itself
  ['an absent RRset is 404 before 413', () => send(owner(), 'PUT', own('no/A/'), large, asJson), 404, NOT_FOUND],
  ['an absent RRset is 404 before 415', () => send(owner(), 'PATCH', own('no/A/'), 'x', asText), 404, NOT_FOUND],
  ['an absent RRset is 404 before 400', () => send(owner(), 'PUT', own('no/A/'), '{', asJson), 404, NOT_FOUND],
  ['an absent RRset is 404 before the policies', () => restricted.api.patch(own('no/A/'), {}), 404, NOT_FOUND],
  ['the policies are 403 before 413', () => send(restricted.api, 'PUT', own('www/A/'), large, asJson), 403, policy()],
  ['the policies are 403 before 415', () => send(restricted.api, 'PUT', own('www/A/'), 'x', asText), 403, policy()],
  ['the policies are 403 before 400', () => send(restricted.api, 'PATCH', own('www/A/'), '{', asJson), 403, policy()],
  [
    'for a new RRset, wrong fields are 400 before the policies are 403',
    () => restricted.api.post(own(), {}),
    400,
    required(),
  ],
  [
    'for a new RRset, the policies are 403 before an existing RRset is 400',
    () => restricted.api.post(own(), { subname: 'www', type: 'A', ttl: 60, records: ['192.0.2.1'] }),
    403,
    policy(),
  ],
  // 9 within itself
  ['413 precedes 415', () => send(owner(), 'POST', own(), large, asText), 413, TOO_LARGE],
  ['413 precedes broken JSON', () => send(owner(), 'POST', own(), large, asJson), 413, TOO_LARGE],
  ['415 goes before broken JSON', () => send(owner(), 'POST', own(), '{', asText), 415, UNSUPPORTED],
  ['415 goes before validation', () => send(owner(), 'POST', '/domains/', '{"name":"_"}', asText), 415, UNSUPPORTED],
]

for (const [title, request, status, body] of rows) {
  test.serial(title, async (t) => {
    const answer = await request()
    t.deepEqual([answer.status, answer.text], [status, body])
  })
}

test.serial('broken JSON is reported before problems of its members', async (t) => {
  const { status, json } = await send(owner(), 'POST', own(), '{"type":"nonsense","ttl":', asJson)
  t.is(status, 400)
  t.true((json as { detail: string }).detail.startsWith('JSON parse error - '))
})

test.serial('validation is 400 before the backend is 503', async (t) => {
  service().proxy.fail(() => ({ refuse: 500 }))
  const field = await owner().patch(own('www/A/'), { ttl: 1 })
  const content = await owner().patch(own('www/A/'), { records: ['x'] })
  const name = await owner().post('/domains/', { name: `${randomBytes(6).toString('hex')}.internal` })
  service().proxy.heal()
  t.deepEqual([field.status, content.status, name.status], [400, 400, 400])
})

function send(client: Client, method: string, path: string, body: string, headers: Record<string, string>) {
  return client.send(method, path, undefined, { body, headers })
}

function preflight(path: string): Promise<Answer> {
  return anonymous().send('OPTIONS', path, undefined, { headers: { 'access-control-request-method': 'PUT' } })
}

async function withoutFlagAndQuota(): Promise<Answer> {
  const { id } = await service().account({ limitDomains: 0 })
  return (await addToken(service(), id)).api.post('/domains/', {})
}

function quota(): string {
  return '{"detail":"Domain limit exceeded. Please contact support to create additional domains."}'
}

function policy(): string {
  return '{"detail":"Insufficient token permissions."}'
}

function required(): string {
  const text = '["This field is required."]'
  return `{"type":${text},"ttl":${text},"records":${text}}`
}
