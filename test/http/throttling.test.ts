import test from 'ava'
import { addToken, newDomain } from '../support/tokens.ts'
import { useWorld, type Account } from '../support/world.ts'
import { query } from '../../src/store/database.ts'
import { Client, type Answer } from '../support/client.ts'

// Contract §14 over HTTP: which scope a request is counted under, when, and what the answer says. The clock stands still
// but where a test moves it.

const world = useWorld({
  THROTTLE: 'on',
  TRUSTED_PROXIES: '127.0.0.0/8',
  THROTTLE_RATES:
    'account_management_active=1001/h; account_management_passive=1002/h; dyndns=1003/h; dns_api_cheap=1004/h; ' +
    'dns_api_expensive=1005/h; dns_api_per_domain_expensive=6/10s, 1006/h; user=2000/d',
})

const START = Date.parse('2026-03-01T12:00:00Z')
let clock = START
let account: Account
let domain: string

test.before('a clock, an account, and a domain', async () => {
  world().system.now = () => new Date(clock).toISOString().replace('Z', '000Z')
  account = await world().account()
  domain = await newDomain(account.api)
  const rrset = { subname: 'www', type: 'A', ttl: 60, records: ['192.0.2.1'] }
  await account.api.post(`/domains/${domain}/rrsets/`, rrset)
})

/** An account whose requests nobody else makes. */
async function fresh(): Promise<Account & { domain: string }> {
  const made = await world().account()
  return { ...made, domain: await newDomain(made.api) }
}

function scopeOf({ headers }: Answer): string | undefined {
  return /^"(\w+)"/.exec(String(headers['ratelimit-policy']))?.[1]
}

const EXPENSIVE = 'dns_api_expensive'
const PER_DOMAIN = 'dns_api_per_domain_expensive'
const CHEAP = 'dns_api_cheap'

for (const [method, path, status, scope] of [
  ['GET', '/', 200, 'user'],
  ['HEAD', '/', 200, 'user'],
  ['POST', '/', 405, 'user'],
  ['GET', '/domains/', 200, CHEAP],
  ['HEAD', '/domains/', 200, CHEAP],
  ['POST', '/domains/', 400, EXPENSIVE],
  ['PUT', '/domains/', 405, EXPENSIVE],
  ['GET', '/domains/D/', 200, CHEAP],
  ['GET', '/domains/absent.test/', 404, CHEAP],
  ['DELETE', '/domains/absent.test/', 204, EXPENSIVE],
  ['PATCH', '/domains/D/', 405, EXPENSIVE],
  ['GET', '/domains/D/rrsets/', 200, CHEAP],
  ['HEAD', '/domains/D/rrsets/', 200, CHEAP],
  ['POST', '/domains/D/rrsets/', 400, PER_DOMAIN],
  ['DELETE', '/domains/D/rrsets/', 405, PER_DOMAIN],
  ['GET', '/domains/D/rrsets/www/A/', 200, CHEAP],
  ['GET', '/domains/D/rrsets/absent/A/', 404, CHEAP],
  ['PUT', '/domains/D/rrsets/absent/A/', 404, PER_DOMAIN],
  ['PATCH', '/domains/D/rrsets/www/A/', 200, PER_DOMAIN],
  ['DELETE', '/domains/D/rrsets/absent/A/', 204, PER_DOMAIN],
  ['POST', '/domains/D/rrsets/www/A/', 405, PER_DOMAIN],
] as const) {
  test.serial(`${method} ${path} with ${status} is counted under ${scope}`, async (t) => {
    clock += 20_000
    const answer = await account.api.send(method, path.replace('D', domain), method === 'GET' ? undefined : {})
    t.is(answer.status, status)
    t.is(scopeOf(answer), scope)
  })
}

for (const [title, request, status] of [
  ['no token', () => world().anonymous.get('/domains/'), 401],
  ['a bad token', () => bearer('nonsense').get('/'), 401],
  ['a missing permission', () => powerless((api) => api.post('/domains/', { name: 'x.test' })), 403],
  ['a missing permission to delete', () => powerless((api) => api.delete('/domains/x.test/')), 403],
  ['a reached quota', () => withoutRoom((api) => api.post('/domains/', { name: 'x.test' })), 403],
  ['a foreign domain', () => account.api.get('/domains/absent.test/rrsets/'), 404],
  ['an automatic type', () => account.api.get(`/domains/${domain}/rrsets/@/SOA/`), 403],
  ['no path', () => account.api.get('/nothing/'), 404],
  ['OPTIONS', () => account.api.send('OPTIONS', '/domains/'), 200],
  ['health', () => account.api.get('//root/healthz'), 200],
  ['readiness', () => account.api.get('//root/readyz'), 200],
] as const) {
  test.serial(`what ends before the throttling step, or has none, is not counted: ${title}`, async (t) => {
    const before = await left()
    const answer = await request()
    t.is(answer.status, status)
    t.is(answer.headers['ratelimit'], undefined)
    t.is(answer.headers['ratelimit-policy'], undefined)
    t.is(await left(), before - 1)
  })
}

/** Requests that the account has left under `user`, after this one. */
async function left(): Promise<number> {
  const { headers } = await account.api.get('/')
  return Number(/;r=(\d+);/.exec(String(headers['ratelimit']))![1])
}

function bearer(secret: string): Client {
  const { url } = world()
  return new Client(url, secret)
}

async function powerless(request: (api: Client) => Promise<Answer>): Promise<Answer> {
  return request((await addToken(world(), account.id)).api)
}

async function withoutRoom(request: (api: Client) => Promise<Answer>): Promise<Answer> {
  return request((await world().account({ limitDomains: 0 })).api)
}

