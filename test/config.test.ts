import test from 'ava'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { RATES, SCOPES } from '../src/limits.ts'
import { type Config, ConfigError, misspelt, readConfig } from '../src/settings/config.ts'
import type { Setting } from '../src/settings/setting.ts'
import { SETTINGS } from '../src/settings/settings.ts'
import { newFolder } from './support/servers/folders.ts'
import { problems, settings } from './support/settings.ts'

// Contract §16: the settings in the environment.

/** Settings whose defaults the contract has. */
const OF_CONTRACT: Partial<Config> = {
  minimumTtl: 60,
  nameServers: ['ns1.zoneplane.test.', 'ns2.zoneplane.test.'],
  limitDomains: 15,
  limitOctets: 33_554_432,
  limitHistoryOctets: undefined,
  localPublicSuffixes: [],
  updateHosts: [],
  checkIpHosts: [],
  publicUrl: undefined,
  trustedProxies: [],
  registration: false,
  emailConfirmation: true,
  captcha: false,
  invitations: true,
  limitMembers: 200,
  confirmationValidity: 12 * 3600,
  oidcIssuer: undefined,
  passwords: true,
  throttle: true,
  throttleRates: RATES,
  bodyLimit: 16 * 1024 * 1024,
  retryAfter: 5,
  logAddresses: 'full',
  console: true,
  powerdnsApi: true,
  dnsUpdatePort: undefined,
  ciControl: false,
  webhooks: true,
  webhookNetworks: [],
  resolvers: [],
  delegationChecks: undefined,
  historyDays: 90,
  keyEncryptionKeys: [],
  catalogZone: undefined,
  secondaries: [],
  transferKey: undefined,
  privateTransfers: false,
  denial: 'nsec3',
  metricsPort: undefined,
}

const DEFAULTS = readConfig({})

const KEYS = ['a', 'b'].map((octet) => Buffer.from(octet.repeat(32)).toString('base64'))

const NAMES = [...settings()]

test('no setting is required, and the defaults are those of the contract and of the documents', (t) => {
  t.like(DEFAULTS, OF_CONTRACT)
  for (const { name, usual } of Object.values(SETTINGS)) {
    const [, text] = /^"([^"]+)"$/.exec(usual) ?? []
    // Those of single sign-on need an issuer.
    if (text !== undefined && !name.startsWith('OIDC_')) t.deepEqual(readConfig({ [name]: text }), DEFAULTS, name)
  }
})

test('clients can control only a service with private servers', (t) => {
  t.true(readConfig({ CI_CONTROL: 'on' }).ciControl)
  const servers: NodeJS.ProcessEnv[] = [
    { DATABASE_URL: 'postgres://localhost/x', KEY_ENCRYPTION_KEYS: KEYS[0] },
    { PDNS_API_URL: 'http://localhost:1', PDNS_API_KEY: 'key', NAMESERVERS: 'ns1.example.net' },
  ]
  for (const environment of servers) {
    t.deepEqual(problems({ CI_CONTROL: 'on', ...environment }), [
      'CI_CONTROL: only with private servers, because everybody may create accounts',
    ])
  }
})

test('an empty or blank variable counts as unset', (t) => {
  t.deepEqual(readConfig(Object.fromEntries(NAMES.map((name) => [name, '']))), DEFAULTS)
  t.deepEqual(readConfig(Object.fromEntries(NAMES.map((name) => [name, ' \t\n']))), DEFAULTS)
})

test('other variables are ignored', (t) => {
  t.deepEqual(readConfig({ PATH: '/bin', port: 'x', ZONEPLANE: 'x' }), DEFAULTS)
})

test('the configuration is frozen', (t) => {
  t.true(Object.isFrozen(readConfig({})))
})

