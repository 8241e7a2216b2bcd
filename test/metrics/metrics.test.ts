import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { StartError } from '../../src/errors.ts'
import { projectFolder, projectVersion } from '../../src/installation/project.ts'
import { METRICS } from '../../src/metrics/definitions.ts'
import { serve } from '../../src/process/tasks.ts'
import { measure } from '../../src/service/operation/measuring.ts'
import { audit } from '../../src/service/repair/audit.ts'
import { reconcile } from '../../src/service/repair/reconcile.ts'
import { begin, one, query } from '../../src/store/database.ts'
import { estimates } from '../../src/store/estimates.ts'
import { latestMigration } from '../../src/store/migrate.ts'
import * as work from '../../src/store/work.ts'
import * as marks from '../../src/store/zone/marks.ts'
import { DAY, later } from '../../src/time.ts'
import type { Account } from '../support/clients/accounts.ts'
import { newDomain, sendHeld, succeeded } from '../support/clients/api.ts'
import { exchange, plainRequest } from '../support/clients/raw.ts'
import { eventually, eventuallyIs } from '../support/eventually.ts'
import { useService, withService } from '../support/harness.ts'
import { test } from '../support/serial.ts'
import { changeAtPowerDns, soaOf } from '../support/state/behind-our-back.ts'
import { unrepaired } from '../support/state/marks.ts'
import { statementsOf } from '../support/statements.ts'
import { growthOf, scrape, scrapedText } from './scrape.ts'

// What a process tells Prometheus (docs/operators/monitor.md).

const service = useService({ METRICS_PORT: '0', SECONDARIES: 'ns2.zoneplane.test=127.0.0.1:9' })

let account: Account
let domain: string

test.before('an account with a domain', async () => {
  account = await service().account()
  domain = await newDomain(account.api)
})

const rrset = (subname: string) => ({ subname, type: 'A', ttl: 300, records: ['192.0.2.1'] })
const write = (subname: string) => account.api.post(`/domains/${domain}/rrsets/`, rrset(subname))
const growth = (work: () => Promise<unknown>) => growthOf(service(), work)
const measured = async () => {
  await measure(service().system, service().system.metrics!, projectVersion())
  return scrape(service())
}

test('requests are counted by route, method and class of status, and their time by route and method', async (t) => {
  const path = `/domains/${domain}/`
  const grown = await growth(async () => {
    for (let left = 3; left > 0; left--) succeeded(await account.api.get(path), 200)
    t.is((await account.api.get('/domains/absent.test/')).status, 404)
    t.is((await account.api.delete('/domains/absent.test/')).status, 204)
  })
  const requests = (method: string, status: string) =>
    grown.get(`zoneplane_http_requests_total{route="/api/v1/domains/:name",method="${method}",status="${status}"}`)
  t.deepEqual([requests('GET', '2xx'), requests('GET', '4xx'), requests('DELETE', '2xx')], [3, 1, 1])
  const times = 'zoneplane_http_request_duration_seconds'
  t.is(grown.get(`${times}_count{route="/api/v1/domains/:name",method="GET"}`), 4)
  t.true(grown.get(`${times}_sum{route="/api/v1/domains/:name",method="GET"}`)! > 0)
})

test('requests that are refused because of their HTTP are counted by reason', async (t) => {
  const grown = await growth(async () => {
    for (const octets of [
      'hello\r\n\r\n',
      plainRequest('FROB /'),
      plainRequest('GET /', [`X: ${'x'.repeat(100_000)}`]),
    ]) {
      await exchange(service().url, octets)
    }
  })
  const refused = (reason: string) => grown.get(`zoneplane_http_refused_requests_total{reason="${reason}"}`)
  t.deepEqual([refused('malformed'), refused('header_too_large'), refused('timeout')], [2, 1, undefined])
})

test('a write is measured in each of its steps, and in its calls of PowerDNS', async (t) => {
  const grown = await growth(async () => succeeded(await write('steps'), 201))
  for (const step of ['turn', 'lock', 'plan', 'mark', 'push', 'commit']) {
    t.is(grown.get(`zoneplane_write_step_duration_seconds_count{step="${step}"}`), 1, step)
  }
  const call = 'PATCH /zones/:id'
  t.is(grown.get(`zoneplane_powerdns_calls_total{call="${call}",outcome="done"}`), 1)
  t.is(grown.get(`zoneplane_powerdns_call_duration_seconds_count{call="${call}"}`), 1)
  // PowerDNS is asked for the serial, too, if it does not answer over DNS in time.
  const calls = [...grown].filter(([name]) => name.startsWith('zoneplane_powerdns_calls_total'))
  const number = calls.reduce((sum, [, grownBy]) => sum + grownBy, 0)
  t.is(grown.get('zoneplane_powerdns_wait_duration_seconds_count'), number)
})

