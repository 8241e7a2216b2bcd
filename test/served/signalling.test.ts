import { Parents } from '../../src/nameserver/parents/parents.ts'
import { pause, resume } from '../../src/service/adoption/pausing.ts'
import { check } from '../../src/service/delegation/checks.ts'
import { NOTIFICATION } from '../../src/service/delegation/notifying.ts'
import { signal } from '../../src/service/delegation/signalling.ts'
import { workOff } from '../../src/service/work/crew.ts'
import { query as sql } from '../../src/store/database.ts'
import * as domains from '../../src/store/domains/domains.ts'
import { currentTime, later } from '../../src/time.ts'
import { type Account, emailOf } from '../support/clients/accounts.ts'
import { domainOf, newDomain, newRRset, succeeded } from '../support/clients/api.ts'
import { commandsOn } from '../support/command-line.ts'
import { bootstrap } from '../support/dns/bootstrap.ts'
import { type Double, reply, startDouble } from '../support/dns/double.ts'
import { type SignedRoot, startSignedRoot } from '../support/dns/signed-root.ts'
import { query, rrsetsOf, servedSerial } from '../support/dns/wire.ts'
import { dsync, FAST } from '../support/dns/world.ts'
import { eventually, eventuallyIs } from '../support/eventually.ts'
import { type OwnService, useServers } from '../support/harness.ts'
import { type SignedParent, startParent } from '../support/rollovers/parent.ts'
import { passTime, published } from '../support/rollovers/steps.ts'
import { test } from '../support/serial.ts'
import { freePort, ownNetwork } from '../support/servers/ports.ts'
import { type SecondaryServer, startSecondary } from '../support/servers/secondaries.ts'
import { statementsBy } from '../support/statements.ts'

// Contract §15.11: a domain gets its first DS without its owner (RFC 9615). A signed root is above `example`, which
// delegates `host.example` to us, in which our two nameservers have their names: PowerDNS, and a secondary.

const servers = useServers()
const HOSTS = ['ns1.host.example', 'ns2.host.example']
const ZONES = HOSTS.map((host) => `_signal.${host}`) as [string, string]
const SHOP = 'shop.example'
const PARTLY = 'partly.example'
const ROLLED = 'rolled.example'
const TARGET = 'cds.nic.example'

let service: OwnService
let secondary: SecondaryServer
let parent: SignedParent
let root: SignedRoot
let target: Double
const told: string[] = []
let owner: Account
let now = currentTime()

test.before('a signed world', async () => {
  const { powerDns, owner: account, system } = servers()
  owner = account
  const port = powerDns.dnsPort
  const second = `${ownNetwork()}1`
  const zones = ['host.example', SHOP, PARTLY, ROLLED, ...ZONES]
  secondary = await startSecondary('knot', powerDns, zones, (text) =>
    text.replace(/listen: (.*)/, `listen: [ $1, ${second}@${port} ]`),
  )
  const dsyncPort = await freePort()
  target = await startDouble({ address: '127.0.0.1', port: dsyncPort }, (asked) => {
    told.push(asked.name)
    // With the opcode of NOTIFY.
    return [reply(asked, [], { flags: 4 << 11 })]
  })
  parent = await startParent(port, {
    hosts: HOSTS,
    lines: [
      ...[`${HOSTS[0]}. A ${powerDns.dnsHost}`, `${HOSTS[1]}. A ${second}`],
      ...[dsync('*._dsync.example', { target: TARGET, port: dsyncPort }), `${TARGET}. A 127.0.0.1`],
    ],
  })
  root = await startSignedRoot(parent, port)
  service = await servers().serve({
    NAMESERVERS: HOSTS.join(),
    SECONDARIES: `${HOSTS[1]}=${secondary.dnsHost}:${secondary.dnsPort}`,
    MINIMUM_TTL: '1',
  })
  const resolvers = [{ address: root.resolver.dnsHost, port: root.resolver.dnsPort }]
  const parents = new Parents({ resolvers, isAllowed: () => true, port, clock: FAST })
  Object.assign(service.system, { parents, now: () => now })
  const zoneplane = commandsOn(() => service.system)
  const email = await emailOf(system, owner.id)
  await zoneplane('domain', 'create', 'host.example', '--account', email)
  for (const [i, address] of [powerDns.dnsHost, second].entries())
    await newRRset(service.api, 'host.example', { subname: `ns${i + 1}`, type: 'A', ttl: 60, records: [address] })
})

