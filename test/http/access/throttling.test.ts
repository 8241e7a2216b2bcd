import test from 'ava'
import { mock } from 'node:test'
import { Throttled } from '../../../src/errors.ts'
import { query } from '../../../src/store/database.ts'
import type { Account } from '../../support/clients/accounts.ts'
import { newDomain } from '../../support/clients/api.ts'
import type { Answer, Client } from '../../support/clients/client.ts'
import { person } from '../../support/clients/people.ts'
import { addPolicies, addToken, type PolicyRow } from '../../support/clients/tokens.ts'
import { useAccount, useService } from '../../support/harness.ts'

// Contract §14 over HTTP: which requests are counted together, and the headers of the answer. The scope of each
// request is tested in throttle-scopes.test.ts.

const service = useService({
  THROTTLE: 'on',
  TRUSTED_PROXIES: '127.0.0.0/8',
  THROTTLE_RATES:
    'account_management_active=1001/h; account_management_passive=1002/h; dns_api_per_domain_expensive=6/10s, 1006/h; ' +
    'login_failure=4/h; user=2000/d; public=2000/d',
})

// The clock that windows go by stands still, and a test moves it.
test.serial.before(() => {
  mock.timers.enable({ apis: ['Date'], now: Date.now() })
})
const account = useAccount(service)

/** A new account with a domain, for one test only. */
async function fresh(): Promise<Account & { domain: string }> {
  const made = await service().account()
  return { ...made, domain: await newDomain(made.api) }
}

test.serial('an answer has the remaining requests, and a throttled one the time until the next', async (t) => {
  const { api, domain: own } = await fresh()
  const headers = ['ratelimit-policy', 'content-type', 'content-length', 'allow'] as const
  const write = () => api.delete(`/domains/${own}/rrsets/absent/A/`)
  for (let i = 0; i < 6; i++) {
    const answer = await write()
    t.is(answer.status, 204)
    t.is(answer.headers['ratelimit-policy'], '"dns_api_per_domain_expensive";q=6;w=10')
    t.regex(String(answer.headers['ratelimit']), new RegExp(`^"dns_api_per_domain_expensive";r=${5 - i};t=10$`))
    t.is(answer.headers['retry-after'], undefined)
  }
  const rejected = await write()
  t.is(rejected.status, 429)
  const seconds = Number(rejected.headers['retry-after'])
  t.is(seconds, 10)
  t.is(rejected.text, `{"detail":"${new Throttled(seconds).message}"}`)
  t.is(rejected.headers['ratelimit'], `"dns_api_per_domain_expensive";r=0;t=${seconds}`)
  t.deepEqual(
    headers.map((name) => rejected.headers[name]),
    [
      '"dns_api_per_domain_expensive";q=6;w=10',
      'application/json',
      String(rejected.text.length),
      'GET, PUT, PATCH, DELETE, HEAD, OPTIONS',
    ],
  )
  mock.timers.tick(seconds * 1000 - 1)
  t.is((await write()).status, 429)
  mock.timers.tick(1)
  t.is((await write()).status, 204)
})

test.serial('a throttled request has no effect', async (t) => {
  const { api, domain: own } = await fresh()
  const rrset = (subname: string) => ({ subname, type: 'A', ttl: 60, records: ['192.0.2.1'] })
  for (let i = 0; i < 6; i++) t.is((await api.post(`/domains/${own}/rrsets/`, rrset(`n${i}`))).status, 201)
  t.is((await api.post(`/domains/${own}/rrsets/`, rrset('n6'))).status, 429)
  t.is((await api.get(`/domains/${own}/rrsets/n6/A/`)).status, 404)
})

test.serial('writes to a domain do not throttle other domains or reads', async (t) => {
  const { api, domain: own } = await fresh()
  const other = await newDomain(api)
  const write = async (name: string) => (await api.delete(`/domains/${name}/rrsets/absent/A/`)).status
  for (let i = 0; i < 6; i++) t.is(await write(own), 204)
  t.is(await write(own), 429)
  t.is(await write(other), 204)
  t.is((await api.get(`/domains/${own}/rrsets/`)).status, 200)
})

