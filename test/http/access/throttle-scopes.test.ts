import test from 'ava'
import { createRouter } from '../../../src/http/router.ts'
import { readConfig } from '../../../src/settings/config.ts'
import type { Account } from '../../support/clients/accounts.ts'
import { newDomain } from '../../support/clients/api.ts'
import type { Answer, Client } from '../../support/clients/client.ts'
import { doorOf, ZONES } from '../../support/clients/powerdns.ts'
import { addToken, type Token } from '../../support/clients/tokens.ts'
import { useService } from '../../support/harness.ts'
import { SIGN_ON } from '../../support/sign-on/settings.ts'

// Contract §14 over HTTP: the scope of every path and method, whether the token or the address is counted, and
// which requests are not counted.

const SETTINGS = {
  CAPTCHA: 'on',
  ...SIGN_ON,
  // Without https, there are no passkeys.
  PUBLIC_URL: 'http://dns.example.net',
  THROTTLE: 'on',
  THROTTLE_RATES:
    'account_management_active=1001/h; account_management_passive=1002/h; dyndns=1003/h; dns_api_cheap=1004/h; ' +
    'dns_api_expensive=1005/h; dns_api_per_domain_expensive=1006/h; user=2000/d; ' +
    'public=2000/d; login=1007/h',
}
const service = useService(SETTINGS)

let account: Account
let login: Token
let spare: Token
let domain: string

test.before('an account, logged in as well, and a domain', async () => {
  account = await service().account()
  login = await addToken(service(), account.id, { mfa: false, permManageTokens: true })
  spare = await addToken(service(), account.id)
  domain = await newDomain(account.api)
  const rrset = { subname: 'www', type: 'A', ttl: 60, records: ['192.0.2.1'] }
  await account.api.post(`/domains/${domain}/rrsets/`, rrset)
})

/** An API token, a login token, a token to be deleted, or no token, whose requests are counted for the address. */
const CALLERS = {
  token: () => account.api,
  login: () => login.api,
  spare: () => spare.api,
  nobody: () => service().anonymous,
  /** The API token, as a key of PowerDNS. */
  door: () => doorOf(account),
}

const PUBLIC = 'public'
const ACTIVE = 'account_management_active'
const PASSIVE = 'account_management_passive'
const EXPENSIVE = 'dns_api_expensive'
const PER_DOMAIN = 'dns_api_per_domain_expensive'
const CHEAP = 'dns_api_cheap'
const UPDATE = 'dyndns'

const CODE = '/v/activate-account/x/'
const RRSETS = '/domains/D/rrsets/'
const POLICIES = '/auth/tokens/x/policies/rrsets/'
const WITHOUT_HEAD = /update/