test.after.always(async () => {
  for (const each of [root, parent, target] as ({ close(): Promise<void> } | undefined)[]) await each?.close()
  await (secondary as SecondaryServer | undefined)?.kill()
})

const zoneplane = (...args: string[]) => commandsOn(() => service.system)(...args)
const registry = () => ({ parents: parent.servers, resolver: root.resolver, port: servers().powerDns.dnsPort })

/** What the resolver says of a name: the content of the RRset, and whether it is proven from the root on. */
async function resolved(name: string, type: string): Promise<{ proven: boolean; rcode: string; records: string[] }> {
  const { isAuthentic: proven, rcode, answers } = await query(root.resolver, name, type, { recursive: true })
  return { proven, rcode, records: rrsetsOf(answers).find((rrset) => rrset.type === type)?.records ?? [] }
}

/** Checks a domain at its parent, and then looks after the signalling zones. */
async function checkAndSignal(name: string): Promise<string> {
  const domain = (await domains.find(service.system.db, name))!
  const { state } = await check(service.system, domain)
  await signal(service.system)
  await transferred()
  return state
}

/** Resolves when the secondary has what PowerDNS has. */
async function transferred(): Promise<void> {
  for (const zone of ['host.example', ...ZONES]) {
    await published(servers(), zone)
    await eventually(async () => {
      // At first, the secondary has no zone yet.
      const serials = [servers().powerDns, secondary].map((each) => servedSerial(each, zone).catch(() => undefined))
      const [ours, theirs] = await Promise.all(serials)
      return ours !== undefined && ours === theirs
    })
  }
}

/** The signalling names of a domain that the signalling zones have in the database. */
async function signalsOf(name: string): Promise<string[]> {
  const rows = await sql<{ text: string }>(
    service.system.db,
    `select name || ' ' || type as text from rrsets join domains on domains.id = domain_id
     where subname = :subname and name like '\\_signal.%' order by 1`,
    { subname: `_dsboot.${name}` },
  )
  return rows.map(({ text }) => text)
}

const ALL = ZONES.flatMap((zone) => [`${zone} CDNSKEY`, `${zone} CDS`])

/** A domain that is delegated to us without DS. */
async function waitingDomain(name: string): Promise<string> {
  await newDomain(service.api, name)
  await parent.delegate(name, [])
  return name
}

test('setup makes the zones, says how to delegate them, and can be repeated', async (t) => {
  const email = await emailOf(servers().system, owner.id)
  t.regex((await zoneplane('signalling', 'setup', '--account', 'nobody@example.test'))[1], /does not exist/)
  const [done, text] = await zoneplane('signalling', 'setup', '--account', email)
  t.true(done, text)
  for (const zone of ZONES) t.true(text.includes(`${zone}: made\n`), text)
  const lines = text.split('\n').filter((line) => / (NS|DS) /.test(line))
  const rrsets = new Map<string, string[]>()
  for (const line of lines) {
    const [, name, type, content] = /^(\S+)\. (NS|DS) (.*)$/.exec(line)!
    const key = `${name} ${type}`
    rrsets.set(key, [...(rrsets.get(key) ?? []), content!])
  }
  t.deepEqual(
    [...rrsets.keys()].sort(),
    ZONES.flatMap((zone) => [`${zone} DS`, `${zone} NS`]),
  )
  for (const [key, records] of rrsets) {
    const [name, type] = key.split(' ') as [string, string]
    await newRRset(service.api, 'host.example', { subname: name.slice(0, -'.host.example'.length), type, ttl: 60, records })
  } // prettier-ignore
  const [again, second] = await zoneplane('--json', 'signalling', 'setup', '--account', email)
  t.true(again)
  const shown = JSON.parse(second) as { name: string; new: boolean; ds: string[] }[]
  t.deepEqual(shown.map(({ name, new: isNew }) => [name, isNew]), ZONES.map((zone) => [zone, false])) // prettier-ignore
  t.deepEqual(shown[0]!.ds.sort(), rrsets.get(`${ZONES[0]} DS`)!.sort())
  await transferred()
})

