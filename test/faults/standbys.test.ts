import { absolute } from '../../src/dns/names.ts'
import { measure } from '../../src/service/operation/measuring.ts'
import { compareStandbys } from '../../src/service/repair/standbys.ts'
import { begin, query } from '../../src/store/database.ts'
import * as standbys from '../../src/store/standbys.ts'
import * as marks from '../../src/store/zone/marks.ts'
import { type Account, createAccount } from '../support/clients/accounts.ts'
import { newDomain, newRRset, succeeded } from '../support/clients/api.ts'
import { commandsOn, runWith } from '../support/command-line.ts'
import { ask, dataOf } from '../support/dns/dns.ts'
import { eventually, eventuallyHas, eventuallyIs } from '../support/eventually.ts'
import { test } from '../support/serial.ts'
import { makeActive, type Pair, type Primary, servedAt, startPair } from '../support/servers/powerdns/pair.ts'
import { startOurs } from '../support/servers/programs.ts'
import { environmentFor, type LocalService, startService } from '../support/servers/service.ts'
import { endDoubt } from '../support/state/marks.ts'

// Two PowerDNS with an LMDB each: zones are copied to the standby (primaries.md).

const CATALOG = 'catalog.standbys.test'

let pair: Pair
let first: Primary
let second: Primary
let service: LocalService
let owner: Account
const operator = commandsOn(() => service.system)

const www = (address: string) => ({ subname: 'www', type: 'A', ttl: 300, records: [address] })
const pathOf = (domain: string) => `/domains/${domain}/rrsets/www/A/`
const active = () => service.system.primaries.active.name
const unsettled = () => query(service.system.db, 'select zone from marks where not settled')
const behind = () => query(service.system.db, 'select member, zone from standby_zones')
const memberOf = ({ name }: Primary) => service.system.primaries.members.find((member) => member.name === name)!
const nameserverOf = (primary: Primary) => memberOf(primary).nameserver

/** All that a member has of a zone; undefined: no zone. */
async function stateAt(primary: Primary, domain: string) {
  const nameserver = nameserverOf(primary)
  const zone = await nameserver.read(absolute(domain))
  if (zone === undefined) return undefined
  const keys = await nameserver.signingKeys(absolute(domain))
  return { ...zone, keys: keys.sort((a, b) => (a.dnskey < b.dnskey ? -1 : 1)), rrsets: sorted(zone.rrsets) }
}

function sorted<T extends object>(rrsets: T[]): T[] {
  return rrsets.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
}

async function start(settings: Record<string, string> = {}): Promise<void> {
  service = await startService(pair.backends, {
    PDNS_FAILOVER: '0',
    CATALOG_ZONE: CATALOG,
    METRICS_PORT: '0',
    ...settings,
  })
  owner = await createAccount(service.system, service.url)
}

async function newZone(): Promise<string> {
  const domain = await newDomain(owner.api)
  await newRRset(owner.api, domain, www('192.0.2.1'))
  return domain
}

async function write(domain: string, address: string): Promise<void> {
  succeeded(await owner.api.put(pathOf(domain), www(address)), 200)
}

/** Makes one the active one again, with all zones at both. */
async function use(primary: Primary): Promise<void> {
  for (const { proxy } of pair.primaries) proxy.heal()
  await makeActive(service.system, primary)
}

/** Lets no change of a zone get to a PowerDNS. */
function withhold({ proxy }: Primary, domain: string): void {
  proxy.fail(({ method, path }) => (method !== 'GET' && path.includes(domain) ? { refuse: 500 } : 'pass'))
}

test.before('the servers start', async () => {
  pair = await startPair()
  ;[first, second] = pair.primaries
  await start()
})

test.after.always('the servers stop', async () => {
  await service.stop()
  await pair.close()
})

test.afterEach.always('the proxies let everything pass', () => {
  for (const { proxy } of pair.primaries) proxy.heal()
})

test('before its zones are copied, one with a database of its own cannot take over', async (t) => {
  await newZone()
  t.regex((await operator('primary', 'use', second.name))[1], /1 of 1 zones differ at/)
})

