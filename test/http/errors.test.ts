import test from 'ava'
import { query } from '../../src/store/database.ts'
import type { Account } from '../support/clients/accounts.ts'
import { newDomain, readiness } from '../support/clients/api.ts'
import type { Answer } from '../support/clients/client.ts'
import { startGate } from '../support/servers/gate.ts'
import { useService } from '../support/harness.ts'
import { startService } from '../support/servers/service.ts'

// Contract §§2.2, 2.3 and 15.2: failures of PowerDNS, Postgres and the service itself.

const service = useService({ RETRY_AFTER: '7' })

const WRITE = '{"detail":"The DNS backend is currently unavailable. Nothing was changed; please retry."}'
const BUSY = '{"detail":"The request waited too long for its turn. Nothing was changed; please retry."}'
const READ = '{"detail":"The DNS backend is currently unavailable. Please retry."}'
const INTERNAL = '{"detail":"Internal Server Error."}'

let account: Account
let domain: string

test.before('an account with a domain', async () => {
  account = await service().account()
  domain = await newDomain(account.api)
  await account.api.post(`/domains/${domain}/rrsets/`, { subname: 'www', type: 'A', ttl: 60, records: ['192.0.2.1'] })
})

const rrsets = (rest = '') => `/domains/${domain}/rrsets/${rest}`
const isUnavailable = ({ status, text, headers }: Answer, body: string) =>
  status === 503 && text === body && headers['retry-after'] === '7' && headers['content-type'] === 'application/json'

/** Domains and RRsets in the database, without the versions, which repair raises. */
async function stored(): Promise<string> {
  const rows = await query(
    service().system.db,
    `select (select json_agg(to_jsonb(domains) - 'version' order by id) from domains) as domains,
       (select json_agg(rrsets order by id) from rrsets) as rrsets`,
  )
  return JSON.stringify(rows)
}

for (const [what, fate] of [
  ['does not answer the connection', 'cut'],
  ['fails', { refuse: 500 }],
  ['is overloaded', { refuse: 503 }],
  ['refuses our key', { refuse: 401 }],
  ['refuses us', { refuse: 403 }],
] as const) {
  test.serial(`when PowerDNS ${what}, writes are 503 and change nothing`, async (t) => {
    const before = await stored()
    service().proxy.fail(() => fate)
    const answers = [
      await account.api.post('/domains/', { name: `unborn.${domain}` }),
      await account.api.delete(`/domains/${domain}/`),
      await account.api.post(rrsets(), { subname: 'unborn', type: 'A', ttl: 60, records: ['192.0.2.1'] }),
      await account.api.patch(rrsets('www/A/'), { ttl: 999 }),
      await account.api.put(rrsets('www/A/'), { subname: 'www', type: 'A', ttl: 999, records: ['192.0.2.9'] }),
      await account.api.delete(rrsets('www/A/')),
    ]
    service().proxy.heal()
    for (const answer of answers) t.true(isUnavailable(answer, WRITE), answer.text)
    t.is(await stored(), before)
  })

  test.serial(`when PowerDNS ${what}, a domain is 503, and requests that do not need PowerDNS work`, async (t) => {
    service().proxy.fail(() => fate)
    const reads = [
      await account.api.get('/domains/'),
      await account.api.get(`/domains/?owns_qname=${domain}`),
      await account.api.get(rrsets()),
      await account.api.get(rrsets('www/A/')),
      await account.api.patch(rrsets('www/A/'), {}),
    ]
    const withKeys = await account.api.get(`/domains/${domain}/`)
    const head = await account.api.send('HEAD', `/domains/${domain}/`)
    const ready = await readiness(service(), service().anonymous)
    const alive = await service().anonymous.get('//root/healthz')
    service().proxy.heal()
    for (const { status, text } of reads) t.is(status, 200, text)
    t.true(isUnavailable(withKeys, READ), withKeys.text)
    t.deepEqual([head.status, head.text, head.headers['retry-after']], [503, '', '7'])
    const checks = '{"database":"ok","migrations":"ok","powerdns":"unavailable"}'
    t.deepEqual([ready.status, ready.text], [200, `{"status":"ready","checks":${checks}}`])
    t.is(alive.status, 200)
  })
}

test.serial('when PowerDNS is back, the next write works', async (t) => {
  for (const ttl of [61, 62]) {
    service().proxy.fail(() => 'cut')
    t.is((await account.api.patch(rrsets('www/A/'), { ttl })).status, 503)
    service().proxy.heal()
    t.is((await account.api.patch(rrsets('www/A/'), { ttl })).status, 200)
  }
})

test.serial('a refusal by PowerDNS is 400 with its reason and changes nothing', async (t) => {
  const before = await stored()
  service().proxy.fail(({ method }) => (method === 'PATCH' ? { refuse: 422 } : 'pass'))
  const answers = [
    await account.api.post(rrsets(), { subname: 'unborn', type: 'A', ttl: 60, records: ['192.0.2.1'] }),
    await account.api.patch(rrsets('www/A/'), { records: ['192.0.2.99'] }),
  ]
  service().proxy.heal()
  for (const { status, text } of answers) {
    t.deepEqual([status, text], [400, '{"non_field_errors":["The DNS backend refused this RRset: injected"]}'])
  }
  t.is(await stored(), before)
})