/** Every path and method; null: not counted. */
const ROWS: [caller: keyof typeof CALLERS, method: string, path: string, status: number, scope: string | null][] = [
  ['token', 'GET', '/', 200, 'user'],
  ['nobody', 'GET', '/', 200, PUBLIC],
  ['token', 'POST', '/', 405, 'user'],
  ['nobody', 'GET', '/service/', 200, PUBLIC],
  ['nobody', 'POST', '/service/', 405, PUBLIC],

  ['nobody', 'POST', '/captcha/', 201, PUBLIC],
  ['nobody', 'POST', '/auth/', 403, ACTIVE],
  ['nobody', 'POST', '/auth/login/', 400, 'login'],
  ['nobody', 'GET', '/auth/oidc/', 200, PUBLIC],
  ['nobody', 'POST', '/auth/oidc/', 503, 'login'],
  ['nobody', 'GET', '/auth/oidc/callback/', 403, 'login'],
  ['nobody', 'POST', '/auth/oidc/token/', 400, 'login'],
  ['login', 'GET', '/auth/oidc/link/', 200, PASSIVE],
  ['login', 'POST', '/auth/oidc/link/', 400, PASSIVE],
  ['login', 'DELETE', '/auth/oidc/link/', 204, PASSIVE],
  ['nobody', 'POST', '/auth/oidc/logout/', 400, PUBLIC],
  ['spare', 'POST', '/auth/logout/', 204, null],
  ['nobody', 'POST', '/auth/account/change-email/', 400, ACTIVE],
  ['nobody', 'POST', '/auth/account/reset-password/', 400, ACTIVE],
  ['nobody', 'POST', '/auth/account/delete/', 400, ACTIVE],
  ['nobody', 'GET', CODE, 200, PUBLIC],
  ['nobody', 'POST', CODE, 400, ACTIVE],

  ['token', 'GET', '/auth/account/', 200, PASSIVE],
  ['token', 'PUT', '/auth/account/', 200, PASSIVE],
  ['token', 'PATCH', '/auth/account/', 200, PASSIVE],
  ['token', 'DELETE', '/auth/account/', 405, PASSIVE],

  ['login', 'GET', '/auth/totp/', 200, PASSIVE],
  ['login', 'POST', '/auth/totp/', 202, PASSIVE],
  ['login', 'GET', '/auth/totp/x/', 404, PASSIVE],
  ['login', 'PUT', '/auth/totp/x/', 404, PASSIVE],
  ['login', 'PATCH', '/auth/totp/x/', 404, PASSIVE],
  ['login', 'DELETE', '/auth/totp/x/', 204, PASSIVE],
  ['login', 'POST', '/auth/totp/x/verify/', 404, PASSIVE],
  ['nobody', 'POST', '/auth/totp/x/verify/', 401, PUBLIC],

  ['login', 'GET', '/auth/passkeys/', 200, PASSIVE],
  ['login', 'POST', '/auth/passkeys/', 403, PASSIVE],
  ['login', 'POST', '/auth/passkeys/options/', 403, PASSIVE],
  ['login', 'GET', '/auth/passkeys/x/', 404, PASSIVE],
  ['login', 'PATCH', '/auth/passkeys/x/', 404, PASSIVE],
  ['login', 'DELETE', '/auth/passkeys/x/', 204, PASSIVE],
  ['login', 'POST', '/auth/token/passkey/', 403, PASSIVE],
  ['login', 'POST', '/auth/token/passkey/options/', 403, PASSIVE],
  ['nobody', 'POST', '/auth/login/passkey/', 403, 'login'],
  ['nobody', 'POST', '/auth/login/passkey/options/', 403, 'login'],

  ['login', 'GET', '/auth/members/', 200, PASSIVE],
  ['login', 'POST', '/auth/members/', 400, ACTIVE],
  ['login', 'GET', '/auth/members/x/', 404, PASSIVE],
  ['login', 'PATCH', '/auth/members/x/', 404, PASSIVE],
  ['login', 'DELETE', '/auth/members/x/', 204, PASSIVE],
  ['login', 'GET', '/auth/memberships/', 200, PASSIVE],
  ['login', 'GET', '/auth/memberships/x/', 404, PASSIVE],
  ['login', 'DELETE', '/auth/memberships/x/', 204, PASSIVE],
  ['login', 'POST', '/auth/memberships/x/token/', 404, PASSIVE],
  ['login', 'GET', '/webhooks/', 200, PASSIVE],
  ['login', 'POST', '/webhooks/', 400, ACTIVE],
  ['login', 'GET', '/webhooks/x/', 404, PASSIVE],
  ['login', 'PATCH', '/webhooks/x/', 404, ACTIVE],
  ['login', 'DELETE', '/webhooks/x/', 204, ACTIVE],
  ['login', 'POST', '/webhooks/x/secret/', 404, PASSIVE],
  ['login', 'POST', '/webhooks/x/test/', 404, ACTIVE],
  ['login', 'GET', '/webhooks/x/deliveries/', 404, PASSIVE],
  ['login', 'POST', '/webhooks/x/deliveries/x/redeliver/', 404, ACTIVE],

  ['token', 'GET', '/auth/token/', 200, PASSIVE],
  ['token', 'POST', '/auth/token/', 405, PASSIVE],
  ['token', 'GET', '/auth/tokens/', 200, PASSIVE],
  ['token', 'POST', '/auth/tokens/', 201, PASSIVE],
  ['token', 'PUT', '/auth/tokens/', 405, PASSIVE],
  ['token', 'GET', '/auth/tokens/x/', 404, PASSIVE],
  ['token', 'PUT', '/auth/tokens/x/', 404, PASSIVE],
  ['token', 'PATCH', '/auth/tokens/x/', 404, PASSIVE],
  ['token', 'DELETE', '/auth/tokens/x/', 204, PASSIVE],
  ['token', 'POST', '/auth/tokens/x/tsig/', 404, PASSIVE],
  ['token', 'DELETE', '/auth/tokens/x/tsig/', 204, PASSIVE],
  ['token', 'GET', '/auth/tokens/x/policies/', 404, PASSIVE],
  ['token', 'GET', POLICIES, 404, PASSIVE],
  ['token', 'POST', POLICIES, 404, PASSIVE],
  ['token', 'GET', `${POLICIES}x/`, 404, PASSIVE],
  ['token', 'PUT', `${POLICIES}x/`, 404, PASSIVE],
  ['token', 'PATCH', `${POLICIES}x/`, 404, PASSIVE],
  ['token', 'DELETE', `${POLICIES}x/`, 204, PASSIVE],

  ['token', 'GET', '/domains/', 200, CHEAP],
  ['token', 'POST', '/domains/', 400, EXPENSIVE],
  ['token', 'PUT', '/domains/', 405, EXPENSIVE],
  ['token', 'GET', '/domains/D/', 200, CHEAP],
  ['token', 'GET', '/domains/absent.test/', 404, CHEAP],
  ['token', 'DELETE', '/domains/absent.test/', 204, EXPENSIVE],
  ['token', 'PATCH', '/domains/D/', 200, EXPENSIVE],
  ['token', 'PUT', '/domains/D/', 405, EXPENSIVE],
  ['token', 'GET', '/domains/D/zonefile/', 200, EXPENSIVE],
  ['token', 'POST', '/domains/D/zonefile/', 405, PER_DOMAIN],
  ['token', 'PUT', '/domains/D/zonefile/', 415, PER_DOMAIN],
  ['token', 'PUT', '/domains/D/zonefile/?dry_run=true', 415, CHEAP],
  ['token', 'GET', '/domains/D/publication/', 200, CHEAP],
  ['token', 'GET', '/domains/D/delegation/', 200, CHEAP],
  ['token', 'POST', '/domains/D/delegation/', 200, PER_DOMAIN],
  ['token', 'GET', '/delegations/', 200, CHEAP],
  ['token', 'GET', '/domains/D/transfers/', 200, CHEAP],
  ['token', 'PUT', '/domains/D/transfers/', 400, PER_DOMAIN],
  ['token', 'POST', '/domains/D/rollover/', 201, PER_DOMAIN],
  ['token', 'GET', '/domains/D/rollover/', 200, CHEAP],
  ['token', 'POST', '/domains/D/rollover/confirm/', 409, PER_DOMAIN],
  ['token', 'DELETE', '/domains/D/rollover/', 204, PER_DOMAIN],
  ['token', 'GET', '/domains/D/history/', 200, CHEAP],
  ['token', 'GET', '/domains/D/history/x/', 404, CHEAP],
  ['token', 'POST', '/domains/D/history/x/undo/', 404, PER_DOMAIN],
  ['token', 'POST', '/domains/D/history/x/undo/?dry_run=true', 404, CHEAP],
  ['token', 'POST', '/domains/D/restore/', 400, PER_DOMAIN],
  ['token', 'POST', '/domains/D/restore/?dry_run=true', 400, CHEAP],
  ['token', 'GET', '/activity/', 200, CHEAP],
  ['token', 'GET', '/rrsets/?name=x', 200, CHEAP],
  ['token', 'GET', RRSETS, 200, CHEAP],
  ['token', 'POST', RRSETS, 400, PER_DOMAIN],
  ['token', 'PUT', RRSETS, 400, PER_DOMAIN],
  ['token', 'PATCH', RRSETS, 400, PER_DOMAIN],
  ['token', 'DELETE', RRSETS, 405, PER_DOMAIN],
  ['token', 'GET', `${RRSETS}www/A/`, 200, CHEAP],
  ['token', 'GET', `${RRSETS}absent/A/`, 404, CHEAP],
  ['token', 'PUT', `${RRSETS}absent/A/`, 404, PER_DOMAIN],
  ['token', 'PATCH', `${RRSETS}www/A/?dry_run=true`, 200, CHEAP],
  ['token', 'PATCH', `${RRSETS}?dry_run=true`, 400, CHEAP],
  ['token', 'PATCH', `${RRSETS}?dry_run=1`, 400, PER_DOMAIN],
  ['token', 'PATCH', `${RRSETS}www/A/`, 200, PER_DOMAIN],
  ['token', 'DELETE', `${RRSETS}absent/A/`, 204, PER_DOMAIN],
  ['token', 'POST', `${RRSETS}www/A/`, 405, PER_DOMAIN],

  ['token', 'GET', '/dyndns/update?hostname=D', 200, UPDATE],
  ['token', 'GET', '//root/nic/update?hostname=D', 200, UPDATE],
  ['token', 'GET', '//root/update?hostname=D', 200, UPDATE],
  ['token', 'POST', '/dyndns/update?hostname=D', 405, null],
  ['door', 'GET', '//root/api', 200, CHEAP],
  ['door', 'GET', '/servers', 200, CHEAP],
  ['door', 'GET', '/servers/localhost', 200, CHEAP],
  ['door', 'GET', '/servers/localhost/statistics', 200, CHEAP],
  ['door', 'GET', ZONES, 200, CHEAP],
  ['door', 'POST', ZONES, 422, EXPENSIVE],
  ['door', 'GET', `${ZONES}/D.`, 200, CHEAP],
  ['door', 'PATCH', `${ZONES}/D.`, 422, PER_DOMAIN],
  ['door', 'PATCH', `${ZONES}/D.?dry_run=true`, 422, CHEAP],
  ['door', 'PUT', `${ZONES}/D.`, 204, PER_DOMAIN],
  ['door', 'DELETE', `${ZONES}/D.?dry_run=1`, 422, PER_DOMAIN],
  ['door', 'POST', `${ZONES}/D.`, 405, PER_DOMAIN],
  ['door', 'GET', `${ZONES}/D./export`, 200, EXPENSIVE],
  ['door', 'GET', `${ZONES}/D./cryptokeys`, 200, CHEAP],
  ['door', 'GET', `${ZONES}/D./metadata`, 200, CHEAP],
  ['door', 'GET', '/servers/localhost/search-data?q=D', 200, CHEAP],
  ['door', 'PUT', `${ZONES}/D./rectify`, 200, CHEAP],
  ['door', 'PUT', `${ZONES}/D./notify`, 200, CHEAP],
  ['token', 'GET', '/openapi-powerdns.json', 200, null],
  ['nobody', 'GET', '//root/nic/checkip.html', 200, null],
  ['token', 'GET', '/openapi.json', 200, null],
  ['token', 'GET', '/openapi.yaml', 200, null],
  ['token', 'GET', '/docs/', 200, null],
  ['token', 'GET', '/docs/swagger-ui.css', 200, null],
  ['nobody', 'GET', '//root/', 200, null],
  ['token', 'GET', '//root/healthz', 200, null],
  ['token', 'GET', '//root/readyz', 200, null],
]

