import { newDomain, rrset, shared, succeeded } from '../../support/clients/api.ts'
import type { Client } from '../../support/clients/client.ts'
import { addPolicies, addToken } from '../../support/clients/tokens.ts'
import { useService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'

// Contract §6: the endpoints of policies, and the rules between policies.

const service = useService({ PUBLIC_URL: 'https://dns.example.net' })

const NOT_FOUND = '{"detail":"Not found."}'
const CONFLICT = '{"detail":"Conflict: a policy for this domain, subname and type already exists for this token."}'
const FIRST = '{"non_field_errors":["Policy precedence: The first policy must be the default policy."]}'
const ONE_DEFAULT = '{"non_field_errors":["When using policies, there must be exactly one default policy."]}'
const OTHERS = `{"non_field_errors":["Policy precedence: Can't delete default policy when there exist others."]}`
const AUTO = `{"non_field_errors":["Can't delete default policy when auto_policy is in effect for the token."]}`
const AUTO_WRITE = '{"perm_write":["Must be false when auto_policy is in effect for the token."]}'
const NOWHERE = '00000000-0000-4000-8000-000000000000'

interface ShownPolicy {
  id: string
  domain: string | null
  subname: string | null
  type: string | null
  perm_write: boolean
}

const ANY = { domain: null, subname: null, type: null }

/** A token without policies, of a new account with a domain, and the path of its policies. */
async function setup() {
  const account = await service().account()
  const token = await addToken(service(), account.id)
  const domain = await newDomain(account.api)
  return { account, token, domain, api: account.api, path: `/auth/tokens/${token.id}/policies/rrsets/` }
}

async function add(api: Client, path: string, policy: object): Promise<ShownPolicy> {
  return succeeded(await api.post(path, policy), 201).json as ShownPolicy
}

async function policies(api: Client, path: string): Promise<ShownPolicy[]> {
  return succeeded(await api.get(path), 200).json as ShownPolicy[]
}

test('the index of policies has the URL of their list', async (t) => {
  const { api, path, token } = await setup()
  for (const asked of [`/auth/tokens/${token.id}/policies/`, `/auth/tokens/${token.id}/policies`]) {
    const { status, text } = await api.get(asked)
    t.deepEqual([status, text], [200, `{"rrsets":"https://dns.example.net/api/v1${path}"}`])
  }
})

test('policies can be created, shown, changed and deleted', async (t) => {
  const { api, path, domain } = await setup()
  t.is((await api.get(path)).text, '[]')
  const made = await api.post(path, { ...ANY, perm_write: true, id: 'x', unknown: 1 })
  const { id } = made.json as ShownPolicy
  const text = JSON.stringify({ id, domain: null, subname: null, subname_pattern: null, type: null, perm_write: true })
  t.deepEqual([made.status, made.text], [201, text])
  t.is((await api.get(`${path}${id}/`)).text, text)

  const second = await add(api, path, { domain, subname: '', type: 'TXT' })
  t.deepEqual(second, { id: second.id, domain, subname: '', subname_pattern: null, type: 'TXT', perm_write: false })
  const patched = await api.patch(`${path}${second.id}/`, { perm_write: 'yes', subname: '*' })
  t.deepEqual([patched.status, patched.json], [200, { ...second, subname: '*', perm_write: true }])
  const put = await api.put(`${path}${second.id}/`, { domain: '', subname: 'a', type: null })
  t.deepEqual([put.status, put.json], [200, { ...second, domain: null, subname: 'a', type: null, perm_write: true }])
  t.deepEqual((await api.patch(`${path}${second.id}/`, {})).json, put.json)
  for (let i = 0; i < 2; i++) {
    const deleted = await api.delete(`${path}${second.id}/`)
    t.deepEqual([deleted.status, deleted.text], [204, ''])
  }
  t.is((await api.get(`${path}${second.id}/`)).text, NOT_FOUND)
})

test('the list has the default policy first, then the others from the oldest, without paging', async (t) => {
  const { api, path, token } = await setup()
  const fallback = await add(api, path, ANY)
  const ids = [fallback.id]
  for (const type of ['B', 'A', 'C']) ids.push((await add(api, path, { ...ANY, type })).id)
  await api.patch(`${path}${fallback.id}/`, { perm_write: true })
  const listed = (await policies(api, path)).map(({ id }) => id)
  t.deepEqual(listed, ids)
  await addPolicies(service(), token.id, ...Array.from({ length: 600 }, (_, i) => ({ subname: `s${i}`, write: true })))
  const answer = await api.get(`${path}?cursor=`)
  t.is((answer.json as unknown[]).length, 604)
  t.false('link' in answer.headers)
})

/** A token with the default policy and another, which no test changes. */
const untouched = shared(async () => {
  const { api, path } = await setup()
  await add(api, path, ANY)
  return { api, path, ...(await add(api, path, { ...ANY, type: 'A' })) }
})

const REQUIRED = ['This field is required.']
const STRING = ['Not a valid string.']
const SUBNAME =
  "Subname can only use (lowercase) a-z, 0-9, ., -, and _, may start with a '*.', or just be '*'. Components may not " +
  'exceed 63 characters.'
const BOTH = ['subname and subname_pattern are mutually exclusive.']
const PATTERN =
  'Subname pattern can only use (lowercase) a-z, 0-9, ., -, and _, and as whole components * and **: at least one of ' +
  'them, ** at most once, and no * directly after it. Components may not exceed 63 characters.'
const TYPE = 'Type must be uppercase alphanumeric and start with a letter.'

for (const [given, problems] of [
  [{ domain: 'absent.test' }, { domain: ['Object with name=absent.test does not exist.'] }],
  [{ domain: 'UP.test' }, { domain: ['Object with name=UP.test does not exist.'] }],
  [{ domain: '..' }, { domain: ['Object with name=.. does not exist.'] }],
  [{ domain: 7 }, { domain: ['Object with name=7 does not exist.'] }],
  [{ domain: true }, { domain: ['Invalid value.'] }],
  [{ domain: [] }, { domain: ['Invalid value.'] }],
  [{ domain: {} }, { domain: ['Invalid value.'] }],
  [{ domain: 'a\0' }, { domain: ['Null characters are not allowed.'] }],
  [{ subname: 'A' }, { subname: ['Invalid value (not lowercase): A', SUBNAME] }],
  [{ subname: 'a..b' }, { subname: [SUBNAME] }],
  [{ subname: '@' }, { subname: [SUBNAME] }],
  [{ subname: 'a.'.repeat(89) + 'a' }, { subname: ['Ensure this field has no more than 178 characters.'] }],
  [{ subname: ['a'] }, { subname: STRING }],
  [{ type: '' }, { type: ['This field may not be blank.'] }],
  [{ type: 'txt' }, { type: ['Invalid value (not uppercase): txt', TYPE] }],
  [{ type: '1A' }, { type: [TYPE] }],
  [{ type: 'ABCDEFGHIJK' }, { type: ['Ensure this field has no more than 10 characters.'] }],
  [{ type: {} }, { type: STRING }],
  [{ perm_write: null }, { perm_write: ['This field may not be null.'] }],
  [{ perm_write: 'x' }, { perm_write: ['Must be a valid boolean.'] }],
  [{ subname: 'a', subname_pattern: '*' }, { subname_pattern: BOTH }],
  [{ subname: '', subname_pattern: '*' }, { subname_pattern: BOTH }],
  [{ subname_pattern: '' }, { subname_pattern: [PATTERN] }],
  [{ subname_pattern: 'www' }, { subname_pattern: [PATTERN] }],
  [{ subname_pattern: '**.*' }, { subname_pattern: [PATTERN] }],
  [{ subname_pattern: 'A.*' }, { subname_pattern: ['Invalid value (not lowercase): A.*', PATTERN] }],
  [
    { subname_pattern: `*${'.a'.repeat(89)}` },
    { subname_pattern: ['Ensure this field has no more than 178 characters.'] },
  ],
  [{ subname_pattern: ['*'] }, { subname_pattern: ['Not a valid string.'] }],
  [{ subname_pattern: '*\0' }, { subname_pattern: ['Null characters are not allowed.'] }],
  [
    { domain: [], subname: 'A b', type: 1, perm_write: 2 },
    {
      domain: ['Invalid value.'],
      subname: ['Invalid value (not lowercase): A b', SUBNAME],
      type: [TYPE],
      perm_write: ['Must be a valid boolean.'],
    },
  ],
] as const) {
  test(`${JSON.stringify(given).slice(0, 50)} is refused in every method`, async (t) => {
    const { api, path, id } = await untouched()
    for (const [method, target] of [
      ['POST', path],
      ['PUT', `${path}${id}/`],
      ['PATCH', `${path}${id}/`],
    ] as const) {
      const { status, json } = await api.send(method, target, { ...ANY, ...given })
      t.deepEqual([status, json], [400, problems], method)
    }
    t.is((await policies(api, path)).length, 2)
  })
}

for (const given of [{ type: 'SOA' }, { type: 'WKS' }, { type: 'TYPE1' }, { subname: '*.a' }, { subname: ' a ' }]) {
  test(`${JSON.stringify(given)} is accepted`, async (t) => {
    const { api, path } = await setup()
    await add(api, path, ANY)
    const made = await add(api, path, { ...ANY, ...given })
    t.is(made.type ?? made.subname, Object.values(given)[0]!.trim())
  })
}

test('POST and PUT require domain, subname and type; PATCH requires no field', async (t) => {
  const { api, path } = await setup()
  const { id } = await add(api, path, ANY)
  const missing = { domain: REQUIRED, subname: REQUIRED, type: REQUIRED }
  for (const [method, target] of [
    ['POST', path],
    ['PUT', `${path}${id}/`],
  ] as const) {
    for (const body of [undefined, {}, { perm_write: true }]) {
      const { status, json } = await api.send(method, target, body)
      t.deepEqual([status, json], [400, missing])
    }
    const some = await api.send(method, target, { domain: null, type: null })
    t.deepEqual([some.status, some.json], [400, { subname: REQUIRED }])
  }
  t.is((await api.patch(`${path}${id}/`, undefined)).status, 200)
})

test('a policy can name only domains of the account that the token acts for', async (t) => {
  const { api, path, account } = await setup()
  const other = await service().account()
  const foreign = await newDomain(other.api)
  await add(api, path, ANY)
  const refused = await api.post(path, { ...ANY, domain: foreign })
  t.deepEqual([refused.status, refused.json], [400, { domain: [`Object with name=${foreign} does not exist.`] }])

  const bound = await addToken(service(), other.id, { userOverrideId: account.id })
  const boundPath = `/auth/tokens/${bound.id}/policies/rrsets/`
  await add(api, boundPath, ANY)
  t.is((await api.post(boundPath, { ...ANY, domain: foreign })).status, 400)
  t.is((await api.post(boundPath, { ...ANY, domain: await newDomain(api) })).status, 201)
})

// Contract §6.3.

test('the first policy must be the default policy', async (t) => {
  const { api, path, domain } = await setup()
  for (const policy of [{ domain }, { subname: '' }, { type: 'A' }, { domain, subname: 'a', type: 'A' }]) {
    const { status, text } = await api.post(path, { ...ANY, ...policy })
    t.deepEqual([status, text], [400, FIRST])
  }
  t.is((await api.get(path)).text, '[]')
})

test('a second policy for the same domain, subname and type is a conflict, by POST, PATCH and PUT', async (t) => {
  const { api, path, domain } = await setup()
  const keys = [{}, { domain }, { subname: '' }, { type: 'A' }, { domain, subname: 'a', type: 'A' }, { subname: '*' }]
  const made = []
  for (const key of keys) made.push(await add(api, path, { ...ANY, ...key }))
  const before = (await api.get(path)).text
  for (const key of keys) {
    const { status, text } = await api.post(path, { ...ANY, ...key, perm_write: true })
    t.deepEqual([status, text], [409, CONFLICT])
  }
  for (const method of ['PATCH', 'PUT']) {
    const { status, text } = await api.send(method, `${path}${made[1]!.id}/`, { ...ANY, type: 'A' })
    t.deepEqual([status, text], [409, CONFLICT])
  }
  t.is((await api.get(path)).text, before)
})

test('the default policy cannot become a specific one, nor another the default', async (t) => {
  const { api, path } = await setup()
  const fallback = await add(api, path, ANY)
  const other = await add(api, path, { ...ANY, type: 'A' })
  for (const method of ['PATCH', 'PUT']) {
    const specific = await api.send(method, `${path}${fallback.id}/`, { ...ANY, type: 'TXT' })
    t.deepEqual([specific.status, specific.text], [400, ONE_DEFAULT])
    const general = await api.send(method, `${path}${other.id}/`, ANY)
    t.deepEqual([general.status, general.text], [400, ONE_DEFAULT])
  }
})

test('the default policy can only be deleted last, which makes the token unrestricted', async (t) => {
  const { api, path, domain, token } = await setup()
  const fallback = await add(api, path, ANY)
  const other = await add(api, path, { ...ANY, type: 'A' })
  const refused = await api.delete(`${path}${fallback.id}/`)
  t.deepEqual([refused.status, refused.text], [400, OTHERS])
  t.is((await token.api.post(`/domains/${domain}/rrsets/`, rrset())).status, 403)
  t.is((await api.delete(`${path}${other.id}/`)).status, 204)
  t.is((await api.delete(`${path}${fallback.id}/`)).status, 204)
  t.is((await token.api.post(`/domains/${domain}/rrsets/`, rrset())).status, 201)
})

test('while auto_policy is on, the default policy can be neither deleted nor permissive', async (t) => {
  const { api, path, token } = await setup()
  succeeded(await api.patch(`/auth/tokens/${token.id}/`, { auto_policy: true }), 200)
  const [fallback] = await policies(api, path)
  const deleted = await api.delete(`${path}${fallback!.id}/`)
  t.deepEqual([deleted.status, deleted.text], [400, AUTO])
  for (const method of ['PATCH', 'PUT']) {
    const changed = await api.send(method, `${path}${fallback!.id}/`, { ...ANY, perm_write: true })
    t.deepEqual([changed.status, changed.text], [400, AUTO_WRITE])
    t.is((await api.send(method, `${path}${fallback!.id}/`, ANY)).status, 200)
  }
  const other = await add(api, path, { ...ANY, type: 'A', perm_write: true })
  t.is((await api.delete(`${path}${fallback!.id}/`)).text, OTHERS)
  t.is((await api.delete(`${path}${other.id}/`)).status, 204)
  succeeded(await api.patch(`/auth/tokens/${token.id}/`, { auto_policy: false }), 200)
  t.is((await api.delete(`${path}${fallback!.id}/`)).status, 204)
})

test('policies are deleted with their domain and with their token', async (t) => {
  const { api, path, domain, token } = await setup()
  await add(api, path, ANY)
  await add(api, path, { ...ANY, domain })
  await add(api, path, { ...ANY, type: 'A' })
  succeeded(await api.delete(`/domains/${domain}/`), 204)
  const types = (await policies(api, path)).map(({ type }) => type)
  t.deepEqual(types, [null, 'A'])
  succeeded(await api.delete(`/auth/tokens/${token.id}/`), 204)
  t.is((await api.get(path)).status, 404)
})

// Access (contract §3.2).

test('the policies of an unknown, foreign or malformed token are 404, and 204 for DELETE', async (t) => {
  const { api } = await setup()
  const foreign = await setup()
  await add(foreign.api, foreign.path, ANY)
  const { id } = (await policies(foreign.api, foreign.path))[0]!
  for (const token of [foreign.token.id, NOWHERE, 'x', foreign.token.id.toUpperCase()]) {
    const path = `/auth/tokens/${token}/policies/`
    for (const [method, target] of [
      ['GET', path],
      ['GET', `${path}rrsets/`],
      ['POST', `${path}rrsets/`],
      ['GET', `${path}rrsets/${id}/`],
      ['PUT', `${path}rrsets/${id}/`],
      ['PATCH', `${path}rrsets/${id}/`],
    ] as const) {
      const { status, text } = await api.send(method, target, method === 'GET' ? undefined : { type: 1 })
      t.deepEqual([status, text], [404, NOT_FOUND], `${method} ${target}`)
    }
    t.is((await api.delete(`${path}rrsets/${id}/`)).status, 204)
  }
  t.is((await policies(foreign.api, foreign.path)).length, 1)
})

test('an unknown policy, or one of another token, is 404, and 204 for DELETE', async (t) => {
  const { api, path, account } = await setup()
  const other = await addToken(service(), account.id)
  const { id: elsewhere } = await add(api, `/auth/tokens/${other.id}/policies/rrsets/`, ANY)
  for (const id of [elsewhere, NOWHERE, 'x', '%00']) {
    t.is((await api.get(`${path}${id}/`)).text, NOT_FOUND)
    for (const method of ['PUT', 'PATCH']) t.is((await api.send(method, `${path}${id}/`, {})).text, NOT_FOUND)
    t.is((await api.delete(`${path}${id}/`)).status, 204)
  }
  t.is((await policies(api, `/auth/tokens/${other.id}/policies/rrsets/`)).length, 1)
})
