import { newLargeDomain, readiness } from '../support/clients/api.ts'
import type { Answer } from '../support/clients/client.ts'
import { exchange, type Held, hold, plainRequest } from '../support/clients/raw.ts'
import { addToken } from '../support/clients/tokens.ts'
import { eventually } from '../support/eventually.ts'
import { useService, useZone, withService } from '../support/harness.ts'
import { test } from '../support/serial.ts'
import { fill, isFull } from '../support/state/budgets.ts'
import { stored } from '../support/state/snapshot.ts'

// Contract §§1.5 to 1.7: bodies, headers and status codes of responses.

const service = useService({ RETRY_AFTER: '7' })
const zone = useZone(service, { ttl: 60 })

const rrsets = (rest = '') => `${zone().rrsets}${rest}`
const owner = () => zone().api
const anonymous = () => service().anonymous

/** One request for each kind of answer with a body. */
const answers: [string, () => Promise<Answer>, number][] = [
  ['the index', () => anonymous().get('/'), 200],
  ['the index for a token', () => owner().get('/'), 200],
  ['a list of domains', () => owner().get('/domains/'), 200],
  ['a domain', () => owner().get(`/domains/${zone().domain}/`), 200],
  ['a new domain', () => owner().post('/domains/', { name: `new.${zone().domain}` }), 201],
  ['a list of RRsets', () => owner().get(rrsets()), 200],
  ['an RRset', () => owner().get(rrsets('www/A/')), 200],
  ['a new RRset', () => owner().post(rrsets(), { subname: 'r', type: 'A', ttl: 60, records: ['192.0.2.1'] }), 201],
  ['a changed RRset', () => owner().patch(rrsets('www/A/'), { ttl: 120 }), 200],
  ['health', () => anonymous().get('//root/healthz'), 200],
  ['readiness', () => anonymous().get('//root/readyz'), 200],
  ['problems of fields', () => owner().post('/domains/', {}), 400],
  ['a problem of an object', () => owner().post('/domains/', null), 400],
  ['broken JSON', () => owner().post('/domains/', undefined, json('{')), 400],
  ['no token', () => anonymous().get('/domains/'), 401],
  ['an automatic type', () => owner().get(rrsets('@/SOA/')), 403],
  ['an unrouted path', () => anonymous().get('/nothing/'), 404],
  ['an absent RRset', () => owner().get(rrsets('nothing/A/')), 404],
  ['a wrong method', () => owner().patch('/domains/', {}), 405],
  ['another media type', () => owner().post('/domains/', undefined, { body: 'x' }), 415],
]

/** The answers that have an ETag (contract §15.1). */
const TAGGED = new Set(['a domain', 'an RRset', 'a changed RRset'])

for (const [title, request, status] of answers) {
  test(`the answer is compact JSON, and has the headers of all responses: ${title}`, async (t) => {
    const { status: actual, headers, text, json: body } = await request()
    t.is(actual, status)
    t.is(headers['content-type'], 'application/json')
    t.is(text, JSON.stringify(body))
    t.is(headers['content-length'], String(Buffer.byteLength(text)))
    t.is(headers['transfer-encoding'], undefined)
    t.is(headers['vary'], 'origin')
    t.is(headers['x-content-type-options'], 'nosniff')
    t.regex(String(headers['x-request-id']), /^[A-Za-z0-9._-]{1,128}$/)
    t.is(headers['strict-transport-security'], undefined)
    t.is(headers['www-authenticate'], status === 401 ? 'Token' : undefined)
    t.is(headers['retry-after'], undefined)
    for (const name of ['access-control-allow-origin', 'access-control-allow-credentials', 'location']) {
      t.is(headers[name], undefined)
    }
    t.is(headers['link'] !== undefined, title.startsWith('the index'))
    t.is(headers['etag'] !== undefined, TAGGED.has(title))
    t.is(headers['cache-control'], status < 300 ? 'no-cache' : undefined)
  })
}

test('Accept is ignored', async (t) => {
  for (const accept of ['text/html', 'application/xml', 'application/json;q=0', 'x', '']) {
    const { status, headers } = await owner().get('/domains/', { headers: { accept } })
    t.deepEqual([status, headers['content-type']], [200, 'application/json'])
  }
})

test('an answer is never compressed, whatever the client accepts', async (t) => {
  const { headers, json: body } = await owner().get('/domains/', { headers: { 'accept-encoding': 'gzip, br' } })
  t.is(headers['content-encoding'], undefined)
  t.true(Array.isArray(body))
})

