import type { Random } from '../support/random.ts'

/** What requests refer to. */
export interface World {
  id: string
  tokenId: string
  secret: string
  /** The secret of a login token. */
  login: string
  domain: string
  /** The id of another token. */
  other: string
  email: string
  password: string
  /** The path of a confirmation link, below /api/v1. */
  link: string
  /** A member of the account. */
  member: string
  /** A webhook of the account. */
  webhook: string
  /** The cookie of a browser that signs in at the issuer, and the state in its URL. */
  signIn: { cookie: string; state: string }
}

/** A request before it becomes octets. */
interface Template {
  method: string
  target: string
  headers: Record<string, string>
  body: unknown
}

/** A valid request to each endpoint, in each form of its authentication. */
export function templates(world: World): Template[] {
  const { domain, other, tokenId, secret, email, password, link, member, webhook, signIn } = world
  const token = { Authorization: `Token ${secret}` }
  const login = { Authorization: `Token ${world.login}` }
  const browser = { Cookie: `__Host-zoneplane-sign-in=${signIn.cookie}` }
  const basic = { Authorization: `Basic ${Buffer.from(`${domain}:${secret}`).toString('base64')}` }
  const www = { subname: 'www', type: 'A', ttl: 3600, records: ['192.0.2.1'] }
  const text = { subname: 'text', type: 'TXT', ttl: 60, records: ['"a \\"b\\" c"', '"\\200"'] }
  const svcb = { subname: '', type: 'HTTPS', ttl: 60, records: ['1 . alpn=h2,h3 ipv4hint=192.0.2.1'] }
  const policy = { domain, subname: 'www', type: 'A', perm_write: true }
  const form = { 'Content-Type': 'application/x-www-form-urlencoded' }
  const tagged = { 'If-Match': '"x", W/"y"', 'If-None-Match': '"z"' }
  const credentials = { email, password }
  const clientDataJSON = Buffer.from(`{"challenge":"${'A'.repeat(43)}"}`).toString('base64url')
  const attested = { id: 'AAAA', response: { clientDataJSON, attestationObject: 'oA', transports: ['usb'] } }
  const signed = {
    id: 'AAAA',
    response: { clientDataJSON, authenticatorData: 'AA', signature: 'AA', userHandle: 'AA' },
  }
  const restrictions = { name: 'n', max_age: '1 00:00:00', max_unused_period: 3600, allowed_subnets: ['127.0.0.0/8'] }

  const rows: [string, Record<string, string>?, unknown?][] = [
    ['GET /api/v1/'],
    ['GET /api/v1/', token],
    ['GET /healthz'],
    ['GET /readyz'],
    ['GET /nic/checkip.html'],
    ['OPTIONS /api/v1/domains/', { Origin: 'https://a.test', 'Access-Control-Request-Method': 'POST' }],
    ['POST /api/v1/captcha/', {}, { kind: 'audio' }],
    ['POST /api/v1/auth/', {}, { email: `new-${domain}@example.test`, password, domain: `n.${domain}`, captcha: null }],
    ['POST /api/v1/auth/login/', {}, credentials],
    ['POST /api/v1/auth/logout/', { Authorization: 'Token x' }],
    ['GET /api/v1/auth/account/', token],
    ['PATCH /api/v1/auth/account/', token, { outreach_preference: true }],
    ['POST /api/v1/auth/account/change-email/', {}, { ...credentials, new_email: `changed-${email}` }],
    ['POST /api/v1/auth/account/reset-password/', {}, { email, captcha: { id: other, solution: 'x' } }],
    ['POST /api/v1/auth/account/delete/', {}, credentials],
    [`GET /api/v1${link}`],
    [`POST /api/v1${link}`, {}, { new_password: 'another good password' }],
    [`POST /api/v1${link}`, form, 'new_password=another+good+password&captcha.id=x&captcha.solution=y'],
    ['POST /api/v1/v/activate-account/x.y/', {}, { captcha: { id: other, solution: 'x' } }],
    ['GET /api/v1/auth/totp/', token],
    ['POST /api/v1/auth/totp/', token, { name: 'phone' }],
    [`POST /api/v1/auth/totp/${other}/verify/`, token, { code: '123456' }],
    ['GET /api/v1/auth/passkeys/', token],
    ['POST /api/v1/auth/passkeys/', token, { name: 'laptop', passkey: attested }],
    ['POST /api/v1/auth/login/passkey/options/', {}, {}],
    ['POST /api/v1/auth/login/passkey/', {}, { passkey: signed }],
    ['POST /api/v1/auth/token/passkey/', token, { passkey: signed }],
    ['POST /api/v1/auth/passkeys/', login, { name: 'laptop', passkey: attested }],
    ['GET /api/v1/auth/members/?cursor=', login],
    ['POST /api/v1/auth/members/', login, { email: `member-${email}`, role: 'editor', domains: [domain] }],
    [`PATCH /api/v1/auth/members/${member}/?tokens=keep`, login, { role: 'admin', domains: null }],
    [`DELETE /api/v1/auth/members/${other}/?tokens=end`, login],
    ['GET /api/v1/auth/memberships/', login],
    [`POST /api/v1/auth/memberships/${member}/token/`, login, {}],
    ['GET /api/v1/activity/?type=token&since=2026-01-31T12:00:00Z&search=www&cursor=', login],
    [`GET /api/v1/activity/?cursor=${other}`, { ...token, Accept: 'application/x-ndjson' }],
    // Of these, nothing is ever sent, also not to another address.
    ['POST /api/v1/webhooks/', login, { url: 'https://127.0.0.1:9/', events: ['delegation'], domains: [domain] }],
    ['GET /api/v1/webhooks/?cursor=', login],
    [`PATCH /api/v1/webhooks/${webhook}/`, login, { events: ['rrsets', 'account'], domains: null, enabled: true }],
    [`POST /api/v1/webhooks/${webhook}/secret/`, login, {}],
    [`POST /api/v1/webhooks/${webhook}/test/`, login, {}],
    [`GET /api/v1/webhooks/${webhook}/deliveries/?cursor=`, login],
    [`POST /api/v1/webhooks/${webhook}/deliveries/${other}/redeliver/`, login, {}],
    [`DELETE /api/v1/webhooks/${other}/`, login],
    ['GET /api/v1/auth/oidc/'],
    ['POST /api/v1/auth/oidc/', {}, {}],
    [`GET /api/v1/auth/oidc/callback/?code=x&state=${signIn.state}&iss=http://127.0.0.1:9`, browser],
    ['POST /api/v1/auth/oidc/token/', browser, { code: 'x'.repeat(28) }],
    ['GET /api/v1/auth/oidc/link/', login],
    ['POST /api/v1/auth/oidc/link/', { ...login, ...browser }, { code: 'x'.repeat(28) }],
    ['DELETE /api/v1/auth/oidc/link/', login],
    ['POST /api/v1/auth/oidc/logout/', form, 'logout_token=e30.e30.AA'],
    ['GET /api/v1/auth/tokens/', token],
    ['GET /api/v1/auth/tokens/?cursor=', token],
    ['POST /api/v1/auth/tokens/', token, restrictions],
    [`GET /api/v1/auth/tokens/${tokenId}/`, token],
    [`PATCH /api/v1/auth/tokens/${other}/`, { ...token, ...tagged }, restrictions],
    [`PUT /api/v1/auth/tokens/${other}/`, token, { auto_policy: true }],
    [`DELETE /api/v1/auth/tokens/${other}/`, token],
    [`GET /api/v1/auth/tokens/${other}/policies/rrsets/`, token],
    [`POST /api/v1/auth/tokens/${other}/policies/rrsets/`, token, { domain: null, subname: null, type: null }],
    [`POST /api/v1/auth/tokens/${other}/policies/rrsets/`, token, policy],
    [`PATCH /api/v1/auth/tokens/${other}/policies/rrsets/${tokenId}/`, token, policy],
    ['GET /api/v1/domains/', token],
    ['GET /api/v1/domains/?cursor=o1795297087000000-5', token],
    [`GET /api/v1/domains/?owns_qname=*.www.${domain}`, token],
    [
      'POST /api/v1/domains/',
      token,
      { name: `sub.${domain}`, zonefile: 'www 60 A 192.0.2.1\n$TTL 5\n@ MX 1 a.test.\n' },
    ],
    [`GET /api/v1/domains/${domain}/`, token],
    [`DELETE /api/v1/domains/sub.${domain}/`, { ...token, ...tagged }],
    [`GET /api/v1/domains/${domain}/zonefile/`, token],
    [`HEAD /api/v1/domains/${domain}/rrsets/`, token],
    [`GET /api/v1/domains/${domain}/rrsets/?subname=www&type=A&cursor=n1-1`, token],
    [`POST /api/v1/domains/${domain}/rrsets/`, token, www],
    [`POST /api/v1/domains/${domain}/rrsets/`, token, [text, svcb]],
    [`PUT /api/v1/domains/${domain}/rrsets/`, { ...token, ...tagged }, [www, { ...text, records: [] }]],
    [`PATCH /api/v1/domains/${domain}/rrsets/`, token, [text, www, svcb]],
    [`GET /api/v1/domains/${domain}/rrsets/www/A/`, token],
    [`PUT /api/v1/domains/${domain}/rrsets/www/A/`, token, www],
    [`PATCH /api/v1/domains/${domain}/rrsets/.../HTTPS/`, { ...token, ...tagged }, svcb],
    [`DELETE /api/v1/domains/${domain}/rrsets/@/HTTPS/`, token],
    [`GET /nic/update?hostname=www.${domain}&myip=192.0.2.2&myipv6=preserve`, basic],
    [`GET /api/v1/dyndns/update?hostname=a.${domain},b.${domain}&ip=192.0.2.0/24`, token],
    [`GET /update?username=${domain}&password=${secret}&myipv4:www.${domain}=192.0.2.3`],
    [`GET http://update.test/?hostname=${domain}`, basic],
    ['GET http://checkip.test/x'],
  ]
  return rows.map(([line, headers = {}, body]) => {
    const [method = '', target = ''] = line.split(' ')
    return { method, target, headers, body }
  })
}