test('a copy that is killed is begun again, also while zones are written, and has their keys, settings and catalog', async (t) => {
  const domains = [await newZone(), await newZone(), await newZone()]
  succeeded(await owner.api.put(`/domains/${domains[0]!}/transfers/`, { addresses: [], notify: [], tsig: true }), 200)
  await eventually(async () => (await nameserverOf(first).catalogs.read(CATALOG))?.members.size === 4)
  const push = second.proxy.stop(({ method, path }) => method === 'PUT' && path.includes(domains[1]!))
  const command = startOurs(['primary', 'sync', second.name], environmentFor(pair.backends, { CATALOG_ZONE: CATALOG }))
  await push.arrived
  command.child.kill('SIGKILL')
  push.release('cut')
  await write(domains[2]!, '192.0.2.2')
  // If it was the service that got no answer, the zone waits for longer than one command.
  const [, output] = await eventually(
    () => operator('primary', 'sync', second.name),
    ([isDone]) => isDone,
  )
  t.regex(output, /has all \d zones/)
  await eventuallyIs(behind, [])
  for (const domain of domains) t.deepEqual(await stateAt(second, domain), await stateAt(first, domain))
  t.deepEqual(await nameserverOf(second).catalogs.read(CATALOG), await nameserverOf(first).catalogs.read(CATALOG))
  const keys = async (primary: Primary) => (await primary.pdns('GET', '/tsigkeys')).json
  t.deepEqual(await keys(second), await keys(first))
  t.deepEqual((await operator('primary', 'sync', second.name))[0], true)
  t.regex((await operator('primary', 'list'))[1], /standby +yes +0$/m)
})

test('writes, new domains and deletions get to the standby, those of an outage when it is back', async (t) => {
  const [changed, deleted] = [await newZone(), await newZone()]
  const listed = async () => new Set((await nameserverOf(second).catalogs.read(CATALOG))?.members.values())
  await eventually(async () => (await listed()).has(deleted))
  await eventuallyIs(behind, [])
  process.kill(second.powerDns.pid, 'SIGKILL')
  await second.powerDns.exited
  await write(changed, '192.0.2.2')
  succeeded(await owner.api.delete(`/domains/${deleted}/`), 204)
  const made = await newZone()
  // The catalog zone is one of them, and is published a little later.
  await eventually(async () => (await behind()).length === 4)
  const { db, metrics } = service.system
  await query(db, `update standby_zones set since = since - interval '2 minutes'`)
  await eventually(async () =>
    /"standbys":"unavailable"/.test(JSON.stringify((await owner.api.get('//root/readyz')).json)),
  )
  await measure(service.system, metrics!, '1.2.3')
  t.regex(await metrics!.text(), new RegExp(`zoneplane_standby_zones_behind{primary="${second.name}"} 4`))
  await second.restart()
  await eventuallyIs(behind, [])
  t.is(await stateAt(second, deleted), undefined)
  for (const domain of [changed, made]) t.deepEqual(await stateAt(second, domain), await stateAt(first, domain))
  await eventually(async () => {
    const zones = await listed()
    return zones.has(made) && !zones.has(deleted)
  })
})