test('non-ASCII characters are not escaped, and the length counts octets', async (t) => {
  const { text, headers } = await owner().post('/domains/', { name: 'Ä€💩.test' })
  t.true(text.startsWith('{"name":["Invalid value (not lowercase): Ä€💩.test",'))
  t.is(headers['content-length'], String(Buffer.byteLength(text)))
})

test('204 has no body, media type or length', async (t) => {
  for (const [method, path, body] of [
    ['DELETE', rrsets('absent/A/'), undefined],
    ['DELETE', '/domains/absent.test/', undefined],
    ['PATCH', rrsets('gone/A/'), { records: [] }],
    ['PUT', rrsets('gone/A/'), { subname: 'gone', type: 'A', ttl: 60, records: [] }],
  ] as const) {
    if (path.includes('gone')) {
      await owner().post(rrsets(), { subname: 'gone', type: 'A', ttl: 60, records: ['192.0.2.1'] })
    }
    const { status, text, headers } = await owner().send(method, path, body)
    t.deepEqual([status, text], [204, ''])
    t.is(headers['content-type'], undefined)
    t.is(headers['transfer-encoding'], undefined)
    t.is(headers['content-length'], undefined)
    t.is(headers['cache-control'], 'no-cache')
  }
})

for (const path of ['/domains/', '/', '//root/healthz']) {
  test(`OPTIONS has no body and no media type: ${path}`, async (t) => {
    const { status, text, headers } = await anonymous().send('OPTIONS', path)
    t.deepEqual([status, text], [200, ''])
    t.is(headers['content-type'], undefined)
    t.is(headers['content-length'], '0')
    t.is(headers['cache-control'], 'no-cache')
  })
}

for (const [title, path, allow] of [
  ['index', () => '/', 'GET, HEAD, OPTIONS'],
  ['domains', () => '/domains/', 'GET, POST, HEAD, OPTIONS'],
  ['one domain', () => `/domains/${zone().domain}/`, 'GET, PATCH, DELETE, HEAD, OPTIONS'],
  ['RRsets', () => rrsets(), 'GET, POST, PUT, PATCH, HEAD, OPTIONS'],
  ['one RRset', () => rrsets('www/A/'), 'GET, PUT, PATCH, DELETE, HEAD, OPTIONS'],
  ['liveness', () => '//root/healthz', 'GET, HEAD, OPTIONS'],
  ['readiness', () => '//root/readyz', 'GET, HEAD, OPTIONS'],
] as const) {
  test(`Allow lists the methods of the resource: ${title}`, async (t) => {
    for (const api of [owner(), anonymous()]) {
      for (const method of ['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PROPFIND', 'SEARCH']) {
        t.is((await api.send(method, path())).headers['allow'], allow, method)
      }
    }
  })

  test(`every other method is 405: ${title}`, async (t) => {
    for (const method of [
      'POST',
      'PUT',
      'PATCH',
      'DELETE',
      'TRACE',
      'PROPFIND',
      'LOCK',
      'PURGE',
      'M-SEARCH',
      'QUERY',
    ]) {
      if (allow.split(', ').includes(method) || (method === 'QUERY' && process.version.startsWith('v20.'))) continue
      const { status, text, headers } = await owner().send(method, path())
      t.deepEqual([status, text], [405, `{"detail":"Method \\"${method}\\" not allowed."}`])
      t.is(headers['allow'], allow)
    }
  })

  test(`HEAD equals GET without the body: ${title}`, async (t) => {
    for (const api of [owner(), anonymous()]) {
      const [get, head] = [await api.get(path()), await api.send('HEAD', path())]
      t.is(head.text, '')
      t.deepEqual([head.status, same(head.headers)], [get.status, same(get.headers)])
    }
  })
}

for (const [title, path] of [
  ['an absent RRset', () => rrsets('nothing/A/')],
  ['an automatic type', () => rrsets('@/SOA/')],
  ['an unrouted path', () => '/nothing'],
] as const) {
  test(`HEAD equals GET without the body for errors, too: ${title}`, async (t) => {
    const [get, head] = [await owner().get(path()), await owner().send('HEAD', path())]
    t.is(head.text, '')
    t.deepEqual([head.status, same(head.headers)], [get.status, same(get.headers)])
  })
}

