import test from 'ava'
import type { Answer } from '../../support/clients/client.ts'
import { useAccount, useService } from '../../support/harness.ts'

// Contract §1.6, CORS.

const service = useService()

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
