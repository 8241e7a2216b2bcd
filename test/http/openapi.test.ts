import test from 'ava'
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { parse } from 'yaml'
import { createRouter } from '../../src/http/router.ts'
import { projectFolder } from '../../src/installation/project.ts'
import { readConfig } from '../../src/settings/config.ts'
import { newDomain } from '../support/clients/api.ts'
import { checkExchange, type Exchange } from '../support/clients/description.ts'
import { useService } from '../support/harness.ts'
import { newFolder } from '../support/servers/folders.ts'

// The document of contract §15.2. That it is true, all other tests examine (support/description.ts).

const service = useService()

interface Document {
  openapi: string
  paths: Record<string, Record<string, { operationId?: string }>>
}

function documentOf(settings: Record<string, string>): Document {
  return createRouter(readConfig(settings)).document as unknown as Document
}

test('the document is served to everyone, as JSON and as YAML', async (t) => {
  const json = await service().anonymous.get('/openapi.json')
  t.deepEqual([json.status, json.headers['content-type']], [200, 'application/json'])
  t.is((json.json as Document).openapi, '3.1.1')
  const yaml = await service().anonymous.get('/openapi.yaml/')
  t.deepEqual([yaml.status, yaml.headers['content-type']], [200, 'application/yaml'])
  t.deepEqual(parse(yaml.text), json.json)
})

for (const path of ['/openapi.json', '/openapi.yaml']) {
  test(`${path} is not sent again to a client that has it`, async (t) => {
    const { headers } = await service().anonymous.get(path)
    const tag = String(headers['etag'])
    for (const condition of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
      const again = await service().anonymous.get(path, { headers: { 'if-none-match': condition } })
      t.deepEqual([again.status, again.text, again.headers['etag']], [304, '', tag], condition)
    }
    const other = await service().anonymous.get(path, { headers: { 'if-none-match': '"other"' } })
    t.is(other.status, 200)
  })
}

/** The document of PowerDNS' API (contract §20.1). */
function powerdnsDocument(): Document {
  return createRouter(readConfig({})).describePowerdns!() as unknown as Document
}

test('it has every path, and the methods of the path besides HEAD and OPTIONS', async (t) => {
  const { router } = createRouter(readConfig({ CAPTCHA: 'on', CI_CONTROL: 'on' }))
  const { paths } = documentOf({ CAPTCHA: 'on', CI_CONTROL: 'on' })
  const { paths: others } = powerdnsDocument()
  const described = Object.keys({ ...paths, ...others }).map((path) =>
    path.replace(/(.)\/$/, '$1').replaceAll(/{(\w+)}/g, ':$1'),
  )
  t.deepEqual(
    described,
    router.stack.map(({ path }) => String(path)),
  )
  const all = { ...documentOf({}).paths, ...others }
  for (const path of Object.keys(all)) {
    const { headers } = await service().anonymous.send('OPTIONS', `//root${path}`)
    t.deepEqual(
      Object.keys(all[path]!)
        .filter((key) => key !== 'parameters')
        .map((method) => method.toUpperCase())
        .sort(),
      String(headers['allow'])
        .split(', ')
        .filter((method) => !['HEAD', 'OPTIONS'].includes(method))
        .sort(),
      path,
    )
  }
})

test('it has what the settings switch on, and no more', (t) => {
  for (const [setting, path] of [
    ['CAPTCHA', '/api/v1/captcha/'],
    ['CI_CONTROL', '/ci/accounts/'],
  ] as const) {
    t.true(path in documentOf({ [setting]: 'on' }).paths)
    t.false(path in documentOf({}).paths)
  }
})

test('its groups begin with domains and RRsets, and end with the service itself', (t) => {
  const { tags } = createRouter(readConfig({})).document as { tags: { name: string }[] }
  const names = tags.map(({ name }) => name)
  t.deepEqual([...names.slice(0, 2), names.at(-1)], ['Domains', 'RRsets', 'Service'])
})

test('its names of operations are unique', (t) => {
  const { paths } = documentOf({ CAPTCHA: 'on', CI_CONTROL: 'on' })
  const ids = Object.values(paths).flatMap((path) =>
    Object.values(path).flatMap(({ operationId }) => operationId ?? []),
  )
  t.is(new Set(ids).size, ids.length)
})

const MOST = { CAPTCHA: 'on', CI_CONTROL: 'on', PUBLIC_URL: 'https://dns.example.net' }
for (const [title, document] of [
  ['by default', () => documentOf({})],
  [`with ${JSON.stringify(MOST)}`, () => documentOf(MOST)],
  ["about PowerDNS' API", powerdnsDocument],
] as const) {
  test(`Redocly finds nothing to complain about in the document ${title}`, async (t) => {
    const file = join(newFolder(), 'openapi.json')
    writeFileSync(file, JSON.stringify(document()))
    const cli = join(projectFolder(), 'node_modules/@redocly/cli/bin/cli.js')
    const config = join(projectFolder(), 'redocly.yaml')
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [cli, 'lint', file, '--format=json', '--config', config],
      { env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' } },
    )
    const { totals } = JSON.parse(stdout) as { totals: Record<string, number> }
    t.deepEqual(totals, { errors: 0, warnings: 0, ignored: 0 })
  })
}

const DOMAIN = {
  created: '2026-01-31T12:00:00.000000Z',
  published: '2026-01-31T12:00:00.000000Z',
  name: 'example.com',
  minimum_ttl: 60,
  touched: '2026-01-31T12:00:00.000000Z',
}

/** A list with a domain, as the document describes it. */
let good: Exchange