for (const [caller, method, path, status, scope] of ROWS) {
  test.serial(`${caller}: ${method} ${path} with ${status} is counted under ${scope ?? 'nothing'}`, async (t) => {
    const client = CALLERS[caller]()
    const hasHead = method === 'GET' && !WITHOUT_HEAD.test(path) && !path.includes('checkip')
    for (const each of hasHead ? ['GET', 'HEAD'] : [method]) {
      const sender = caller === 'spare' || caller === 'door' ? account.api : client
      const before = await left(sender)
      const answer = await send(client, each, path)
      t.is(answer.status, status)
      t.is(scopeOf(answer), scope)
      // The request that reads the rest, and perhaps the request itself.
      t.is(await left(sender), before - (countsToday(caller, status, scope) ? 2 : 1))
    }
  })
}

/** Whether a request counts towards the rate of a day that the index tells: a token's mistakes do not. */
function countsToday(caller: string, status: number, scope: string | null): boolean {
  return caller === 'nobody' ? scope === PUBLIC : scope === 'user' || (scope !== null && status < 400)
}

test.serial('the rows cover every path and method', async (t) => {
  const { stack } = createRouter(readConfig(SETTINGS)).router
  const counted = new Set(
    ROWS.map(([, method, path]) => {
      const target = path.startsWith('//root') ? path.slice(6) : `/api/v1${path}`
      const { pathname } = new URL(target, service().url)
      return `${method} ${String(stack.find((layer) => layer.match(pathname))!.path)}`
    }),
  )
  for (const { path } of stack) {
    const { headers } = await service().anonymous.send('OPTIONS', `//root${String(path)}`)
    for (const method of String(headers['allow']).split(', ')) {
      // HEAD has the scope of GET, and OPTIONS is answered before throttling.
      if (method !== 'HEAD' && method !== 'OPTIONS')
        t.true(counted.has(`${method} ${String(path)}`), `${method} ${path}`)
    }
  }
})

