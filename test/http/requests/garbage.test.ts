import test from 'ava'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createApp } from '../../../src/http/app.ts'
import { rememberPeer } from '../../../src/http/kit/caller.ts'
import { exchange, plainRequest, type RawAnswer } from '../../support/clients/raw.ts'
import { useService, useZone } from '../../support/harness.ts'

// Invalid HTTP is answered by 4xx in JSON or by closing the connection, and never by 5xx.

const service = useService()
const zone = useZone(service)

test.afterEach('the service still works', async (t) => {
  t.is((await zone().api.get('/domains/')).status, 200)
})

const many = (count: number, line: (i: number) => string) => Array.from({ length: count }, (_, i) => line(i)).join('')
const head = 'GET /api/v1/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n'

/** Whether the answer is an error in the API's form, with the headers of all responses. */
function isRefusal({ status, headers, body }: RawAnswer): boolean {
  const { detail, ...more } = JSON.parse(body) as { detail: unknown }
  return (
    status >= 400 &&
    status < 500 &&
    headers['content-type'] === 'application/json' &&
    headers['content-length'] === String(Buffer.byteLength(body)) &&
    headers['vary'] === 'origin' &&
    headers['x-content-type-options'] === 'nosniff' &&
    /^[A-Za-z0-9._-]{1,128}$/.test(headers['x-request-id']!) &&
    typeof detail === 'string' &&
    Object.keys(more).length === 0
  )
}