for (const [name, value, member, read] of [
  ['HOST', '0.0.0.0', 'hosts', ['0.0.0.0']],
  ['HOST', '::', 'hosts', ['::']],
  ['HOST', '192.0.2.1, 2001:db8::1', 'hosts', ['192.0.2.1', '2001:db8::1']],
  ['ZONEPLANE_DATA', '/var/lib/zoneplane', 'dataFolder', '/var/lib/zoneplane'],
  ['ZONEPLANE_TOKEN', '12345678', 'token', '12345678'],
  ['ZONEPLANE_TOKEN', '!'.repeat(256), 'token', '!'.repeat(256)],
  ['KEY_ENCRYPTION_KEYS', KEYS.join(', '), 'keyEncryptionKeys', KEYS.map((key) => Buffer.from(key, 'base64'))],
  ['PUBLIC_URL', 'https://dns.example.net', 'publicUrl', 'https://dns.example.net'],
  ['PUBLIC_URL', 'http://dns.example.net:8080//', 'publicUrl', 'http://dns.example.net:8080'],
  ['NAMESERVERS', 'ns1.example.net', 'nameServers', ['ns1.example.net.']],
  ['NAMESERVERS', 'b.example., a.example', 'nameServers', ['b.example.', 'a.example.']],
  ['NAMESERVERS', 'a.example  b.example,c.example', 'nameServers', ['a.example.', 'b.example.', 'c.example.']],
  [
    'SECONDARIES',
    'ns2.example.net=192.0.2.53, ns3.example.net.=[2001:db8::53]:5300',
    'secondaries',
    [
      { name: 'ns2.example.net', address: '192.0.2.53', port: 53 },
      { name: 'ns3.example.net', address: '2001:db8::53', port: 5300 },
    ],
  ],
  ['CATALOG_ZONE', 'catalog.example.net.', 'catalogZone', 'catalog.example.net'],
  [
    'TRANSFER_KEY',
    'hmac-sha256:transfer.example.:c2VjcmV0',
    'transferKey',
    { name: 'transfer.example', algorithm: 'hmac-sha256', secret: 'c2VjcmV0' },
  ],
  ['TRANSFER_ADDRESSES', '192.0.2.1, 2001:db8::/32', 'transferAddresses', ['192.0.2.1/32', '2001:db8::/32']],
  ['LOCAL_PUBLIC_SUFFIXES', 'dyn.example.net, b.example.', 'localPublicSuffixes', ['dyn.example.net', 'b.example']],
  ['DNS_UPDATE_HOST', '192.0.2.1, 2001:db8::1', 'dnsUpdateHosts', ['192.0.2.1', '2001:db8::1']],
  ['UPDATE_HOSTS', 'update.example.net', 'updateHosts', ['update.example.net']],
  ['CHECK_IP_HOSTS', 'checkip.example.net., b.example', 'checkIpHosts', ['checkip.example.net', 'b.example']],
  ['LIMIT_DOMAINS', 'none', 'limitDomains', undefined],
  ['LIMIT_HISTORY_OCTETS', '65536', 'limitHistoryOctets', 65_536],
  [
    'RESOLVERS',
    '192.0.2.1, 192.0.2.2:5300, 2001:db8::1, [2001:db8::2]:5300',
    'resolvers',
    [
      { address: '192.0.2.1', port: 53 },
      { address: '192.0.2.2', port: 5300 },
      { address: '2001:db8::1', port: 53 },
      { address: '2001:db8::2', port: 5300 },
    ],
  ],
  ['MAIL_FROM', 'dns@example.net', 'mailFrom', 'dns@example.net'],
  ['OPERATOR_EMAIL', 'ops@example.net', 'operatorEmail', 'ops@example.net'],
  ['THROTTLE_RATES', 'user=50000/d', 'throttleRates', { ...RATES, user: [{ requests: 50000, seconds: 86400 }] }],
  [
    'THROTTLE_RATES',
    ' dyndns = 20/2min , 100/h ;; user=1/s,1000000/24d; ',
    'throttleRates',
    {
      ...RATES,
      dyndns: [
        { requests: 20, seconds: 120 },
        { requests: 100, seconds: 3600 },
      ],
      user: [
        { requests: 1, seconds: 1 },
        { requests: 1_000_000, seconds: 24 * 86400 },
      ],
    },
  ],
  ['METRICS_HOST', '::1', 'metricsHost', '::1'],
] as const) {
  test(`${name}=${value.slice(0, 40)} sets ${member} and nothing else`, (t) => {
    t.deepEqual(readConfig({ [name]: value }), { ...DEFAULTS, [member]: read })
  })
}

const whole = (least: number, most: number) => `must be a whole number from ${least} to ${most}`