// Before the tests that make documents: these occupy the process, and with it the service, for seconds on a busy machine.
test.before(async () => {
  const { api } = await service().account()
  await newDomain(api)
  const { status, headers, text } = await api.get('/domains/')
  good = { method: 'GET', target: '/api/v1/domains/', requestHeaders: {}, sent: undefined, status, headers, text }
})

const TAMPERINGS: [title: string, exchange: Partial<Exchange>, headers?: Exchange['headers']][] = [
  ['another status', { status: 203 }],
  ['an error that the operation does not have', { status: 409, text: '{"detail":"Not found."}' }],
  ['another member', { text: JSON.stringify([{ ...DOMAIN, owner: 'me' }]) }],
  ['a missing member', { text: JSON.stringify([{ ...DOMAIN, touched: undefined }]) }],
  ['a member of another type', { text: JSON.stringify([{ ...DOMAIN, minimum_ttl: '60' }]) }],
  ['another media type', {}, { 'content-type': 'text/plain' }],
  ['another header', {}, { 'x-powered-by': 'Zoneplane' }],
  ['a missing header', {}, { allow: undefined }],
  ['a header with another value', {}, { vary: '*' }],
  ['a path that is not described', { target: '/api/v1/zones/' }],
  ['a method that is not described', { method: 'PUT' }],
  ['a success of a request that is not described', { method: 'POST', sent: '{"name":null}', status: 201 }],
]

for (const [title, tampered, others] of TAMPERINGS) {
  test(`the tests' client notices ${title}`, async (t) => {
    const { url } = service()
    await t.notThrowsAsync(checkExchange(url, good))
    const changed = { ...good, headers: { ...good.headers, ...others }, ...tampered }
    await t.throwsAsync(checkExchange(url, changed), {
      message: /not as the document describes/,
    })
  })
}

/** The members of representations in their order, as the contract has them. */
const MEMBERS: Record<string, string> = {
  Token:
    'id created last_used owner user_override mfa max_age max_unused_period name perm_create_domain perm_delete_domain ' +
    'perm_manage_tokens allowed_subnets auto_policy is_valid maker tsig message_required',
  Member: 'id email role domains state invited accepted last_active source second_factor',
  Membership: 'id account role domains require_mfa accepted last_active source',
  Policy: 'id domain subname subname_pattern type perm_write',
  Domain: 'created published name minimum_ttl touched suspended note',
  DomainWithKeys: 'created published name keys minimum_ttl touched suspended note',
  DomainOverview: 'created published name minimum_ttl touched suspended note rrsets last_change delegation rollover',
  LastChange: 'created source owner token',
  Key: 'dnskey ds flags keytype managed',
  RRset: 'created domain subname name records ttl type touched',
  Change: 'subname type before after',
  Entry: 'id created version source owner token request_id message count event rollover trimmed changes',
  Activity:
    'id created type domain version source owner token request_id message count rollover subject address changes',
  PublicationStatus: 'version published status nameservers',
  NameserverStatus: 'name status version detail',
  Account: 'created domains_under_management email id limit_domains outreach_preference require_mfa require_message',
  Factor: 'id created last_used name',
  NewFactor: 'id created last_used name secret uri',
  Captcha: 'id challenge kind',
  Transfers: 'addresses notify tsig',
  TransferKey: 'name algorithm secret',
}

test('the representations have the members of the contract', (t) => {
  const { components } = createRouter(readConfig({ CAPTCHA: 'on' })).document as {
    components: { schemas: Record<string, { properties: object }> }
  }
  for (const [name, members] of Object.entries(MEMBERS)) {
    t.is(Object.keys(components.schemas[name]!.properties).join(' '), members, name)
  }
})

// The page that shows the document, and what it consists of. test/browser/docs.test.ts uses it.

const fetchPath = (path: string) => fetch(new URL(path, service().url))

test('the page consists of assets of this very server, and no other script or style may run in it', async (t) => {
  const response = await fetchPath('/api/v1/docs/')
  const { status, headers } = response
  t.deepEqual([status, headers.get('content-type')], [200, 'text/html; charset=utf-8'])
  const policy = headers.get('content-security-policy')!
  t.notRegex(policy, /unsafe|https?:|\*/)
  for (const rule of ["default-src 'none'", "connect-src 'self'", "base-uri 'none'", "frame-ancestors 'none'"]) {
    t.true(policy.split('; ').includes(rule), rule)
  }
  t.notRegex(await response.text(), /="(https?:)?\/\//)
})

test('the assets are those of the package, at most 700 KiB in all, and are cached', async (t) => {
  const require = createRequire(import.meta.url)
  const page = await (await fetchPath('/api/v1/docs/')).text()
  const paths = Array.from(page.matchAll(/(?:src|href)="(\/[^"]*\/docs\/([^"?]*)[^"]*)"/g))
  t.deepEqual(paths.map(([, , name]) => name).sort(), ['swagger-ui-bundle.js', 'swagger-ui.css'])
  let octets = 0
  for (const [, path, name] of paths) {
    const response = await fetchPath(path!)
    const { headers } = response
    t.true(Buffer.from(await response.arrayBuffer()).equals(readFileSync(require.resolve(`swagger-ui-dist/${name}`))))
    t.is(headers.get('content-encoding'), 'gzip')
    t.is(headers.get('cache-control'), 'public, max-age=31536000, immutable')
    octets += Number(headers.get('content-length'))
  }
  t.log(`${octets} octets`)
  t.true(octets > 0 && octets <= 700 * 1024)
})

test('other files of the package are not served', async (t) => {
  for (const name of ['package.json', 'index.html', '..%2Fkoa%2Fpackage.json', 'constructor']) {
    t.is((await fetchPath(`/api/v1/docs/${name}`)).status, 404, name)
  }
})