test('the chain of trust reaches from the root to the signalling zones', async (t) => {
  await parent.delegate('host.example', [])
  for (const zone of ZONES) await eventually(async () => (await resolved(zone, 'SOA')).records.length > 0)
  t.false((await resolved(ZONES[0], 'SOA')).proven)
  await parent.delegate(
    'host.example',
    (await domainOf(service.api, 'host.example')).keys.flatMap(({ ds }) => ds),
  )
  for (const zone of ZONES) await eventually(async () => (await resolved(zone, 'SOA')).proven)
  t.pass()
})

test('a domain gets its first DS by itself, and then leaves the signalling zones', async (t) => {
  await waitingDomain(SHOP)
  await eventually(async () => (await query(secondary, SHOP, 'SOA')).rcode === 'NOERROR')
  await t.throwsAsync(bootstrap(registry(), SHOP), { message: /NXDOMAIN/ })
  t.is(await checkAndSignal(SHOP), 'insecure')
  t.deepEqual(await signalsOf(SHOP), ALL)
  for (const zone of ZONES) {
    for (const type of ['CDS', 'CDNSKEY']) {
      const { records } = rrsetsOf((await query(servers().powerDns, SHOP, type)).answers)[0]!
      const proven = { proven: true, rcode: 'NOERROR', records }
      // The resolver remembers for a second that there was nothing.
      await eventuallyIs(() => resolved(`_dsboot.${SHOP}.${zone}`, type), proven)
    }
  }
  // The parent is told when all nameservers have the signals.
  now = later(now, 60)
  await workOff(service.system, [{ ...NOTIFICATION, isOn: () => true }])
  t.deepEqual(told, [SHOP])
  const ds = await bootstrap(registry(), SHOP)
  await parent.delegate(SHOP, ds)
  await eventually(async () => (await resolved(SHOP, 'SOA')).proven)
  await t.throwsAsync(bootstrap(registry(), SHOP), { message: /has DS already/ })
  t.is(await checkAndSignal(SHOP), 'secure')
  t.deepEqual(await signalsOf(SHOP), [])
  for (const zone of ZONES)
    await eventuallyIs(() => resolved(`_dsboot.${SHOP}.${zone}`, 'CDS'), {
      proven: true,
      rcode: 'NXDOMAIN',
      records: [],
    })
})

/** Why a registry does not give the domain its first DS; undefined if it does. */
async function refusal(name: string): Promise<string | undefined> {
  return bootstrap(registry(), name).then(
    () => undefined,
    (reason: unknown) => (reason as Error).message,
  )
}

test('a parent does not act if one signalling zone lacks the domain, or has others; the next look puts it right', async (t) => {
  const name = await waitingDomain(PARTLY)
  t.is(await checkAndSignal(name), 'insecure')
  const path = (type: string) => `/domains/${ZONES[1]}/rrsets/_dsboot.${name}/${type}/`
  // The owner of the zones can write them, by mistake.
  succeeded(await service.api.delete(path('CDS')), 204)
  succeeded(await service.api.patch(path('CDNSKEY'), { records: ['257 3 13 AAAA'] }), 200)
  t.is((await signalsOf(name)).length, 3)
  await eventuallyIs(() => refusal(name), 'the sets differ')
  await signal(service.system)
  t.deepEqual(await signalsOf(name), ALL)
  await eventuallyIs(() => refusal(name), undefined)
  const { keys } = await domainOf(service.api, name)
  const { json } = await service.api.get(path('CDNSKEY'))
  t.deepEqual((json as { records: string[] }).records, [keys[0]!.dnskey])
  // Nothing is different now.
  const before = (await domains.find(service.system.db, ZONES[0]))!.version
  await signal(service.system)
  t.is((await domains.find(service.system.db, ZONES[0]))!.version, before)
})