test('changes of RRsets are copied as such; at another serial, the whole zone is compared', async (t) => {
  const domain = await newZone()
  const path = `/domains/${domain}/rrsets/`
  const names = (...subnames: string[]) => subnames.map((subname) => ({ ...www('192.0.2.7'), subname }))
  // Without questions for the serial, which go over DNS if PowerDNS answers soon enough.
  const calls = () => second.proxy.calls.filter((call) => call.path.includes(`/${domain}`)).map(({ method }) => method)
  // Otherwise the zones are watched for requests of before, and at the end copied as a whole.
  await endDoubt(service)
  // So many that PowerDNS does not rectify the zone at each change.
  const many = Array.from({ length: 210 }, (_, i) => `host${i}`)
  succeeded(await owner.api.put(path, [...names(...many), www('192.0.2.1')]), 200)
  await write(domain, '192.0.2.2')
  await eventuallyIs(() => query(service.system.db, 'select from marks where zone = :domain', { domain }), [])
  await eventuallyIs(behind, [])

  second.proxy.calls.length = 0
  await write(domain, '192.0.2.3')
  await eventuallyIs(behind, [])
  t.deepEqual(calls(), ['PATCH'])
  t.deepEqual(await servedAt(second, domain), ['192.0.2.3'])
  t.deepEqual(await stateAt(second, domain), await stateAt(first, domain))

  const { release, arrived } = second.proxy.stop(({ method, path }) => method === 'PATCH' && path.includes(domain))
  second.proxy.calls.length = 0
  await write(domain, '192.0.2.4')
  await arrived
  // A comparison leaves it to the copy. While it is copied: one more type at a name, one less, and all types.
  await compareStandbys(service.system)
  const txt = { subname: 'host1', type: 'TXT', ttl: 300, records: ['"new"'] }
  succeeded(await owner.api.patch(path, [txt, { ...www('192.0.2.5'), ttl: 3600 }]), 200)
  succeeded(
    await owner.api.patch(path, [
      { ...txt, records: [] },
      { ...txt, subname: 'host2' },
    ]),
    200,
  )
  release('pass')
  await eventuallyIs(behind, [])
  t.deepEqual(calls(), ['PATCH', 'PATCH'])
  t.deepEqual(await stateAt(second, domain), await stateAt(first, domain))

  second.proxy.calls.length = 0
  let isRefused = false
  second.proxy.fail(({ method, path }) => {
    if (isRefused || method !== 'PATCH' || !path.includes(domain)) return 'pass'
    isRefused = true
    return { spoil: 500 }
  })
  await write(domain, '192.0.2.6')
  await eventually(() => isRefused)
  await eventuallyIs(behind, [])
  t.true(calls().includes('GET'))
  t.deepEqual(await stateAt(second, domain), await stateAt(first, domain))

  const records = [{ content: 'a. b. 1 1 1 1 1' }]
  const rrsets = [{ name: `${domain}.`, type: 'SOA', ttl: 300, changetype: 'REPLACE', records }]
  await second.pdns('PATCH', `/zones/${domain}.`, { rrsets })
  second.proxy.calls.length = 0
  await write(domain, '192.0.2.8')
  await eventuallyIs(behind, [])
  t.true(calls().includes('GET'))
  t.deepEqual(await stateAt(second, domain), await stateAt(first, domain))
})

test('a zone that is written each time it is compared is sent only afterwards, and does not wait longer each time', async (t) => {
  const domain = await newZone()
  await eventuallyIs(behind, [])
  const reading = () => second.proxy.stop(({ method, path }) => method === 'GET' && path.includes(domain))
  const sent = () => second.proxy.calls.filter(({ method, path }) => method !== 'GET' && path.includes(domain))
  second.proxy.calls.length = 0
  let read = reading()
  // So many changes that they are not copied one by one.
  const many = Array.from({ length: 101 }, (_, i) => ({ ...www('192.0.2.10'), subname: `host${i}` }))
  succeeded(await owner.api.put(`/domains/${domain}/rrsets/`, [...many, www('192.0.2.10')]), 200)
  for (let i = 11; i < 15; i++) {
    await read.arrived
    const rows = await query(service.system.db, 'select attempts from standby_zones where zone = :domain', { domain })
    t.deepEqual(rows, [{ attempts: 1 }])
    t.deepEqual(sent(), [])
    await write(domain, `192.0.2.${i}`)
    const { release } = read
    read = reading()
    release('pass')
  }
  await read.arrived
  read.release('pass')
  await eventuallyIs(() => servedAt(second, domain), ['192.0.2.14'])
})

test('a comparison that a change-over overtakes notes nothing at the active one', async (t) => {
  await newZone()
  await eventuallyIs(behind, [])
  const asked = second.proxy.stop(({ path }) => path === '/zones?dnssec=false')
  const comparing = compareStandbys(service.system)
  await asked.arrived
  await use(second)
  asked.release({ answer: [] })
  await comparing
  const sql = 'select zone from standby_zones where member = :name'
  t.deepEqual(await query(service.system.db, sql, { name: second.name }), [])
  await use(first)
})