test.serial('401, 403 and 404 of a domain precede 429; 405, 404 of an RRset, 415 and 400 follow it', async (t) => {
  const { id, api, domain: own } = await fresh()
  const collection = `/domains/${own}/rrsets/`
  for (let i = 0; i < 6; i++) await api.delete(`${collection}absent/A/`)
  const text = { headers: { 'content-type': 'text/plain' }, body: 'x' }
  const broken = { headers: { 'content-type': 'application/json' }, body: '{' }
  const weak = (await addToken(service(), id)).api
  for (const [request, status] of [
    [() => service().anonymous.post(collection, {}), 401],
    [() => account().api.post(collection, {}), 404],
    [() => api.patch(`${collection}@/SOA/`, {}), 403],
    [() => weak.post('/domains/', {}), 403],
    [() => api.delete(collection), 429],
    [() => api.post(`${collection}www/A/`, {}), 429],
    [() => api.patch(`${collection}absent/A/`, {}), 429],
    [() => api.post(collection, undefined, text), 429],
    [() => api.post(collection, undefined, broken), 429],
    [() => api.post(collection, {}), 429],
  ] as const) {
    t.is((await request()).status, status)
  }
})

test.serial(
  'each API token has the rates, all of an account have four times as much, and its logins are not affected',
  async (t) => {
    const owner = await fresh()
    const other = await service().account()
    const login = (await addToken(service(), owner.id, { mfa: false, permManageTokens: true })).api
    const tokens = [
      await addToken(service(), owner.id),
      await addToken(service(), owner.id, { permManageTokens: true }),
      await addToken(service(), other.id, { userOverrideId: owner.id }),
      await addToken(service(), owner.id),
    ]
    const write = (api: Client) => api.delete(`/domains/${owner.domain}/rrsets/absent/A/`)
    const statuses = async (api: Client, requests: number) => {
      const got = []
      for (let i = 0; i < requests; i++) got.push((await write(api)).status)
      return got
    }
    for (const { api } of tokens) t.deepEqual(await statuses(api, 7), [...repeated(6, 204), 429])
    const refused = await write(owner.api)
    t.is(refused.status, 429)
    t.is(refused.headers['ratelimit-policy'], '"dns_api_per_domain_expensive";q=24;w=10')
    // A token does not leave its places in the account's windows to a new one.
    for (const { id } of tokens) t.is((await login.delete(`/auth/tokens/${id}/`)).status, 204)
    t.deepEqual(await statuses((await addToken(service(), owner.id)).api, 1), [429])
    const another = (await addToken(service(), owner.id, { mfa: true })).api
    t.deepEqual([...(await statuses(login, 3)), ...(await statuses(another, 4))], [...repeated(6, 204), 429])
  },
)

const DENIED: PolicyRow = { write: false }
const BROKEN = { headers: { 'content-type': 'application/json' }, body: '{' }
const A = { records: ['192.0.2.9'] }
const CHANGE: Sent = { method: 'PATCH', path: 'www/A/', json: A }
const DELETION: Sent = { method: 'DELETE', path: 'absent/A/' }

/** The policies of tokens on their own and another domain, and a request with which it tries to use up the writes of others. */
for (const [what, request, status, policies, bound = false] of [
  ['PATCHes, and may write nothing', CHANGE, 403, () => [DENIED]],
  ['may write nothing, whatever it sends', { ...CHANGE, path: 'absent/A/' }, 404, () => [DENIED]],
  ['sends no JSON, and may write nothing', { method: 'PATCH', path: '', raw: BROKEN }, 400, () => [DENIED]],
  ['is bound, and may write nothing', CHANGE, 403, (own) => [DENIED, { domain: own, write: false }], true],
  ['may write another domain only', DELETION, 204, (_, other) => [DENIED, { domain: other, write: true }]],
  ['may write all but this one', DELETION, 204, (own) => [{ write: true }, { domain: own, write: false }]],
  ['PATCHes another name', CHANGE, 403, (own) => [DENIED, { domain: own, subname: 'b', write: true }]],
] as [string, Sent, number, (own: string, other: string) => PolicyRow[], boolean?][]) {
  test.serial(`a token that ${what} leaves others their writes`, async (t) => {
    const owner = await fresh()
    const other = await newDomain(owner.api)
    const path = `/domains/${owner.domain}/rrsets/`
    await owner.api.post(path, { subname: 'www', type: 'A', ttl: 60, records: ['192.0.2.1'] })
    mock.timers.tick(10_000)
    const stranger = await service().account()
    const token = await (bound
      ? addToken(service(), stranger.id, { userOverrideId: owner.id })
      : addToken(service(), owner.id))
    await addPolicies(service(), token.id, ...policies(owner.domain, other))
    const statuses = []
    for (let i = 0; i < 10; i++) statuses.push((await send(token.api, path, request)).status)
    t.deepEqual(statuses, [...repeated(6, status), ...repeated(4, 429)])
    const own = []
    for (let i = 0; i < 7; i++) own.push((await owner.api.delete(`${path}absent/A/`)).status)
    t.deepEqual(own, [...repeated(6, 204), 429])
  })
}

