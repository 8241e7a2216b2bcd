import packet from 'dns-packet'
import { Parents } from '../../src/nameserver/parents/parents.ts'
import { Secondaries } from '../../src/nameserver/secondaries/secondaries.ts'
import { NOTIFICATION } from '../../src/service/delegation/notifying.ts'
import { workOff } from '../../src/service/work/crew.ts'
import { query } from '../../src/store/database.ts'
import { currentTime, later } from '../../src/time.ts'
import { newDomain, newRRset, succeeded } from '../support/clients/api.ts'
import { commandsOn } from '../support/command-line.ts'
import { exchange } from '../support/dns/dns.ts'
import { type Asked, type Double, reply, startDouble } from '../support/dns/double.ts'
import { dsync, useWorld } from '../support/dns/world.ts'
import { eventually, eventuallyIs } from '../support/eventually.ts'
import { useAccount, useService } from '../support/harness.ts'
import { passTime } from '../support/rollovers/steps.ts'
import { test } from '../support/serial.ts'
import { freePort } from '../support/servers/ports.ts'

// Contract §15.9, "notifications": parents that have DSYNC (RFC 9859) are told when CDS change. A double stands for the
// target, and the tests set the clock.

const service = useService({ METRICS_PORT: '0' })
const account = useAccount(service)
const world = useWorld(service)
let doubles: Double[] = []
let now = currentTime()

test.beforeEach(() => {
  Object.assign(service().system, { parents: world().parents(), now: () => now })
})

test.afterEach.always(async () => {
  for (const each of doubles) await each.close()
  doubles = []
  await query(service().system.db, 'delete from work')
})

const MINUTE = 60
const TARGET = 'cds.nic.example'
const ADDRESS = '127.0.0.1'
const ACKNOWLEDGED = (asked: Asked) => [reply(asked, [], { flags: NOTIFY })]
const NOTIFY = (4 << 11) | packet.AUTHORITATIVE_ANSWER

/** Starts a target, and returns its port. */
async function startTarget(answer: (asked: Asked) => Buffer[] = ACKNOWLEDGED): Promise<number> {
  const port = await freePort()
  doubles.push(await startDouble({ address: ADDRESS, port }, answer))
  return port
}

const told = () => doubles[0]!.asked.map(({ name, type, flags }) => ({ name, type, ...flags }))

/** Gives the parent this DSYNC, and waits until the resolver has forgotten that of before. */
async function publish(owner: string, port: number, options: { scheme?: number; asked?: string } = {}): Promise<void> {
  const { scheme = 1, asked = owner } = options
  const record = dsync(owner, { target: TARGET, port }, scheme)
  await world().delegate([record, `${TARGET}. A ${ADDRESS}`])
  const [address, resolver] = world().resolvers.split(':') as [string, string]
  const wanted = record.split(' ').at(-1)
  await eventually(async () => {
    const message = await exchange({ dnsHost: address, dnsPort: Number(resolver) }, asked, 'UNKNOWN_66', {
      recursive: true,
    })
    return packet
      .decode(message)
      .answers!.some(
        (answer) => 'data' in answer && Buffer.isBuffer(answer.data) && answer.data.toString('hex') === wanted,
      )
  })
}

let names = 0

/** A domain whose CDS have just changed. */
async function changedDomain(): Promise<string> {
  const name = await newDomain(account().api, `told${++names}.example`)
  const [done, text] = await commandsOn(() => service().system)('dnssec', 'announce-removal', name)
  if (!done) throw new Error(text)
  return name
}

async function pass(seconds: number): Promise<void> {
  // While a zone is marked, its parent is not told: after a slow answer of PowerDNS that is for some seconds.
  await eventuallyIs(async () => (await query(service().system.db, 'select zone from marks')).length, 0)
  now = later(now, seconds)
  await workOff(service().system, [{ ...NOTIFICATION, isOn: () => true }])
}

/** The attempts so far, for a domain whose parent is still to be told; undefined: it is not. */
async function attempts(name: string): Promise<number | undefined> {
  const sql = `select attempts from work where kind = 'notify-parent' and subject = :name`
  return (await query<{ attempts: number }>(service().system.db, sql, { name }))[0]?.attempts
}

async function counted(outcome: string): Promise<number> {
  const text = await service().system.metrics!.text()
  return Number(
    new RegExp(`^zoneplane_parent_notifications_total\\{outcome="${outcome}"\\} (\\d+)$`, 'm').exec(text)![1],
  )
}

for (const [what, owner] of [
  ['for all domains', '*._dsync.example'],
  ['for one domain', (name: string) => name.replace('.', '._dsync.')],
  ['without a wildcard', '_dsync.example'],
] as const) {
  test(`a parent that has DSYNC ${what} gets one NOTIFY for CDS, with the name of the domain`, async (t) => {
    const name = await changedDomain()
    const specific = name.replace('.', '._dsync.')
    const asked = owner === '_dsync.example' ? owner : specific
    await publish(typeof owner === 'string' ? owner : owner(name), await startTarget(), { asked })
    const before = await counted('acknowledged')
    await pass(1)
    t.deepEqual(told(), [])
    await pass(MINUTE)
    t.deepEqual(told(), [{ name, type: 'CDS', opcode: 'NOTIFY', isAuthoritative: true }])
    t.is(await attempts(name), undefined)
    t.is(await counted('acknowledged'), before + 1)
  })
}

test('other records, and undone wishes, are no news', async (t) => {
  const name = await newDomain(account().api)
  await newRRset(account().api, name, { subname: '', type: 'MX', ttl: 3600, records: ['10 mx.example.'] })
  t.is(await attempts(name), undefined)
  const zoneplane = commandsOn(() => service().system)
  await zoneplane('dnssec', 'announce-removal', '--undo', name)
  t.is(await attempts(name), undefined)
  await zoneplane('dnssec', 'announce-removal', name)
  await zoneplane('dnssec', 'announce-removal', '--undo', name)
  t.is(await attempts(name), 0)
})

