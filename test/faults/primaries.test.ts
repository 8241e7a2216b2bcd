import { compareStandbys } from '../../src/service/repair/standbys.ts'
import { query } from '../../src/store/database.ts'
import { type Account, createAccount } from '../support/clients/accounts.ts'
import { newDomain, newRRset } from '../support/clients/api.ts'
import { allLettersTo, letterTo } from '../support/clients/mails.ts'
import { commandsOn, runWith } from '../support/command-line.ts'
import { ask, dataOf } from '../support/dns/dns.ts'
import { eventually, eventuallyHas, eventuallyIs } from '../support/eventually.ts'
import { test } from '../support/serial.ts'
import { makeSharedPostgres } from '../support/servers/backends.ts'
import { makeActive, type Pair, type Primary, servedAt, startPair } from '../support/servers/powerdns/pair.ts'
import type { LocalService } from '../support/servers/service.ts'
import { environmentFor, startService } from '../support/servers/service.ts'

// Two PowerDNS on one database, of which one is active (primaries.md).

const OPERATOR = 'operator@example.net'

let pair: Pair
let dropShared: () => Promise<void>
let first: Primary
let second: Primary
let service: LocalService
let owner: Account
const operator = commandsOn(() => service.system)

const www = (address: string) => ({ subname: 'www', type: 'A', ttl: 300, records: [address] })
const active = () => service.system.primaries.active.name
/** Returns the requests that change zones of domains at a primary. */
const changes = ({ proxy }: Primary) =>
  proxy.calls.filter(({ method, path, body }) => method !== 'GET' && !/probe-dns|cache.flush/.test(path + body))
const unsettled = () => query(service.system.db, 'select zone from marks where not settled')

const use = (primary: Primary) => makeActive(service.system, primary)

test.before('the servers start', async () => {
  const { settings, drop } = await makeSharedPostgres()
  dropShared = drop
  pair = await startPair(settings)
  ;[first, second] = pair.primaries
  service = await startService(pair.backends, { PDNS_FAILOVER: '0' })
  owner = await createAccount(service.system, service.url)
})

test.after.always('the servers stop', async () => {
  await service.stop()
  await pair.close()
  await dropShared()
})

test.afterEach.always('the proxies let everything pass', () => {
  for (const { proxy } of pair.primaries) proxy.heal()
})

/** Replaces the service by one that changes over by itself, after seconds that a busy machine does not need. */
async function changeOverByItself(): Promise<void> {
  await service.stop()
  service = await startService(pair.backends, { PDNS_FAILOVER: '5', OPERATOR_EMAIL: OPERATOR })
  owner = await createAccount(service.system, service.url)
}

async function newZone(): Promise<{ domain: string; one: string }> {
  const domain = await newDomain(owner.api)
  await newRRset(owner.api, domain, www('192.0.2.1'))
  return { domain, one: `/domains/${domain}/rrsets/www/A/` }
}

test('the first one is active; after a command, all changes go to the other one', async (t) => {
  const { domain, one } = await newZone()
  t.deepEqual(changes(second), [])
  t.is(
    (await operator('primary', 'list'))[1].replace(/ +/g, ' '),
    [
      'primary state answers zones to be copied',
      `${first.name} active yes same data`,
      `${second.name} standby yes same data`,
      '',
    ].join('\n'),
  )
  await use(second)
  first.proxy.calls.length = 0
  t.is((await owner.api.put(one, www('192.0.2.2'))).status, 200)
  t.deepEqual(changes(first), [])
  t.deepEqual(await servedAt(second, domain), ['192.0.2.2'])
  await use(first)
  t.is((await owner.api.put(one, www('192.0.2.3'))).status, 200)
  t.deepEqual(await servedAt(first, domain), ['192.0.2.3'])
  t.regex((await operator('primary', 'use', first.name))[1], /is the active primary already/)
  t.regex((await operator('primary', 'use', 'other:1'))[1], /other:1 is not in PDNS_API_URL, which has/)
})