test('calls that PowerDNS fails are counted by what is known afterwards', async (t) => {
  const failures: [name: string, fate: Parameters<ReturnType<typeof service>['proxy']['fail']>[0]][] = [
    ['failed', ({ method }) => (method === 'PATCH' ? { refuse: 500 } : 'pass')],
    ['refused', ({ method }) => (method === 'PATCH' ? { refuse: 422 } : 'pass')],
    ['unknown', ({ method }) => (method === 'PATCH' ? 'cut' : 'pass')],
    ['unknown', ({ method }) => (method === 'PATCH' ? { refuse: 502 } : 'pass')],
  ]
  for (const [outcome, fate] of failures) {
    const name = await newDomain(account.api)
    service().proxy.fail(fate)
    const grown = await growth(async () => {
      t.not((await account.api.post(`/domains/${name}/rrsets/`, rrset('failing'))).status, 201)
    })
    service().proxy.heal()
    // The next ones are not to be mixed with its repair.
    await eventuallyIs(() => unrepaired(service()), [])
    t.true(grown.get(`zoneplane_powerdns_calls_total{call="PATCH /zones/:id",outcome="${outcome}"}`)! >= 1, outcome)
    t.false(grown.has('zoneplane_powerdns_calls_total{call="PATCH /zones/:id",outcome="done"}'), outcome)
  }
})

test('calls of PowerDNS that are open, and that wait for a connection, are counted', async (t) => {
  const { answering, release } = await sendHeld(service(), 'PATCH', () => write('open'))
  // Another call may be about to get its connection.
  await eventuallyIs(async () => (await scrape(service())).get('zoneplane_powerdns_calls{state="waiting"}'), 0)
  const during = await scrape(service())
  t.true(during.get('zoneplane_powerdns_calls{state="open"}')! >= 1)
  // The transaction waits for PowerDNS.
  t.true(during.get('zoneplane_postgres_connections{pool="writers",state="used"}')! >= 1)
  release('pass')
  succeeded(await answering, 201)
})

test('marks are counted with their age; and repairs, their failures, and zones that others have changed', async (t) => {
  const { system, proxy } = service()
  t.teardown(() => {
    proxy.heal()
  })
  const repair = async () => {
    while ((await marks.state(system.db)).number > 0) {
      await marks.hasten(system.db)
      await reconcile(system)
    }
  }
  const name = await newDomain(account.api)
  succeeded(await account.api.post(`/domains/${name}/rrsets/`, rrset('www')), 201)
  // What the tests before have left, and what a slow write leaves.
  await eventuallyIs(() => proxy.open(), 0)
  await repair()
  await changeAtPowerDns(service(), name, ['www', 'A', 300, '192.0.2.99'])
  // No repair comes in between.
  proxy.fail(({ method }) => (method === 'PATCH' ? { refuse: 500 } : 'pass'))
  const found = await growth(async () => {
    t.true((await audit(system, () => true)).includes(name))
    await marks.hasten(system.db)
    await reconcile(system)
    // The service may have been faster, and still be at it.
    await eventuallyIs(async () => (await marks.list(system.db, [name])).every(({ attempts }) => attempts > 0), true)
  })
  t.is(found.get('zoneplane_drifted_zones_total{found_by="audit"}'), 1)
  t.true(found.get('zoneplane_repair_failures_total{kind="failed"}')! >= 1)
  const marked = await measured()
  t.is(marked.get('zoneplane_marks'), (await marks.state(system.db)).number)
  t.true(marked.get('zoneplane_marks')! >= 1)
  t.true(marked.get('zoneplane_oldest_mark_age_seconds')! > 0)
  proxy.heal()
  const repaired = await growth(repair)
  t.true(repaired.get('zoneplane_repairs_total')! >= 1)
  const after = await measured()
  t.deepEqual([after.get('zoneplane_marks'), after.get('zoneplane_oldest_mark_age_seconds')], [0, 0])
})

test('a write that finds another serial than its domain has counts as drift', async (t) => {
  const name = await newDomain(account.api)
  await changeAtPowerDns(service(), name, ['', 'SOA', 300, soaOf(name, 4_000_000_000)])
  const grown = await growth(async () =>
    succeeded(await account.api.post(`/domains/${name}/rrsets/`, rrset('www')), 201),
  )
  t.is(grown.get('zoneplane_drifted_zones_total{found_by="write"}'), 1)
})