test('a zone does not wait longer each time for a standby that is away, and is claimed for as long as its octets need', async (t) => {
  const domain = await newZone()
  await eventuallyIs(behind, [])
  const pauses = () =>
    query<{ attempts: number; pause: number }>(
      service.system.db,
      `select attempts, extract(epoch from due - clock_timestamp())::float8 as pause from standby_zones
       where zone = :domain and claim is null and due > clock_timestamp() + interval '10 seconds'`,
      { domain },
    )
  let cut = 0
  second.proxy.fail(({ method, path }) => {
    if (method === 'GET' || !path.includes(domain)) return 'pass'
    cut++
    return 'cut'
  })
  await write(domain, '192.0.2.2')
  for (let outages = 1; outages < 9; outages++) {
    await eventually(async () => cut === outages && (await pauses()).length === 1)
    t.like(await pauses(), [{ attempts: 0 }])
    t.true((await pauses())[0]!.pause <= 60)
    await query(service.system.db, 'update standby_zones set due = clock_timestamp() where zone = :domain', { domain })
  }
  second.proxy.heal()
  // Octets count as RRsets: nobody else takes the zone before its largest request has ended.
  const { db } = service.system
  await query(db, 'update domains set record_octets = 5e9 where name = :domain', { domain })
  const push = second.proxy.stop(({ method, path }) => method === 'PATCH' && path.includes(domain))
  await query(db, 'update standby_zones set due = clock_timestamp() where zone = :domain', { domain })
  await push.arrived
  const sql = `select due > clock_timestamp() + interval '1 hour' as "isLong" from standby_zones where zone = :domain`
  t.deepEqual(await query(db, sql, { domain }), [{ isLong: true }])
  push.release('pass')
  await eventuallyIs(behind, [])
  t.deepEqual(await servedAt(second, domain), ['192.0.2.2'])
})

test('what others change at a standby is made equal again', async (t) => {
  const [lost, foreign] = [await newZone(), await newZone()]
  await eventuallyIs(behind, [])
  await second.pdns('DELETE', `/zones/${lost}.`)
  await second.pdns('PATCH', `/zones/${foreign}.`, {
    rrsets: [
      { name: `${foreign}.`, type: 'SOA', ttl: 300, changetype: 'REPLACE', records: [{ content: `a. b. 1 1 1 1 1` }] },
    ],
  })
  const [isDone] = await operator('reconcile')
  t.true(isDone)
  await eventuallyIs(behind, [])
  for (const domain of [lost, foreign]) t.deepEqual(await stateAt(second, domain), await stateAt(first, domain))
})

test('a zone that is behind at the change-over is doubted: a write publishes all of it, repair the others', async (t) => {
  const [written, left, current] = [await newZone(), await newZone(), await newZone()]
  await eventuallyIs(behind, [])
  second.proxy.fail(({ method, path }) =>
    method !== 'GET' && (path.includes(written) || path.includes(left)) ? { refuse: 500 } : 'pass',
  )
  await newRRset(owner.api, written, { ...www('192.0.2.7'), subname: 'more' })
  // Settings do not change the serial: only the note says that they differ.
  succeeded(
    await owner.api.put(`/domains/${left}/transfers/`, { addresses: ['203.0.113.9'], notify: [], tsig: false }),
    200,
  )
  await write(current, '192.0.2.5')
  await eventually(async () => (await behind()).length === 2)
  // Few may wait, not many.
  const { db } = service.system
  const sql = `insert into standby_zones (member, zone, due) select :name, 'absent' || n || '.test', now() + interval '1 day'
    from generate_series(1, 9) n`
  await query(db, sql, { name: second.name })
  t.regex((await operator('primary', 'use', second.name))[1], /11 of \d+ zones wait to be copied to .*--force/)
  await query(db, `delete from standby_zones where zone like 'absent%'`)
  const before = await stateAt(first, left)
  const [isDone, output] = await operator('primary', 'use', second.name)
  t.true(isDone, output)
  await eventuallyIs(active, second.name)
  second.proxy.heal()
  await eventually(async () => (await owner.api.put(pathOf(written), www('192.0.2.2'))).status === 200)
  await eventuallyIs(unsettled, [])
  t.deepEqual(dataOf(await ask(second.powerDns, `more.${written}`, 'A'), 'A'), ['192.0.2.7'])
  const metadata = async (primary: Primary) =>
    (await primary.pdns('GET', `/zones/${left}./metadata/ALLOW-AXFR-FROM`)).json
  t.deepEqual(await metadata(second), await metadata(first))
  t.deepEqual((await stateAt(second, left))!.rrsets, before!.rrsets)
  t.deepEqual(await servedAt(second, current), ['192.0.2.5'])
  await eventuallyIs(behind, [])
  for (const domain of [written, left, current])
    t.deepEqual(await stateAt(first, domain), await stateAt(second, domain))
})

