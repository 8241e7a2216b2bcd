import test from 'ava'
import { freshName, newDomain, succeeded } from '../../support/clients/api.ts'
import { addresses, served, update } from '../../support/clients/dyndns.ts'
import { exchange } from '../../support/clients/raw.ts'
import { useAccount, useService } from '../../support/harness.ts'

// Contract §18: the requests that routers and other clients send, octet by octet, and the answers that they need. In
// these, D is the domain, S the token's secret, and B the base64 of both for Basic authentication.

const service = useService({ THROTTLE: 'off', UPDATE_HOSTS: 'update.dyn.test' })
const account = useAccount(service)

const WGET = [
  'User-Agent: Wget/1.21.4',
  'Accept: */*',
  'Accept-Encoding: identity',
  'Host: dns.test',
  'Connection: close',
]
const FRITZ = ['Authorization: Basic B', 'User-Agent: Fritz!Box DDNS/1.0.1', 'Connection: close']
const UPDATER = [
  'Host: dns.test',
  'User-Agent: DDNS-Updater',
  'Authorization: Basic B',
  'Accept-Encoding: gzip',
].concat('Connection: close')
const BOTH = '198.51.100.1 2001:db8:9:9::1'

/** A client, its request line and the headers after it, and the addresses of names below D afterwards; all had `BOTH`. */
const REQUESTS: [client: string, line: string, headers: string[], then: Record<string, string>][] = [
  [
    'ddclient, two names',
    'GET /nic/update?system=dyndns&hostname=a.D,b.D&myip=192.0.2.7 HTTP/1.1',
    ['Host: dns.test', 'Authorization: Basic B', 'User-Agent: ddclient/3.10.0', 'Connection: close'],
    { a: '192.0.2.7 ', b: '192.0.2.7 ' },
  ],
  [
    'ddclient, for one family',
    'GET /nic/update?myipv4=preserve&?system=dyndns&hostname=a.D&myip=2001:db8::7 HTTP/1.1',
    ['Host: dns.test', 'Authorization: Basic B', 'User-Agent: ddclient/3.10.0', 'Accept: */*', 'Connection: close'],
    { a: '198.51.100.1 2001:db8::7' },
  ],
  [
    'inadyn, HTTP/1.0',
    'GET /nic/update?hostname=a.D&myip=192.0.2.7 HTTP/1.0',
    [
      'Host: dns.test',
      'Authorization: Basic B',
      'User-Agent: inadyn/2.10.0 https://github.com/troglobit/inadyn/issues',
    ],
    { a: '192.0.2.7 ' },
  ],
  [
    'inadyn, credentials in a path of its own',
    'GET /update?username=D&password=S&hostname=a.D&myipv6=2001:db8::7&myipv4=preserve HTTP/1.0',
    ['Host: dns.test', 'User-Agent: inadyn/2.10.0'],
    { a: '198.51.100.1 2001:db8::7' },
  ],
  [
    'OpenWrt, IPv4',
    'GET /update?username=D&password=S&hostname=a.D&myipv4=192.0.2.7&myipv6=preserve HTTP/1.1',
    WGET,
    { a: '192.0.2.7 2001:db8:9:9::1' },
  ],
  [
    'OpenWrt, IPv6',
    'GET /update?username=D&password=S&hostname=a.D&myipv4=preserve&myipv6=2001:db8::7 HTTP/1.1',
    WGET,
    { a: '198.51.100.1 2001:db8::7' },
  ],
  [
    'OPNsense',
    'GET /update?hostname=a.D&myipv4=192.0.2.7&myipv6=preserve HTTP/1.1',
    [
      ...['Host: dns.test', 'User-Agent: OPNsense-dyndns', 'Accept-Encoding: gzip, deflate', 'Accept: */*'],
      ...['Connection: close', 'Authorization: Token S'],
    ],
    { a: '192.0.2.7 2001:db8:9:9::1' },
  ],
  [
    'FRITZ!Box, both families and the network of a host',
    'GET /nic/update?hostname=a.D&myipv4=192.0.2.7&myipv6=2001:db8:1::7&myipv6:b.D=2001:db8:1:2::/64 HTTP/1.1',
    ['Host: dns.test', ...FRITZ],
    { a: '192.0.2.7 2001:db8:1::7', b: '198.51.100.1 2001:db8:1:2::1' },
  ],
  [
    'FRITZ!Box, without IPv6',
    'GET /any/path?hostname=a.D&myipv4=192.0.2.7&myipv6= HTTP/1.1',
    ['Host: update.dyn.test', ...FRITZ],
    { a: '192.0.2.7 ' },
  ],
  [
    'FRITZ!Box, the domain that is the user',
    'GET /?myipv4=&myipv6=2001:db8:1::7 HTTP/1.1',
    ['Host: update.dyn.test', ...FRITZ],
    { '': ' 2001:db8:1::7' },
  ],
  [
    'ddns-updater, IPv4',
    'GET /nic/update?hostname=a.D&myip=192.0.2.7&myipv6=preserve HTTP/1.1',
    UPDATER,
    { a: '192.0.2.7 2001:db8:9:9::1' },
  ],
  [
    'ddns-updater, IPv6',
    'GET /nic/update?hostname=a.D&myipv4=preserve&myipv6=2001%3Adb8%3A%3A7 HTTP/1.1',
    UPDATER,
    { a: '198.51.100.1 2001:db8::7' },
  ],
  [
    'curl -f with the address of the connection',
    'GET /update?hostname=a.D HTTP/1.1',
    ['Host: dns.test', 'Authorization: Token S', 'User-Agent: curl/7.88.1', 'Accept: */*', 'Connection: close'],
    { a: '127.0.0.1 ' },
  ],
  [
    'Nextcloud, both addresses in one parameter',
    'GET /api/v1/dyndns/update?hostname=a.D&myip=192.0.2.7,2001:db8::7 HTTP/1.1',
    ['Host: dns.test', 'Authorization: Token S', 'User-Agent: curl/8.5.0', 'Accept: */*', 'Connection: close'],
    { a: '192.0.2.7 2001:db8::7' },
  ],
]

function octets(lines: string[], domain: string): string {
  const both = Buffer.from(`${domain}:${account().secret}`).toString('base64')
  const values: Record<string, string> = { D: domain, S: account().secret, B: both }
  // Not inside other words: `a.D`, `=D&`, ` S`, ` B`.
  const filled = lines.map((line) => line.replace(/(?<=[.= ])[DSB](?=$|[,&= ])/g, (letter) => values[letter]!))
  return [...filled, '', ''].join('\r\n')
}

for (const [client, line, headers, then] of REQUESTS) {
  test.serial(client, async (t) => {
    const domain = await newDomain(account().api, freshName())
    const at = (subname: string) => (subname === '' ? domain : `${subname}.${domain}`)
    const hostname = Object.keys(then).map(at).join()
    succeeded(await update(account().api, { hostname, myip: BOTH.replace(' ', ',') }), 200)
    const answer = await exchange(service().url, octets([line, ...headers], domain))
    const body = Object.keys(then)
      .map(() => 'good')
      .join('\n')
    t.is(answer.head.split('\r\n')[0], 'HTTP/1.1 200 OK')
    t.is(answer.body, body)
    t.is(answer.headers['content-type'], 'text/plain')
    t.is(answer.headers['content-length'], String(body.length))
    t.is(answer.headers['transfer-encoding'], undefined)
    t.is(answer.headers['content-encoding'], undefined)
    for (const [subname, outcome] of Object.entries(then)) {
      t.is(await addresses(account().api, domain, subname), outcome)
      t.is(await served(service(), at(subname)), outcome)
    }
  })
}