/** Requests whose mistake the service tells at once: unlike the others, each has one that random changes seldom make. */
export const MISTAKEN: Template[] = [
  { method: 'DELETE', target: '/api/v1/auth/', headers: {}, body: undefined },
  { method: 'POST', target: '/api/v1/auth/login/', headers: { 'Content-Type': 'text/plain' }, body: 'x' },
  { method: 'POST', target: '/api/v1/auth/login/', headers: {}, body: '{' },
]

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'QUERY', 'CONNECT']

/** Values of JSON, as text, that programs stumble over. */
const VALUES = [
  ...['null', 'true', '0', '-0', '-1', '1e999', '-1e999', '1e308', '9007199254740993', '0.1', '""', '[]', '{}', '[[]]'],
  ...[
    '"\\u0000"',
    '"\\ud800"',
    '"\\uffff"',
    '"\\n"',
    '" "',
    '"*"',
    '"."',
    '"..."',
    '"@"',
    '"%00"',
    '"1e999"',
    '"\\\\"',
  ],
  ...[
    '{"__proto__":{"a":1}}',
    '{"toString":1}',
    '[null]',
    '[{}]',
    '["A","A"]',
    '"constructor"',
    '"infinity"',
    '"\ufeff"',
  ],
  ...[
    '"9999999 days"',
    '"P1D"',
    '"::ffff:1.2.3.4/96"',
    '"::/0"',
    '"0.0.0.0/33"',
    '"-"',
    '"xn--"',
    '"a@b"',
    '"\u{1f600}"',
  ],
  `"${'a'.repeat(70_000)}"`,
  `"${'a.'.repeat(130)}"`,
  '['.repeat(20_000) + ']'.repeat(20_000),
]