test('a domain that was deleted, or created again, while its zone was behind is so after the change-over', async (t) => {
  await use(first)
  const [deleted, again, suspended, held] = [await newZone(), await newZone(), await newZone(), await newZone()]
  const addresses = { addresses: ['203.0.113.9'], notify: [], tsig: false }
  for (const domain of [again, held]) succeeded(await owner.api.put(`/domains/${domain}/transfers/`, addresses), 200)
  await eventuallyIs(behind, [])
  const zones = [deleted, again, suspended, held]
  second.proxy.fail(({ method, path }) =>
    method !== 'GET' && [...zones, CATALOG].some((zone) => path.includes(zone)) ? { refuse: 500 } : 'pass',
  )
  for (const domain of zones) succeeded(await owner.api.delete(`/domains/${domain}/`), 204)
  for (const name of [again, suspended]) succeeded(await owner.api.post('/domains/', { name }), 201)
  const { db } = service.system
  await eventually(async () => (await operator('domain', 'suspend', suspended))[0])
  await eventuallyIs(async () => (await behind()).length, 5)
  const [isDone, output] = await operator('primary', 'use', second.name)
  t.true(isDone, output)
  await eventuallyIs(active, second.name)
  second.proxy.heal()
  await eventuallyIs(unsettled, [])
  for (const domain of [deleted, suspended, held]) t.is(await nameserverOf(second).read(absolute(domain)), undefined)
  const keys = await query<{ dnskey: string }>(
    db,
    'select dnskey from keys join domains on domains.id = domain_id where name in (:again, :suspended)',
    { again, suspended },
  )
  t.is(keys.length, 2)
  const state = await stateAt(second, again)
  t.is(state!.keys.length, 1)
  t.true(keys.some(({ dnskey }) => dnskey === state!.keys[0]!.dnskey))
  t.deepEqual((await second.pdns('GET', `/zones/${again}./metadata/ALLOW-AXFR-FROM`)).json, {
    kind: 'ALLOW-AXFR-FROM',
    metadata: [],
    type: 'Metadata',
  })
  const catalog = async () => new Set((await nameserverOf(second).catalogs.read(CATALOG))?.members.values())
  await eventually(async () => !(await catalog()).has(deleted))
  succeeded(await owner.api.post('/domains/', { name: held }), 201)
  await eventually(async () => (await catalog()).has(held))
  await eventuallyIs(behind, [])
  for (const domain of [again, held]) t.deepEqual(await stateAt(first, domain), await stateAt(second, domain))
})

test('a catalog zone whose publisher died after it had sent it gets to the standby', async (t) => {
  await use(first)
  const push = first.proxy.stop(({ method, path }) => method === 'PATCH' && path.startsWith(`/zones/${CATALOG}.`))
  const domain = await newDomain(owner.api)
  await push.arrived
  push.release('swallow')
  const has = async (primary: Primary) =>
    [...((await nameserverOf(primary).catalogs.read(CATALOG))?.members.values() ?? [])].includes(domain)
  await eventually(() => has(first))
  await eventually(() => has(second))
  await eventuallyIs(behind, [])
  t.deepEqual(await nameserverOf(second).catalogs.read(CATALOG), await nameserverOf(first).catalogs.read(CATALOG))
})

