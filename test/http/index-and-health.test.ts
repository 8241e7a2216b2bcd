import test from 'ava'
import { mock } from 'node:test'
import { setImmediate as nextIteration } from 'node:timers/promises'
import { HEALTH_TIME } from '../../src/limits.ts'
import { query } from '../../src/store/database.ts'
import type { System } from '../../src/system.ts'
import type { Client } from '../support/clients/client.ts'
import { exchange, plainRequest } from '../support/clients/raw.ts'
import { addToken } from '../support/clients/tokens.ts'
import { useAccount, useService } from '../support/harness.ts'
import type { Call } from '../support/servers/proxy.ts'
import { startService } from '../support/servers/service.ts'

// Contract §§13, 15.2, and absolute URLs of §1.1.

const service = useService()
const account = useAccount(service)

const anonymousIndex = (base: string) =>
  `{"register":"${base}/auth/","login":"${base}/auth/login/","reset-password":"${base}/auth/account/reset-password/"}`

const tokenIndex = (base: string) =>
  `{"account":{"show":"${base}/auth/account/","delete":"${base}/auth/account/delete/",` +
  `"change-email":"${base}/auth/account/change-email/","reset-password":"${base}/auth/account/reset-password/"},` +
  `"logout":"${base}/auth/logout/","tokens":"${base}/auth/tokens/","domains":"${base}/domains/"}`

test.serial('the index without a token', async (t) => {
  const { status, text } = await service().anonymous.get('/')
  t.deepEqual([status, text], [200, anonymousIndex(`${service().url}/api/v1`)])
})

test.serial('the index for a token', async (t) => {
  const { status, text } = await account().api.get('/')
  t.deepEqual([status, text], [200, tokenIndex(`${service().url}/api/v1`)])
})

test.serial('the index names the document of the API and its page in a header', async (t) => {
  const base = `${service().url}/api/v1`
  for (const api of [service().anonymous, account().api]) {
    const { headers } = await api.get('/')
    t.is(headers['link'], `<${base}/openapi.json>; rel="service-desc", <${base}/docs/>; rel="service-doc"`)
  }
})

test.serial('the root shows programs where the API and its documents are', async (t) => {
  const base = `${service().url}/api/v1`
  const links = `{"api":"${base}/","docs":"${base}/docs/","openapi":"${base}/openapi.json"}`
  for (const accept of ['', '*/*', 'application/json', 'text/html;q=0.5, */*', 'image/png', 'x']) {
    const { status, headers, text } = await service().anonymous.get('//root/', { headers: { accept } })
    t.deepEqual([status, text, headers['vary'], headers['location']], [200, links, 'origin, Accept', undefined], accept)
  }
})

test.serial('the root sends browsers to the page of the API', async (t) => {
  const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8'
  const { status, headers, text } = await service().anonymous.get('//root/', { headers: { accept } })
  t.deepEqual([status, text, headers['vary']], [302, '', 'origin, Accept'])
  t.is(headers['location'], 'console/')
  const page = await fetch(new URL(String(headers['location']), service().url))
  t.deepEqual([page.status, page.headers.get('content-type')], [200, 'text/html; charset=utf-8'])
})

test.serial('the index for a token without any permission is the same', async (t) => {
  const { api } = await addToken(service(), account().id)
  t.is((await api.get('/')).text, tokenIndex(`${service().url}/api/v1`))
})

test.serial('the index with a scheme other than Token is that without a token', async (t) => {
  for (const authorization of ['Bearer x', 'Basic eDp5', 'x', '']) {
    const { status, text } = await service().anonymous.get('/', { headers: { authorization } })
    t.deepEqual([status, text], [200, anonymousIndex(`${service().url}/api/v1`)])
  }
})

for (const [authorization, detail] of [
  ['Token wrong', 'Invalid token.'],
  ['Token', 'Invalid token header. No credentials provided.'],
  ['Token a b', 'Invalid token header. Token string should not contain spaces.'],
] as const) {
  test.serial(`an invalid token is 401 on the index, too: ${authorization}`, async (t) => {
    const { status, text } = await service().anonymous.get('/', { headers: { authorization } })
    t.deepEqual([status, text], [401, JSON.stringify({ detail })])
  })
}

test.serial('without a public URL, URLs have the host of the Host header', async (t) => {
  const { body } = await exchange(service().url, plainRequest('GET /api/v1/').replace('api.test', 'other.test:81'))
  t.is(body, anonymousIndex('http://other.test:81/api/v1'))
})

test.serial('URLs ignore the forwarding headers of an untrusted client', async (t) => {
  const headers = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'evil.test' }
  t.is((await service().anonymous.get('/', { headers })).text, anonymousIndex(`${service().url}/api/v1`))
})