/** Parts of targets and headers that programs stumble over. */
const PIECES = [
  ...['%00', '%2f', '%ff', '%', '/', '//', '/../', '?', '#', '&', '=', ';', ',', ':', '@', '*', '\\', ' ', '\t', '\0'],
  ...[
    '\r\n',
    '\n',
    '\x7f',
    '\xff',
    '\u0001',
    '"',
    "'",
    'W/"x"',
    '0',
    '-1',
    '99999999999999999999',
    'null',
    'undefined',
  ],
  ...[
    'Token ',
    'Basic ',
    'chunked',
    'gzip',
    'identity',
    'application/json',
    'http://[',
    'cursor=',
    'o-1-1',
    '.'.repeat(300),
  ],
]

const HEADERS = [
  ...['Host: [', 'Host: a b', 'Host:', 'Content-Length: 5', 'Content-Length: -1', 'Transfer-Encoding: chunked'],
  ...['Content-Type: text/plain', 'Content-Type: \xff', 'Content-Encoding: gzip', 'Content-Encoding: br', 'Expect: x'],
  ...['If-Match: *', 'If-Match: "x', 'If-None-Match: *', 'Origin: null', 'X-Forwarded-For: 1.2.3.4', 'Upgrade: h2c'],
  ...[
    'Authorization: Basic Og==',
    'Authorization: Token',
    'Authorization: Basic ////',
    'X-Request-Id: \xe4',
    'Range: x',
  ],
]

