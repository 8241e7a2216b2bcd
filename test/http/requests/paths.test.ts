import test from 'ava'
import { newDomain } from '../../support/clients/api.ts'
import type { Answer } from '../../support/clients/client.ts'
import { exchange, plainRequest } from '../../support/clients/raw.ts'
import { useAccount, useService, useZone } from '../../support/harness.ts'

// Contract §1.1.

const service = useService()
const NOT_FOUND = '{"detail":"Not found."}'

const zone = useZone(
  service,
  { ttl: 60 },
  { subname: '*', ttl: 60, records: ['192.0.2.2'] },
  { subname: '', ttl: 60, records: ['192.0.2.3'] },
)

/** A request for exactly this path, without the normalisation of HTTP clients. */
async function get(path: string, method = 'GET') {
  return exchange(service().url, plainRequest(`${method} ${path}`, [`Authorization: Token ${zone().account.secret}`]))
}

for (const path of ['/api/v1', '/api/v1/domains', '/healthz', '/readyz']) {
  test.serial(`${path} works with and without final slash, and is never redirected`, async (t) => {
    const [without, slashed] = await Promise.all([get(path), get(`${path}/`)])
    t.is(without.status, 200)
    t.deepEqual([slashed.status, slashed.body], [without.status, without.body])
  })
}

test.serial('a domain and its RRsets are read without final slash, with one, and with several', async (t) => {
  for (const path of ['', '/rrsets', '/rrsets/www/A', '/rrsets/@/A']) {
    const [without, ...slashed] = await Promise.all(
      ['', '/', '//', '/'.repeat(8_000)].map((slashes) => get(`/api/v1/domains/${zone().domain}${path}${slashes}`)),
    )
    t.is(without!.status, 200, path)
    for (const { body } of slashed) t.is(body, without!.body)
  }
})

test.serial('every method works without a final slash', async (t) => {
  const { api } = zone()
  const name = await newDomain(api)
  t.is((await api.post(`/domains/${name}/rrsets`, { type: 'A', ttl: 60, records: ['192.0.2.1'] })).status, 201)
  const rrset = `/domains/${name}/rrsets/@/A`
  t.is((await api.put(rrset, { subname: '', type: 'A', ttl: 60, records: ['192.0.2.2'] })).status, 200)
  t.is((await api.patch(rrset, { ttl: 61 })).status, 200)
  t.is((await api.send('HEAD', rrset)).status, 200)
  t.is((await api.send('OPTIONS', rrset)).status, 200)
  t.is((await api.delete(rrset)).status, 204)
  t.is((await api.delete(`/domains/${name}`)).status, 204)
  t.is((await api.post('/domains', { name })).status, 201)
})

test.serial('fixed segments and domain names are decoded, too', async (t) => {
  const dotted = zone().domain.replace('.', '%2E')
  t.is((await get(`/%61pi/v1/d%6fmains/${dotted}/rrset%73/www/%41/`)).status, 200)
})

for (const [segment, why] of [
  ['%252A', 'an escape is decoded only once'],
  ['w%2Fw', 'a decoded slash'],
  ['%2f', 'a decoded slash alone'],
  ['%2F..%2F', 'decoded slashes around dots'],
  ['%', 'a lone per cent sign'],
  ['%4', 'half an escape'],
  ['%zz', 'an invalid escape'],
  ['%u0041', 'an escape of another syntax'],
  ['%C3', 'half a UTF-8 character'],
  ['%E2%82', 'two thirds of a UTF-8 character'],
  ['%A4', 'a continuation without beginning'],
  ['%C0%AF', 'an overlong slash'],
  ['%ED%A0%80', 'a surrogate in UTF-8'],
  ['%F5%80%80%80', 'a character beyond Unicode'],
  ['%FF', 'an octet that is never UTF-8'],
  ['%C3%A4', 'a letter that is not allowed in names'],
  ['%00', 'a null character'],
  ['www%00', 'a null character at the end'],
  ['www%0A', 'a line break at the end'],
  ['www%20', 'a blank at the end'],
  ['WWW', 'upper case'],
  ['.', 'a dot'],
  ['..', 'two dots'],
  ['www....', 'four dots'],
  ['@@@', 'a suffix is stripped once'],
  ['%f0%9f%92%a9', 'a character beyond the first plane'],
] as const) {
  test.serial(`${segment} addresses nothing: ${why}`, async (t) => {
    for (const path of [`${zone().rrsets}${segment}/A/`, `/domains/${segment}/`, `/${segment}`]) {
      const { status, headers, body } = await get(`/api/v1${path}`)
      t.deepEqual([status, headers['content-type'], body], [404, 'application/json', NOT_FOUND], path)
    }
  })
}

