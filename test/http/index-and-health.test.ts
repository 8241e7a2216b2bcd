import test from 'ava'
import { exchange, plainRequest } from '../support/raw.ts'
import { addToken } from '../support/tokens.ts'
import { startService, useWorld, withWorld, type Account } from '../support/world.ts'
import { closeSystem } from '../../src/server.ts'

// Contract §§13, 15.2, and absolute URLs of §1.1.

const world = useWorld()

let account: Account

test.before('an account', async () => {
  account = await world().account()
})

const anonymousIndex = (base: string) =>
  `{"register":"${base}/auth/","login":"${base}/auth/login/","reset-password":"${base}/auth/account/reset-password/"}`

const tokenIndex = (base: string) =>
  `{"account":{"show":"${base}/auth/account/","delete":"${base}/auth/account/delete/",` +
  `"change-email":"${base}/auth/account/change-email/","reset-password":"${base}/auth/account/reset-password/"},` +
  `"logout":"${base}/auth/logout/","tokens":"${base}/auth/tokens/","domains":"${base}/domains/"}`

test.serial('the index for who has no token', async (t) => {
  const { status, text } = await world().anonymous.get('/')
  t.deepEqual([status, text], [200, anonymousIndex(`${world().url}/api/v1`)])
})

test.serial('the index for a token', async (t) => {
  const { status, text } = await account.api.get('/')
  t.deepEqual([status, text], [200, tokenIndex(`${world().url}/api/v1`)])
})

test.serial('the index for a token without any permission is the same', async (t) => {
  const { api } = await addToken(world(), account.id)
  t.is((await api.get('/')).text, tokenIndex(`${world().url}/api/v1`))
})

test.serial('the index with a scheme other than Token is that for who has no token', async (t) => {
  for (const authorization of ['Bearer x', 'Basic eDp5', 'x', '']) {
    const { status, text } = await world().anonymous.get('/', { headers: { authorization } })
    t.deepEqual([status, text], [200, anonymousIndex(`${world().url}/api/v1`)])
  }
})

for (const [authorization, detail] of [
  ['Token wrong', 'Invalid token.'],
  ['Token', 'Invalid token header. No credentials provided.'],
  ['Token a b', 'Invalid token header. Token string should not contain spaces.'],
] as const) {
  test.serial(`a token header that fails is 401 on the index, too: ${authorization}`, async (t) => {
    const { status, text } = await world().anonymous.get('/', { headers: { authorization } })
    t.deepEqual([status, text], [401, JSON.stringify({ detail })])
  })
}

test.serial('URLs are those of the Host header when no public URL is set', async (t) => {
  const { body } = await exchange(world().url, plainRequest('GET /api/v1/').replace('api.test', 'other.test:81'))
  t.is(body, anonymousIndex('http://other.test:81/api/v1'))
})

test.serial('what a stranger says about forwarding does not show in URLs', async (t) => {
  const headers = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'evil.test' }
  t.is((await world().anonymous.get('/', { headers })).text, anonymousIndex(`${world().url}/api/v1`))
})

test.serial('without Host, URLs have the address that was called', async (t) => {
  const { status, body } = await exchange(world().url, 'GET /api/v1/ HTTP/1.0\r\n\r\n')
  t.deepEqual([status, body], [200, anonymousIndex(`${world().url}/api/v1`)])
})

for (const [given, base] of [
  ['https://dns.example.net', 'https://dns.example.net/api/v1'],
  ['https://dns.example.net/', 'https://dns.example.net/api/v1'],
  ['http://dns.example.net:8080', 'http://dns.example.net:8080/api/v1'],
  ['https://example.net/dns/', 'https://example.net/dns/api/v1'],
] as const) {
  test.serial(`URLs begin with the public URL: ${given}`, async (t) => {
    await withService({ PUBLIC_URL: given, TRUSTED_PROXIES: '127.0.0.1' }, async (url) => {
      const forwarded = ['X-Forwarded-Proto: http', 'X-Forwarded-Host: evil.test']
      t.is((await exchange(url, plainRequest('GET /api/v1/', forwarded))).body, anonymousIndex(base))
    })
  })
}

for (const [headers, base] of [
  [['X-Forwarded-Proto: https', 'X-Forwarded-Host: dns.example.net'], 'https://dns.example.net'],
  [['X-Forwarded-Proto: https'], 'https://api.test'],
  [['X-Forwarded-Host: dns.example.net:444'], 'http://dns.example.net:444'],
  [[], 'http://api.test'],
] as const) {
  test.serial(`a trusted proxy tells what the caller sees: ${headers.join(', ')}`, async (t) => {
    await withService({ TRUSTED_PROXIES: '127.0.0.0/8' }, async (url) => {
      t.is((await exchange(url, plainRequest('GET /api/v1/', [...headers]))).body, anonymousIndex(`${base}/api/v1`))
    })
  })
}

test.serial('the process is alive', async (t) => {
  for (const headers of [{}, { authorization: 'Token wrong' }]) {
    const { status, text } = await world().anonymous.get('//root/healthz', { headers })
    t.deepEqual([status, text], [200, '{"status":"ok"}'])
  }
})

test.serial('the service is ready', async (t) => {
  for (const headers of [{}, { authorization: 'Token wrong' }]) {
    const { status, text } = await world().anonymous.get('//root/readyz', { headers })
    const checks = '{"database":"ok","migrations":"ok","powerdns":"ok"}'
    t.deepEqual([status, text], [200, `{"status":"ready","checks":${checks}}`])
  }
})

test.serial('health has no path below the API', async (t) => {
  t.is((await world().anonymous.get('/healthz')).status, 404)
  t.is((await world().anonymous.get('/readyz')).status, 404)
})

test.serial('an index is answered while PowerDNS is away', async (t) => {
  await withWorld({}, async ({ proxy, anonymous }) => {
    proxy.fail(() => 'cut')
    t.is((await anonymous.get('/')).status, 200)
  })
})

/** Another service of the same world, set up otherwise. */
async function withService(environment: Record<string, string>, work: (url: string) => Promise<void>): Promise<void> {
  const { system, running } = await startService(world().backends, environment)
  try {
    await work(`http://127.0.0.1:${running.port}`)
  } finally {
    await running.stop()
    await closeSystem(system)
  }
}
