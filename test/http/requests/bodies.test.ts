import { gzipSync } from 'node:zlib'
import { exchange, plainRequest } from '../../support/clients/raw.ts'
import { useService, useZone } from '../../support/harness.ts'
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