for (const [name, member, least, most] of [
  ['PORT', 'port', 0, 65_535],
  ['DNS_PORT', 'dnsPort', 0, 65_535],
  ['DNS_UPDATE_PORT', 'dnsUpdatePort', 0, 65_535],
  ['METRICS_PORT', 'metricsPort', 0, 65_535],
  ['PDNS_CONNECTIONS', 'pdnsConnections', 1, 100],
  ['MINIMUM_TTL', 'minimumTtl', 1, 3600],
  ['HISTORY_DAYS', 'historyDays', 1, 36_500],
  ['LIMIT_DOMAINS', 'limitDomains', 0, 2_147_483_647],
  ['LIMIT_OCTETS', 'limitOctets', 65_536, 50_331_648],
  ['LIMIT_MEMBERS', 'limitMembers', 0, 100_000],
  ['BODY_LIMIT', 'bodyLimit', 1024, 1_073_741_824],
  ['SHUTDOWN_DELAY', 'shutdownDelay', 0, 40],
  ['START_TIMEOUT', 'startTimeout', 0, 3600],
  ['RETRY_AFTER', 'retryAfter', 1, 3600],
] as const) {
  test(`${name} is a whole number from ${least} to ${most}`, (t) => {
    for (const value of [least, most]) {
      t.deepEqual(readConfig({ [name]: ` ${value} ` }), { ...DEFAULTS, [member]: value })
    }
    for (const value of [least - 1, most + 1, `${most}x`, `${most}.0`, '0x50', '1e3', '1,2', 'None', '99999999999']) {
      t.deepEqual(problems({ [name]: String(value) }), [`${name}: ${whole(least, most)}`])
    }
  })
}

for (const [name, member, ...words] of [
  ['THROTTLE', 'throttle', 'on', 'off'],
  ['CAPTCHA', 'captcha', 'on', 'off'],
  ['PRIVATE_TRANSFERS', 'privateTransfers', 'on', 'off'],
  ['DELEGATION_CHECKS', 'delegationChecks', 'on', 'off'],
  ['THROTTLE_STORE', 'throttleStore', 'memory', 'postgres'],
  ['DENIAL', 'denial', 'nsec', 'nsec3'],
  ['LOG_LEVEL', 'logLevel', 'error', 'warn', 'info', 'debug'],
  ['LOG_ADDRESSES', 'logAddresses', 'full', 'prefix', 'none'],
  ['LOG_FORMAT', 'logFormat', 'json', 'text'],
  ['ZONEPLANE_INSTALL', 'install', 'ask', 'yes', 'no'],
] as const) {
  test(`${name} is one of ${words.join(', ')}`, (t) => {
    for (const word of words) {
      const read = { on: true, off: false }[word as string] ?? word
      t.deepEqual(readConfig({ [name]: word }), { ...DEFAULTS, [member]: read })
    }
    const text = words[0] === 'on' ? 'must be "on" or "off"' : `must be one of ${words.join(', ')}`
    for (const value of ['true', '1', words[0].toUpperCase(), words.join()]) {
      t.deepEqual(problems({ [name]: value }), [`${name}: ${text}`])
    }
  })
}

for (const url of ['postgres://u:p@db/zoneplane', 'postgresql:///z?host=/run', 'postgres://u:a,b@db/z?options=a,b']) {
  test(`DATABASE_URL=${url} needs KEY_ENCRYPTION_KEYS`, (t) => {
    t.deepEqual(problems({ DATABASE_URL: url }), [
      'KEY_ENCRYPTION_KEYS: needed with a database of your own; `openssl rand -base64 32` makes a key. Keep a copy of it ' +
        'apart from the database',
    ])
    const config = readConfig({ DATABASE_URL: url, KEY_ENCRYPTION_KEYS: KEYS[0] })
    t.deepEqual(config, { ...DEFAULTS, databaseUrl: url, keyEncryptionKeys: [Buffer.from(KEYS[0]!, 'base64')] })
  })
}

test('TRUSTED_PROXIES accepts addresses and networks', (t) => {
  const { trustedProxies } = readConfig({ TRUSTED_PROXIES: '10.0.0.0/8, 192.0.2.1 2001:db8::/32,::1' })
  const networks = trustedProxies.map(([address, bits]) => `${address.toString()}/${bits}`)
  t.deepEqual(networks, ['10.0.0.0/8', '192.0.2.1/32', '2001:db8::/32', '::1/128'])
})

test('PDNS_API_URL, PDNS_API_KEY and NAMESERVERS set an external PowerDNS', (t) => {
  const environment = { PDNS_API_URL: 'http://pdns:8081', PDNS_API_KEY: 'key', NAMESERVERS: 'ns.example.net' }
  t.deepEqual(readConfig(environment), {
    ...DEFAULTS,
    pdnsApiUrl: 'http://pdns:8081',
    pdnsApiKey: 'key',
    nameServers: ['ns.example.net.'],
  })
})