/** The headers that are the same for every request and connection. */
function same(headers: Answer['headers']): Answer['headers'] {
  return { ...headers, date: undefined, 'x-request-id': undefined, connection: undefined, 'keep-alive': undefined }
}

for (const given of ['abc', 'A.b_c-9', 'x'.repeat(128), '.', '550e8400-e29b-41d4-a716-446655440000']) {
  test(`a request's X-Request-Id is returned: ${given.slice(0, 40)}`, async (t) => {
    for (const path of ['/', '/nothing/', '/domains/', '/%zz/']) {
      t.is((await anonymous().get(path, { headers: { 'x-request-id': given } })).headers['x-request-id'], given)
    }
  })
}

for (const given of ['', 'x'.repeat(129), 'a b', 'a,b', 'a/b', 'ä', '{}', 'a\tb', '"a"', 'a:b']) {
  test(`an invalid X-Request-Id is replaced: ${JSON.stringify(given.slice(0, 40))}`, async (t) => {
    const octets = plainRequest('GET /healthz', [`X-Request-Id: ${given}`])
    const [first, second] = await Promise.all([exchange(service().url, octets), exchange(service().url, octets)])
    t.regex(first.headers['x-request-id']!, /^[A-Za-z0-9._-]{1,128}$/)
    t.not(first.headers['x-request-id'], given)
    t.not(first.headers['x-request-id'], second.headers['x-request-id'])
  })
}

test('two X-Request-Ids in one request are replaced', async (t) => {
  const { headers } = await exchange(service().url, plainRequest('GET /', ['X-Request-Id: one', 'X-Request-Id: two']))
  t.false(['one', 'two', 'one, two'].includes(headers['x-request-id']!))
})

test('with an https public URL, every response has HSTS', async (t) => {
  await withService({ PUBLIC_URL: 'https://dns.example.net' }, async (own) => {
    const { api } = await own.account()
    const { anonymous: nobody, url } = own
    const hsts = 'max-age=31536000; includeSubDomains; preload'
    const all = [
      nobody.get('/'),
      nobody.get('/nothing/'),
      nobody.get('/domains/'),
      nobody.send('OPTIONS', '/domains/'),
      nobody.get('//root/healthz'),
      api.get('/domains/'),
      api.delete('/domains/absent.test/'),
      api.post('/domains/', {}),
    ]
    for (const { headers } of await Promise.all(all)) t.is(headers['strict-transport-security'], hsts)
    const garbage = await exchange(url, 'garbage\r\n\r\n')
    t.deepEqual([garbage.status, garbage.headers['strict-transport-security']], [400, hsts])
  })
})

test('with an http public URL, no response has HSTS', async (t) => {
  await withService({ PUBLIC_URL: 'http://dns.example.net' }, async ({ anonymous: nobody }) => {
    t.is((await nobody.get('/')).headers['strict-transport-security'], undefined)
  })
})

function json(body: string) {
  return { body, headers: { 'content-type': 'application/json' } }
}

// Contract §§2.2, 2.3 and 15.2: failures of the service itself, and RETRY_AFTER. Those of PowerDNS and Postgres are in
// test/faults/powerdns-away.test.ts, powerdns-fails.test.ts and postgres.test.ts.

const BUSY = '{"detail":"The request waited too long for its turn. Nothing was changed; please retry."}'
const INTERNAL = '{"detail":"Internal Server Error."}'

const isUnavailable = ({ status, text, headers }: Answer, body: string) =>
  status === 503 && text === body && headers['retry-after'] === '7' && headers['content-type'] === 'application/json'

test('a write that waits too long for the lock of its domain is 503 and changes nothing', async (t) => {
  const before = await stored(service().system.db)
  const other = await service().system.db.connect()
  await other.query('begin')
  await other.query('select from domains where name = $1 for update', [zone().domain])
  const answers = await Promise.all([
    zone().api.patch(rrsets('www/A/'), { ttl: 999 }),
    zone().api.delete(rrsets('www/A/')),
    zone().api.get(rrsets('www/A/')),
  ])
  await other.query('rollback')
  other.release()
  t.true(isUnavailable(answers[0], BUSY), answers[0].text)
  t.true(isUnavailable(answers[1], BUSY), answers[1].text)
  t.is(answers[2].status, 200)
  t.is(await stored(service().system.db), before)
  t.is((await zone().api.patch(rrsets('www/A/'), { ttl: 998 })).status, 200)
})