/** A request as text. */
interface Parts {
  method: string
  target: string
  headers: string[]
  body: string
}

function partsOf({ method, target, headers, body }: Template): Parts {
  const lines = ['Host: api.test', 'Connection: close', ...Object.entries(headers).map((pair) => pair.join(': '))]
  const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body)
  if (text !== '' && !('Content-Type' in headers)) lines.push('Content-Type: application/json')
  return { method, target, headers: lines, body: text }
}

/** The octets (as Latin-1) of a request as it is. */
export function unchanged(template: Template): string {
  const { method, target, headers, body } = partsOf(template)
  const octets = Buffer.from(body).toString('latin1')
  const length = octets === '' ? [] : [`Content-Length: ${octets.length}`]
  return [`${method} ${target} HTTP/1.1`, ...headers, ...length, '', octets].join('\r\n')
}

/** The octets (as Latin-1) of one of the requests, with up to four changes. */
export function mutated(random: Random, valid: Template[]): string {
  const parts = partsOf(random.of(valid))
  if (random.below(12) === 0) parts.method = random.of(METHODS)
  for (let left = random.below(5); left > 0; left--) {
    const kind = random.below(6)
    if (kind === 0) parts.target = spliced(random, parts.target, random.of(PIECES))
    else if (kind === 1) parts.headers.push(random.of(HEADERS))
    else if (kind === 2) {
      const at = random.below(parts.headers.length)
      parts.headers[at] = spliced(random, parts.headers[at]!, random.of(PIECES))
    } else if (kind === 3) parts.body = withValue(random, parts.body)
    else if (kind === 4) parts.body = spliced(random, parts.body, random.of([...PIECES, ...VALUES]))
    else parts.target = random.of(valid).target
  }
  const octets = Buffer.from(parts.body).toString('latin1')
  const length = octets === '' || random.below(20) === 0 ? [] : [`Content-Length: ${octets.length}`]
  const request = [`${parts.method} ${parts.target} HTTP/1.1`, ...parts.headers, ...length, '', octets].join('\r\n')
  return random.below(10) === 0 ? spliced(random, request, random.of(PIECES)) : request
}

/** Replaces a few characters, or none, by others. */
function spliced(random: Random, text: string, piece: string): string {
  const at = random.below(text.length + 1)
  return text.slice(0, at) + piece + text.slice(at + random.below(4))
}

/** Replaces a value of a JSON text. */
function withValue(random: Random, json: string): string {
  const values = [...json.matchAll(/(?<=[:[,])(?:"(?:[^"\\]|\\.)*"(?!:)|[\d.]+|true|false|null)/g)]
  if (values.length === 0) return random.of(VALUES)
  const { 0: value, index } = random.of(values)
  return json.slice(0, index) + random.of(VALUES) + json.slice(index + value.length)
}