test.serial("without Host header, URLs have the server's address", async (t) => {
  const { status, body } = await exchange(service().url, 'GET /api/v1/ HTTP/1.0\r\n\r\n')
  t.deepEqual([status, body], [200, anonymousIndex(`${service().url}/api/v1`)])
})

for (const [given, base] of [
  ['https://dns.example.net', 'https://dns.example.net/api/v1'],
  ['https://dns.example.net/', 'https://dns.example.net/api/v1'],
  ['http://dns.example.net:8080', 'http://dns.example.net:8080/api/v1'],
  ['https://example.net/dns/', 'https://example.net/dns/api/v1'],
] as const) {
  test.serial(`URLs begin with the public URL: ${given}`, async (t) => {
    await withAnother({ PUBLIC_URL: given, TRUSTED_PROXIES: '127.0.0.1' }, async (url) => {
      const forwarded = ['X-Forwarded-Proto: http', 'X-Forwarded-Host: evil.test']
      t.is((await exchange(url, plainRequest('GET /api/v1/', forwarded))).body, anonymousIndex(base))
    })
  })
}

const FORWARDED: [headers: string[], base: string][] = [
  [['X-Forwarded-Proto: https', 'X-Forwarded-Host: dns.example.net'], 'https://dns.example.net'],
  [['X-Forwarded-Proto: https'], 'https://api.test'],
  [['X-Forwarded-Host: dns.example.net:444'], 'http://dns.example.net:444'],
  [[], 'http://api.test'],
]

test.serial('URLs follow the forwarding headers of a trusted proxy', async (t) => {
  await withAnother({ TRUSTED_PROXIES: '127.0.0.0/8' }, async (url) => {
    for (const [headers, base] of FORWARDED) {
      t.is((await exchange(url, plainRequest('GET /api/v1/', headers))).body, anonymousIndex(`${base}/api/v1`))
    }
  })
})

test.serial('the liveness endpoint is 200', async (t) => {
  for (const headers of [{}, { authorization: 'Token wrong' }]) {
    const { status, text } = await service().anonymous.get('//root/healthz', { headers })
    t.deepEqual([status, text], [200, '{"status":"ok"}'])
  }
})

test.serial('the readiness endpoint is 200', async (t) => {
  for (const headers of [{}, { authorization: 'Token wrong' }]) {
    const { status, text } = await service().anonymous.get('//root/readyz', { headers })
    const checks = '{"database":"ok","migrations":"ok","powerdns":"ok"}'
    t.deepEqual([status, text], [200, `{"status":"ready","checks":${checks}}`])
  }
})

test.serial('many requests for the readiness share one check, and then its result for a second', async (t) => {
  const { proxy } = service()
  await withAnother({}, async (_, anonymous, system) => {
    const ask = async (number = 1) => {
      const answers = await Promise.all(Array.from({ length: number }, () => anonymous.get('//root/readyz')))
      for (const { status } of answers) t.is(status, 200)
    }
    const isCheck = ({ path }: Call) => path === ''
    const before = proxy.calls.filter(isCheck).length
    const checks = () => proxy.calls.filter(isCheck).length - before
    const stopped = proxy.stop(isCheck)
    const { counters } = system.pools
    await query(counters, 'select 1')
    // The clock stands still, so nothing else can let another check begin.
    stopClock()
    try {
      const waiting = ask(300)
      await stopped.arrived
      // Postgres has answered, within its own time limit.
      while (counters.idleCount < counters.totalCount) await nextIteration()
      mock.timers.tick(2 * HEALTH_TIME)
      const late = ask()
      await anonymous.get('//root/healthz')
      stopped.release('pass')
      await Promise.all([waiting, late])
      mock.timers.tick(HEALTH_TIME - 1)
      await ask()
      t.is(checks(), 1)
      mock.timers.tick(1)
      await ask()
      t.is(checks(), 2)
    } finally {
      mock.timers.reset()
    }
  })
})

/**
 * Stops the clock of timers. Those that are there go on, and can still be cleared: the time limit of a running statement
 * would otherwise keep the process until it is over, after two minutes.
 */
function stopClock(): void {
  const clearReal = clearTimeout
  mock.timers.enable({ apis: ['setTimeout'] })
  const clearStopped = clearTimeout
  globalThis.clearTimeout = (timer) => {
    clearReal(timer)
    clearStopped(timer)
  }
}

test.serial('liveness and readiness have no path below the API', async (t) => {
  t.is((await service().anonymous.get('/healthz')).status, 404)
  t.is((await service().anonymous.get('/readyz')).status, 404)
})

/** Runs `work` on a second service with other settings and the same servers. */
async function withAnother(
  environment: Record<string, string>,
  work: (url: string, anonymous: Client, system: System) => Promise<void>,
): Promise<void> {
  const { url, anonymous, system, stop } = await startService(service().backends, environment)
  try {
    await work(url, anonymous, system)
  } finally {
    await stop()
  }
}