for (const path of [
  '//',
  '///',
  '//api/v1/',
  '/api//v1/',
  '/api/v1//domains/',
  '/api/v1/domains//rrsets/',
  '/api/v1/domains/DOMAIN//rrsets/www/A/',
  '/api/v1/domains/DOMAIN/rrsets/www//A/',
]) {
  test.serial(`an empty segment never matches: ${path}`, async (t) => {
    const { status, body } = await get(path.replace('DOMAIN', zone().domain))
    t.deepEqual([status, body], [404, NOT_FOUND])
  })
}

for (const path of [
  '/API/v1/',
  '/api/V1/',
  '/api/v1/Domains/',
  '/api/v1/domains/DOMAIN/RRsets/',
  '/api/v1/domains/DOMAIN/rrsets/www/a/',
  '/api/v1/domains/DOMAIN/rrsets/Www/A/',
  '/HEALTHZ',
]) {
  test.serial(`segments are case-sensitive: ${path}`, async (t) => {
    const { status, body } = await get(path.replace('DOMAIN', zone().domain))
    t.deepEqual([status, body], [404, NOT_FOUND])
  })
}

for (const path of ['/api/v2/', '/api/v2/domains/', '/domains/', '/api/v1/x', '/api/v1/domains/a/b/']) {
  for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS', 'HEAD']) {
    test.serial(`an unrouted path is 404 without authentication: ${method} ${path}`, async (t) => {
      const { status, text, headers } = await service().anonymous.send(method, `//root${path}`)
      t.deepEqual([status, text], [404, method === 'HEAD' ? '' : NOT_FOUND])
      t.is(headers['allow'], undefined)
      t.is(headers['www-authenticate'], undefined)
    })
  }
}

test.serial('unknown query parameters are ignored', async (t) => {
  const { body } = await get(`/api/v1/domains/${zone().domain}/rrsets/`)
  for (const query of ['?format=html', '?x', '?=', '?&&', '?%', '?%ff=%ff', '?__proto__=1', '?constructor=a&x[]=1']) {
    const answer = await get(`/api/v1/domains/${zone().domain}/rrsets/${query}`)
    t.deepEqual([answer.status, answer.body], [200, body], query)
  }
})

test.serial('the last value of a repeated parameter counts', async (t) => {
  const list = async (query: string) =>
    (await zone().api.get(`/domains/${zone().domain}/rrsets/?${query}`)).json as unknown[]
  t.is((await list('subname=www&subname=nothing')).length, 0)
  t.is((await list('subname=nothing&subname=www')).length, 1)
  t.is((await list('type=TXT&type=A&subname=www')).length, 1)
  t.is((await list('type=A&type=TXT&subname=www')).length, 0)
  const owning = await zone().api.get(`/domains/?owns_qname=nothing.test&owns_qname=www.${zone().domain}`)
  t.is((owning.json as unknown[]).length, 1)
})

test.serial('names and values in the query are decoded', async (t) => {
  const { json } = await zone().api.get(`/domains/${zone().domain}/rrsets/?s%75bname=%77ww&typ%65=%41`)
  t.is((json as unknown[]).length, 1)
})

test.serial('a target in absolute form is routed by its path', async (t) => {
  t.is((await get(`http://elsewhere.test/api/v1/domains/${zone().domain}/rrsets/www/A/`)).status, 200)
})

for (const target of [
  '*',
  'http://[::1/api/v1/',
  'http://a:99999999/',
  'http://%zz/api/v1',
  'x:y',
  '/\\',
  '//=?a=\\@#',
]) {
  test.serial(`the request target ${target} is answered with 4xx in JSON`, async (t) => {
    const { status, headers, body } = await get(target)
    t.true(status === 404 || status === 400, String(status))
    t.is(headers['content-type'], 'application/json')
    t.deepEqual(Object.keys(JSON.parse(body) as object), ['detail'])
  })
}

