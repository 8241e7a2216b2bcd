import test from 'ava'
import fc from 'fast-check'
import { METHODS } from 'node:http'
import type { Account } from '../../support/clients/accounts.ts'
import { newDomain } from '../../support/clients/api.ts'
import { exchange, type RawAnswer } from '../../support/clients/raw.ts'
import { addToken } from '../../support/clients/tokens.ts'
import { useService } from '../../support/harness.ts'
import { snapshot } from '../../support/state/snapshot.ts'

// Random requests never cause a 5xx, always get an error in one of the forms of contract §2.1, and change nothing.

const service = useService()

/** The number of random requests of each kind, and how many are sent in parallel. */
const numRuns = 1200
const parallel = 8

let account: Account
let unprivileged: string
let domain: string
let foreign: string

test.before('an account with a domain', async () => {
  account = await service().account()
  unprivileged = (await addToken(service(), account.id)).secret
  domain = await newDomain(account.api)
  foreign = await newDomain((await service().account()).api)
  await account.api.post(`/domains/${domain}/rrsets/`, { subname: 'www', type: 'A', ttl: 60, records: ['192.0.2.1'] })
})

/** The problem of an answer to a request that must not change anything; undefined if it is right. */
function problem({ status, headers, head, body }: RawAnswer, method: string): string | undefined {
  if (status === 0) return method === 'CONNECT' ? undefined : 'no answer'
  if (status >= 500) return `${status} ${body}`
  if (status >= 300 && status < 400) return 'a redirect'
  if (headers['transfer-encoding'] !== undefined) return 'chunks'
  for (const name of ['vary', 'x-request-id', 'x-content-type-options']) {
    if (headers[name] === undefined) return `no ${name}: ${head}`
  }
  if (status === 204) return body === '' && headers['content-type'] === undefined ? undefined : 'a body with 204'
  // Invalid HTTP has no method, even if it begins like one.
  const unread = body === '{"detail":"Bad request."}' && headers['connection'] === 'close'
  if (method === 'HEAD') return body === '' || unread ? undefined : 'a body for HEAD'
  if (headers['content-length'] !== String(Buffer.byteLength(body))) return 'a wrong length'
  if (method === 'OPTIONS' && status === 200) return body === '' ? undefined : 'a body for OPTIONS'
  if (headers['content-type'] !== 'application/json') return `no JSON: ${head}`
  return status < 400 || isErrorShape(JSON.parse(body)) ? undefined : `no shape of an error: ${body}`
}

function isErrorShape(body: unknown): boolean {
  if (Array.isArray(body)) return body.length > 0 && body.every((item) => isObject(item) && isFields(item))
  if (!isObject(body)) return false
  return typeof body['detail'] === 'string'
    ? Object.keys(body).length === 1
    : Object.keys(body).length > 0 && isFields(body)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isFields(fields: Record<string, unknown>): boolean {
  return Object.values(fields).every(
    (texts) => Array.isArray(texts) && texts.length > 0 && texts.every((text) => typeof text === 'string'),
  )
}

interface Garbage {
  method: string
  path: string
  headers: string[]
  body: Buffer
}

async function send({ method, path, headers, body }: Garbage): Promise<RawAnswer> {
  const lines = [`${method} ${path} HTTP/1.1`, 'Host: api.test', 'Connection: close', ...headers]
  const head = [...lines, `Content-Length: ${body.length}`, '', ''].join('\r\n')
  return exchange(service().url, Buffer.concat([Buffer.from(head, 'latin1'), body]))
}

/** Sends a sample in parallel; throws with the request whose answer is wrong. */
async function sendAll(sample: Garbage[]): Promise<void> {
  const queue = [...sample]
  const worker = async () => {
    for (let request = queue.pop(); request !== undefined; request = queue.pop()) {
      const wrong = problem(await send(request), request.method)
      if (wrong !== undefined)
        throw new Error(`${wrong} to ${JSON.stringify({ ...request, body: String(request.body) })}`)
    }
  }
  await Promise.all(Array.from({ length: parallel }, worker))
}

const visible = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code))
const octet = fc.integer({ min: 0x80, max: 0xff }).map((code) => String.fromCharCode(code))
const escaped = fc.nat(255).map((code) => `%${code.toString(16).padStart(2, '0')}`)
/** Parts of a request target that do not end it; octets beyond ASCII are sent unescaped. */
const piece = fc.oneof(
  { weight: 4, arbitrary: visible },
  { weight: 4, arbitrary: escaped },
  octet,
  fc.constantFrom('/', '//', '.', '..', '...', '@', '*', '%', '%2', '%zz', '?', '#', '\\', ';', '%00', '%C3', '%2F'),
)
const segment = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(''))

/** A path of the API with some random segments. DOMAIN and FOREIGN stand for names of domains. */
const path = fc
  .tuple(
    fc.constantFrom('/', '/api/v1', '/api/v1/domains', '/api/v1/domains/DOMAIN', '/api/v1/domains/DOMAIN/rrsets'),
    fc.array(fc.oneof(segment, fc.constantFrom('rrsets', 'www', '@', 'A', 'SOA', 'FOREIGN')), { maxLength: 4 }),
    fc.oneof(
      fc.constant(''),
      segment.map((text) => `?${text}`),
      segment.map((text) => `?subname=${text}&type=${text}`),
    ),
  )
  .map(([base, segments, search]) => [base, ...segments].join('/') + search)