for (const [, method, path, , scope] of ROWS.filter(
  ([caller, , path]) => caller === 'nobody' && /^\/(auth\/($|[^t])|v|c)/.test(path),
)) {
  test.serial(`${method} ${path} is counted for the address, even with a token`, async (t) => {
    const [token, address] = [await left(account.api), await left(service().anonymous)]
    t.is(scopeOf(await send(account.api, method, path)), scope)
    t.is(await left(service().anonymous), address - (scope === PUBLIC ? 2 : 1))
    t.is(await left(account.api), token - 1)
  })
}

for (const [title, request, status] of [
  ['no token', () => service().anonymous.get('/domains/'), 401],
  ['a bad token', () => account.api.get('/', { headers: { authorization: 'Token nonsense' } }), 401],
  ['an API token where a login is needed', () => account.api.get('/auth/totp/'), 403],
  ['a missing permission', () => withoutFlags((api) => api.post('/domains/', { name: 'x.test' })), 403],
  ['a missing permission to delete', () => withoutFlags((api) => api.delete('/domains/x.test/')), 403],
  ['a missing permission to manage', () => withoutFlags((api) => api.get('/auth/tokens/')), 403],
  ['a reached quota', () => withReachedQuota((api) => api.post('/domains/', { name: 'x.test' })), 403],
  ['a foreign domain', () => account.api.get('/domains/absent.test/rrsets/'), 404],
  ['a foreign domain’s zone file', () => account.api.get('/domains/absent.test/zonefile/'), 404],
  ['a foreign host', () => account.api.get('/dyndns/update?hostname=absent.test'), 404],
  ['an automatic type', () => account.api.get(`/domains/${domain}/rrsets/@/SOA/`), 403],
  ['an unknown path', () => account.api.get('/nothing/'), 404],
  ['an unknown action', () => account.api.post('/v/nothing/x/'), 404],
  ['a wrong method where no token is needed', () => account.api.get('/auth/login/'), 405],
  ['OPTIONS', () => account.api.send('OPTIONS', '/domains/'), 200],
] as const) {
  test.serial(`a request that fails before throttling is not counted: ${title}`, async (t) => {
    const before = await Promise.all([left(account.api), left(service().anonymous)])
    const answer = await request()
    t.is(answer.status, status)
    t.is(answer.headers['ratelimit'], undefined)
    t.is(answer.headers['ratelimit-policy'], undefined)
    const after = await Promise.all([left(account.api), left(service().anonymous)])
    t.deepEqual(
      after,
      before.map((requests) => requests - 1),
    )
  })
}

function send(client: Client, method: string, path: string): Promise<Answer> {
  const hasBody = ['POST', 'PUT', 'PATCH'].includes(method)
  return client.send(method, path.replace(/\bD\b/, domain), hasBody ? {} : undefined)
}

function scopeOf({ headers }: Answer): string | null {
  return /^"(\w+)"/.exec(String(headers['ratelimit-policy']))?.[1] ?? null
}

/** The remaining requests of a client in the scope `user`, after this one. */
async function left(client: Client): Promise<number> {
  const { headers } = await client.get('/')
  return Number(/;r=(\d+);/.exec(String(headers['ratelimit']))![1])
}

async function withoutFlags(request: (api: Client) => Promise<Answer>): Promise<Answer> {
  return request((await addToken(service(), account.id)).api)
}

async function withReachedQuota(request: (api: Client) => Promise<Answer>): Promise<Answer> {
  return request((await service().account({ limitDomains: 0 })).api)
}
