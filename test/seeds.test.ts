import test from 'ava'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { applySeed } from '../seeds/apply.ts'
import { readSeed } from '../seeds/read.ts'
import { StartError } from '../src/errors.ts'
import { ConfigError } from '../src/settings/config.ts'
import { query } from '../src/store/database.ts'
import { Client } from './support/clients/client.ts'
import { ask } from './support/dns/dns.ts'
import { type TestProcess, useServers } from './support/harness.ts'
import { newFolder } from './support/servers/folders.ts'
import { runOurs } from './support/servers/programs.ts'

// The accounts, tokens, policies and domains of ZONEPLANE_SEED (docs/ci.md).

const servers = useServers()
let service: TestProcess

test.before('a service', async () => {
  service = await servers().start()
})

/** The path of a file with this text. */
function write(text: string): string {
  const file = join(newFolder(), 'seed.yaml')
  writeFileSync(file, text)
  return file
}

const apply = async (text: string) => applySeed(servers().system, readSeed(write(text)))

const SEED = `
accounts:
  - email: first@seed.test
    limit_domains: 2
    domains:
      - name: seed.example
        zonefile: |
          www 300 A 192.0.2.1
      - name: other.example
    tokens:
      - secret: token-of-the-first
        name: everything
        perm_create_domain: true
      - secret: token-for-acme-only
        policies:
          - perm_write: false
          - {domain: seed.example, subname: _acme-challenge, type: TXT, perm_write: true}
  - email: second@seed.test
    tokens:
      - secret: token-of-the-second
        allowed_subnets: [192.0.2.0/24]
`

test.serial('the accounts, tokens, policies and domains of a seed can be used at once', async (t) => {
  await apply(SEED)
  const { url } = service
  const first = new Client(url, 'token-of-the-first')
  const names = ((await first.get('/domains/')).json as { name: string }[]).map(({ name }) => name)
  t.deepEqual(names.sort(), ['other.example', 'seed.example'])
  const { answers } = await ask(servers().powerDns, 'www.seed.example', 'A')
  const address = answers.find(({ type }) => type === 'A')
  t.like(address, { ttl: 300, data: '192.0.2.1' })
  t.is((await first.post('/domains/', { name: 'third.example' })).status, 403)

  const acme = new Client(url, 'token-for-acme-only')
  const rrset = { subname: '_acme-challenge', type: 'TXT', ttl: 3600, records: ['"x"'] }
  t.is((await acme.post('/domains/seed.example/rrsets/', rrset)).status, 201)
  t.is((await acme.post('/domains/seed.example/rrsets/', { ...rrset, subname: 'www' })).status, 403)
  t.is((await acme.post('/domains/other.example/rrsets/', rrset)).status, 403)

  t.is((await new Client(url, 'token-of-the-second').get('/domains/')).status, 401)
})

test.serial('what exists is left as it is, and what was deleted comes back', async (t) => {
  await apply(SEED)
  const first = new Client(service.url, 'token-of-the-first')
  const rrset = { subname: 'www', type: 'A', ttl: 3600, records: ['192.0.2.2'] }
  t.is((await first.put('/domains/seed.example/rrsets/', [rrset])).status, 200)
  await query(servers().system.db, `delete from tokens where name = 'everything'`)
  await apply(SEED)
  const again = await first.get('/domains/seed.example/rrsets/www/A/')
  t.like(again.json, { records: ['192.0.2.2'] })
})

const wrong: [what: string, text: string, message: RegExp][] = [
  ['what is not YAML', 'accounts: [', /line 1: /],
  [
    'an unknown member',
    'accounts:\n  - email: a@seed.test\n    token: x\n',
    /line 3: unknown member token; known are email,/,
  ],
  ['accounts that are no list', 'accounts:\n  email: a@seed.test\n', /line 2: expected a list$/],
  ['an account that is no object', 'accounts:\n  - a@seed.test\n', /line 2: expected an object of email,/],
  ['an account without an address', 'accounts:\n\n  - tokens: []\n', /line 3: email must be text$/],
  [
    'a limit that is no number',
    'accounts:\n  - email: a@seed.test\n    limit_domains: many\n',
    /line 3: limit_domains must be/,
  ],
  [
    'a short secret',
    'accounts:\n  - email: a@seed.test\n    tokens:\n      - name: x\n        secret: short\n',
    /line 5: secret must be 8 to 256/,
  ],
  [
    'a secret that occurs twice',
    'accounts:\n  - email: a@seed.test\n    tokens:\n      - secret: same-secret\n      - secret: same-secret\n',
    /line 5: another token has this secret$/,
  ],
  ['an alias', 'accounts:\n  - email: a@seed.test\n    limit_domains: *x\n', /line 3: /],
  ['a valid alias', 'accounts:\n  - email: &x a@seed.test\n  - email: *x\n', /line 3: aliases are not supported$/],
  [
    'a policy that is no object',
    'accounts:\n  - email: a@seed.test\n    tokens:\n      - secret: long-enough\n        policies:\n          - 5\n',
    /line 6: expected an object of domain, subname, type, perm_write$/,
  ],
]