// Contract §1.6, CORS.

const SIMPLE = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers':
    'Link, Retry-After, Location, ETag, RateLimit, RateLimit-Policy, Preference-Applied, Zoneplane-Publication, Zoneplane-Version',
}
const PREFLIGHT = {
  ...SIMPLE,
  'access-control-allow-headers':
    'accept, authorization, content-type, prefer, user-agent, x-api-key, x-csrftoken, x-requested-with, zoneplane-message',
  'access-control-allow-methods': 'DELETE, GET, OPTIONS, PATCH, POST, PUT',
  'access-control-max-age': '86400',
}

const account = useAccount(service)

/** The CORS headers. */
function cors(headers: Answer['headers']): Record<string, unknown> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('access-control-')))
}

for (const [method, path, status] of [
  ['GET', '/', 200],
  ['GET', '/domains/', 200],
  ['HEAD', '/domains/', 200],
  ['POST', '/domains/', 400],
  ['DELETE', '/domains/absent.test/', 204],
  ['PUT', '/domains/', 405],
  ['GET', '/domains/absent.test/', 404],
  ['GET', '/nothing/', 404],
  ['GET', '/%zz/', 404],
] as const) {
  test.serial(`a response to another origin may be read by it: ${method} ${path}`, async (t) => {
    const answer = await account().api.send(method, path, undefined, { headers: { origin: 'https://ui.example' } })
    t.is(answer.status, status)
    t.deepEqual(cors(answer.headers), SIMPLE)
    t.is(answer.headers['vary'], 'origin')
  })
}

test.serial('401 may be read by another origin, too', async (t) => {
  const { status, headers } = await service().anonymous.get('/domains/', { headers: { origin: 'null' } })
  t.is(status, 401)
  t.deepEqual(cors(headers), SIMPLE)
})

test.serial('without Origin, a response has no CORS headers', async (t) => {
  const wanting = { 'access-control-request-method': 'PUT', 'access-control-request-headers': 'authorization' }
  for (const answer of [
    await account().api.get('/'),
    await account().api.send('OPTIONS', '/domains/'),
    await account().api.send('OPTIONS', '/domains/', undefined, { headers: wanting }),
  ]) {
    t.is(answer.status, 200)
    t.deepEqual(cors(answer.headers), {})
  }
})

for (const path of [
  '/',
  '/domains/',
  '/domains/absent.test/rrsets/@/SOA/',
  '/nothing/',
  '//root/',
  '/%zz/',
  '//root/*',
]) {
  test.serial(`a preflight is 200 with an empty body, without authentication: ${path}`, async (t) => {
    const { status, text, headers } = await service().anonymous.send('OPTIONS', path, undefined, {
      headers: { origin: 'https://ui.example', 'access-control-request-method': 'PATCH' },
    })
    t.deepEqual([status, text], [200, ''])
    t.deepEqual(cors(headers), PREFLIGHT)
    t.is(headers['content-type'], undefined)
    t.is(headers['content-length'], '0')
    t.is(headers['vary'], 'origin')
    t.is(headers['cache-control'], 'no-cache')
  })
}

test.serial('an OPTIONS with Origin that is not a preflight has the headers of a preflight, and Allow', async (t) => {
  const { status, headers } = await service().anonymous.send('OPTIONS', '/domains/', undefined, {
    headers: { origin: 'https://ui.example' },
  })
  t.is(status, 200)
  t.deepEqual(cors(headers), PREFLIGHT)
  t.is(headers['allow'], 'GET, POST, HEAD, OPTIONS')
})

test.serial('an OPTIONS with Origin that is not a preflight is 404 on an unrouted path, and may be read', async (t) => {
  const { status, text, headers } = await service().anonymous.send('OPTIONS', '/nothing/', undefined, {
    headers: { origin: 'https://ui.example' },
  })
  t.deepEqual([status, text], [404, '{"detail":"Not found."}'])
  t.deepEqual(cors(headers), PREFLIGHT)
})

test.serial('a preflight ignores an invalid token', async (t) => {
  const { status } = await service().anonymous.send('OPTIONS', '/domains/', undefined, {
    headers: { origin: 'https://ui.example', 'access-control-request-method': 'GET', authorization: 'Token x' },
  })
  t.is(status, 200)
})