const headerValue = fc.array(fc.oneof(visible, octet, fc.constant(' ')), { maxLength: 40 }).map((all) => all.join(''))
const header = fc
  .tuple(
    fc.constantFrom(
      ...['Accept', 'Origin', 'X-Request-Id', 'X-Forwarded-For', 'X-Forwarded-Proto', 'X-Forwarded-Host', 'Cookie'],
      ...['If-Match', 'If-None-Match', 'Range', 'Expect', 'User-Agent', 'Upgrade', 'TE', 'Forwarded', 'X-Rubbish'],
      ...['Content-Type', 'Content-Encoding', 'Access-Control-Request-Method', 'Accept-Language', 'Date', 'Via'],
    ),
    headerValue,
  )
  .map(([name, value]) => `${name}: ${value}`)

const authorization = fc.oneof(
  { weight: 6, arbitrary: fc.constant('Authorization: Token SECRET') },
  { weight: 2, arbitrary: fc.constant('Authorization: Token UNPRIVILEGED') },
  headerValue.map((value) => `Authorization: ${value}`),
  headerValue.map((value) => `Authorization: Token ${value}`),
  fc.constant('X-None: x'),
)

const type = fc.constantFrom(
  ...['application/json', 'application/json; charset=x', 'text/plain', 'multipart/form-data; boundary=a'],
)

function withSecrets(text: string): string {
  return text
    .replaceAll('SECRET', account.secret)
    .replaceAll('UNPRIVILEGED', unprivileged)
    .replaceAll('DOMAIN', domain)
    .replaceAll('FOREIGN', foreign)
}

/** Redirects a random request that could succeed to a domain that does not exist. */
function harmless({ method, path: target, headers, body }: Garbage): Garbage {
  const nowhere = ['DELETE', 'PATCH'].includes(method) ? target.replaceAll('DOMAIN', 'FOREIGN') : target
  return { method, path: withSecrets(nowhere), headers: headers.map(withSecrets), body }
}

test.serial('garbage in method, path, headers and body changes nothing and gets an error in JSON', async (t) => {
  const garbage = fc.record({
    method: fc.constantFrom('GET', 'GET', 'POST', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', ...METHODS),
    path,
    headers: fc.tuple(authorization, fc.array(header, { maxLength: 4 })).map(([one, more]) => [one, ...more]),
    body: fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
  })
  const before = await snapshot(service().system.db)
  await sendAll(fc.sample(garbage, numRuns).map(harmless))
  t.is(await snapshot(service().system.db), before)
})

test.serial('random JSON changes nothing and gets its problems', async (t) => {
  const target = fc.constantFrom(
    ['POST', '/api/v1/domains/'],
    ['POST', '/api/v1/domains/DOMAIN/rrsets/'],
    ['PUT', '/api/v1/domains/DOMAIN/rrsets/www/A/'],
    ['PUT', '/api/v1/domains/DOMAIN/rrsets/@/NS/'],
    ['PATCH', '/api/v1/domains/DOMAIN/rrsets/absent/A/'],
    ['PATCH', '/api/v1/domains/FOREIGN/rrsets/@/NS/'],
  )
  const value = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom(null, '', ' ', true, 0, -1, 60, 1e300, '60', '\0', '\ud800', 'A', 'TXT', 'SOA', 'www', '*'),
    fc.string({ unit: 'binary' }),
    fc.array(fc.oneof(fc.string(), fc.constantFrom(null, 1, '192.0.2.1', 'x')), { maxLength: 4 }),
  )
  const members = fc.record(
    { name: fc.oneof(value, fc.constant('_x')), subname: value, type: value, ttl: value },
    { requiredKeys: [] },
  )
  const body = fc.oneof(
    fc.jsonValue().filter((json) => !isObject(json)),
    // Records are always wrong, because otherwise the request might be right.
    fc
      .tuple(members, fc.constantFrom(null, [''], ['\0'], 'x', [1], {}))
      .map(([some, records]) => ({ ...some, records })),
  )
  const request = fc.tuple(target, body, type).map(([[method, where], json, mediaType]) => ({
    method,
    path: where,
    headers: ['Authorization: Token SECRET', `Content-Type: ${mediaType}`],
    body: Buffer.from(JSON.stringify(json)),
  }))
  const before = await snapshot(service().system.db)
  // The name must not be a valid domain name either.
  const isName = ({ path: where, body: json }: Garbage) =>
    where === '/api/v1/domains/' && /"name":"?[a-z0-9_-]+\.[a-z0-9._-]*[a-z0-9]"?[,}]/i.test(json.toString())
  const sample = fc.sample(
    request.filter((one) => !isName(one)),
    numRuns,
  )
  await sendAll(
    sample.map(({ path: where, headers, ...rest }) => ({
      ...rest,
      path: withSecrets(where),
      headers: headers.map(withSecrets),
    })),
  )
  t.is(await snapshot(service().system.db), before)
})

test.serial('invalid HTTP changes nothing, and gets an error in JSON or a closed connection', async (t) => {
  const start = fc.constantFrom(
    '',
    'GET ',
    'GET /api/v1/ HTTP/1.1\r\n',
    'POST /api/v1/domains/ HTTP/1.1\r\nHost: a\r\n',
  )
  const octets = fc
    .tuple(start, fc.uint8Array({ maxLength: 200 }))
    .map(([text, bytes]) => Buffer.concat([Buffer.from(text), bytes]))
    // A whole head is a request, whose answer comes before that to the rest.
    .filter((sent) => !sent.includes('\r\n\r\n'))
  const before = await snapshot(service().system.db)
  for (const sent of fc.sample(octets, numRuns / 4)) {
    const answer = await exchange(service().url, sent, { end: true })
    const wrong = answer.status === 0 ? undefined : problem(answer, '')
    t.is(wrong, undefined, JSON.stringify(sent.toString('latin1')))
  }
  t.is(await snapshot(service().system.db), before)
})