test('a wrong password is counted', async (t) => {
  const grown = await growth(async () => {
    const credentials = { email: 'nobody@example.net', password: 'wrong password' }
    t.is((await service().anonymous.post('/auth/login/', credentials)).status, 403)
  })
  t.is(grown.get('zoneplane_events_total{event="login_failed"}'), 1)
})

test('failed statements are counted by pool and kind', async (t) => {
  const { system } = service()
  const grown = await growth(async () => {
    await t.throwsAsync(query(system.db, 'select 1 / 0'))
    await using trx = await begin(system.pools.writers)
    const sql = `insert into domains (name, owner_id, minimum_ttl, version, size, created, published, touched)
      select name, owner_id, minimum_ttl, version, size, created, published, touched from domains where name = :domain`
    await t.throwsAsync(query(trx.db, sql, { domain }))
  })
  t.is(grown.get('zoneplane_postgres_errors_total{pool="main",kind="other"}'), 1)
  t.is(grown.get('zoneplane_postgres_errors_total{pool="writers",kind="constraint"}'), 1)
})

test('what is stored is told as Postgres estimates it, and the queue of mails as it is', async (t) => {
  const { system } = service()
  await work.add(system.db, [{ kind: 'mail', due: later(system.now(), DAY) }], system.now())
  for (const [table, name] of [
    ['accounts', 'zoneplane_accounts'],
    ['tokens', 'zoneplane_tokens'],
    ['domains', 'zoneplane_domains{delegation="unknown"}'],
    ['rrsets', 'zoneplane_rrsets'],
    ['history', 'zoneplane_history_entries'],
  ] as const) {
    const { n } = await one<{ n: number }>(system.db, `select count(*) as n from ${table}`)
    // Sessions report what they have changed a little later.
    await eventually(async () => {
      await query(system.db, `analyze ${table}`)
      return (await measured()).get(name) === n
    })
  }
  const values = await measured()
  t.is(values.get('zoneplane_mails_queued'), 1)
  t.true(values.get('zoneplane_oldest_mail_age_seconds')! > 0)
  await query(system.db, 'delete from work')
  t.is((await measured()).get('zoneplane_oldest_mail_age_seconds'), 0)
})

test('the version, the migration and the backends are told', async (t) => {
  const { system } = service()
  const values = await measured()
  const migration = await latestMigration(system.db)
  t.is(values.get(`zoneplane_info{version="${projectVersion()}",migration="${migration}"}`), 1)
  for (const backend of ['database', 'migrations', 'powerdns']) {
    t.is(values.get(`zoneplane_backend_up{backend="${backend}"}`), 1, backend)
  }
  const now = (await scrape(service())).get('zoneplane_measured_timestamp_seconds')!
  t.true(Math.abs(now - Date.now() / 1000) < 600)
})

test('what a secondary answers to the sweep is counted', async (t) => {
  const grown = await growth(() => service().system.secondaries.remind(domain, 1))
  t.true(grown.get('zoneplane_secondary_answers_total{secondary="ns2.zoneplane.test",answer="none"}')! >= 1)
})

test('the process itself is measured', async (t) => {
  const names = [...(await scrape(service())).keys()]
  for (const name of [
    'nodejs_eventloop_lag_p99_seconds',
    'process_resident_memory_bytes',
    'process_cpu_seconds_total',
  ]) {
    t.true(names.includes(name), name)
  }
  t.true((await scrapedText(service())).includes('nodejs_gc_duration_seconds'))
})