test('the signals follow the key, and what the owner adds', async (t) => {
  const name = await waitingDomain(ROLLED)
  await checkAndSignal(name)
  const signalled = async (type: string) =>
    rrsetsOf((await query(servers().powerDns, `_dsboot.${name}.${ZONES[0]}`, type)).answers)[0]?.records
  const atApex = async (type: string) => rrsetsOf((await query(servers().powerDns, name, type)).answers)[0]!.records
  const former = await signalled('CDNSKEY')
  const path = `/domains/${name}/rollover/`
  succeeded(await service.api.post(path, { algorithm: 'ed25519' }), 201)
  for (const phase of ['sign', 'publish', 'await-ds']) {
    await eventuallyIs(async () => ((await service.api.get(path)).json as { phase?: string }).phase, phase)
    await published(servers(), name)
    await signal(service.system)
    for (const type of ['CDS', 'CDNSKEY']) t.deepEqual(await signalled(type), await atApex(type), `${phase} ${type}`)
    if (phase === 'await-ds') continue
    // The secondary has it now, so no look begins the wait anew.
    await eventuallyIs(async () => ((await service.api.get(path)).json as { waits_for?: string }).waits_for, 'caches')
    await passTime(servers(), name)
  }
  t.notDeepEqual(await signalled('CDNSKEY'), former)
  const records = [`4711 13 2 ${'ab'.repeat(32)}`]
  await newRRset(service.api, name, { subname: '', type: 'CDS', ttl: 3600, records })
  await signal(service.system)
  t.deepEqual(await signalled('CDS'), await atApex('CDS'))
  t.true((await signalled('CDS'))!.includes(records[0]!))
  // Too many are left out as a whole.
  const many = Array.from({ length: 20 }, (_, i) => `${i} 13 2 ${'ab'.repeat(32)}`)
  succeeded(await service.api.patch(`/domains/${name}/rrsets/@/CDS/`, { records: many }), 200)
  await signal(service.system)
  t.deepEqual(await signalsOf(name), [])
})

const LEAVING: [string, (name: string) => Promise<unknown>, ((name: string) => Promise<unknown>)?][] = [
  ['is paused', (name) => pause(service.system, name), (name) => resume(service.system, name)],
  ['is deleted', (name) => service.api.delete(`/domains/${name}/`)],
  [
    'wants no DS',
    (name) => zoneplane('dnssec', 'announce-removal', name),
    (name) => zoneplane('dnssec', 'announce-removal', '--undo', name),
  ],
]

for (const [i, [what, leave, comeBack]] of LEAVING.entries()) {
  test(`a domain that ${what} leaves the signalling zones`, async (t) => {
    const name = await waitingDomain(`leaves${i}.example`)
    await checkAndSignal(name)
    t.deepEqual(await signalsOf(name), ALL)
    await leave(name)
    await signal(service.system)
    t.deepEqual(await signalsOf(name), [])
    await comeBack?.(name)
    await signal(service.system)
    t.deepEqual(await signalsOf(name), comeBack === undefined ? [] : ALL)
  })
}

const STATES: [settled: string | null, trouble: string | null, isListed: boolean][] = [
  ['insecure', null, true],
  // It has lost its DS: perhaps its owner wants to leave.
  ['insecure', 'insecure', false],
  [null, null, false],
  ...['not-delegated', 'elsewhere', 'partial', 'secure', 'stale', 'mismatch'].map((state): [string, null, boolean] => [
    state,
    null,
    false,
  ]),
]

test('only domains that are delegated to us alone, and never had a DS, are listed, until a check says otherwise', async (t) => {
  const name = await waitingDomain('states.example')
  await checkAndSignal(name)
  for (const [settled, trouble, isListed] of STATES) {
    for (const state of ['unknown', 'propagating']) {
      await sql(
        service.system.db,
        `update delegations set state = :state, settled = :settled, trouble = :trouble,
           since = now() where domain_id = (select id from domains where name = :name)`,
        { name, state, settled, trouble },
      )
      await signal(service.system)
      t.deepEqual(await signalsOf(name), isListed ? ALL : [], `${settled} ${trouble}`)
    }
  }
})