const HOSTS = 'must be host names in lower case, separated by commas'
const NETWORKS = 'must be addresses or networks such as 10.0.0.0/8, separated by commas'
const SECRET = 'must be 8 to 256 visible ASCII characters without blanks'

for (const [name, values, text] of [
  ['HOST', [',', ', ,'], () => 'must be addresses to listen on, separated by commas'],
  ['LIMIT_HISTORY_OCTETS', ['65535', 'none', '1GiB'], () => whole(65_536, Number.MAX_SAFE_INTEGER)],
  [
    'KEY_ENCRYPTION_KEYS',
    ['x', 'a'.repeat(44), KEYS[1]!.slice(0, -1), `${KEYS[0]}, x`, ','],
    () => 'must be keys of 32 octets in base64, separated by commas; `openssl rand -base64 32` makes one',
  ],
  [
    'DATABASE_URL',
    ['x', 'mysql://a/b', 'postgres', 'http://a'],
    () => 'must be a URL beginning with postgres:// or postgresql://',
  ],
  [
    'DATABASE_URL',
    [
      'postgres://h1,h2/z',
      'postgres://u:p@h1:5432,h2:5432/z?target_session_attrs=read-write',
      'postgres:///z?host=h1,h2',
      'postgres:///z?sslmode=disable&host=h1%2Ch2',
    ],
    () =>
      'must have one address; for several servers, that of a balancer such as HAProxy, which leads to the primary ' +
      '(docs/deployment.md)',
  ],
  [
    'PUBLIC_URL',
    ['dns.example.net', 'ftp://a', '//a', 'https://'],
    () => 'must be a URL beginning with http:// or https://',
  ],
  ['METRICS_HOST', ['localhost', '127.0.0.1, ::1', '10.1'], () => 'must be an IP address'],
  ['ZONEPLANE_TOKEN', ['1234567', 'x'.repeat(257), '1234 5678', 'pässword'], () => SECRET],
  [
    'MAIL_URL',
    [
      'mail.example.net',
      'http://a',
      'smtp:',
      'smtp://',
      'smtp://a/b',
      'smtp://a?pool=true',
      'smtp://user@a',
      'smtp://user:%zz@a',
      'smtp://a b',
    ],
    () => 'must be smtp://[user:password@]host[:port] or the same with smtps://',
  ],
  [
    'MAIL_FROM',
    ['me', '@', 'me@', '@example.net', 'a b@example.net', 'Me <me@example.net>', 'a@b,c@d'],
    () => 'must be an e-mail address, without a name',
  ],
  [
    'NAMESERVERS',
    ['ns', 'NS.example.net', 'a_b.example', '-a.example', 'a..example', '1 .'],
    (value: string) => `${HOSTS}, not "${value.split(' ')[0]!}"`,
  ],
  ['NAMESERVERS', [',', ', ,'], () => HOSTS],
  ['LOCAL_PUBLIC_SUFFIXES', [','], () => HOSTS],
  [
    'SECONDARIES',
    ['ns2', '192.0.2.1', 'ns2=x', 'NS2.a=192.0.2.1', 'ns2.a=192.0.2.1:0', 'ns2.a=192.0.2.1:65536', 'ns2.a=[192.0.2.1]'],
    (value: string) =>
      `must be such as ns2.example.net=192.0.2.53, ns3.example.net=[2001:db8::53]:5300, not "${value}"`,
  ],
  ['SECONDARIES', ['ns2.a=192.0.2.1, ns2.a.=192.0.2.2'], () => 'must have different names'],
  [
    'RESOLVERS',
    ['resolver.example', '192.0.2', '192.0.2.1:0', '192.0.2.1:65536', '2001:db8::1:x', '[192.0.2.1'],
    (value: string) =>
      `must be addresses such as 192.0.2.53 or [2001:db8::53]:5300, separated by commas, not "${value}"`,
  ],
  [
    'TRANSFER_KEY',
    ['c2VjcmV0', 'transfer:c2VjcmV0', 'hmac-md5:transfer:c2VjcmV0', 'hmac-sha256:Transfer:c2VjcmV0'].concat([
      'hmac-sha256:a b:c2VjcmV0',
      'hmac-sha256:transfer:c2VjcmV',
      'hmac-sha256:transfer:',
      'hmac-sha256::c2Vj',
    ]),
    () => 'must be such as hmac-sha256:transfer:SECRET, with a name in lower case, and a secret in base64',
  ],
  [
    'CATALOG_ZONE',
    ['Catalog.example', 'c1.example.net, c2.example.net', 'c1.example.net c2.example.net'],
    (value: string) => `must be one host name in lower case, not "${value}"`,
  ],
  ['TRANSFER_ADDRESSES', ['x', '10.0.0', 'None'], (value: string) => `${NETWORKS}, not "${value}"`],
  ['UPDATE_HOSTS', ['Update.example.net', 'update'], (value: string) => `${HOSTS}, not "${value}"`],
  ['CHECK_IP_HOSTS', [',', ', ,'], () => HOSTS],
  [
    'TRUSTED_PROXIES',
    ['x', '10.0.0', '10.0.0.0/33', '::/129', '10.0.0.0/8/8', '10.0.0.0/', '10.0.0.0/-1', '010.0.0.1', '1'],
    (value: string) => `${NETWORKS}, not "${value}"`,
  ],
] as const) {
  for (const value of values) {
    test(`${name}=${value.slice(0, 40)} is refused`, (t) => {
      t.deepEqual(problems({ [name]: value }), [`${name}: ${text(value)}`])
    })
  }
}

