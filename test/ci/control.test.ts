import test from 'ava'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findPorts, HOST } from '../../src/private-servers/ports.ts'
import { recallServers } from '../../src/private-servers/data-folder.ts'
import { openDatabase, query } from '../../src/store/database.ts'
import { Client } from '../support/clients/client.ts'
import { ask } from '../support/dns/dns.ts'
import { eventually } from '../support/eventually.ts'
import { newFolder } from '../support/servers/folders.ts'
import { startOurs, type Program } from '../support/servers/programs.ts'
import { apiUrl } from '../support/servers/service.ts'
import { seedOf } from './seed.ts'

// `zoneplane start --ci` and its control (contract §15.8).

const folder = newFolder()
let service: Program
let dnsPort: number
let anonymous: Client
let owner: Client

test.before('a service with a seed', async () => {
  const seed = join(newFolder(), 'seed.yaml')
  writeFileSync(seed, seedOf(3))
  const { dns } = await findPorts({ dns: 0, api: 0 }, [HOST])
  dnsPort = dns
  service = startOurs(['start', '--ci'], {
    PATH: process.env['PATH'],
    PORT: '0',
    DNS_PORT: String(dns),
    ZONEPLANE_DATA: folder,
    ZONEPLANE_SEED: seed,
    REGISTRATION: 'open',
    CAPTCHA: 'on',
    THROTTLE: 'on',
    THROTTLE_STORE: 'postgres',
    LOCAL_PUBLIC_SUFFIXES: 'd2.seed.test',
  })
  await eventually(() => apiUrl(service.output()))
  anonymous = new Client(apiUrl(service.output())!)
  owner = new Client(anonymous.url, 'token-of-the-owner')
})

test.after.always('it stops', async () => {
  service.child.kill('SIGTERM')
  await service.ended
})

const reset = () => anonymous.post('//root/ci/reset/')

async function withDatabase<T>(work: (db: ReturnType<typeof openDatabase>) => Promise<T>): Promise<T> {
  const db = openDatabase(recallServers(folder)!['DATABASE_URL']!, 1)
  return work(db).finally(() => db.end())
}

/** All rows of all tables, but for what only grows, or changes by looking. */
async function stored(): Promise<Record<string, unknown>> {
  return withDatabase(async (db) => {
    const tables = await query<{ name: string }>(
      db,
      `select table_name as name from information_schema.tables where table_schema = 'public'
         and table_name not in ('spent', 'knex_migrations', 'knex_migrations_lock') order by 1`,
    )
    const rows = async (name: string) =>
      query(
        db,
        `select cast(to_jsonb(t) - cast(array['version', 'rectify'] as text[]) as text) as row from ${name} t order by 1`,
      )
    const all: [string, unknown][] = []
    for (const { name } of tables) all.push([name, await rows(name)])
    return Object.fromEntries(all)
  })
}

const NAMES = ['', 'www.', 'text.', 'alias.', 'new.', 'child.']

/** What DNS answers about the domains, without signatures and serials. */
async function inDns(domains: string[]): Promise<unknown> {
  const questions = domains.flatMap((domain) =>
    NAMES.flatMap((name) => ['A', 'TXT', 'CNAME', 'NS', 'DNSKEY', 'DS'].map((type) => [`${name}${domain}`, type])),
  )
  const answers: unknown[] = []
  for (const [name, type] of questions) {
    const { rcode, answers: records } = await ask({ dnsHost: HOST, dnsPort }, name!, type!)
    const texts = records.filter((rr) => rr.type !== 'RRSIG').map((rr) => JSON.stringify(rr))
    answers.push([name, type, rcode, texts.sort()])
  }
  return answers
}

/** What the API says to each token. */
async function inApi(): Promise<unknown> {
  const paths = [
    '/domains/',
    '/domains/d0.seed.test/',
    '/domains/d0.seed.test/rrsets/',
    '/domains/extra.seed.test/rrsets/',
  ]
  const answers: unknown[] = []
  for (const secret of ['token-of-the-owner', 'token-with-policies', 'token-of-the-other']) {
    const client = new Client(anonymous.url, secret)
    for (const path of [...paths, '/auth/account/']) {
      const { status, text, headers } = await client.get(path)
      answers.push([secret, path, status, text, headers['etag']])
    }
  }
  return answers
}

const KEPT = ['d0.seed.test', 'd2.seed.test', 'extra.seed.test']
const ALL = [...KEPT, 'd1.seed.test', 'new.example']