test('a rollover is news when the parent shall have another DS, and only then', async (t) => {
  const { api } = account()
  const name = await newDomain(api, `rolled${++names}.example`)
  const path = `/domains/${name}/rollover/`
  const phase = async () => ((await api.get(path)).json as { phase?: string }).phase
  succeeded(await api.post(path, {}), 201)
  await eventuallyIs(phase, 'publish')
  t.is(await attempts(name), undefined)
  await passTime(service(), name)
  await eventuallyIs(phase, 'await-ds')
  t.is(await attempts(name), 0)
  await publish('*._dsync.example', await startTarget(), { asked: name.replace('.', '._dsync.') })
  await pass(MINUTE)
  t.like(told(), [{ name, type: 'CDS' }])
  succeeded(await api.delete(path), 200)
  t.is(await attempts(name), 0)
})

test('a parent without DSYNC is not told, and not asked again', async (t) => {
  const name = await changedDomain()
  const before = await counted('unwanted')
  await world().delegate([])
  // Another type, another scheme, and no port.
  for (const [port, scheme] of [[await startTarget(), 2], [0, 1]] as const) {
    await publish('*._dsync.example', port, { scheme, asked: name.replace('.', '._dsync.') })
    await commandsOn(() => service().system)('dnssec', 'announce-removal', name, ...(port === 0 ? ['--undo'] : []))
    await pass(MINUTE)
    t.is(await attempts(name), undefined)
  } // prettier-ignore
  t.deepEqual(told(), [])
  t.is(await counted('unwanted'), before + 2)
})

const FAILURES: [what: string, outcome: string, answer?: (asked: Asked) => Buffer[]][] = [
  ['refuses', 'refused', (asked) => [reply(asked, [], { flags: NOTIFY | 5 })]],
  ['does not answer', 'silent', () => []],
  ['answers another question', 'silent', (asked) => [reply({ ...asked, name: 'other.example' }, [])]],
  ['nobody runs', 'silent'],
]

for (const [what, outcome, answer] of FAILURES) {
  test(`a target that ${what} is told five times, until CDS change again`, async (t) => {
    const name = await changedDomain()
    const port = answer === undefined ? await freePort() : await startTarget(answer)
    await publish('*._dsync.example', port, { asked: name.replace('.', '._dsync.') })
    const before = await counted(outcome)
    const seen = []
    for (const pause of [1, 1, 5, 15, 60]) {
      await pass(pause * MINUTE)
      seen.push(await attempts(name))
    }
    t.deepEqual(seen, [1, 2, 3, 4, undefined])
    t.is(await counted(outcome), before + 5)
    await commandsOn(() => service().system)('dnssec', 'announce-removal', '--undo', name)
    t.is(await attempts(name), 0)
  })
}

test('a target whose address is not globally reachable is left alone', async (t) => {
  service().system.parents = world().parents((address) => address !== ADDRESS)
  const name = await changedDomain()
  await publish('*._dsync.example', await startTarget(), { asked: name.replace('.', '._dsync.') })
  const before = await counted('unreachable')
  await pass(MINUTE)
  t.deepEqual(told(), [])
  t.is(await attempts(name), 1)
  t.is(await counted('unreachable'), before + 1)
})

test('resolvers that do not answer leave the notification for later', async (t) => {
  service().system.parents = new Parents({ resolvers: [{ address: ADDRESS, port: 9 }], isAllowed: () => true })
  const name = await changedDomain()
  const before = await counted('unknown')
  await pass(MINUTE)
  t.is(await attempts(name), 1)
  t.is(await counted('unknown'), before + 1)
})

test('the parent is told when all nameservers that answer have the CDS', async (t) => {
  const { system } = service()
  const port = await freePort()
  let serial = 1
  const soa = (asked: Asked) => ({ mname: 'a', rname: 'b', serial: asked.type === 'SOA' ? serial : 0 })
  const secondary = await startDouble({ address: ADDRESS, port }, (asked) => [
    reply(asked, [{ type: 'SOA', name: asked.name, ttl: 60, data: { ...soa(asked), refresh: 1, retry: 1, expire: 1, minimum: 1 } }]),
  ]) // prettier-ignore
  const { secondaries } = system
  system.secondaries = new Secondaries([{ name: 'ns2.zoneplane.test', address: ADDRESS, port }], () => undefined)
  try {
    const name = await changedDomain()
    await publish('*._dsync.example', await startTarget(), { asked: name.replace('.', '._dsync.') })
    await pass(MINUTE)
    t.deepEqual(told(), [])
    t.is(await attempts(name), 1)
    serial = 2 ** 32 - 1
    await pass(MINUTE)
    t.like(told(), [{ name, type: 'CDS' }])
  } finally {
    await system.secondaries.close()
    system.secondaries = secondaries
    await secondary.close()
  }
})

test('a change while the parent is being told is told, too', async (t) => {
  const name = await changedDomain()
  const undo = () => commandsOn(() => service().system)('dnssec', 'announce-removal', '--undo', name)
  let undoing: Promise<unknown> | undefined
  const { parents } = service().system
  const notify = parents.notify.bind(parents)
  parents.notify = async (domain) => {
    await (undoing ??= undo())
    return notify(domain)
  }
  await publish('*._dsync.example', await startTarget(), { asked: name.replace('.', '._dsync.') })
  await pass(MINUTE)
  t.is(told().length, 1)
  t.is(await attempts(name), 0)
  await pass(MINUTE)
  t.is(told().length, 2)
  t.is(await attempts(name), undefined)
})