test('what ends in _total is a counter, and every counter does', async (t) => {
  const types = [...(await scrapedText(service())).matchAll(/^# TYPE (\S+) (\S+)$/gm)]
  t.true(types.length > 40)
  const wrong = types.filter(([, name, kind]) => name!.endsWith('_total') !== (kind === 'counter'))
  t.deepEqual(wrong, [])
})

test('a scrape has every metric of the table, with its help, and monitor.md explains it', async (t) => {
  const text = await scrapedText(service())
  const guide = readFileSync(join(projectFolder(), 'docs', 'operators', 'monitor.md'), 'utf8')
  for (const [name, { help, kind }] of Object.entries(METRICS)) {
    t.true(text.includes(`# HELP ${name} ${help}\n# TYPE ${name} ${kind}\n`), name)
    t.true(guide.includes(`\`${name}\``), name)
  }
})

test('a scrape asks neither Postgres nor PowerDNS', async (t) => {
  const { proxy } = service()
  proxy.calls.length = 0
  const scrapes = 400
  const statements = await statementsOf(async () => {
    await Promise.all(Array.from({ length: scrapes }, () => scrapedText(service())))
  })
  // The background loops go on; at once, so that they have little time.
  t.true(statements.length < scrapes)
  t.true(proxy.calls.length < scrapes)
})

test('the estimates read no table of users', async (t) => {
  const { system } = service()
  const [sql] = await statementsOf(() => estimates(system.db, ['domains', 'rrsets']))
  const plan = await query(system.db, `explain ${sql!.replaceAll('$1', `'{domains,rrsets}'`)}`)
  const text = JSON.stringify(plan)
  t.true(text.includes('pg_class'))
  t.notRegex(text, /Scan[^"]* on (domains|rrsets|accounts|tokens|history)\b/)
})

test('metrics are only at /metrics of their own listener', async (t) => {
  for (const path of ['//root/metrics', '//root/metrics/', '/metrics/']) {
    t.is((await account.api.get(path)).status, 404, path)
  }
  const { metricsPort } = service()
  for (const [method, path] of [
    ['GET', '/'],
    ['GET', '/api/v1/'],
    ['GET', '/metrics/x'],
    ['POST', '/metrics'],
  ] as const) {
    t.is((await fetch(`http://127.0.0.1:${metricsPort}${path}`, { method })).status, 404, `${method} ${path}`)
  }
  // A page elsewhere can lead a browser of this machine to any address, under a name of its own.
  for (const [host, status] of [
    ['localhost', 200],
    [`127.0.0.1:${metricsPort}`, 200],
    ['[::1]:1', 200],
    ['rebound.example', 403],
    ['localhost.rebound.example:80', 403],
  ] as const) {
    const octets = `GET /metrics HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`
    t.is((await exchange(`http://127.0.0.1:${metricsPort}`, octets)).status, status, host)
  }
})

test('no label has what users or operators keep, and users add no series', async (t) => {
  const send = async () => {
    const canary = `canary${randomBytes(8).toString('hex')}`
    const name = await newDomain(account.api, `${canary}.example`)
    const rrsets = `/domains/${name}/rrsets/`
    succeeded(await account.api.post(rrsets, rrset(canary)), 201)
    await account.api.get(`${rrsets}${canary}/A/?${canary}`)
    await account.api.get(`/${canary}/`)
    await account.api.get(`/domains/${canary}/%zz/`)
    await account.api.delete(`/auth/tokens/${canary}/`)
    await account.api.post('/auth/login/', { email: `${canary}@example.net`, password: canary })
    await account.api.get('/', { headers: { authorization: `Token ${canary}`, 'x-request-id': canary, host: 'h' } })
    for (const method of ['PROPFIND', 'PURGE', 'QUERY']) {
      await exchange(service().url, plainRequest(`${method} /${canary}`))
    }
    await measured()
    return { name, canary }
  }
  await send()
  const before = [...(await scrape(service())).keys()]
  const { name, canary } = await send()
  const text = await scrapedText(service())
  const keys = [...(await scrape(service())).keys()]
  const added = keys.filter((series) => series.startsWith('zoneplane_') && !before.includes(series))
  t.deepEqual(added, [])
  t.true(text.includes('method="other"') && text.includes('route="none"'))
  const { pdnsApiKey, databaseUrl } = service().backends
  for (const secret of [name, canary, account.id, account.tokenId, account.secret, pdnsApiKey, databaseUrl]) {
    t.false(text.includes(secret), secret)
  }
})

test('throttled requests are counted by scope', async (t) => {
  const environment = { METRICS_PORT: '0', THROTTLE: 'on', THROTTLE_RATES: 'account_management_passive=1/h' }
  await withService(environment, async (own) => {
    const { api } = await own.account()
    const grown = await growthOf(own, async () => {
      t.is((await api.get('/auth/account/')).status, 200)
      t.is((await api.get('/auth/account/')).status, 429)
      t.is((await api.get('/auth/account/')).status, 429)
    })
    t.is(grown.get('zoneplane_throttled_requests_total{scope="account_management_passive"}'), 2)
    t.false(grown.has('zoneplane_throttled_requests_total{scope="user"}'))
  })
})

test('nothing is measured or served without METRICS_PORT', async (t) => {
  await withService({}, async ({ system, metricsPort }) => {
    t.deepEqual([system.metrics, metricsPort], [undefined, undefined])
  })
})

test('a port that is taken is reported', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  const { port } = taken.address() as AddressInfo
  const { system } = service()
  const serving = serve({ ...system, config: { ...system.config, metricsPort: port } })
  const error = await t.throwsAsync(serving, { instanceOf: StartError })
  t.regex(error.message, new RegExp(`^cannot listen on 127\\.0\\.0\\.1 port ${port} \\(METRICS_HOST, METRICS_PORT\\)`))
  taken.close()
})