test('a write under way at a change-over is answered 503, stored nowhere, and repaired', async (t) => {
  const { domain, one } = await newZone()
  const push = first.proxy.stop(({ method, path }) => method === 'PATCH' && path.includes(domain))
  const write = owner.api.put(one, www('192.0.2.2'))
  await push.arrived
  const [isDone] = await operator('primary', 'use', second.name)
  t.true(isDone)
  push.release('pass')
  t.is((await write).status, 503)
  await eventuallyIs(active, second.name)
  await eventuallyIs(unsettled, [])
  t.deepEqual(((await owner.api.get(one)).json as { records: string[] }).records, ['192.0.2.1'])
  t.deepEqual(await servedAt(second, domain), ['192.0.2.1'])
  t.is((await owner.api.put(one, www('192.0.2.3'))).status, 200)
  t.deepEqual(await servedAt(second, domain), ['192.0.2.3'])
})

test('a process that has not noticed a change-over acknowledges no write', async (t) => {
  await use(first)
  const { domain, one } = await newZone()
  const { db, primaries } = service.system
  const push = first.proxy.stop(({ method, path }) => method === 'PATCH' && path.includes(domain))
  const write = owner.api.put(one, www('192.0.2.2'))
  await push.arrived
  // Only between the check of a write and the next look can it be so.
  await query(db, 'update primaries set term = term + 1')
  push.release('pass')
  t.is((await write).status, 503)
  await eventually(async () => {
    const [row] = await query<{ term: number }>(db, 'select term from primaries')
    return row!.term === primaries.term
  })
  await eventuallyIs(unsettled, [])
  t.deepEqual(await servedAt(first, domain), ['192.0.2.1'])
})

test('while another process has answers of the active one, this one changes to no other', async (t) => {
  await use(first)
  const probes = () => second.proxy.calls.filter(({ method, path }) => method === 'GET' && path === '/config').length
  const before = probes()
  await changeOverByItself()
  const { db } = service.system
  const heard = async () => (await query<{ heard: string }>(db, 'select heard from primaries'))[0]!.heard
  const start = await heard()
  await eventually(async () => (await heard()) > start)
  // At its start, a process looks whether the standby is set up as needed.
  await eventually(() => probes() > before)
  const hear = () => query(db, 'update primaries set heard = clock_timestamp()')
  first.proxy.fail(() => 'cut')
  second.proxy.calls.length = 0
  // An attempt to change over begins with a probe of the standby; then looks go on, which ask it, too.
  const looksSince = () => {
    const paths = second.proxy.calls.map(({ path }) => path)
    const attempt = paths.indexOf('/config')
    return attempt === -1 ? 0 : paths.slice(attempt).filter((path) => path.startsWith('/zones?zone=')).length
  }
  await eventually(async () => {
    await hear()
    return looksSince() >= 10
  })
  t.is(active(), first.name)
  await eventuallyIs(active, second.name)
  t.regex(service.logged(), /PowerDNS does not answer; another one takes over/)
})

test('when a standby answers that did not, all zones are compared: it may have done only now what it was asked before', async (t) => {
  await use(first)
  second.proxy.fail(() => 'cut')
  first.proxy.calls.length = 0
  await changeOverByItself()
  const comparisons = () => first.proxy.calls.filter(({ path }) => path === '/zones?dnssec=false').length
  // The service compares at its start, too.
  await eventually(() => comparisons() > 0)
  const [before, asked] = [comparisons(), second.proxy.calls.length]
  await eventually(() => second.proxy.calls.length > asked + 3)
  t.is(comparisons(), before)
  second.proxy.heal()
  await eventually(() => comparisons() > before)
})

test('when the active one is killed, another one takes over, and the operator gets a mail; the former one stays a standby', async (t) => {
  await use(first)
  const mails = async () => (await allLettersTo(service.system, OPERATOR)).length
  const before = await mails()
  const [{ domain, one }, unknown] = [await newZone(), await newZone()]
  // Its serial differs, but it is marked: nobody knows what was applied.
  first.proxy.fail(({ method, path }) => (method === 'PATCH' && path.includes(unknown.domain) ? 'swallow' : 'pass'))
  t.is((await owner.api.put(unknown.one, www('192.0.2.3'))).status, 503)
  process.kill(first.powerDns.pid, 'SIGKILL')
  await first.powerDns.exited
  await eventually(async () => (await owner.api.put(one, www('192.0.2.2'))).status === 200)
  t.is(active(), second.name)
  t.deepEqual(await servedAt(second, domain), ['192.0.2.2'])
  await eventuallyIs(() => servedAt(second, unknown.domain), ['192.0.2.1'])
  t.is(await mails(), before + 1)
  const { subject, text } = await letterTo(service.system, OPERATOR)
  t.is(subject, 'Another PowerDNS has taken over')
  t.true(text.includes(`The PowerDNS at ${first.name} has not answered for 5 seconds. That at ${second.name}`))
  await first.restart()
  await eventually(async () => /standby +yes/.test((await operator('primary', 'list'))[1]))
  t.is(active(), second.name)
})

