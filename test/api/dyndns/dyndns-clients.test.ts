import test from 'ava'
import type { Account } from '../../support/accounts.ts'
import { freshName, newDomain, succeeded } from '../../support/api.ts'
import { addresses, served, update } from '../../support/dyndns.ts'
import { useService } from '../../support/harness.ts'
import { exchange } from '../../support/raw.ts'

// Contract §18: the requests that routers and other clients send, octet by octet, and the answers that they need. In
// these, D is the domain, S the token's secret, and B the base64 of both for Basic authentication.

const service = useService({ THROTTLE: 'off', UPDATE_HOSTS: 'update.dyn.test', CHECK_IP_HOSTS: 'checkip.dyn.test' })

let account: Account

test.before('an account', async () => {
  account = await service().account()
})

interface Request {
  /** The lines of the request's head. */
  lines: string[]
  /** Names below the domain, which have the addresses `BOTH`, and their addresses afterwards. */
  then: Record<string, string>
  body?: string
}

const BOTH = '198.51.100.1 2001:db8:9:9::1'

const REQUESTS: Record<string, Request> = {
  'ddclient, two names': {
    lines: [
      'GET /nic/update?system=dyndns&hostname=a.D,b.D&myip=192.0.2.7 HTTP/1.1',
      ...['Host: dns.test', 'Authorization: Basic B', 'User-Agent: ddclient/3.10.0', 'Connection: close'],
    ],
    then: { a: '192.0.2.7 ', b: '192.0.2.7 ' },
    body: 'good\ngood',
  },
  'ddclient, for one family': {
    lines: [
      'GET /nic/update?myipv4=preserve&?system=dyndns&hostname=a.D&myip=2001:db8::7 HTTP/1.1',
      ...[
        'Host: dns.test',
        'Authorization: Basic B',
        'User-Agent: ddclient/3.10.0',
        'Accept: */*',
        'Connection: close',
      ],
    ],
    then: { a: '198.51.100.1 2001:db8::7' },
  },
  'inadyn, HTTP/1.0': {
    lines: [
      'GET /nic/update?hostname=a.D&myip=192.0.2.7 HTTP/1.0',
      ...[
        'Host: dns.test',
        'Authorization: Basic B',
        'User-Agent: inadyn/2.10.0 https://github.com/troglobit/inadyn/issues',
      ],
    ],
    then: { a: '192.0.2.7 ' },
  },
  'inadyn, credentials in a path of its own': {
    lines: [
      'GET /update?username=D&password=S&hostname=a.D&myipv6=2001:db8::7&myipv4=preserve HTTP/1.0',
      ...['Host: dns.test', 'User-Agent: inadyn/2.10.0'],
    ],
    then: { a: '198.51.100.1 2001:db8::7' },
  },
  'OpenWrt, IPv4': {
    lines: [
      'GET /update?username=D&password=S&hostname=a.D&myipv4=192.0.2.7&myipv6=preserve HTTP/1.1',
      ...['User-Agent: Wget/1.21.4', 'Accept: */*', 'Accept-Encoding: identity', 'Host: dns.test', 'Connection: close'],
    ],
    then: { a: '192.0.2.7 2001:db8:9:9::1' },
  },
  'OpenWrt, IPv6': {
    lines: [
      'GET /update?username=D&password=S&hostname=a.D&myipv4=preserve&myipv6=2001:db8::7 HTTP/1.1',
      ...['User-Agent: Wget/1.21.4', 'Accept: */*', 'Accept-Encoding: identity', 'Host: dns.test', 'Connection: close'],
    ],
    then: { a: '198.51.100.1 2001:db8::7' },
  },
  OPNsense: {
    lines: [
      'GET /update?hostname=a.D&myipv4=192.0.2.7&myipv6=preserve HTTP/1.1',
      ...['Host: dns.test', 'User-Agent: OPNsense-dyndns', 'Accept-Encoding: gzip, deflate', 'Accept: */*'],
      ...['Connection: close', 'Authorization: Token S'],
    ],
    then: { a: '192.0.2.7 2001:db8:9:9::1' },
  },
  'FRITZ!Box, both families and the network of a host': {
    lines: [
      'GET /nic/update?hostname=a.D&myipv4=192.0.2.7&myipv6=2001:db8:1::7&myipv6:b.D=2001:db8:1:2::/64 HTTP/1.1',
      ...['Host: dns.test', 'Authorization: Basic B', 'User-Agent: Fritz!Box DDNS/1.0.1', 'Connection: close'],
    ],
    then: { a: '192.0.2.7 2001:db8:1::7', b: '198.51.100.1 2001:db8:1:2::1' },
    body: 'good\ngood',
  },
  'FRITZ!Box, without IPv6': {
    lines: [
      'GET /any/path?hostname=a.D&myipv4=192.0.2.7&myipv6= HTTP/1.1',
      ...['Host: update.dyn.test', 'Authorization: Basic B', 'User-Agent: Fritz!Box DDNS/1.0.1', 'Connection: close'],
    ],
    then: { a: '192.0.2.7 ' },
  },
  'FRITZ!Box, the domain that is the user': {
    lines: [
      'GET /?myipv4=&myipv6=2001:db8:1::7 HTTP/1.1',
      ...['Host: update.dyn.test', 'Authorization: Basic B', 'User-Agent: Fritz!Box DDNS/1.0.1', 'Connection: close'],
    ],
    then: { '': ' 2001:db8:1::7' },
  },
  'ddns-updater, IPv4': {
    lines: [
      'GET /nic/update?hostname=a.D&myip=192.0.2.7&myipv6=preserve HTTP/1.1',
      ...['Host: dns.test', 'User-Agent: DDNS-Updater', 'Authorization: Basic B', 'Accept-Encoding: gzip'],
      'Connection: close',
    ],
    then: { a: '192.0.2.7 2001:db8:9:9::1' },
  },
  'ddns-updater, IPv6': {
    lines: [
      'GET /nic/update?hostname=a.D&myipv4=preserve&myipv6=2001%3Adb8%3A%3A7 HTTP/1.1',
      ...['Host: dns.test', 'User-Agent: DDNS-Updater', 'Authorization: Basic B', 'Accept-Encoding: gzip'],
      'Connection: close',
    ],
    then: { a: '198.51.100.1 2001:db8::7' },
  },
  'curl -f with the address of the connection': {
    lines: [
      'GET /update?hostname=a.D HTTP/1.1',
      ...['Host: dns.test', 'Authorization: Token S', 'User-Agent: curl/7.88.1', 'Accept: */*', 'Connection: close'],
    ],
    then: { a: '127.0.0.1 ' },
  },
  'Nextcloud, both addresses in one parameter': {
    lines: [
      'GET /api/v1/dyndns/update?hostname=a.D&myip=192.0.2.7,2001:db8::7 HTTP/1.1',
      ...['Host: dns.test', 'Authorization: Token S', 'User-Agent: curl/8.5.0', 'Accept: */*', 'Connection: close'],
    ],
    then: { a: '192.0.2.7 2001:db8::7' },
  },
}