test.serial('after changes of all kinds, a reset restores database, API and DNS', async (t) => {
  const api = await inApi()
  t.is((await reset()).status, 204)
  const database = await stored()
  const dns = await inDns(KEPT)

  const other = new Client(anonymous.url, 'token-of-the-other')
  const statuses = [
    await owner.post('/domains/', { name: 'new.example' }),
    await owner.post('/domains/', { name: 'child.d2.seed.test' }),
    await owner.patch('/domains/d0.seed.test/rrsets/', [
      { subname: 'www', type: 'A', ttl: 60, records: ['192.0.2.9'] },
      { subname: 'text', type: 'TXT', records: [] },
      { subname: 'new', type: 'A', ttl: 60, records: ['192.0.2.9'] },
      { subname: 'alias', type: 'CNAME', records: [] },
    ]),
    await owner.patch('/domains/d2.seed.test/rrsets/alias/CNAME/', { ttl: 60 }),
    // The same records in another order, which changes nothing in DNS.
    await owner.patch('/domains/d2.seed.test/rrsets/www/A/', { records: ['192.0.2.2', '192.0.2.1'] }),
    await other.delete('/domains/extra.seed.test/'),
    await owner.post('/domains/', { name: 'extra.seed.test' }),
    await owner.put('/domains/d1.seed.test/transfers/', { addresses: ['192.0.2.7'], notify: [], tsig: true }),
    await owner.post('/auth/tokens/', { name: 'more' }),
    await owner.patch('/auth/account/', { outreach_preference: false }),
    await anonymous.post('/captcha/'),
    await anonymous.post('/auth/account/reset-password/', { email: 'owner@seed.test' }),
    await anonymous.post('//root/ci/accounts/'),
  ].map(({ status }) => status)
  t.deepEqual(statuses, [201, 201, 200, 200, 200, 204, 201, 200, 201, 200, 201, 400, 201])
  const tokens = (await owner.get('/auth/tokens/')).json as { id: string; name: string }[]
  for (const { id } of tokens.slice(0, 2)) await owner.delete(`/auth/tokens/${id}/`)
  t.notDeepEqual(await stored(), database)

  t.is((await reset()).status, 204)
  t.deepEqual(await stored(), database)
  const now = await inDns(KEPT)
  t.deepEqual(now, dns)
  t.deepEqual(await inApi(), api)
  const [, , rcode] = ((await inDns(ALL)) as string[][]).find(([name]) => name === 'new.example')!
  t.is(rcode, 'REFUSED')
  t.is(((await stored())['marks'] as []).length, 0)
  const { PDNS_API_URL, PDNS_API_KEY } = recallServers(folder)!
  const settings = `${PDNS_API_URL}/api/v1/servers/localhost/zones/d1.seed.test./metadata/ALLOW-AXFR-FROM`
  const answer = await fetch(settings, { headers: { 'x-api-key': PDNS_API_KEY! } })
  t.like(await answer.json(), { metadata: [] })
})

test.serial('a reset never lets the serial of a zone go back', async (t) => {
  const serial = async () => {
    const { answers } = await ask({ dnsHost: HOST, dnsPort }, 'd0.seed.test', 'SOA')
    return (answers.find(({ type }) => type === 'SOA') as { data: { serial: number } }).data.serial
  }
  const serials = [await serial()]
  const change = () => owner.patch('/domains/d0.seed.test/rrsets/www/A/', { records: ['192.0.2.77'] })
  for (const work of [change, reset, () => owner.delete('/domains/d0.seed.test/'), reset, reset]) {
    t.true((await work()).status < 300)
    if (work.toString().includes('delete')) continue
    serials.push(await serial())
  }
  t.deepEqual(
    serials,
    serials.toSorted((a, b) => a - b),
  )
  t.is(serials.at(-1), serials.at(-2), 'without a change, a reset changes no serial')
})

test.serial('requests that run beside resets come wholly before or wholly after one', async (t) => {
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, i) =>
      i % 5 === 0
        ? reset()
        : owner.put('/domains/d1.seed.test/rrsets/', [
            { subname: `a${i}`, type: 'A', ttl: 60, records: ['192.0.2.1'] },
            { subname: `b${i}`, type: 'A', ttl: 60, records: ['192.0.2.1'] },
          ]),
    ),
  )
  t.deepEqual([...new Set(answers.map(({ status }) => status))].sort(), [200, 204])
  t.is((await reset()).status, 204)
  const rrsets = (await owner.get('/domains/d1.seed.test/rrsets/')).json as { subname: string }[]
  t.deepEqual(rrsets.map(({ subname }) => subname).sort(), ['', 'alias', 'text', 'www'])
})

test.serial('an account for a test has a token with all permissions and no limit of domains', async (t) => {
  const { status, json } = await anonymous.post('//root/ci/accounts/')
  t.is(status, 201)
  const { email, id, token } = json as { email: string; id: string; token: string }
  const client = new Client(anonymous.url, token)
  const account = (await client.get('/auth/account/')).json as { email: string; id: string; limit_domains: null }
  t.like(account, { email, id, limit_domains: null })
  t.is((await client.post('/domains/', { name: 'mine.example' })).status, 201)
  t.is((await client.delete('/domains/mine.example/')).status, 204)
  await reset()
  t.is((await client.get('/auth/account/')).status, 401)
})

test.serial('web pages cannot control the service', async (t) => {
  for (const path of ['//root/ci/reset/', '//root/ci/accounts/']) {
    const { status } = await anonymous.post(path, undefined, { headers: { Origin: 'https://page.example' } })
    t.is(status, 403)
  }
})

test.serial('`zoneplane reset` resets the running service', async (t) => {
  await owner.post('/domains/', { name: 'gone.example' })
  const { ended, output } = startOurs(['reset'], { PATH: process.env['PATH'], ZONEPLANE_DATA: folder })
  t.is(await ended, 0, output())
  t.is((await owner.get('/domains/gone.example/')).status, 404)
  const nowhere = startOurs(['reset'], { PATH: process.env['PATH'], ZONEPLANE_DATA: newFolder() })
  t.is(await nowhere.ended, 1)
  t.regex(nowhere.output(), /no service is ready with private servers in/)
})

test.serial('`zoneplane --ci` keeps its data in a folder that is deleted at the end', async (t) => {
  const TMPDIR = newFolder()
  const { child, ended, output } = startOurs(['--ci'], {
    PATH: process.env['PATH'],
    TMPDIR,
    PORT: '0',
    DNS_PORT: '0',
  })
  await eventually(() => apiUrl(output()))
  t.is(readdirSync(TMPDIR).length, 1)
  const { status } = await new Client(apiUrl(output())!).post('//root/ci/accounts')
  t.is(status, 201)
  child.kill('SIGTERM')
  t.is(await ended, 0)
  t.deepEqual(readdirSync(TMPDIR), [])
})