for (const mailUrl of ['smtp://mail', 'smtp://mail:587/', 'smtps://user:p%40ss@[::1]:465']) {
  test(`MAIL_URL=${mailUrl} requires MAIL_FROM and PUBLIC_URL`, (t) => {
    t.deepEqual(problems({ MAIL_URL: mailUrl }), [
      'MAIL_FROM: needed with MAIL_URL, e.g. dns@example.net',
      'PUBLIC_URL: needed with MAIL_URL, because mails hold links, e.g. https://dns.example.net',
    ])
    const others = { MAIL_FROM: 'dns@example.net', PUBLIC_URL: 'https://dns.example.net' }
    const config = readConfig({ MAIL_URL: mailUrl, ...others })
    const publicUrl = 'https://dns.example.net'
    t.deepEqual(config, { ...DEFAULTS, mailUrl, mailFrom: 'dns@example.net', publicUrl })
  })
}

const RATES_LIKE = 'THROTTLE_RATES: must be such as "dyndns=20/2min; dns_api_cheap=100/s, 500/min": '

for (const value of [
  '',
  '5',
  '5/',
  '/s',
  '0/s',
  '1/0s',
  '1/day',
  '1.5/s',
  '-1/s',
  '1/25d',
  '1000001/d',
  '1 /s',
  '1/s=2/s',
]) {
  test(`THROTTLE_RATES=user=${value} is refused`, (t) => {
    t.deepEqual(problems({ THROTTLE_RATES: `user=${value}` }), [`${RATES_LIKE}user cannot be "${value}"`])
  })
}

test('all problems of THROTTLE_RATES are reported', (t) => {
  t.deepEqual(problems({ THROTTLE_RATES: ' ;; ' }), [`${RATES_LIKE}no scope is named`])
  t.deepEqual(
    problems({ THROTTLE_RATES: 'user=1/s; dns=1/s; user=2/s; dyndns=1/s, x, 2/y; dns_api_cheap=1/min, 2/60s' }),
    [
      `${RATES_LIKE}there is no scope "dns", only ${SCOPES.join(', ')}; user is set twice; ` +
        'dyndns cannot be "x"; dyndns cannot be "2/y"; dns_api_cheap has two rates for the same time',
    ],
  )
})

test('PDNS_API_URL and PDNS_API_KEY require each other', (t) => {
  const text = 'PDNS_API_URL and PDNS_API_KEY: set both or none'
  t.deepEqual(problems({ PDNS_API_KEY: 'key' }), [text])
  t.deepEqual(problems({ PDNS_API_URL: 'http://pdns:8081', NAMESERVERS: 'ns.example.net' }), [text])
})

test('PDNS_API_URL must be http or https', (t) => {
  t.deepEqual(problems({ PDNS_API_URL: 'pdns:8081', PDNS_API_KEY: 'key' }), [
    'PDNS_API_URL: must be a URL beginning with http:// or https://',
    'PDNS_API_URL and PDNS_API_KEY: set both or none',
  ])
})

for (const nameServers of [undefined, '', '  ']) {
  test(`an external PowerDNS requires NAMESERVERS, not ${JSON.stringify(nameServers)}`, (t) => {
    const environment = { PDNS_API_URL: 'http://pdns:8081', PDNS_API_KEY: 'key' }
    t.deepEqual(problems({ ...environment, ...(nameServers !== undefined && { NAMESERVERS: nameServers }) }), [
      'NAMESERVERS: needed with a PowerDNS of your own, e.g. "ns1.example.net, ns2.example.net"',
    ])
  })
}