test('a domain that is created again while its zone is behind has nothing of the former one at the standby', async (t) => {
  const domain = await newZone()
  const addresses = { addresses: ['203.0.113.9'], notify: [], tsig: true }
  succeeded(await owner.api.put(`/domains/${domain}/transfers/`, addresses), 200)
  await eventuallyIs(behind, [])
  const standby = active() === first.name ? second : first
  withhold(standby, domain)
  succeeded(await owner.api.delete(`/domains/${domain}/`), 204)
  succeeded(await owner.api.post('/domains/', { name: domain }), 201)
  standby.proxy.heal()
  await query(service.system.db, 'update standby_zones set due = now()')
  await eventuallyIs(behind, [])
  for (const path of ['', '/metadata/ALLOW-AXFR-FROM', '/cryptokeys'])
    t.deepEqual(
      tellingOf(await standby.pdns('GET', `/zones/${domain}.${path}`)),
      tellingOf(await (standby === first ? second : first).pdns('GET', `/zones/${domain}.${path}`)),
    )
})

/** What an answer tells about a zone, but the numbers that each PowerDNS gives by itself. */
function tellingOf({ json }: { json: unknown }): unknown {
  const text = JSON.stringify(json, (key, value: unknown) =>
    ['id', 'edited_serial'].includes(key) ? undefined : value,
  )
  return JSON.parse(text)
}

test('a domain whose zone waits to be copied is not released', async (t) => {
  const domain = await newZone()
  await eventuallyIs(behind, [])
  const standby = active() === first.name ? second : first
  withhold(standby, domain)
  await write(domain, '192.0.2.2')
  t.regex((await operator('release', domain))[1], /waits to be copied to a standby/)
  standby.proxy.heal()
  await query(service.system.db, 'update standby_zones set due = now()')
  await eventuallyIs(behind, [])
  t.true((await operator('release', domain))[0])
  t.not(await nameserverOf(standby).read(absolute(domain)), undefined)
})

test('whoever had a mark before a change-over may not end it, and a worker has a zone as long as it sends', async (t) => {
  const { db, primaries } = service.system
  await using transaction = await begin(db)
  const trx = transaction.db
  const standby = primaries.standbys[0]!.name
  const zone = 'never.example'
  const mark = await marks.set(trx, zone, { version: 1, grace: 0, timeLimit: 0 })
  await query(trx, 'insert into standby_zones (member, zone) values (:standby, :zone)', { standby, zone })
  const taken = (await standbys.take(trx, standby))!
  const due = 'select due from standby_zones where zone = :zone'
  const [before] = await query(trx, due, { zone })
  t.true(await standbys.isOwn(trx, taken, { unchanged: false }))
  const [after] = await query(trx, due, { zone })
  t.notDeepEqual(after, before)
  await standbys.doubt(trx, standby, undefined)
  await marks.settle(trx, mark)
  t.like(await marks.list(trx, [zone]), [{ zone, doubted: true }])
  t.false(await standbys.isOwn(trx, taken, { unchanged: false }))
})

test('the former one becomes a standby: what it did at the change-over and later is made equal', async (t) => {
  await use(first)
  const [late, other] = [await newZone(), await newZone()]
  // What the change-over before has left to be repaired is noted for the standby, too.
  await eventuallyIs(unsettled, [])
  await eventuallyIs(behind, [])
  const push = first.proxy.stop(({ method, path }) => method === 'PATCH' && path.includes(late))
  const writing = owner.api.put(pathOf(late), www('192.0.2.2'))
  await push.arrived
  const [isDone, output] = await operator('primary', 'use', second.name)
  t.true(isDone, output)
  await eventuallyIs(active, second.name)
  t.is((await writing).status, 503)
  await write(other, '192.0.2.3')
  await eventuallyIs(unsettled, [])
  push.release('swallow')
  await eventually(() => first.proxy.open() === 0)
  await eventuallyIs(() => servedAt(second, late), ['192.0.2.1'])
  await operator('reconcile')
  await eventuallyIs(behind, [])
  for (const domain of [late, other]) t.deepEqual(await stateAt(first, domain), await stateAt(second, domain))
  await use(first)
  t.deepEqual(await servedAt(first, late), ['192.0.2.1'])
  t.deepEqual(await servedAt(first, other), ['192.0.2.3'])
  await write(late, '192.0.2.4')
  t.deepEqual(await servedAt(first, late), ['192.0.2.4'])
})

