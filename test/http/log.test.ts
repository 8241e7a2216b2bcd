import test from 'ava'
import { randomBytes } from 'node:crypto'
import { PassThrough } from 'node:stream'
import { createApp } from '../../src/http/app.ts'
import { createLog } from '../../src/log.ts'
import { generateSecret } from '../../src/service/tokens/secrets.ts'
import { query } from '../../src/store/database.ts'
import { newDomain } from '../support/clients/api.ts'
import { exchange, plainRequest } from '../support/clients/raw.ts'
import { addToken } from '../support/clients/tokens.ts'
import { eventuallyHas } from '../support/eventually.ts'
import { type TestService, useService, useZone, withService } from '../support/harness.ts'

// One structured line per request, and no secrets in the log.

const service = useService({ LOG_LEVEL: 'debug' })
const zone = useZone(service)

type Line = Record<string, unknown>

/** The log lines of a request. */
async function linesOf(request: string, { logged }: TestService = service()): Promise<Line[]> {
  await eventuallyHas(logged, `"${request}"`)
  const lines = logged().trim().split('\n')
  return lines.map((line) => JSON.parse(line) as Line).filter((line) => line['request'] === request)
}

for (const [method, path, body, route, status, known] of [
  ['GET', '/', undefined, '/api/v1', 200, true],
  ['GET', '/domains', undefined, '/api/v1/domains', 200, true],
  ['HEAD', '/domains/', undefined, '/api/v1/domains', 200, true],
  ['POST', '/domains/', {}, '/api/v1/domains', 400, true],
  ['PUT', '/domains/', {}, '/api/v1/domains', 405, true],
  ['GET', '/domains/DOMAIN/', undefined, '/api/v1/domains/:name', 200, true],
  ['GET', '/domains/absent.test/rrsets/', undefined, '/api/v1/domains/:name/rrsets', 404, true],
  ['GET', '/domains/DOMAIN/rrsets/@/SOA/', undefined, '/api/v1/domains/:name/rrsets/:subname/:type', 403, true],
  ['DELETE', '/domains/DOMAIN/rrsets/no/A/', undefined, '/api/v1/domains/:name/rrsets/:subname/:type', 204, true],
  ['OPTIONS', '/domains/', undefined, '/api/v1/domains', 200, false],
  ['GET', '/nothing/', undefined, null, 404, false],
  ['GET', '/%zz/', undefined, null, 404, false],
  ['GET', '//root/healthz', undefined, '/healthz', 200, false],
  ['GET', '//root/readyz/', undefined, '/readyz', 200, false],
] as const) {
  test.serial(`one log line describes a request: ${method} ${path} is ${status}`, async (t) => {
    const id = randomBytes(8).toString('hex')
    const options = { headers: { 'x-request-id': id } }
    t.is((await zone().api.send(method, path.replace('DOMAIN', zone().domain), body, options)).status, status)
    const [line, ...more] = await linesOf(id)
    t.deepEqual(more, [])
    const { timestamp, ms, ...rest } = line!
    t.regex(String(timestamp), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    t.true(typeof ms === 'number' && ms > 0)
    t.deepEqual(rest, {
      level: 'info',
      message: 'request',
      request: id,
      address: '127.0.0.1',
      ...{ method, route, status },
      account: known ? zone().account.id : null,
      token: known ? zone().account.tokenId : null,
    })
  })
}

for (const [setting, address, logged] of [
  ['full', '192.0.2.77', '192.0.2.77'],
  ['full', '2001:db8:1:2::3', '2001:db8:1:2::3'],
  ['prefix', '192.0.2.77', '192.0.2.0/24'],
  ['prefix', '2001:db8:1:2::3', '2001:db8:1::/48'],
  ['none', '192.0.2.77', null],
] as const) {
  test.serial(`a log line names the client's address as the setting says: ${setting}, ${address}`, async (t) => {
    await withService({ LOG_ADDRESSES: setting, TRUSTED_PROXIES: '127.0.0.1' }, async (own) => {
      const headers = { 'x-forwarded-for': address, 'x-request-id': 'addressed' }
      t.is((await own.anonymous.get('/', { headers })).status, 200)
      const [line] = await linesOf('addressed', own)
      t.is(line!['address'], logged)
    })
  })
}

test.serial('an error that Koa reports is logged in JSON', (t) => {
  createApp(service().system).emit('error', new Error('reported by Koa'))
  const [line] = service()
    .logged()
    .trim()
    .split('\n')
    .filter((text) => text.includes('reported by Koa'))
  t.like(JSON.parse(line!) as Line, { level: 'error', message: 'unexpected error' })
})

test.serial('a request that fails authentication is logged without account and token', async (t) => {
  const { id, secret } = await addToken(service(), zone().account.id, { allowedSubnets: [] })
  const headers = { 'x-request-id': 'stranger', authorization: `Token ${secret}` }
  t.is((await service().anonymous.get('/domains/', { headers })).status, 401)
  const [line] = await linesOf('stranger')
  t.deepEqual([line!['account'], line!['token'], line!['status']], [null, null, 401])
  t.false(service().logged().includes(id))
})

test.serial('the log line of an override token has the bound account', async (t) => {
  const { id: owner } = await service().account()
  const { id, api } = await addToken(service(), owner, { userOverrideId: zone().account.id })
  await api.get('/domains/', { headers: { 'x-request-id': 'bound' } })
  const [line] = await linesOf('bound')
  t.deepEqual([line!['account'], line!['token']], [zone().account.id, id])
})

test.serial('the id in the log is that of the response, even if the service generated it', async (t) => {
  for (const id of ['not/fit', generateSecret()]) {
    const { headers } = await service().anonymous.get('/', { headers: { 'x-request-id': id } })
    t.not(headers['x-request-id'], id)
    t.is((await linesOf(String(headers['x-request-id']))).length, 1)
  }
})

test.serial('a preflight is logged', async (t) => {
  const headers = { 'x-request-id': 'preflight', origin: 'https://a.test', 'access-control-request-method': 'GET' }
  await service().anonymous.send('OPTIONS', '/nothing/', undefined, { headers })
  const [line] = await linesOf('preflight')
  t.deepEqual([line!['method'], line!['route'], line!['status']], ['OPTIONS', null, 200])
})

test.serial('a request that the client aborts is logged', async (t) => {
  const headers = [`Authorization: Token ${zone().account.secret}`, 'X-Request-Id: halfway', 'Content-Length: 100']
  await exchange(service().url, plainRequest(`POST /api/v1/domains/`, headers) + '{', { end: true })
  t.is((await linesOf('halfway')).length, 1)
})

test.serial('the log contains no secret, wherever it was sent', async (t) => {
  const canary = `Canary${randomBytes(12).toString('hex')}`
  await withService({ LOG_LEVEL: 'debug' }, async (own) => {
    const { id } = await own.account()
    const { api } = await addToken(own, id, { secret: canary, permCreateDomain: true, permDeleteDomain: true })
    const name = await newDomain(api)
    const rrsets = `/domains/${name}/rrsets/`
    const json = { 'content-type': 'application/json' }
    const send = async () => {
      await api.get('/domains/')
      await api.get('/domains/', { headers: { authorization: `Bearer ${canary}` } })
      await api.get('/domains/', { headers: { authorization: `Token ${canary} ${canary}` } })
      await api.get('/domains/', { headers: { authorization: `Token x${canary}` } })
      await api.get('/domains/', { headers: { cookie: canary, 'x-canary': canary, 'user-agent': canary } })
      await api.get('/', { headers: { 'x-forwarded-for': canary, 'x-forwarded-host': canary, origin: canary } })
      await api.get('/', { headers: { 'x-request-id': `${canary}/not/fit` } })
      await api.get(`/domains/?owns_qname=${canary}&token=${canary}&${canary}`)
      await api.get(`${rrsets}?subname=${canary}&type=${canary}`)
      await api.get(`/${canary}/`)
      await api.get(`/${canary}/%zz`)
      await api.get(`/domains/${canary}/`)
      await api.get(`${rrsets}${canary}/${canary}/`)
      await api.delete(`${rrsets}${canary.toLowerCase()}/A/`)
      await api.post('/domains/', { name: canary, [canary]: canary })
      await api.post('/domains/', undefined, { body: `{"${canary}`, headers: json })
      await api.post('/domains/', undefined, { body: canary, headers: { 'content-type': `text/${canary}` } })
      await api.post('/domains/', undefined, { body: canary, headers: { ...json, 'content-encoding': canary } })
      await api.post(rrsets, { subname: canary.toLowerCase(), type: 'TXT', ttl: 60, records: [`"${canary}"`] })
      await api.post(rrsets, { subname: canary, type: canary, ttl: canary, records: [canary] })
      await api.patch(`${rrsets}${canary.toLowerCase()}/TXT/`, { records: [`"${canary}" "more"`] })
      await api.delete(`${rrsets}${canary.toLowerCase()}/TXT/`)
      await exchange(own.url, `${canary} / HTTP/1.1\r\n\r\n`)
      await exchange(own.url, plainRequest('GET /', [`X ${canary}: ${canary}`]))
    }
    await send()
    // The same when PowerDNS or Postgres fails, which logs more.
    own.proxy.fail(() => ({ refuse: 500 }))
    await send()
    own.proxy.fail(() => ({ refuse: 422 }))
    await send()
    own.proxy.fail(() => 'cut')
    await send()
    own.proxy.heal()
    await query(own.system.db, 'alter table rrsets rename to rrsets_away')
    await send()
    await query(own.system.db, 'alter table domains rename to domains_away')
    await send()
    await api.get('/', { headers: { 'x-request-id': 'last' } })
    t.is((await linesOf('last', own)).length, 1)
    const log = own.logged()
    t.true(log.includes('"unexpected error"') && log.includes('"request failed: a backend is unavailable"'))
    t.false(log.toLowerCase().includes(canary.toLowerCase()))
    t.false(log.includes(own.backends.pdnsApiKey))
  })
})

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const PARENT = 'b7ad6b7169203331'

for (const [traceparent, trace] of [
  [`00-${TRACE}-${PARENT}-01`, TRACE],
  [`00-${TRACE}-${PARENT}-00`, TRACE],
  [`cc-${TRACE}-${PARENT}-01-what-comes-later`, TRACE],
  [`00-${TRACE}-${PARENT}-01-more`, undefined],
  [`ff-${TRACE}-${PARENT}-01`, undefined],
  [`00-${'0'.repeat(32)}-${PARENT}-01`, undefined],
  [`00-${TRACE}-${'0'.repeat(16)}-01`, undefined],
  [`00-${TRACE.toUpperCase()}-${PARENT}-01`, undefined],
  [`00-${TRACE}x-${PARENT}-01`, undefined],
  [`00-${TRACE}`, undefined],
  ['canary', undefined],
] as const) {
  test.serial(`the trace of a request is in its log lines if it is valid: ${traceparent}`, async (t) => {
    const id = randomBytes(8).toString('hex')
    const headers = { 'x-request-id': id, traceparent }
    const answer = await zone().api.get('/nothing/', { headers })
    t.is(answer.headers['x-request-id'], id)
    const [line, ...more] = await linesOf(id)
    t.deepEqual(more, [])
    t.is(line!['trace'], trace)
    t.is('trace' in line!, trace !== undefined)
  })
}

test.serial('as text, a request is one line for people', async (t) => {
  await withService({ LOG_FORMAT: 'text' }, async (own) => {
    const { id, tokenId, api } = await own.account()
    const traceparent = `00-${TRACE}-${PARENT}-01`
    t.is((await api.get('/domains/absent.test/', { headers: { 'x-request-id': 'told', traceparent } })).status, 404)
    await eventuallyHas(() => own.logged(), 'request=told')
    const [line, ...more] = own
      .logged()
      .split('\n')
      .filter((text) => text.includes('request=told'))
    t.deepEqual(more, [])
    const [, rest] = /^\d\d:\d\d:\d\d\.\d{3} (.*)$/.exec(line!) ?? []
    const expected = `404 GET /api/v1/domains/:name MS ms address=127.0.0.1 account=${id} token=${tokenId} request=told trace=${TRACE}`
    t.deepEqual(
      rest!
        .replace(/ [\d.]+ ms /, ' MS ms ')
        .split(' ')
        .sort(),
      expected.split(' ').sort(),
    )
  })
})

/** What a log writes to a stream. */
function written(stream: PassThrough, format?: 'json' | 'text'): string {
  const log = createLog('info', stream, format)
  log.warn('zone repaired', { zone: 'a.test', rrsets: 'www A, \u001b[2J', attempts: 2, marked: null })
  log.error('unexpected error', { error: 'Error: x\n    at y' })
  log.info('request', { method: 'GET', status: 204, route: null, ms: 1.5 })
  return String(stream.read())
}

test('the log is coloured text at a terminal, and JSON elsewhere; LOG_FORMAT decides otherwise', (t) => {
  const terminal = () => Object.assign(new PassThrough(), { isTTY: true })
  const withoutTimes = (text: string) => text.replace(/^\d\d:\d\d:\d\d\.\d{3} /gm, '')
  const lines = (painted: (colour: number, text: string) => string) =>
    [
      `${painted(33, 'warn')} zone repaired zone=a.test rrsets="www A, \\u001b[2J" attempts=2`,
      `${painted(31, 'error')} unexpected error`,
      'Error: x',
      '    at y',
      `${painted(32, '204')} GET - 1.5 ms`,
      '',
    ].join('\n')
  const unpainted = lines((_, text) => text)
  t.is(
    withoutTimes(written(terminal())),
    lines((colour, text) => `\u001b[${colour}m${text}\u001b[0m`),
  )
  t.is(withoutTimes(written(new PassThrough(), 'text')), unpainted)
  for (const text of [written(new PassThrough()), written(terminal(), 'json')]) {
    const parsed = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Line)
    const messages = parsed.map(({ message }) => message)
    t.deepEqual(messages, ['zone repaired', 'unexpected error', 'request'])
  }
})