test('all problems are reported together, each with the variable’s name', (t) => {
  const free = ['HOST', 'ZONEPLANE_DATA', 'ZONEPLANE_SEED', 'PDNS_API_KEY']
  const freeOfIssuer = ['OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET', 'OIDC_GROUPS_CLAIM', 'OIDC_NAME']
  const wrong = NAMES.filter((name) => ![...free, ...freeOfIssuer].includes(name))
  const reported = problems(Object.fromEntries([...wrong, ...freeOfIssuer].map((name) => [name, ';'])))
  t.deepEqual(reported.map((line) => line.split(':', 1)[0]!).sort(), wrong.sort())
})

test('no problem repeats a secret', (t) => {
  const canary = 'Canary Secret'
  const reported = problems({
    DATABASE_URL: `mysql://user:${canary}@db/`,
    PDNS_API_URL: `ftp://user:${canary}@pdns/`,
    PDNS_API_KEY: canary,
    ZONEPLANE_TOKEN: canary,
    KEY_ENCRYPTION_KEYS: canary,
    MAIL_URL: `http://user:${canary}@host`,
    PUBLIC_URL: `user:${canary}@host`,
  })
  t.true(reported.length >= 4)
  t.false(reported.join().includes('Canary'))
})

test('a secret can be in a file, whose last line break does not count', (t) => {
  const file = (text: string) => {
    const path = join(newFolder(), 'secret')
    writeFileSync(path, text)
    return path
  }
  const secrets = Object.values<Setting<unknown>>(SETTINGS).filter(({ isSecret }) => isSecret)
  t.deepEqual(secrets.map(({ name }) => name).sort(), [
    ...['DATABASE_URL', 'KEY_ENCRYPTION_KEYS', 'MAIL_URL', 'OIDC_CLIENT_SECRET', 'PDNS_API_KEY', 'TRANSFER_KEY'],
    'ZONEPLANE_TOKEN',
  ])
  const env = { PDNS_API_URL: 'http://127.0.0.1:8081', NAMESERVERS: 'ns1.example.net' }
  t.is(readConfig({ ...env, PDNS_API_KEY_FILE: file('the-key\n') }).pdnsApiKey, 'the-key')
  t.is(readConfig({ ZONEPLANE_TOKEN_FILE: file('token-of-a-file') }).token, 'token-of-a-file')
  const absent = join(newFolder(), 'absent')
  for (const [given, problem] of [
    [
      { ZONEPLANE_TOKEN: 'a-secret-text', ZONEPLANE_TOKEN_FILE: file('another-text') },
      'ZONEPLANE_TOKEN: set this or ZONEPLANE_TOKEN_FILE, not both',
    ],
    [{ TRANSFER_KEY_FILE: absent }, `TRANSFER_KEY: the file of TRANSFER_KEY_FILE cannot be read: ENOENT`],
    [{ MAIL_URL_FILE: file(' \n') }, 'MAIL_URL: the file of MAIL_URL_FILE, '],
    [{ ZONEPLANE_TOKEN_FILE: file('short') }, 'ZONEPLANE_TOKEN: '],
  ] as const) {
    const { message } = t.throws(() => readConfig(given), { instanceOf: ConfigError })
    t.true(message.startsWith(problem), message)
    for (const text of ['a-secret-text', 'another-text', 'short']) t.false(message.includes(text), message)
  }
  t.deepEqual(misspelt({ PDNS_API_KEY_FILE: 'x', PDNS_API_KEY_FILES: 'x' }), [
    ['PDNS_API_KEY_FILES', 'PDNS_API_KEY_FILE'],
  ])
})

test('TRANSFER_ADDRESSES of somebody else’s PowerDNS can say only that there are none', (t) => {
  const env = { PDNS_API_URL: 'http://127.0.0.1:8081', PDNS_API_KEY: 'key', NAMESERVERS: 'ns1.example.net' }
  t.deepEqual(readConfig({ ...env, TRANSFER_ADDRESSES: 'none' }).transferAddresses, [])
  t.throws(() => readConfig({ ...env, TRANSFER_ADDRESSES: '192.0.2.1' }), {
    instanceOf: ConfigError,
    message: 'TRANSFER_ADDRESSES: only with a private PowerDNS; set allow-axfr-ips of your own',
  })
})
