import { query } from '../../../src/store/database.ts'
import { type Account, emailOf } from '../../support/clients/accounts.ts'
import { succeeded } from '../../support/clients/api.ts'
import type { Client } from '../../support/clients/client.ts'
import { addPolicies, addToken, type Token } from '../../support/clients/tokens.ts'
import { useService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'

// Contract §5.

const service = useService()

const NOT_FOUND = '{"detail":"Not found."}'
const FORBIDDEN = '{"detail":"You do not have permission to perform this action."}'
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

/** What the API shows of a token. */
interface ShownToken {
  id: string
  created: string
  last_used: string | null
  token?: string
  [member: string]: unknown
}

async function newToken(account: Account, members: object = {}): Promise<ShownToken> {
  return succeeded(await account.api.post('/auth/tokens/', members), 201).json as ShownToken
}

const email = ({ id }: Account) => emailOf(service().system, id)

async function tokensInDatabase(account: Account): Promise<number> {
  const rows = await query(service().system.db, 'select from tokens where owner_id = :id', { id: account.id })
  return rows.length
}

test('a new token has all members in order, the defaults, and its secret', async (t) => {
  const account = await service().account()
  const before = service().system.now()
  const answer = await account.api.post('/auth/tokens/', {})
  t.is(answer.status, 201)
  const { id, created, token } = answer.json as ShownToken & { token: string }
  t.regex(id, UUID)
  t.regex(created, TIME)
  t.true(before <= created && created <= service().system.now())
  t.regex(token, /^[1-9A-HJ-NP-Za-km-z]{28}$/)
  t.is(
    answer.text,
    JSON.stringify({
      id,
      created,
      last_used: null,
      owner: await email(account),
      user_override: null,
      mfa: null,
      max_age: null,
      max_unused_period: null,
      name: '',
      perm_create_domain: false,
      perm_delete_domain: false,
      perm_manage_tokens: false,
      allowed_subnets: ['0.0.0.0/0', '::/0'],
      auto_policy: false,
      is_valid: true,
      token,
    }),
  )
  t.is(answer.headers['cache-control'], 'no-store')
})

test('the secret is shown once, and only its hash is stored', async (t) => {
  const account = await service().account()
  const { id, token } = await newToken(account)
  for (const path of ['/auth/tokens/', `/auth/tokens/${id}/`]) {
    const { text, headers } = await account.api.get(path)
    t.false(text.includes(token!))
    t.false(text.includes('"token"'))
    t.is(headers['cache-control'], 'no-cache')
  }
  const changed = await account.api.patch(`/auth/tokens/${id}/`, { name: 'x' })
  t.false(changed.text.includes('"token"'))
  const rows = await query<{ row: string }>(
    service().system.db,
    'select cast(tokens as text) as row from tokens where id = :id',
    { id },
  )
  t.false(rows[0]!.row.includes(token!))
})

test('secrets are all different, and use all of their symbols', async (t) => {
  const account = await service().account()
  const secrets = []
  for (let i = 0; i < 60; i++) secrets.push((await newToken(account)).token!)
  t.is(new Set(secrets).size, 60)
  t.is(new Set(secrets.join('')).size, 58)
})

for (const [what, body] of [
  ['an empty body', undefined],
  ['an empty object', {}],
  [
    'read-only members, even invalid ones',
    { id: 7, created: 'x', last_used: [], owner: null, user_override: 'x@y.test' },
  ],
  ['other read-only and unknown members', { mfa: false, is_valid: false, token: 'secret', unknown: {} }],
] as const) {
  test(`${what} creates a token with the defaults`, async (t) => {
    const account = await service().account()
    const answer = await account.api.post('/auth/tokens/', body)
    t.is(answer.status, 201)
    const shown = answer.json as ShownToken
    t.deepEqual([shown['user_override'], shown['mfa'], shown['is_valid'], shown['name']], [null, null, true, ''])
    t.not(shown.token, 'secret')
  })
}

const NULL = 'This field may not be null.'
const STRING = 'Not a valid string.'
const BOOLEAN = 'Must be a valid boolean.'
const DURATION = 'Duration has wrong format. Use one of these formats instead: [DD] [HH:[MM:]]ss[.uuuuuu].'

for (const [body, problems] of [
  [{ name: null }, { name: [NULL] }],
  [{ name: true }, { name: [STRING] }],
  [{ name: ['x'] }, { name: [STRING] }],
  [{ name: 'a\0b' }, { name: ['Null characters are not allowed.'] }],
  [{ name: 'ä'.repeat(179) }, { name: ['Ensure this field has no more than 178 characters.'] }],
  [{ perm_create_domain: null }, { perm_create_domain: [NULL] }],
  [{ perm_delete_domain: 'maybe' }, { perm_delete_domain: [BOOLEAN] }],
  [{ perm_manage_tokens: 2 }, { perm_manage_tokens: [BOOLEAN] }],
  [{ auto_policy: [] }, { auto_policy: [BOOLEAN] }],
  [{ auto_policy: '' }, { auto_policy: [BOOLEAN] }],
  [{ max_age: 'x' }, { max_age: [DURATION] }],
  [{ allowed_subnets: null }, { allowed_subnets: [NULL] }],
  [{ allowed_subnets: {} }, { allowed_subnets: ['Expected a list of items but got type "dict".'] }],
  [{ allowed_subnets: 1 }, { allowed_subnets: ['Expected a list of items but got type "int".'] }],
  [{ allowed_subnets: true }, { allowed_subnets: ['Expected a list of items but got type "bool".'] }],
  [
    { name: null, perm_create_domain: {}, max_unused_period: [], allowed_subnets: 'x' },
    {
      max_unused_period: [DURATION],
      name: [NULL],
      perm_create_domain: [BOOLEAN],
      allowed_subnets: ['Expected a list of items but got type "str".'],
    },
  ],
  [[], { non_field_errors: ['Invalid data. Expected a dictionary, but got list.'] }],
  ['x', { non_field_errors: ['Invalid data. Expected a dictionary, but got str.'] }],
] as const) {
  test(`${JSON.stringify(body).slice(0, 60)} is refused, and no token is created or changed`, async (t) => {
    const account = await service().account()
    const { id } = await newToken(account)
    const before = await account.api.get(`/auth/tokens/${id}/`)
    for (const [method, path] of [
      ['POST', '/auth/tokens/'],
      ['PATCH', `/auth/tokens/${id}/`],
      ['PUT', `/auth/tokens/${id}/`],
    ] as const) {
      const answer = await account.api.send(method, path, body)
      t.is(answer.status, 400)
      t.deepEqual(answer.json, problems)
    }
    t.is(await tokensInDatabase(account), 2)
    t.is((await account.api.get(`/auth/tokens/${id}/`)).text, before.text)
  })
}

for (const [member, kept, forms] of [
  ['perm_delete_domain', true, [true, 1, 'T', 'y', 'YES', 'True', 'on', '1']],
  ['perm_delete_domain', false, [false, 0, 'f', 'N', 'no', 'FALSE', 'Off', '0']],
  ['name', '', ['']],
  ['name', 'x', ['  x  ']],
  ['name', '7', [7]],
  ['name', 'ä'.repeat(178), ['ä'.repeat(178)]],
] as const) {
  test(`${JSON.stringify(forms).slice(0, 70)} as ${member} mean ${String(kept).slice(0, 20)}`, async (t) => {
    const account = await service().account()
    for (const given of forms) t.is((await newToken(account, { [member]: given }))[member], kept, String(given))
  })
}

for (const method of ['PATCH', 'PUT']) {
  test(`${method} changes only the members present`, async (t) => {
    const account = await service().account()
    const { token, ...shown } = await newToken(account, {
      ...{ name: 'before', perm_create_domain: true, max_age: 3600, max_unused_period: '1 00:00:00.000001' },
      allowed_subnets: ['192.0.2.0/24'],
    })
    const path = `/auth/tokens/${shown.id}/`
    t.truthy(token)
    const unchanged = await account.api.send(method, path, {})
    t.deepEqual([unchanged.status, unchanged.json], [200, shown])
    let expected: object = shown
    for (const change of [
      { name: 'after' },
      { perm_create_domain: false, perm_delete_domain: true },
      { max_age: null },
      { max_unused_period: '00:00:10' },
      { allowed_subnets: [] },
      { perm_manage_tokens: true },
    ]) {
      expected = { ...expected, ...change }
      const { status, text } = await account.api.send(method, path, change)
      t.deepEqual([status, text], [200, JSON.stringify(expected)])
    }
    t.is((await account.api.get(path)).text, JSON.stringify(expected))
  })
}

test('a foreign, absent or malformed token id is 404, and 204 for DELETE', async (t) => {
  const [account, other] = [await service().account(), await service().account()]
  const foreign = await newToken(other)
  for (const id of [
    foreign.id,
    '00000000-0000-4000-8000-000000000000',
    foreign.id.toUpperCase(),
    'x',
    '1',
    '%00',
    `${foreign.id}x`,
    "'; --",
  ]) {
    const path = `/auth/tokens/${encodeURIComponent(id)}/`
    for (const method of ['GET', 'PATCH', 'PUT']) {
      const { status, text } = await account.api.send(method, path, method === 'GET' ? undefined : { name: null })
      t.deepEqual([status, text], [404, NOT_FOUND], `${method} ${id}`)
    }
    const { status, text } = await account.api.delete(path)
    t.deepEqual([status, text], [204, ''], id)
  }
  t.is((await other.api.get(`/auth/tokens/${foreign.id}/`)).status, 200)
})

test('the list contains all tokens of the account, newest first, including expired and login tokens', async (t) => {
  const account = await service().account()
  const expired = await newToken(account, { max_age: '0' })
  const { id: login } = await addToken(service(), account.id, { mfa: false, maxAge: '7 days' })
  const last = await newToken(account)
  const answer = await account.api.get('/auth/tokens/')
  t.is(answer.status, 200)
  t.false('link' in answer.headers)
  const listed = answer.json as ShownToken[]
  const members = listed.map(({ id, mfa, max_age, is_valid }) => [id, mfa, max_age, is_valid])
  t.deepEqual(members, [
    [last.id, null, null, true],
    [login, false, '7 00:00:00', true],
    [expired.id, null, '00:00:00', false],
    [account.tokenId, null, null, true],
  ])
  for (const shown of listed.filter(({ id }) => id !== account.tokenId)) {
    t.deepEqual((await account.api.get(`/auth/tokens/${shown.id}/`)).json, shown)
  }
})

test('a deleted token is invalid at once; a token may delete and change itself', async (t) => {
  const account = await service().account()
  const token = await addToken(service(), account.id, { permManageTokens: true })
  const changed = await token.api.patch(`/auth/tokens/${token.id}/`, { name: 'mine' })
  t.is((changed.json as ShownToken)['name'], 'mine')
  const { status, text } = await token.api.delete(`/auth/tokens/${token.id}/`)
  t.deepEqual([status, text], [204, ''])
  t.is((await token.api.get('/domains/')).status, 401)
  t.is((await account.api.get(`/auth/tokens/${token.id}/`)).status, 404)
  t.is((await account.api.delete(`/auth/tokens/${token.id}/`)).status, 204)
})

test('a token may grant itself and others any permission, and revoke its own', async (t) => {
  const account = await service().account()
  const token = await addToken(service(), account.id, { permManageTokens: true })
  t.is((await token.api.delete('/domains/absent.test/')).status, 403)
  await token.api.patch(`/auth/tokens/${token.id}/`, { perm_delete_domain: true })
  t.is((await token.api.delete('/domains/absent.test/')).status, 204)
  await token.api.patch(`/auth/tokens/${token.id}/`, { perm_manage_tokens: false })
  t.is((await token.api.get(`/auth/tokens/${token.id}/`)).text, FORBIDDEN)
})

test('a token that reads itself sees this request as last_used', async (t) => {
  const account = await service().account()
  const before = service().system.now()
  const shown = (await account.api.get(`/auth/tokens/${account.tokenId}/`)).json as ShownToken
  t.regex(shown.last_used!, TIME)
  t.true(before <= shown.last_used! && shown.last_used! <= service().system.now())
})

// Contract §5.7.

async function policiesOf(account: Account, id: string): Promise<unknown[]> {
  return (await account.api.get(`/auth/tokens/${id}/policies/rrsets/`)).json as unknown[]
}

const withoutIds = (policies: unknown[]) => policies.map((policy) => ({ ...(policy as object), id: undefined }))
const RESTRICTIVE = { id: undefined, domain: null, subname: null, subname_pattern: null, type: null, perm_write: false }

test('auto_policy adds a restrictive default policy to a new or changed token', async (t) => {
  const account = await service().account()
  const made = await newToken(account, { auto_policy: true })
  t.is(made['auto_policy'], true)
  t.deepEqual(withoutIds(await policiesOf(account, made.id)), [RESTRICTIVE])
  const changed = await newToken(account)
  for (let i = 0; i < 2; i++) {
    t.is((await account.api.patch(`/auth/tokens/${changed.id}/`, { auto_policy: true })).status, 200)
    t.deepEqual(withoutIds(await policiesOf(account, changed.id)), [RESTRICTIVE])
  }
})

test('auto_policy accepts a restrictive default policy, and refuses a permissive one', async (t) => {
  const account = await service().account()
  const [restricted, permitted] = [await newToken(account), await newToken(account)]
  await addPolicies(service(), restricted.id, { write: false }, { type: 'A', write: true })
  await addPolicies(service(), permitted.id, { write: true })
  t.is((await account.api.patch(`/auth/tokens/${restricted.id}/`, { auto_policy: true })).status, 200)
  t.is((await policiesOf(account, restricted.id)).length, 2)
  const refused = await account.api.patch(`/auth/tokens/${permitted.id}/`, { auto_policy: true, name: 'x' })
  t.deepEqual(
    [refused.status, refused.text],
    [400, '{"auto_policy":["Auto policy requires a restrictive default policy."]}'],
  )
  const shown = (await account.api.get(`/auth/tokens/${permitted.id}/`)).json as ShownToken
  t.deepEqual([shown['auto_policy'], shown['name']], [false, ''])
})

test('switching auto_policy off keeps the policies', async (t) => {
  const account = await service().account()
  const { id } = await newToken(account, { auto_policy: true })
  t.is((await account.api.patch(`/auth/tokens/${id}/`, { auto_policy: false })).status, 200)
  t.deepEqual(withoutIds(await policiesOf(account, id)), [RESTRICTIVE])
})

// Contract §3.3.

/** A token that acts for `account`, and the account that owns it. */
async function boundTo(account: Account): Promise<{ owner: Account; token: Token }> {
  const owner = await service().account()
  return { owner, token: await addToken(service(), owner.id, { userOverrideId: account.id }) }
}

test('an override token is listed for its owner and for the bound account, with both e-mail addresses', async (t) => {
  const account = await service().account()
  const { owner, token } = await boundTo(account)
  for (const { api } of [account, owner]) {
    const shown = (await api.get(`/auth/tokens/${token.id}/`)).json as ShownToken
    t.is(shown['owner'], await email(owner))
    t.is(shown['user_override'], await email(account))
    t.deepEqual(((await api.get('/auth/tokens/')).json as ShownToken[])[0], shown)
  }
})

test('an override token cannot manage tokens', async (t) => {
  const account = await service().account()
  const { token } = await boundTo(account)
  const path = `/auth/tokens/${token.id}/`
  const { status, text } = await account.api.patch(path, { perm_manage_tokens: true, name: 'x' })
  t.deepEqual(
    [status, text],
    [400, '{"non_field_errors":["perm_manage_tokens and user_override are mutually exclusive."]}'],
  )
  t.is(((await account.api.get(path)).json as ShownToken)['name'], '')
  t.is((await account.api.patch(path, { perm_manage_tokens: false })).status, 200)
})

test('a token cannot be bound over HTTP', async (t) => {
  const [account, other] = [await service().account(), await service().account()]
  const { id } = await newToken(account, { user_override: await email(other) })
  const changed = await account.api.patch(`/auth/tokens/${id}/`, { user_override: await email(other) })
  t.is((changed.json as ShownToken)['user_override'], null)
})

test('the bound account deletes an override token', async (t) => {
  const account = await service().account()
  const { token } = await boundTo(account)
  t.is((await account.api.delete(`/auth/tokens/${token.id}/`)).status, 204)
  t.is((await token.api.get('/domains/')).status, 401)
})

test('a foreign account neither sees nor deletes an override token', async (t) => {
  const { token } = await boundTo(await service().account())
  const { api } = await service().account()
  t.is((await api.get(`/auth/tokens/${token.id}/`)).status, 404)
  t.is((await api.patch(`/auth/tokens/${token.id}/`, {})).status, 404)
  t.is((await api.delete(`/auth/tokens/${token.id}/`)).status, 204)
  t.is((await token.api.get('/domains/')).status, 200)
})

// Contract §§5.3 and 5.4: the forms of durations and networks.

let api: Client

test.before('an account', async () => {
  api = (await service().account()).api
})

const FORMAT = 'Duration has wrong format. Use one of these formats instead: [DD] [HH:[MM:]]ss[.uuuuuu].'
const NEGATIVE = 'Ensure this value is greater than or equal to 0:00:00.'
const TOO_LONG = 'Ensure this value is less than or equal to 365000 days, 0:00:00.'

for (const [given, shown] of [
  [null, null],
  [0, '00:00:00'],
  ['0', '00:00:00'],
  [3600, '01:00:00'],
  [86400, '1 00:00:00'],
  [1.5, '00:00:01.500000'],
  [0.000001, '00:00:00.000001'],
  ['10', '00:00:10'],
  ['90', '00:01:30'],
  ['5:6', '00:05:06'],
  ['61:00', '01:01:00'],
  ['4:5:6', '04:05:06'],
  ['100:00:00', '4 04:00:00'],
  ['7 00:00:00', '7 00:00:00'],
  ['365 00:10:33.123456', '365 00:10:33.123456'],
  ['00:00:00.1', '00:00:00.100000'],
  ['1,25', '00:00:01.250000'],
  ['00:00:00.1234567', '00:00:00.123456'],
  ['00:00:00.000000', '00:00:00'],
  ['3 6', '3 00:00:06'],
  ['3 5:06', '3 00:05:06'],
  ['1 days, 04:05:06', '1 04:05:06'],
  ['3 days, 04:05:06.7', '3 04:05:06.700000'],
  ['3 days 04:05:06', '3 04:05:06'],
  ['1 day 00:00:01', '1 00:00:01'],
  ['3 days', '3 00:00:00'],
  [' 3 ', '00:00:03'],
  ['1 -01:00:00', '23:00:00'],
  ['P3DT4H5M6S', '3 04:05:06'],
  ['P1D', '1 00:00:00'],
  ['PT36H', '1 12:00:00'],
  ['PT0.5S', '00:00:00.500000'],
  ['P1,5D', '1 12:00:00'],
  ['+PT1M', '00:01:00'],
  ['-PT0S', '00:00:00'],
  ['365000 00:00:00', '365000 00:00:00'],
  ['P365000D', '365000 00:00:00'],
  ['364999 23:59:59.999999', '364999 23:59:59.999999'],
] as const) {
  test(`the duration ${JSON.stringify(given)} is ${shown}`, async (t) => {
    const answer = succeeded(await api.post('/auth/tokens/', { max_age: given, max_unused_period: given }), 201)
    const made = answer.json as { id: string; max_age: unknown; max_unused_period: unknown }
    t.deepEqual([made.max_age, made.max_unused_period], [shown, shown])
    const again = await api.patch(`/auth/tokens/${made.id}/`, { max_age: made.max_age })
    t.is((again.json as typeof made).max_age, shown)
  })
}

for (const [given, problem] of [
  ['', FORMAT],
  ['x', FORMAT],
  ['1:2:3:4', FORMAT],
  ['1 2 3', FORMAT],
  ['1.', FORMAT],
  ['.5', FORMAT],
  ['P', FORMAT],
  ['PT', FORMAT],
  ['P1DT', FORMAT],
  ['P1Y', FORMAT],
  ['P1.2.3D', FORMAT],
  ['1e3', FORMAT],
  ['٣', FORMAT],
  ['1\n2', FORMAT],
  [true, FORMAT],
  [[], FORMAT],
  [{}, FORMAT],
  ['9'.repeat(101), FORMAT],
  ['-1', NEGATIVE],
  [-1, NEGATIVE],
  [-0.5, NEGATIVE],
  ['-1 00:00:00', NEGATIVE],
  ['-00:00:00.000001', NEGATIVE],
  ['-P1D', NEGATIVE],
  ['365000 00:00:00.000001', TOO_LONG],
  ['365001 00:00:00', TOO_LONG],
  [1e300, TOO_LONG],
  ['9'.repeat(100), TOO_LONG],
] as const) {
  test(`the duration ${JSON.stringify(given).slice(0, 30)} of ${JSON.stringify(given).length} characters is refused`, async (t) => {
    const { status, json } = await api.post('/auth/tokens/', { max_age: given, max_unused_period: given })
    t.deepEqual([status, json], [400, { max_age: [problem], max_unused_period: [problem] }])
  })
}

for (const [given, shown] of [
  ['1.2.3.4', '1.2.3.4/32'],
  ['2001:db8::1', '2001:db8::1/128'],
  ['1.2.3.0/24', '1.2.3.0/24'],
  ['1.2.3.0/255.255.255.0', '1.2.3.0/24'],
  ['0.0.0.0/0.0.0.0', '0.0.0.0/0'],
  ['1.2.3.4/255.255.255.255', '1.2.3.4/32'],
  ['BADE::/64', 'bade::/64'],
  ['0:0::0/0', '::/0'],
  ['::', '::/128'],
  [' 10.0.0.0/8 ', '10.0.0.0/8'],
  ['fe80::/10', 'fe80::/10'],
] as const) {
  test(`the network ${given} is ${shown}`, async (t) => {
    const answer = succeeded(await api.post('/auth/tokens/', { allowed_subnets: [given] }), 201)
    const made = answer.json as { id: string; allowed_subnets: unknown }
    t.deepEqual(made.allowed_subnets, [shown])
    t.deepEqual(((await api.get(`/auth/tokens/${made.id}/`)).json as typeof made).allowed_subnets, [shown])
  })
}

test('networks keep their order and duplicates; the list may be empty', async (t) => {
  for (const networks of [['::/0', '10.0.0.0/8', '0.0.0.0/0', '10.0.0.0/8'], []]) {
    const made = succeeded(await api.post('/auth/tokens/', { allowed_subnets: networks }), 201)
    t.deepEqual((made.json as { allowed_subnets: unknown }).allowed_subnets, networks)
  }
})

test('the limit of 256 networks is checked before each network', async (t) => {
  const networks = Array.from({ length: 256 }, (_, i) => `10.0.${i}.0/24`)
  succeeded(await api.post('/auth/tokens/', { allowed_subnets: networks }), 201)
  const { status, json } = await api.post('/auth/tokens/', { allowed_subnets: ['x', ...networks] })
  t.deepEqual([status, json], [400, { allowed_subnets: ['Ensure this field has no more than 256 elements.'] }])
})

const INVALID = 'Invalid CIDR address.'
const HOST = 'Must be a network address.'

for (const [item, problem] of [
  ['', INVALID],
  ['x', INVALID],
  ['1', INVALID],
  ['1.2.3', INVALID],
  ['1.2.3.4.5', INVALID],
  ['1.2.3.256', INVALID],
  ['010.0.0.1', INVALID],
  ['1.2.3.4/33', INVALID],
  ['1.2.3.0/024', INVALID],
  ['1.2.3.4/', INVALID],
  ['1.2.3.4/-1', INVALID],
  ['1.2.3.4/32/32', INVALID],
  ['1.2.3.0/255.0.255.0', INVALID],
  ['::/129', INVALID],
  ['::/255.255.0.0', INVALID],
  [':::', INVALID],
  ['fe80::1%eth0', INVALID],
  [7, INVALID],
  [true, INVALID],
  [[], INVALID],
  [{}, INVALID],
  ['1.2.3.4/24', HOST],
  ['0.0.0.1/0', HOST],
  ['2001:db8::1/64', HOST],
  ['1.2.3.4/255.255.255.0', HOST],
  [null, 'This field may not be null.'],
] as const) {
  test(`the network ${JSON.stringify(item)} is refused`, async (t) => {
    const { status, json } = await api.post('/auth/tokens/', { allowed_subnets: ['::/0', item] })
    t.deepEqual([status, json], [400, { allowed_subnets: [`Item 1: ${problem}`] }])
  })
}