for (const [what, octets, status] of [
  ['a word', 'hello\r\n\r\n', 400],
  ['an unfinished word', 'hello', 400],
  ['null characters', '\0'.repeat(100), 400],
  ['every octet', Buffer.from(Array.from({ length: 256 }, (_, i) => i)), 400],
  ['the beginning of TLS', Buffer.from('16030100c2010000be0303', 'hex'), 400],
  ['HTTP/2 without being asked', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
  ['HTTP/0.9', 'GET /\r\n', 400],
  ['another version', 'GET /api/v1/ HTTP/9.9\r\nHost: a\r\n\r\n', 400],
  ['an unknown method', 'FROB /api/v1/ HTTP/1.1\r\nHost: a\r\n\r\n', 400],
  ['a method in lower case', 'get /api/v1/ HTTP/1.1\r\nHost: a\r\n\r\n', 400],
  ['a blank in the target', 'GET /api/v1/ x HTTP/1.1\r\nHost: a\r\n\r\n', 400],
  ['a target that does not begin with a slash', 'GET api/v1/ HTTP/1.1\r\nHost: a\r\n\r\n', 400],
  ['a header without colon', `${head}X\r\n\r\n`, 400],
  ['a header without name', `${head}: x\r\n\r\n`, 400],
  ['a blank in a header name', `${head}X Y: z\r\n\r\n`, 400],
  ['a blank before the first header', 'GET /api/v1/ HTTP/1.1\r\n Host: a\r\n\r\n', 400],
  ['a null character in a header', `${head}X: a\0b\r\n\r\n`, 400],
  ['a control character in a header', `${head}X: a\x01b\r\n\r\n`, 400],
  ['a carriage return alone', `${head}X: a\rb\r\n\r\n`, 400],
  ['a very long path', `GET /${'x'.repeat(100_000)} HTTP/1.1\r\nHost: a\r\n\r\n`, 431],
  ['a very long header', `${head}X: ${'x'.repeat(100_000)}\r\n\r\n`, 431],
  ['a very long token', `${head}Authorization: Token ${'x'.repeat(100_000)}\r\n\r\n`, 431],
  ...['[', '[::1', '[1]', 'a b', 'a b/\\"<>', 'a/b', 'a@b', 'a:b', 'a:99999', 'a%zz', '\xff', 'a, b'].flatMap((host) =>
    ['/api/v1/', '/api/v1/v/reset-password/x/', '/healthz', '/nothing'].map(
      (path) => [`Host: ${host} for ${path}`, `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`, 400] as const,
    ),
  ),
  ['HTTP/1.1 without Host', 'GET /api/v1/ HTTP/1.1\r\n\r\n', 400],
  ['a target with a host, without Host', 'GET http://a/api/v1/ HTTP/1.1\r\n\r\n', 400],
  ['two hosts', 'GET /api/v1/ HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n', 400],
  ['a target without host', 'GET http:// HTTP/1.1\r\nHost: a\r\n\r\n', 400],
  ['a target with an invalid host', 'GET http://[/api/v1/ HTTP/1.1\r\nHost: a\r\n\r\n', 400],
  ['a target with a host of 311 characters', `GET http://a.test${'.'.repeat(305)} HTTP/1.1\r\nHost: a\r\n\r\n`, 400],
  ['a target with a user', 'GET http://a@b/api/v1/ HTTP/1.1\r\nHost: a\r\n\r\n', 400],
  ['very many headers', `${head}${many(5000, (i) => `X-${i}: x\r\n`)}\r\n`, 431],
] as const) {
  test.serial(`${what} is refused in JSON`, async (t) => {
    const answer = await exchange(service().url, octets, { end: true })
    t.is(answer.status, status, answer.head)
    t.true(isRefusal(answer), `${answer.head}\n${answer.body}`)
    t.is(answer.headers['connection'], 'close')
  })
}

for (const [what, octets] of [
  ['nothing', ''],
  ['line breaks', '\r\n\r\n\r\n'],
  ['half a request', 'GET /api/v1/ HTT'],
  ['an unfinished request', 'GET /api/v1/ HTTP/1.1\r\nHost: a\r\n'],
  ['another protocol', 'GET /api/v1/ RTSP/1.0\r\n\r\n'],
  ['CONNECT', 'CONNECT api.test:443 HTTP/1.1\r\nHost: api.test\r\n\r\n'],
  ['line feeds alone', 'GET /api/v1/ HTTP/1.1\nHost: a\nConnection: close\n\n'],
  ['a folded header', `${head}X: a\r\n b\r\n\r\n`],
] as const) {
  test.serial(`${what} is refused in JSON, answered, or the connection closed`, async (t) => {
    const answer = await exchange(service().url, octets, { end: true })
    t.true([0, 200].includes(answer.status) || isRefusal(answer), `${answer.head}\n${answer.body}`)
  })
}

for (const [what, octets] of [
  ['HTTP/1.0', 'GET /api/v1/ HTTP/1.0\r\nHost: a\r\n\r\n'],
  ['HTTP/1.0 without Host', 'GET /api/v1/ HTTP/1.0\r\n\r\n'],
  ['an empty Host', 'GET /api/v1/ HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n'],
  ['line breaks before the request', `\r\n\r\n${head}\r\n`],
  ['many headers', `${head}${many(500, (i) => `X-${i}: x\r\n`)}\r\n`],
  ['octets beyond ASCII in headers', `${head}X: \xff\xfe\r\nCookie: \xe4\r\nUser-Agent: \x80\r\n\r\n`],
  [
    'an offer to speak HTTP/2',
    `GET /api/v1/ HTTP/1.1\r\nHost: a\r\nConnection: close, Upgrade\r\nUpgrade: h2c\r\n\r\n`,
  ],
  ['an unknown expectation', `${head}Expect: a miracle\r\n\r\n`],
  ['a cookie', `${head}Cookie: sessionid=x; __proto__=y\r\n\r\n`],
  ['a range', `${head}Range: bytes=0-1\r\nIf-Modified-Since: never\r\nIf-None-Match: *\r\n\r\n`],
  ['another method in a header', `${head}X-HTTP-Method-Override: DELETE\r\n\r\n`],
] as const) {
  test.serial(`a request with ${what} is answered normally`, async (t) => {
    const { status, headers, body } = await exchange(service().url, octets)
    t.is(status, 200)
    t.is(headers['content-length'], String(Buffer.byteLength(body)))
    t.is(headers['transfer-encoding'], undefined)
    t.deepEqual(Object.keys(JSON.parse(body) as object), ['register', 'login', 'reset-password'])
  })
}

test.serial('the host in an absolute target wins over Host', async (t) => {
  const octets = 'GET http://other.test:81/api/v1/ HTTP/1.1\r\nHost: api.test\r\nConnection: close\r\n\r\n'
  const { status, body } = await exchange(service().url, octets)
  t.deepEqual([status, (JSON.parse(body) as { login: string }).login], [200, 'http://other.test:81/api/v1/auth/login/'])
})

test.serial('an HTTP/1.0 client may write', async (t) => {
  const rrset = '{"subname":"old","type":"A","ttl":60,"records":["192.0.2.1"]}'
  const octets = plainRequest(`POST /api/v1/domains/${zone().domain}/rrsets/`, [
    `Authorization: Token ${zone().account.secret}`,
  ])
  const old = octets.replace('HTTP/1.1', 'HTTP/1.0').replace('Connection: close', 'Content-Type: application/json')
  const { status, body } = await exchange(
    service().url,
    old.replace(/\r\n\r\n$/, `\r\nContent-Length: ${rrset.length}\r\n\r\n${rrset}`),
  )
  t.is(status, 201, body)
})

test.serial('a client that expects 100 Continue gets it', async (t) => {
  const headers = [
    `Authorization: Token ${zone().account.secret}`,
    'Content-Type: application/json',
    'Expect: 100-continue',
  ]
  const { head: first, body } = await exchange(service().url, plainRequest('POST /api/v1/domains/', headers, '{}'))
  t.is(first, 'HTTP/1.1 100 Continue')
  t.regex(body, /^HTTP\/1\.1 400 [^]*{"name":\["This field is required\."\]}$/)
})

test.serial('requests on one connection are answered in order', async (t) => {
  const keep = (path: string) => plainRequest(`GET ${path}`).replace('Connection: close\r\n', '')
  const octets = keep('/healthz') + keep('/nothing') + plainRequest('GET /api/v1/domains/')
  const { head: first, body } = await exchange(service().url, octets)
  t.deepEqual(`${first}${body}`.match(/HTTP\/1\.1 \d{3}/g), ['HTTP/1.1 200', 'HTTP/1.1 404', 'HTTP/1.1 401'])
})

test.serial('a complete request gets its own answer, whatever follows it', async (t) => {
  const rrset = '{"subname":"followed","type":"A","ttl":60,"records":["192.0.2.1"]}'
  const headers = [`Authorization: Token ${zone().account.secret}`, 'Content-Type: application/json']
  const octets = plainRequest(`POST /api/v1/domains/${zone().domain}/rrsets/`, headers, rrset)
  const { status, body } = await exchange(
    service().url,
    octets.replace('Connection: close\r\n', '') + 'garbage\r\n\r\n',
  )
  t.is(status, 201)
  t.regex(body, /^{"created"[^]*}HTTP\/1\.1 400 [^]*{"detail":"Bad request\."}$/)
})

test.serial('a method that Node does not name is not allowed', async (t) => {
  const handle = createApp(service().system).callback()
  const server = createServer((request, response) => {
    delete request.method
    void handle(request, response)
  })
  server.on('connection', rememberPeer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const octets = 'QUERY /api/v1/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'
  const { status, body } = await exchange(`http://127.0.0.1:${port}`, octets)
  t.deepEqual([status, body], [405, '{"detail":"Method \\"QUERY\\" not allowed."}'])
  server.close()
})
