import { gzipSync } from 'node:zlib'
import { exchange, plainRequest } from '../../support/clients/raw.ts'
import { useService, useZone, withService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'

// Contract §1.3.

const service = useService()
const NO_DATA = '{"non_field_errors":["No data provided"]}'
const REQUIRED = '{"name":["This field is required."]}'

const zone = useZone(service)

const rrsets = () => `/domains/${zone().domain}/rrsets/`

/** Endpoints that read bodies; DOMAIN stands for the name of the domain. */
const endpoints = [
  ['POST', '/domains/'],
  ['POST', '/domains/DOMAIN/rrsets/'],
  ['PUT', '/domains/DOMAIN/rrsets/@/NS/'],
  ['PATCH', '/domains/DOMAIN/rrsets/@/NS/'],
] as const

let count = 0
/** A body for a new RRset at a new name. */
function rrset(): string {
  return JSON.stringify({ subname: `n${count++}`, type: 'TXT', ttl: 60, records: ['"é"'] })
}

function post(path: string, body: string | Buffer, type?: string, headers: Record<string, string> = {}) {
  return zone().api.post(path, undefined, { body, headers: { ...(type && { 'content-type': type }), ...headers } })
}

for (const type of [
  'application/json',
  'application/json;charset=utf-8',
  'application/json; charset=UTF-8',
  'application/json; charset="utf-8"',
  'application/json; charset=iso-8859-1',
  'application/json; indent=4; anything="at all"',
  'application/json;',
  'application/json ; x',
  'APPLICATION/JSON',
  'Application/Json; Charset=utf-8',
]) {
  test(`the media type ${type} is JSON in UTF-8`, async (t) => {
    const { status, json } = await post(rrsets(), rrset(), type)
    t.is(status, 201)
    t.deepEqual((json as { records: string[] }).records, ['"\\195\\169"'])
  })
}

for (const type of [
  'application/x-www-form-urlencoded',
  'text/plain',
  'text/json',
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/vnd.api+json',
  'application/jsonx',
  'application/json/',
  'application/json, text/plain',
  'multipart/form-data; boundary=x',
  'application/octet-stream',
  'json',
  '*/*',
  ';',
]) {
  for (const [method, path] of endpoints) {
    test(`a body of type ${type} is refused: ${method} ${path}`, async (t) => {
      const { status, text } = await zone().api.send(method, path.replace('DOMAIN', zone().domain), undefined, {
        body: rrset(),
        headers: { 'content-type': type },
      })
      t.is(status, 415)
      t.is(text, JSON.stringify({ detail: `Unsupported media type "${type}" in request.` }))
    })
  }
}

test('a body without media type is refused', async (t) => {
  const { status, text } = await post(rrsets(), rrset())
  t.deepEqual([status, text], [415, '{"detail":"Unsupported media type \\"\\" in request."}'])
})

for (const [what, around] of [
  ['blanks, tabs and line breaks around it', (json: string) => ` \t\r\n${json} \t\r\n`],
  ['a newline after it', (json: string) => `${json}\n`],
] as const) {
  test(`JSON with ${what} is accepted`, async (t) => {
    t.is((await post(rrsets(), around(rrset()), 'application/json')).status, 201)
  })
}

for (const type of [undefined, 'application/json', 'text/plain', 'application/x-www-form-urlencoded']) {
  test(`an empty body counts as {}, whatever its type: ${type}`, async (t) => {
    const { status, text } = await post('/domains/', '', type)
    t.deepEqual([status, text], [400, REQUIRED])
    const patched = await zone().api.send('PATCH', `${rrsets()}@/NS/`, undefined, {
      body: '',
      ...(type && { headers: { 'content-type': type } }),
    })
    t.is(patched.status, 200)
  })

  test(`an empty body on the RRset collection is refused: ${type}`, async (t) => {
    const { status, text } = await post(rrsets(), '', type)
    t.deepEqual([status, text], [400, NO_DATA])
  })
}

test('a request without a body counts as one with an empty body', async (t) => {
  const answer = await exchange(service().url, plainRequest('POST /api/v1/domains/', [authorization()]))
  t.deepEqual([answer.status, answer.body], [400, REQUIRED])
  const zero = plainRequest('POST /api/v1/domains/', [authorization(), 'Content-Length: 0'])
  t.is((await exchange(service().url, zero)).body, REQUIRED)
  const chunked = plainRequest('POST /api/v1/domains/', [authorization(), 'Transfer-Encoding: chunked']) + '0\r\n\r\n'
  t.is((await exchange(service().url, chunked)).body, REQUIRED)
})

for (const [method, path] of endpoints) {
  test(`the root null is refused: ${method} ${path}`, async (t) => {
    const { status, text } = await zone().api.send(method, path.replace('DOMAIN', zone().domain), null)
    t.deepEqual([status, text], [400, NO_DATA])
  })
}

for (const [json, type] of [
  ['[]', 'list'],
  ['[{}]', 'list'],
  ['"text"', 'str'],
  ['""', 'str'],
  ['1', 'int'],
  ['-0', 'int'],
  ['1.5', 'float'],
  ['true', 'bool'],
  ['false', 'bool'],
] as const) {
  test(`the root ${json} is refused as ${type}`, async (t) => {
    const body = `{"non_field_errors":["Invalid data. Expected a dictionary, but got ${type}."]}`
    for (const [method, path] of [
      ['POST', '/domains/'],
      ['PUT', `${rrsets()}@/NS/`],
      ['PATCH', `${rrsets()}@/NS/`],
    ] as const) {
      const { status, text } = await zone().api.send(method, path, undefined, {
        body: json,
        headers: { 'content-type': 'application/json' },
      })
      t.deepEqual([status, text], [400, body])
    }
  })
}

for (const [what, body] of [
  ['an open brace', '{'],
  ['no value', '{"name":}'],
  ['a final comma', '{"name":"a.test",}'],
  ['single quotes', "{'name':'a.test'}"],
  ['a comment', '{} // end'],
  ['two values', '{}{}'],
  ['text after the value', '{} x'],
  ['NaN', '{"ttl":NaN}'],
  ['Infinity', '{"ttl":Infinity}'],
  ['-Infinity', '{"ttl":-Infinity}'],
  ['undefined', 'undefined'],
  ['True', '{"a":True}'],
  ['a number in hex', '{"ttl":0x10}'],
  ['a raw line break in a string', '{"name":"a\n"}'],
  ['a raw null character', '{"name":"\0"}'],
  ['null characters', '\0\0\0'],
  ['a bad escape', '{"name":"\\x41"}'],
  ['a form', 'name=a.test'],
  ['only a blank', ' '],
  ['a no-break space', '\u00a0{}'],
  ['a byte order mark twice', '\ufeff\ufeff{}'],
  ['a byte order mark alone', '\ufeff'],
  ['100,000 open arrays', '['.repeat(100_000)],
  ['UTF-16', Buffer.from('{}', 'utf16le')],
  ['invalid UTF-8', Buffer.from('{"name":"\xff"}', 'latin1')],
  ['half a UTF-8 character', Buffer.from('{"name":"\xc3"}', 'latin1')],
  ['a surrogate in UTF-8', Buffer.from('{"name":"\xed\xa0\x80"}', 'latin1')],
  ['an overlong character', Buffer.from('{"name":"\xc0\xaf"}', 'latin1')],
  ['an unfinished character at the end', Buffer.from('{}\xe2\x82', 'latin1')],
  ['a picture', Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')],
] as const) {
  test(`a syntax error is 400 with detail: ${what}`, async (t) => {
    const { status, headers, json } = await post('/domains/', body, 'application/json')
    t.is(status, 400)
    t.is(headers['content-type'], 'application/json')
    t.deepEqual(Object.keys(json as object), ['detail'])
    t.regex((json as { detail: string }).detail, /^JSON parse error - ./)
  })
}

test('a leading byte order mark is ignored', async (t) => {
  t.is((await post('/domains/', '\ufeff{}', 'application/json')).text, REQUIRED)
})

test('an unknown member of up to 99 levels is ignored', async (t) => {
  const nested = (levels: number) => `{"zzz":${'['.repeat(levels)}"[["${']'.repeat(levels)}}`
  t.is((await post('/domains/', nested(99), 'application/json')).text, REQUIRED)
  for (const levels of [100, 50_000]) {
    const { status, text } = await post('/domains/', nested(levels), 'application/json')
    t.deepEqual([status, text], [400, '{"detail":"JSON parse error - values are nested deeper than 100 levels"}'])
  }
})

test("properties of JavaScript's Object.prototype do not count as members, and of repeated members the last", async (t) => {
  t.is((await post('/domains/', '{"__proto__":{"name":"a.test"}}', 'application/json')).text, REQUIRED)
  const repeated = await post('/domains/', '{"name":"a.test","name":""}', 'application/json')
  t.is(repeated.text, '{"name":["This field may not be blank."]}')
})

test('a chunked body is read like any other', async (t) => {
  const json = rrset()
  const half = json.length >> 1
  const headers = [authorization(), 'Content-Type: application/json', 'Transfer-Encoding: chunked']
  const chunks = [json.slice(0, half), json.slice(half), ''].map(
    (chunk) => `${Buffer.byteLength(chunk).toString(16)}\r\n${chunk}\r\n`,
  )
  const octets = plainRequest(`POST /api/v1${rrsets()}`, headers) + chunks.join('')
  t.is((await exchange(service().url, Buffer.from(octets))).status, 201)
})

for (const [method, status] of [
  ['GET', 404],
  ['HEAD', 404],
  ['DELETE', 204],
  ['OPTIONS', 200],
] as const) {
  for (const [what, body, headers] of [
    ['broken JSON', '{', ['Content-Type: application/json']],
    ['another type', 'x', ['Content-Type: text/plain']],
    ['broken gzip', 'x', ['Content-Type: application/json', 'Content-Encoding: gzip']],
  ] as const) {
    test(`the body of ${method} is ignored: ${what}`, async (t) => {
      const path = `/api/v1${rrsets()}nothing/A/`
      const empty = await exchange(service().url, plainRequest(`${method} ${path}`, [authorization()]))
      const filled = await exchange(
        service().url,
        plainRequest(`${method} ${path}`, [authorization(), ...headers], body),
      )
      t.deepEqual([filled.status, filled.body], [empty.status, empty.body])
      t.is(filled.status, status)
    })
  }
}

test('a body compressed with gzip is accepted', async (t) => {
  const packed = gzipSync(rrset())
  t.is((await post(rrsets(), packed, 'application/json', { 'content-encoding': 'gzip' })).status, 201)
})

for (const [what, packed] of [
  ['not gzip', Buffer.from(rrset())],
  ['truncated gzip', gzipSync(rrset()).subarray(0, 30)],
  ['gzip with a wrong checksum', corrupt(gzipSync(rrset()))],
] as const) {
  test(`a body that cannot be decompressed is 400: ${what}`, async (t) => {
    const { status, json } = await post(rrsets(), packed, 'application/json', { 'content-encoding': 'gzip' })
    t.is(status, 400)
    t.regex((json as { detail: string }).detail, /^JSON parse error - ./)
  })
}

test('an unknown Content-Encoding is 415', async (t) => {
  const { status, json } = await post(rrsets(), rrset(), 'application/json', { 'content-encoding': 'zip' })
  t.is(status, 415)
  t.deepEqual(Object.keys(json as object), ['detail'])
})

function corrupt(packed: Buffer): Buffer {
  packed[packed.length - 5]! ^= 0xff
  return packed
}

function authorization(): string {
  return `Authorization: Token ${zone().account.secret}`
}

for (const field of ['max_age', 'max_unused_period']) {
  for (const number of ['1e999', '-1e999', '1e308']) {
    test(`a duration beyond all numbers is 400: ${field} ${number}`, async (t) => {
      const headers = { 'content-type': 'application/json' }
      const answer = await zone().api.post('/auth/tokens/', undefined, { body: `{"${field}":${number}}`, headers })
      t.deepEqual([answer.status, Object.keys(answer.json as object)], [400, [field]])
    })
  }
}

// Contract §1.3: the size of bodies, and bodies whose length differs from Content-Length.

const MIB = 1024 * 1024
const TOO_LARGE = '{"detail":"Payload too large."}'
const json = { 'content-type': 'application/json' }

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

const LIE = '{"subname":"lie","type":"A","ttl":60,"records":["192.0.2.1"]}'

for (const [what, length, body] of [
  ['a body that is shorter than its Content-Length', `Content-Length: ${LIE.length + 1}`, LIE],
  ['a body with octets after its Content-Length', `Content-Length: ${LIE.length - 1}`, LIE],
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
      plainRequest(`POST /api/v1${rrsets()}`, [authorization(), 'Content-Type: application/json', ...headers]) + LIE,
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