test('when the active one hangs, open writes end, others succeed, and what it does later is repaired', async (t) => {
  await use(first)
  const { domain, one } = await newZone()
  const other = await newZone()
  // The request reaches it only when it goes on.
  process.kill(first.powerDns.pid, 'SIGSTOP')
  first.proxy.calls.length = 0
  const write = owner.api.put(one, www('192.0.2.2'))
  await eventually(() => changes(first).length > 0 || first.proxy.calls.length > 0)
  t.is((await write).status, 503)
  await eventually(async () => (await owner.api.put(other.one, www('192.0.2.3'))).status === 200)
  t.is(active(), second.name)
  await eventually(async () => (await owner.api.put(one, www('192.0.2.4'))).status === 200)
  process.kill(first.powerDns.pid, 'SIGCONT')
  await eventuallyHas(service.logged, 'comparing all zones')
  await eventuallyIs(() => first.proxy.open(), 0)
  await eventuallyIs(() => servedAt(second, domain), ['192.0.2.4'])
  await eventuallyIs(() => servedAt(second, other.domain), ['192.0.2.3'])
  await eventuallyIs(unsettled, [])
})

test('neither a service nor a command that changes zones uses others than the active one', async (t) => {
  await use(second)
  const env = environmentFor({ ...pair.backends, pdnsApiUrl: first.proxy.url })
  const [isDone, output] = await runWith(env, 'reconcile')
  t.false(isDone)
  t.is(
    output,
    `zoneplane: PDNS_API_URL lacks ${second.name}, the active PowerDNS: name it there, or change over (zoneplane primary use)\n`,
  )
  t.deepEqual(await runWith(env, 'primary', 'use', first.name), [true, `${first.name} is the active primary\n`])
  await eventuallyIs(active, first.name)
})

test('one with other zones does not take over, unless the operator forces it: then they are repaired, with their keys', async (t) => {
  const own = await startPair()
  const alone = await startService(own.backends, { PDNS_FAILOVER: '5' })
  try {
    const { api } = await createAccount(alone.system, alone.url)
    const [former, empty] = own.primaries
    const domain = await newDomain(api)
    await newRRset(api, domain, www('192.0.2.1'))
    const keys = async ({ powerDns }: Primary) => dataOf(await ask(powerDns, domain, 'DNSKEY'), 'DNSKEY')
    const before = await keys(former)
    const control = commandsOn(() => alone.system)
    t.regex((await control('primary', 'use', empty.name))[1], /1 of 1 zones differ at .*; after `primary use --force`/)
    t.regex((await control('primary', 'list'))[1], new RegExp(`${empty.name} +standby +yes +lacks zones\n`))
    process.kill(former.powerDns.pid, 'SIGKILL')
    await eventuallyHas(alone.logged, 'PowerDNS cannot take over')
    t.regex(alone.logged(), /1 of 1 zones differ at/)
    await eventuallyHas(alone.logged, 'standby is not set up as needed')
    t.regex(alone.logged(), /beside others with the same data, it needs zone-cache-refresh-interval=0"/)
    t.is(alone.system.primaries.active.name, former.name)
    t.deepEqual(await control('primary', 'use', '--force', empty.name), [true, `${empty.name} is the active primary\n`])
    await eventuallyIs(() => servedAt(empty, domain), ['192.0.2.1'])
    t.deepEqual(await keys(empty), before)
    t.is((await api.put(`/domains/${domain}/rrsets/www/A/`, www('192.0.2.2'))).status, 200)
    t.deepEqual(await servedAt(empty, domain), ['192.0.2.2'])
    await former.restart()
    const standbys = async () => /"standbys":"\w+"/.exec(JSON.stringify((await api.get('//root/readyz')).json))?.[0]
    await eventually(async () => /standby +yes +lacks zones/.test((await control('primary', 'list'))[1]))
    await compareStandbys(alone.system)
    t.regex(alone.logged(), /standby lacks zones and cannot take over/)
    await eventuallyIs(standbys, '"standbys":"unavailable"')
    t.true((await control('primary', 'sync', former.name))[0])
    await eventuallyIs(standbys, '"standbys":"ok"')
  } finally {
    await alone.stop()
    await own.close()
  }
})
