import test from 'ava'
import { newDomain } from '../../support/clients/api.ts'
import { exchange, plainRequest } from '../../support/clients/raw.ts'
import { useService, useZone } from '../../support/harness.ts'

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