for (const [what, damage, repair] of [
  ['a table is missing', 'alter table rrsets rename to rrsets_away', 'alter table rrsets_away rename to rrsets'],
  ['a column is missing', 'alter table rrsets rename ttl to tt', 'alter table rrsets rename tt to ttl'],
] as const) {
  test(`when ${what}, the answer is 500 without details, and the log has them once`, async (t) => {
    await service().sql(damage)
    const logged = service().logged().length
    const answers = [
      await zone().api.get(rrsets(), { headers: { 'x-request-id': 'broken-1' } }),
      await zone().api.post(rrsets(), { subname: 'x', type: 'A', ttl: 60, records: ['192.0.2.1'] }),
      await zone().api.delete(rrsets('www/A/')),
    ]
    await service().sql(repair)
    for (const { status, text, headers } of answers) {
      t.deepEqual([status, text], [500, INTERNAL])
      t.is(headers['content-type'], 'application/json')
      t.is(headers['vary'], 'origin')
      t.is(headers['retry-after'], undefined)
      t.truthy(headers['allow'])
    }
    const lines = service().logged().slice(logged).trim().split('\n')
    const entries = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
    const told = entries.filter(({ message, request }) => message === 'unexpected error' && request === 'broken-1')
    t.is(told.length, 1)
    t.regex(String(told[0]!['error']), /does not exist[^]*\n +at /)
    t.is((await zone().api.get(rrsets())).status, 200)
  })
}

test('when migrations are missing, the service is not ready', async (t) => {
  const rename = (from: string, to: string) =>
    service().sql('update knex_migrations set name = :to where name = :from', { from, to })
  await rename('01_accounts', '01_others')
  const { status, text, headers } = await readiness(service(), service().anonymous)
  await rename('01_others', '01_accounts')
  const checks = '{"database":"ok","migrations":"unavailable","powerdns":"ok"}'
  t.deepEqual([status, text], [503, `{"status":"unavailable","checks":${checks}}`])
  t.is(headers['retry-after'], '7')
})

// Contract §1.8: responses that their clients do not take, while others wait for the places.

const held: Held[] = []

test.afterEach.always('the connections are closed', () => {
  for (const { socket } of held.splice(0)) socket.destroy()
})

/** A new account with a domain whose list and zone file do not fit into the buffers of a connection. */
async function largeDomain() {
  const account = await service().account()
  const domain = await newLargeDomain(service(), account.api)
  return { account, list: `/domains/${domain}/rrsets/?cursor=`, zonefile: `/domains/${domain}/zonefile/` }
}

/** Asks for a response, and takes nothing of it. */
async function ask(path: string, secret: string): Promise<Held> {
  const asked = await hold(service().url, plainRequest(`GET /api/v1${path}`, [`Authorization: Token ${secret}`]))
  asked.socket.pause()
  held.push(asked)
  return asked
}

test('while four accounts take nothing of their exports, others get theirs', async (t) => {
  const domains = await Promise.all(Array.from({ length: 5 }, largeDomain))
  const last = domains.pop()!
  const unread = await Promise.all(domains.map(({ account, zonefile }) => ask(zonefile, account.secret)))
  await eventually(() => isFull(service().system.bounds.exports))
  t.is((await last.account.api.get(last.zonefile)).status, 200)
  for (const { socket } of unread) socket.resume()
  const bodies = await Promise.all(unread.map(async ({ answer }) => (await answer).body))
  t.true(bodies.some((body) => !body.endsWith('\r\n0\r\n\r\n')))
})

test("while an account's API tokens have all their places of lists and exports, its logins have theirs", async (t) => {
  const { account, list, zonefile } = await largeDomain()
  const { id } = account
  const owner = await addToken(service(), id, { mfa: true })
  const { readers, exports } = service().system.bounds
  const releases = [fill(readers, `readers of ${id}`), fill(exports, `exports of ${id}`)]
  t.is((await owner.api.get(list)).status, 200)
  t.is((await owner.api.get(zonefile)).status, 200)
  for (const release of releases) release()
})

test('an export of which its client takes nothing makes room for others of its account', async (t) => {
  const { account, zonefile } = await largeDomain()
  const { answer } = await ask(zonefile, account.secret)
  await eventually(() => isFull(service().system.bounds.exports, `exports of ${account.id}`))
  t.is((await account.api.get(zonefile)).status, 200)
  held[0]!.socket.resume()
  t.false((await answer).body.endsWith('\r\n0\r\n\r\n'))
})