for (const [what, text, message] of wrong) {
  test(`the line is named of ${what}`, (t) => {
    const error = t.throws(() => readSeed(write(text)), { instanceOf: ConfigError })
    t.regex(error.message, message)
    t.true(error.message.includes('seed.yaml, line '))
  })
}

const refused: [what: string, text: string, message: RegExp][] = [
  ['an address', 'accounts:\n  - email: nobody\n', /line 2: "nobody" is not an e-mail address\.$/],
  [
    'a record',
    'accounts:\n  - email: record@seed.test\n    domains:\n      - name: broken.example\n        zonefile: |\n          www 300 A 192.0.2.256\n',
    /line 4: .*line 1/i,
  ],
  [
    'a setting of a token',
    'accounts:\n  - email: setting@seed.test\n    tokens:\n      - secret: token-with-a-setting\n        max_age: long\n',
    /line 4: /,
  ],
  [
    'the first policy',
    'accounts:\n  - email: policy@seed.test\n    tokens:\n      - secret: token-with-policy\n        policies:\n          - {type: A, perm_write: true}\n',
    /line 6: Policy precedence: The first policy must be the default policy\.$/,
  ],
]

for (const [what, text, message] of refused) {
  test.serial(`the line and the reason are named if ${what} is refused`, async (t) => {
    await t.throwsAsync(apply(text), { instanceOf: StartError, message })
  })
}

test.serial('a token whose policy is refused does not exist, so it cannot do more than it may', async (t) => {
  const seed = (type: string) => `
accounts:
  - email: mended@seed.test
    tokens:
      - secret: token-to-be-mended
        policies:
          - perm_write: false
          - {type: ${type}, perm_write: true}
`
  await t.throwsAsync(apply(seed('"a b"')), { instanceOf: StartError, message: /line 8: / })
  const token = new Client(service.url, 'token-to-be-mended')
  t.is((await token.get('/domains/')).status, 401)
  await apply(seed('TXT'))
  const sql = `select from policies join tokens on tokens.id = token_id where secret_hash = sha256('token-to-be-mended')`
  t.is((await query(servers().system.db, sql)).length, 2)
})

/** A seed of an account with a domain and a token. */
function oneOfEach(name: string, secret: string): string {
  return `
accounts:
  - email: ${name}@seed.test
    domains:
      - name: ${name}.example
    tokens:
      - secret: ${secret}
`
}

test.serial('processes that start at the same time apply a seed one after the other', async (t) => {
  const seed = oneOfEach('together', 'token-of-both')
  await t.notThrowsAsync(Promise.all([apply(seed), apply(seed), apply(seed)]))
  t.is((await new Client(service.url, 'token-of-both').get('/domains/together.example/')).status, 200)
})

test.serial('while PowerDNS is away, a seed is applied as far as possible; the next start completes it', async (t) => {
  const seed = oneOfEach('away', 'token-of-away')
  process.kill(servers().powerDns.pid, 'SIGKILL')
  await t.notThrowsAsync(apply(seed))
  await servers().restartPowerDns()
  const token = new Client(service.url, 'token-of-away')
  t.is((await token.get('/domains/away.example/')).status, 401)
  await apply(seed)
  t.is((await token.get('/domains/away.example/')).status, 200)
})

test('a wrong seed ends the start before anything is started', async (t) => {
  const folder = newFolder()
  const env = { PATH: process.env['PATH'], ZONEPLANE_DATA: join(folder, 'data'), PORT: '0', DNS_PORT: '0' }
  const [code, output] = await runOurs(['start'], { ...env, ZONEPLANE_SEED: join(folder, 'missing.yaml') })
  t.is(code, 1)
  t.regex(output, /^zoneplane: ZONEPLANE_SEED: ENOENT.*missing\.yaml'\n$/)
  t.false(existsSync(join(folder, 'data')))
})