test('names that are too long, and signalling zones below the domain, are left out', async (t) => {
  const long = (length: number) => `${'a'.repeat(50)}.${'b'.repeat(50)}.${'c'.repeat(length - 102 - 8)}.example`
  const [most, more] = [await waitingDomain(long(170)), await waitingDomain(long(171))]
  for (const name of [most, more, 'host.example']) {
    await newDomain(service.api, name).catch(() => undefined)
    const domain = (await domains.find(service.system.db, name))!
    await check(service.system, domain)
    await sql(service.system.db, `update delegations set settled = 'insecure', trouble = null where domain_id = :id`, {
      id: domain.id,
    })
  }
  await signal(service.system)
  t.deepEqual(await signalsOf(most), ALL)
  t.deepEqual(await signalsOf(more), [])
  t.deepEqual(await signalsOf('host.example'), [])
})

test('a look takes as many statements for many domains as for one', async (t) => {
  const { system } = service
  const counted = async () => (await statementsBy(() => signal(system))).length
  // A look while the service's own loop looks does nothing.
  const count = async () => Math.max(await counted(), await counted(), await counted())
  await signal(system)
  const idle = await count()
  t.true(idle > 3)
  const add = async (from: number, to: number) =>
    sql(
      system.db,
      `with made as (
         insert into domains (name, owner_id, minimum_ttl, version, size, created, published, touched)
         select 'bulk' || n || '.example', :id, 60, 1, 0, now(), now(), now()
         from generate_series(cast(:from as integer), cast(:to as integer)) as n returning id
       ), signing as (
         insert into keys (domain_id, dnskey, active, published, secret)
         select id, '257 3 13 ' || :key, true, true, '' from made
       )
       insert into delegations (domain_id, due, state, settled) select id, now(), 'insecure', 'insecure' from made`,
      { id: owner.id, from, to, key: Buffer.alloc(64, 1).toString('base64') },
    )
  await add(1, 500)
  await signal(system)
  t.deepEqual(await signalsOf('bulk500.example'), ALL)
  t.is(await count(), idle)
  await sql(system.db, `delete from domains where name like 'bulk%'`)
  await signal(system)
  t.deepEqual(await signalsOf('bulk500.example'), [])
})

test('if PowerDNS fails for one of the zones, the next look puts both right', async (t) => {
  const name = await waitingDomain('failed.example')
  const domain = (await domains.find(service.system.db, name))!
  await check(service.system, domain)
  const { proxy } = servers()
  proxy.fail(({ method, path }) => (method === 'PATCH' && path.includes('signal.ns2') ? { spoil: 500 } : 'pass'))
  await t.throwsAsync(signal(service.system))
  t.deepEqual(await signalsOf(name), [])
  proxy.heal()
  await checkAndSignal(name)
  t.deepEqual(await signalsOf(name), ALL)
  for (const zone of ZONES) t.true((await resolved(`_dsboot.${name}.${zone}`, 'CDS')).records.length > 0)
})

test('nobody but the operator can make a signalling zone', async (t) => {
  const refusal = succeeded(await service.api.post('/domains/', { name: '_signal.ns3.host.example' }), 400)
  t.deepEqual(refusal.json, { name: ['Domain names may not begin with an underscore.'] })
  t.is((await service.api.delete(`/domains/${ZONES[1]}/`)).status, 204)
  const again = await service.api.post('/domains/', { name: ZONES[1] })
  t.deepEqual(again.json, { name: ['Domain names may not begin with an underscore.'] })
  // The other zone goes on.
  const name = await waitingDomain('alone.example')
  await check(service.system, (await domains.find(service.system.db, name))!)
  await signal(service.system)
  t.deepEqual(await signalsOf(name), ALL.slice(0, 2))
})
