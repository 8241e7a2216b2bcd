import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { request } from 'undici'
import { exchange, plainRequest } from '../../support/clients/raw.ts'
import { useService, useZone, withService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'

// Contract §1.3: the size of bodies, and bodies whose length differs from Content-Length.

const service = useService()
const MIB = 1024 * 1024
const TOO_LARGE = '{"detail":"Payload too large."}'
const json = { 'content-type': 'application/json' }

const zone = useZone(service)

const rrsets = () => `/domains/${zone().domain}/rrsets/`
const authorization = () => `Authorization: Token ${zone().account.secret}`

test('a body of 20 MB is too large', async (t) => {
  const { status, text } = await zone().api.post(rrsets(), undefined, { body: Buffer.alloc(20 * MIB), headers: json })
  t.deepEqual([status, text], [413, TOO_LARGE])
})

for (const [what, headers, body] of [
  ['plain', ['Content-Type: application/json', `Content-Length: ${17 * MIB}`], Buffer.alloc(17 * MIB)],
  [
    'in chunks',
    ['Content-Type: application/json', 'Transfer-Encoding: chunked'],
    Buffer.from(`${(17 * MIB).toString(16)}\r\n${' '.repeat(17 * MIB)}\r\n0\r\n\r\n`),
  ],
  ['compressed', compressedHeaders(), compressed()],
] as const) {
  test(`after a body that is too large, the connection can be reused: ${what}`, async (t) => {
    const first = ['POST /api/v1/domains/ HTTP/1.1', 'Host: api.test', authorization(), ...headers, '', ''].join('\r\n')
    const second = plainRequest('GET /healthz')
    const answer = await exchange(service().url, Buffer.concat([Buffer.from(first), body, Buffer.from(second)]))
    t.is(answer.status, 413)
    t.is(answer.body.slice(0, TOO_LARGE.length), TOO_LARGE)
    t.regex(answer.body.slice(TOO_LARGE.length), /^HTTP\/1\.1 200 OK\r\n[^]*{"status":"ok"}$/)
  })
}

/** The largest body of each kind of route, and the status for an empty object. */
const LIMITS: [method: 'POST' | 'PUT' | 'PATCH', path: () => string, limit: number, status: number][] = [
  ['POST', () => '/domains/', 16 * MIB, 400],
  ['POST', rrsets, 4 * MIB, 400],
  ['PUT', rrsets, 4 * MIB, 400],
  ['PATCH', rrsets, 4 * MIB, 400],
  ['PUT', () => `${rrsets()}@/NS/`, MIB, 400],
  ['PATCH', () => `${rrsets()}@/NS/`, MIB, 200],
  ['POST', () => '/auth/tokens/', MIB, 201],
  ['PATCH', () => `/auth/tokens/${zone().account.tokenId}/`, MIB, 200],
  ['POST', () => `/auth/tokens/${zone().account.tokenId}/policies/rrsets/`, MIB, 400],
  ['POST', () => '/auth/login/', MIB / 16, 400],
  ['POST', () => '/auth/account/delete/', MIB / 16, 400],
  ['PATCH', () => '/auth/account/', MIB / 16, 200],
  ['POST', () => '/auth/account/reset-password/', MIB / 16, 400],
]

for (const [method, path, limit, status] of LIMITS) {
  test(`${method} accepts a body of ${limit / 1024} KiB, and not one octet more: ${path.toString()}`, async (t) => {
    const body = Buffer.alloc(limit + 1, ' ')
    body.write('{}')
    const fitting = await zone().api.send(method, path(), undefined, { body: body.subarray(0, -1), headers: json })
    t.is(fitting.status, status, fitting.text)
    const larger = await zone().api.send(method, path(), undefined, { body, headers: json })
    t.deepEqual([larger.status, larger.text], [413, TOO_LARGE])
  })
}

test('a body of 20 MB in chunks is too large', async (t) => {
  const chunks = Readable.from(Array.from({ length: 20 }, () => Buffer.alloc(MIB, ' ')))
  const { statusCode, body } = await request(`${service().url}/api/v1${rrsets()}`, {
    method: 'POST',
    headers: { ...json, authorization: `Token ${zone().account.secret}` },
    body: chunks,
  })
  t.deepEqual([statusCode, await body.text()], [413, TOO_LARGE])
})

test('a small body that decompresses to 20 MB is too large', async (t) => {
  const { status, text } = await zone().api.post(rrsets(), undefined, {
    body: gzipSync(Buffer.alloc(20 * MIB)),
    headers: { ...json, 'content-encoding': 'gzip' },
  })
  t.deepEqual([status, text], [413, TOO_LARGE])
})

test('a body whose Content-Length is too large is refused before it arrives', async (t) => {
  const head = plainRequest(`POST /api/v1${rrsets()}`, [
    authorization(),
    'Content-Type: application/json',
    `Content-Length: ${17 * MIB}`,
  ])
  const { status, body } = await exchange(service().url, head)
  t.deepEqual([status, body], [413, TOO_LARGE])
})

for (const [what, path, body, text] of [
  ['name of a domain', '/domains/', () => ({ name: 'a.'.repeat(8_000_000) + 'a' }), /no more than 191 characters/],
  ['name without dots', '/domains/', () => ({ name: 'a'.repeat(16_000_000) }), /no more than 191 characters/],
  ['subname', undefined, () => ({ subname: 'a.'.repeat(2_000_000) + 'a' }), /no more than 178 characters/],
  ['type', undefined, () => ({ type: 'A'.repeat(4_000_000) }), /no more than 10 characters/],
  ['ttl', undefined, () => ({ ttl: '1'.repeat(4_000_000) }), /String value too large/],
  ['record', undefined, () => ({ records: ['x'.repeat(4_000_000)] }), /no more than 64000 characters/],
] as const) {
  test(`a ${what} as long as the body limit has the same problem as a shorter one`, async (t) => {
    const { status, text: answer } = await zone().api.post(path ?? rrsets(), body())
    t.is(status, 400, answer.slice(0, 200))
    t.regex(answer, text)
  })
}

test('a body has at most 200,000 values, wherever they are', async (t) => {
  const send = (body: string) => zone().api.post('/domains/', undefined, { body, headers: json })
  // The object, the array, and a string that looks like many values but is one.
  const body = (numbers: number) => `{"zzz":["\\"[[,,\\\\",${'0,'.repeat(numbers - 1)}0]}`
  t.is((await send(body(199_997))).text, '{"name":["This field is required."]}')
  const more = await send(body(199_998))
  t.deepEqual([more.status, more.json], [400, { detail: 'JSON parse error - there are more than 200000 values' }])
  t.is((await zone().api.put(rrsets(), undefined, { body: `[${'[],'.repeat(199_999)}0]`, headers: json })).status, 400)
})

test('the body limit is a setting', async (t) => {
  await withService({ BODY_LIMIT: '2000' }, async (own) => {
    const { api } = await own.account()
    const body = (length: number) => ({ body: '{}'.padEnd(length), headers: json })
    t.is((await api.post('/domains/', undefined, body(2000))).status, 400)
    t.is((await api.post('/domains/', undefined, body(2001))).status, 413)
  })
})

/** All RRsets of the zone().domain, as the API shows them. */
async function contents(): Promise<string> {
  return (await zone().api.get(rrsets())).text
}

const rrset = '{"subname":"lie","type":"A","ttl":60,"records":["192.0.2.1"]}'

for (const [what, length, body] of [
  ['a body that is shorter than its Content-Length', `Content-Length: ${rrset.length + 1}`, rrset],
  ['a body with octets after its Content-Length', `Content-Length: ${rrset.length - 1}`, rrset],
  ...['x\r\n', '-1\r\n', '5\r\nab', '2\r\nabcdef\r\n0\r\n\r\n', 'fffffffffffffffffff\r\n'].map(
    (chunks) => [`a body of broken chunks, ${JSON.stringify(chunks)},`, 'Transfer-Encoding: chunked', chunks] as const,
  ),
] as const) {
  test(`${what} changes nothing`, async (t) => {
    const head = plainRequest(`POST /api/v1${rrsets()}`, [authorization(), 'Content-Type: application/json', length])
    const before = await contents()
    // Octets that follow may look like another request.
    const { status } = await exchange(service().url, head.replace('Connection: close\r\n', '') + body, { end: true })
    t.true(status === 0 || status === 400, String(status))
    t.is(await contents(), before)
  })
}

for (const headers of [
  ['Content-Length: -1'],
  ['Content-Length: x'],
  ['Content-Length: 1e3'],
  ['Content-Length: 5', 'Content-Length: 6'],
  ['Content-Length: 99999999999999999999999'],
  ['Content-Length: 5', 'Transfer-Encoding: chunked'],
  ['Transfer-Encoding: nonsense'],
]) {
  test(`an invalid length is 400: ${headers.join(', ')}`, async (t) => {
    const answer = await exchange(
      service().url,
      plainRequest(`POST /api/v1${rrsets()}`, [authorization(), 'Content-Type: application/json', ...headers]) + rrset,
      { end: true },
    )
    t.is(answer.status, 400)
    t.deepEqual(Object.keys(JSON.parse(answer.body) as object), ['detail'])
  })
}

/** 40 MB of null octets, compressed so weakly that they take more than one read from the network. */
function compressed(): Buffer {
  return gzipSync(Buffer.alloc(40 * MIB), { level: 1 })
}

function compressedHeaders(): string[] {
  return ['Content-Type: application/json', 'Content-Encoding: gzip', `Content-Length: ${compressed().length}`]
}