test.serial('a write that waits too long for the lock of its domain is 503 and changes nothing', async (t) => {
  const before = await stored()
  const other = await service().system.db.connect()
  await other.query('begin')
  await other.query('select from domains where name = $1 for update', [domain])
  const answers = await Promise.all([
    account.api.patch(rrsets('www/A/'), { ttl: 999 }),
    account.api.delete(rrsets('www/A/')),
    account.api.get(rrsets('www/A/')),
  ])
  await other.query('rollback')
  other.release()
  t.true(isUnavailable(answers[0], BUSY), answers[0].text)
  t.true(isUnavailable(answers[1], BUSY), answers[1].text)
  t.is(answers[2].status, 200)
  t.is(await stored(), before)
  t.is((await account.api.patch(rrsets('www/A/'), { ttl: 998 })).status, 200)
})

for (const [what, damage, repair] of [
  ['a table is missing', 'alter table rrsets rename to rrsets_away', 'alter table rrsets_away rename to rrsets'],
  ['a column is missing', 'alter table rrsets rename ttl to tt', 'alter table rrsets rename tt to ttl'],
] as const) {
  test.serial(`when ${what}, the answer is 500 without details, and the log has them once`, async (t) => {
    await query(service().system.db, damage)
    const logged = service().logged().length
    const answers = [
      await account.api.get(rrsets(), { headers: { 'x-request-id': 'broken-1' } }),
      await account.api.post(rrsets(), { subname: 'x', type: 'A', ttl: 60, records: ['192.0.2.1'] }),
      await account.api.delete(rrsets('www/A/')),
    ]
    await query(service().system.db, repair)
    for (const { status, text, headers } of answers) {
      t.deepEqual([status, text], [500, INTERNAL])
      t.is(headers['content-type'], 'application/json')
      t.is(headers['vary'], 'origin')
      t.is(headers['retry-after'], undefined)
      t.truthy(headers['allow'])
    }
    const lines = service().logged().slice(logged).trim().split('\n')
    const entries = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
    const told = entries.filter(({ message, request }) => message === 'unexpected' && request === 'broken-1')
    t.is(told.length, 1)
    t.regex(String(told[0]!['error']), /does not exist[^]*\n +at /)
    t.is((await account.api.get(rrsets())).status, 200)
  })
}

test.serial('when migrations are missing, the service is not ready', async (t) => {
  const rename = (from: string, to: string) =>
    query(service().system.db, 'update knex_migrations set name = :to where name = :from', { from, to })
  await rename('01_accounts', '01_others')
  const { status, text, headers } = await readiness(service(), service().anonymous)
  await rename('01_others', '01_accounts')
  const checks = '{"database":"ok","migrations":"unavailable","powerdns":"ok"}'
  t.deepEqual([status, text], [503, `{"status":"unavailable","checks":${checks}}`])
  t.is(headers['retry-after'], '7')
})

test.serial('without Postgres, requests are 503; they work again when it is back', async (t) => {
  const gate = await startGate(service().backends.databaseUrl)
  const { anonymous, clientOf, stop } = await startService(
    { ...service().backends, databaseUrl: gate.url },
    { RETRY_AFTER: '7' },
  )
  const api = clientOf(account.secret)
  try {
    t.is((await api.get(rrsets())).status, 200)
    const before = await stored()

    await gate.shut()
    for (const path of ['/domains/', rrsets(), rrsets('www/A/'), '/', `/domains/${domain}/`]) {
      const answer = await api.get(path)
      t.true(isUnavailable(answer, READ), answer.text)
    }
    for (const answer of [
      await api.post('/domains/', { name: `unborn.${domain}` }),
      await api.patch(rrsets('www/A/'), { ttl: 777 }),
      await api.delete(rrsets('www/A/')),
    ]) {
      t.true(isUnavailable(answer, WRITE), answer.text)
    }
    t.is((await anonymous.get('/')).status, 200)
    t.is((await anonymous.get('/domains/')).status, 401)
    t.is((await anonymous.get('/nothing/')).status, 404)
    t.is((await anonymous.get('//root/healthz')).status, 200)
    const ready = await readiness(service(), anonymous)
    const checks = '{"database":"unavailable","migrations":"unavailable","powerdns":"ok"}'
    t.deepEqual([ready.status, ready.text], [503, `{"status":"unavailable","checks":${checks}}`])
    t.is(ready.headers['retry-after'], '7')

    await gate.open()
    t.is(await stored(), before)
    t.is((await api.patch(rrsets('www/A/'), { ttl: 778 })).status, 200)
    t.is((await readiness(service(), anonymous)).status, 200)
  } finally {
    await stop()
    await gate.shut()
  }
})