test('a rollover whose keys are not at the standby waits anew after the change-over; its keys are those of the phase', async (t) => {
  await use(first)
  const [rolling, steady] = [await newZone(), await newZone()]
  await eventuallyIs(behind, [])
  const begin = (domain: string) => owner.api.post(`/domains/${domain}/rollover/`, { algorithm: 'ed25519' })
  succeeded(await begin(steady), 201)
  await eventuallyIs(unsettled, [])
  await eventuallyIs(behind, [])
  const copied = await stateAt(second, steady)
  t.is(copied!.keys.length, 2)
  t.deepEqual(copied, await stateAt(first, steady))
  withhold(second, rolling)
  succeeded(await begin(rolling), 201)
  await eventuallyIs(unsettled, [])
  const { db } = service.system
  // Both have waited.
  await query(
    db,
    `update rollovers set seen = 1, waited = 1000, ttl = 3600, check_at = now() + interval '1 hour', version = 1`,
  )
  await query(db, 'update rollovers set seen = 1, waited = 1000, counted = now()')
  // What was seen of a phase, or decided, is for its `since` alone.
  const since = async (domain: string) =>
    query(db, 'select rollovers.since from rollovers join domains on id = domain_id where name = :domain', { domain })
  const before = await Promise.all([since(rolling), since(steady)])
  t.is((await stateAt(second, rolling))!.keys.length, 1)
  t.is((await stateAt(first, rolling))!.keys.length, 2)
  t.true((await operator('primary', 'use', second.name))[0])
  await eventuallyIs(active, second.name)
  const waited = async (domain: string) =>
    (
      await query<{ waited: number }>(
        db,
        'select waited from rollovers join domains on id = domain_id where name = :domain',
        { domain },
      )
    )[0]!.waited
  t.true((await waited(rolling)) < 1000)
  t.true((await waited(steady)) >= 1000)
  t.notDeepEqual(await since(rolling), before[0])
  t.deepEqual(await since(steady), before[1])
  second.proxy.heal()
  await eventuallyIs(unsettled, [])
  for (const domain of [rolling, steady])
    t.deepEqual((await stateAt(second, domain))!.keys, (await stateAt(first, domain))!.keys)
})

test('when the active one is killed, a standby takes over by itself, although a zone waits to be copied', async (t) => {
  await use(first)
  await service.stop()
  await start({ PDNS_FAILOVER: '5' })
  const [domain, left] = [await newZone(), await newZone()]
  await eventuallyIs(behind, [])
  withhold(second, left)
  await write(left, '192.0.2.3')
  process.kill(first.powerDns.pid, 'SIGKILL')
  await first.powerDns.exited
  await eventually(async () => (await owner.api.put(pathOf(domain), www('192.0.2.2'))).status === 200)
  t.is(active(), second.name)
  t.deepEqual(await servedAt(second, domain), ['192.0.2.2'])
  second.proxy.heal()
  await eventuallyIs(() => servedAt(second, left), ['192.0.2.3'])
  await first.restart()
  await eventuallyIs(behind, [])
  for (const zone of [domain, left]) t.deepEqual(await stateAt(first, zone), await stateAt(second, zone))
  await eventuallyHas(service.logged, 'another one takes over')
})

test('a list without a standby is refused, until the standby is forgotten', async (t) => {
  const env = environmentFor({ ...pair.backends, pdnsApiUrl: second.proxy.url })
  const run = async (...args: string[]) => runWith(env, ...args)
  t.regex((await run('reconcile'))[1], /PDNS_API_URL lacks .*, to which zones are copied/)
  t.regex((await operator('primary', 'forget', second.name))[1], /is the active primary/)
  t.deepEqual(await operator('primary', 'forget', first.name), [
    true,
    `no zones are copied to ${first.name} any more\n`,
  ])
  t.regex((await operator('primary', 'forget', first.name))[1], /no zones are copied to/)
  t.notRegex((await run('reconcile'))[1], /PDNS_API_URL lacks/)
})