test.serial('the answer tells what is left, and a rejected one when to come again, in these words', async (t) => {
  const { api, domain: own } = await fresh()
  const headers = ['ratelimit-policy', 'ratelimit', 'retry-after', 'content-type', 'content-length', 'allow'] as const
  const write = () => api.delete(`/domains/${own}/rrsets/absent/A/`)
  for (let i = 0; i < 6; i++) {
    const answer = await write()
    t.is(answer.status, 204)
    t.is(answer.headers['ratelimit-policy'], '"dns_api_per_domain_expensive";q=6;w=10')
    t.is(answer.headers['ratelimit'], `"dns_api_per_domain_expensive";r=${5 - i};t=${Math.ceil(10 - i * 0.5)}`)
    t.is(answer.headers['retry-after'], undefined)
    clock += 500
  }
  const rejected = await write()
  t.is(rejected.status, 429)
  t.is(rejected.text, '{"detail":"Request was throttled. Expected available in 7 seconds."}')
  t.deepEqual(
    headers.map((name) => rejected.headers[name]),
    [
      '"dns_api_per_domain_expensive";q=6;w=10',
      '"dns_api_per_domain_expensive";r=0;t=7',
      '7',
      'application/json',
      String(rejected.text.length),
      'GET, PUT, PATCH, DELETE, HEAD, OPTIONS',
    ],
  )
  clock += 6_001
  const soon = await write()
  t.is(soon.text, '{"detail":"Request was throttled. Expected available in 1 second."}')
  t.is(soon.headers['retry-after'], '1')
  clock += 998
  t.is((await write()).status, 429)
  clock += 1
  t.is((await write()).status, 204)
})

test.serial('a throttled request has no effect', async (t) => {
  const { api, domain: own } = await fresh()
  const rrset = (subname: string) => ({ subname, type: 'A', ttl: 60, records: ['192.0.2.1'] })
  for (let i = 0; i < 6; i++) t.is((await api.post(`/domains/${own}/rrsets/`, rrset(`n${i}`))).status, 201)
  t.is((await api.post(`/domains/${own}/rrsets/`, rrset('n6'))).status, 429)
  t.is((await api.get(`/domains/${own}/rrsets/n6/A/`)).status, 404)
})

test.serial('a domain is throttled for itself, and its reads are not', async (t) => {
  const { api, domain: own } = await fresh()
  const other = await newDomain(api)
  const write = async (name: string) => (await api.delete(`/domains/${name}/rrsets/absent/A/`)).status
  for (let i = 0; i < 6; i++) t.is(await write(own), 204)
  t.is(await write(own), 429)
  t.is(await write(other), 204)
  t.is((await api.get(`/domains/${own}/rrsets/`)).status, 200)
})

test.serial('throttled: 401, 403 and 404 go before, 405, 404 of an RRset, 413, 415 and 400 after', async (t) => {
  const { id, api, domain: own } = await fresh()
  const collection = `/domains/${own}/rrsets/`
  for (let i = 0; i < 6; i++) await api.delete(`${collection}absent/A/`)
  const text = { headers: { 'content-type': 'text/plain' }, body: 'x' }
  const broken = { headers: { 'content-type': 'application/json' }, body: '{' }
  const weak = (await addToken(world(), id)).api
  for (const [request, status] of [
    [() => world().anonymous.post(collection, {}), 401],
    [() => account.api.post(collection, {}), 404],
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

test.serial('all tokens of an account are counted together, also those of others that are bound to it', async (t) => {
  const owner = await fresh()
  const other = await world().account()
  const tokens = [
    owner.api,
    (await addToken(world(), owner.id)).api,
    (await addToken(world(), other.id, { userOverrideId: owner.id })).api,
  ]
  const statuses = []
  for (let i = 0; i < 7; i++) {
    statuses.push((await tokens[i % 3]!.delete(`/domains/${owner.domain}/rrsets/absent/A/`)).status)
  }
  t.deepEqual(statuses, [204, 204, 204, 204, 204, 204, 429])
})

test.serial('the daily rate of an account takes the place of the general one, for bound tokens as well', async (t) => {
  const slow = await world().account()
  const other = await world().account()
  const { api } = await addToken(world(), other.id, { userOverrideId: slow.id })
  await setDailyRate(slow.id, 3)
  const answers = []
  for (const client of [slow.api, api, slow.api, api]) answers.push(await client.get('/'))
  t.deepEqual(
    answers.map(({ status, headers }) => [status, headers['ratelimit-policy'], headers['ratelimit']]),
    [
      [200, '"user";q=3;w=86400', '"user";r=2;t=86400'],
      [200, '"user";q=3;w=86400', '"user";r=1;t=86400'],
      [200, '"user";q=3;w=86400', '"user";r=0;t=86400'],
      [429, '"user";q=3;w=86400', '"user";r=0;t=86400'],
    ],
  )
  t.is((await other.api.get('/')).headers['ratelimit-policy'], '"user";q=2000;w=86400')
})

async function setDailyRate(id: string, rate: number): Promise<void> {
  await query(world().system.db, 'update accounts set daily_rate = :rate where id = :id', { id, rate })
}

/** Callers without token, by what the trusted proxy in front says of them. */
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
    `a caller without token is counted by his address: ${forwarded} has ${before} requests left`,
    async (t) => {
      const { headers } = await world().anonymous.get('/', { headers: { 'x-forwarded-for': forwarded } })
      t.is(headers['ratelimit'], `"user";r=${before - 1};t=86400`)
    },
  )
}

test.serial('CORS lets scripts read what throttling says', async (t) => {
  const { headers } = await account.api.get('/', { headers: { origin: 'https://app.example' } })
  const exposed = String(headers['access-control-expose-headers']).split(', ')
  for (const name of ['RateLimit', 'RateLimit-Policy', 'Retry-After']) t.true(exposed.includes(name))
})