function octets(lines: string[], domain: string): string {
  const both = Buffer.from(`${domain}:${account.secret}`).toString('base64')
  const values: Record<string, string> = { D: domain, S: account.secret, B: both }
  // Not inside other words: `a.D`, `=D&`, ` S`, ` B`.
  const filled = lines.map((line) => line.replace(/(?<=[.= ])[DSB](?=$|[,&= ])/g, (letter) => values[letter]!))
  return [...filled, '', ''].join('\r\n')
}

for (const [client, { lines, then, body = 'good' }] of Object.entries(REQUESTS)) {
  test.serial(client, async (t) => {
    const domain = await newDomain(account.api, freshName())
    const at = (subname: string) => (subname === '' ? domain : `${subname}.${domain}`)
    const hostname = Object.keys(then).map(at).join()
    succeeded(await update(account.api, { hostname, myip: BOTH.replace(' ', ',') }), 200)
    const answer = await exchange(service().url, octets(lines, domain))
    t.is(answer.head.split('\r\n')[0], 'HTTP/1.1 200 OK')
    t.is(answer.body, body)
    t.is(answer.headers['content-type'], 'text/plain')
    t.is(answer.headers['content-length'], String(body.length))
    t.is(answer.headers['transfer-encoding'], undefined)
    t.is(answer.headers['content-encoding'], undefined)
    for (const [subname, outcome] of Object.entries(then)) {
      t.is(await addresses(account.api, domain, subname), outcome)
      t.is(await served(service(), at(subname)), outcome)
    }
  })
}

/** What clients distinguish: status and text. */
for (const [title, line, header, status, body] of [
  [
    'a wrong secret',
    '/nic/update?hostname=D',
    `Basic ${Buffer.from('x.test:wrong').toString('base64')}`,
    401,
    'badauth',
  ],
  ['a foreign name', '/nic/update?hostname=a.foreign.test&myip=192.0.2.7', 'Basic B', 404, 'nohost'],
  [
    'no address',
    '/nic/update?hostname=a.D&myip=1.2.3',
    'Basic B',
    400,
    'Record content for type A malformed: Text input is malformed.',
  ],
] as const) {
  test.serial(`refused: ${title}`, async (t) => {
    const domain = await newDomain(account.api, freshName())
    const lines = [`GET ${line} HTTP/1.0`, 'Host: dns.test', `Authorization: ${header}`]
    const answer = await exchange(service().url, octets(lines, domain))
    t.deepEqual([answer.status, answer.body], [status, body])
    t.is(answer.headers['content-length'], String(body.length))
  })
}

for (const [title, lines] of [
  ['HTTP/1.0 without host', ['GET /nic/checkip.html HTTP/1.0']],
  ['a check-IP host', ['GET / HTTP/1.1', 'Host: checkip.dyn.test', 'User-Agent: curl/7.88.1', 'Connection: close']],
] as const) {
  test.serial(`check-IP: ${title}`, async (t) => {
    const answer = await exchange(service().url, [...lines, '', ''].join('\r\n'))
    t.deepEqual([answer.status, answer.body], [200, '127.0.0.1'])
    t.is(answer.headers['content-type'], 'text/plain')
    t.is(answer.headers['content-length'], '9')
  })
}