interface Sent {
  method: 'PATCH' | 'DELETE'
  path: string
  json?: unknown
  raw?: { headers: Record<string, string>; body: string }
}

function send(api: Client, folder: string, { method, path, json, raw }: Sent): Promise<Answer> {
  return method === 'DELETE' ? api.delete(folder + path) : api.patch(folder + path, json, raw)
}

function repeated<T>(times: number, value: T): T[] {
  return Array.from({ length: times }, () => value)
}

test.serial('the daily rate of an account replaces the general one, for override tokens as well', async (t) => {
  const slow = await service().account()
  const other = await service().account()
  const { api } = await addToken(service(), other.id, { userOverrideId: slow.id })
  await query(service().system.db, 'update accounts set daily_rate = 3 where id = :id', { id: slow.id })
  for (const client of [slow.api, api]) {
    const answers = []
    for (let i = 0; i < 4; i++) answers.push(await client.get('/'))
    t.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200, 429],
    )
    for (const { headers } of answers) t.is(headers['ratelimit-policy'], '"user";q=3;w=86400')
  }
  t.is((await other.api.get('/')).headers['ratelimit-policy'], '"user";q=2000;w=86400')
})

function remaining(headers: Answer['headers']): number {
  return Number(/^"(?:user|public)";r=(\d+);t=\d+$/.exec(String(headers['ratelimit']))?.[1])
}

/** X-Forwarded-For headers of clients without token, and their remaining requests. */
for (const [forwarded, before] of [
  ['192.0.2.1', 2000],
  ['192.0.2.1', 1999],
  ['203.0.113.1, 192.0.2.1', 1998],
  ['::ffff:192.0.2.1', 1997],
  ['192.0.2.2', 2000],
  ['2001:db8:0:1::1', 2000],
  ['2001:db8:0:1:ffff::2', 1999],
  ['2001:db8:0:2::1', 2000],
  ['192.0.2.1, 127.0.0.9', 1996],
] as const) {
  test.serial(
    `a client without token is counted by its address: ${forwarded} has ${before} requests left`,
    async (t) => {
      const { headers } = await service().anonymous.get('/', { headers: { 'x-forwarded-for': forwarded } })
      t.is(remaining(headers), before - 1)
    },
  )
}

const WITH_PASSWORD = ['login/', 'account/change-email/', 'account/delete/'] as const

for (const [i, last] of WITH_PASSWORD.entries()) {
  test.serial(`after too many wrong passwords from an address, ${last} is 429 for it`, async (t) => {
    const somebody = await person(service())
    const ask = (endpoint: string, members: object = {}, address = `198.51.100.${i}`) => {
      const body = { ...somebody.credentials, new_email: 'new@example.test', ...members }
      return service().anonymous.post(`/auth/${endpoint}`, body, { headers: { 'x-forwarded-for': address } })
    }
    // Right passwords are not counted.
    for (const [endpoint, status] of [
      ['login/', 200],
      ['login/', 200],
      ['account/change-email/', 202],
      ['account/delete/', 202],
      ['login/', 200],
    ] as const) {
      t.is((await ask(endpoint)).status, status)
    }
    // Wrong passwords are counted together, for all accounts.
    for (const endpoint of WITH_PASSWORD) t.is((await ask(endpoint, { password: 'wrong horse' })).status, 403)
    t.is((await ask('login/', { email: 'nobody@example.test' })).status, 403)
    for (const members of [{}, { password: 'wrong horse' }]) {
      const { status, text, headers } = await ask(last, members)
      t.is(status, 429)
      const seconds = Number(headers['retry-after'])
      t.is(text, `{"detail":"${new Throttled(seconds).message}"}`)
      t.is(seconds, 3600)
    }
    t.is((await ask('login/', {}, '198.51.100.200')).status, 200)
  })
}
