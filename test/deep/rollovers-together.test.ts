import { Parents } from '../../src/nameserver/parents/parents.ts'
import { Secondary } from '../../src/nameserver/secondaries/secondary.ts'
import type { Endpoint, Served } from '../../src/nameserver/wire/client.ts'
import type { Question, Reply } from '../../src/nameserver/wire/messages.ts'
import { enqueueAll } from '../../src/service/rollovers/queue.ts'
import { query } from '../../src/store/database.ts'
import type { Account } from '../support/clients/accounts.ts'
import { domainOf, newDomain, rrset, succeeded } from '../support/clients/api.ts'
import { depth } from '../support/depth.ts'
import { discrepanciesOf } from '../support/dns/discrepancies.ts'
import { answer, RESOLVER } from '../support/dns/simulated-parents.ts'
import { FAST } from '../support/dns/world.ts'
import { eventually, eventuallyIs } from '../support/eventually.ts'
import { useService } from '../support/harness.ts'
import { test } from '../support/serial.ts'

// Rollovers of many domains at a time: they refuse no writes, and none waits for the servers of another one.

/** The TTL of all RRsets, in seconds: rollovers wait for the largest. */
const TTL = 1
const WAITS = { dnskeyTtl: 1, dsMargin: 1, dsTtl: 1, parentPause: 1 }
const service = useService({ MINIMUM_TTL: '1' }, undefined, WAITS)

const DOMAINS = depth(4, 1_000)
const AT_MOST = depth(2, 100)
const WRITERS = 8

/** Servers that do not answer about domains below these names, until they are open. */
const held = new Map<string, Promise<void>>()
/** The names that they were asked about. */
const asked = new Set<string>()
const openings: (() => void)[] = []

function hold(name: string): () => void {
  let open!: () => void
  held.set(name, new Promise((resolve) => (open = resolve)))
  openings.push(open)
  return open
}

// A test that fails leaves them held, and the service could not stop.
test.afterEach.always('all servers answer', () => {
  for (const open of openings) open()
})

async function untilOpen(name: string): Promise<void> {
  asked.add(name)
  for (const [above, opening] of held) if (name.endsWith(above)) await opening
}

/** Parents that are asked in memory. */
class HeldParents extends Parents {
  protected override async send(endpoint: Endpoint, question: Question): Promise<Reply> {
    await untilOpen(question.name)
    return answer(endpoint, question)
  }
}

class HeldSecondary extends Secondary {
  override async serves(zone: string): Promise<Served> {
    await untilOpen(zone)
    return super.serves(zone)
  }
}

let account: Account

test.before('parents in memory', async () => {
  const resolvers = [{ address: RESOLVER, port: 53 }]
  Object.assign(service().system, { parents: new HeldParents({ resolvers, isAllowed: () => true, clock: FAST }) })
  account = await service().account({ limitDomains: null })
})

async function newShortLived(name: string): Promise<void> {
  await newDomain(account.api, name)
  succeeded(await account.api.patch(`/domains/${name}/rrsets/@/NS/`, { ttl: TTL }), 200)
}

const path = (name: string) => `/domains/${name}/rollover/`

async function begin(name: string): Promise<void> {
  await newShortLived(name)
  succeeded(await account.api.post(path(name)), 201)
}

/** The phase of a domain's rollover; `done`: there is none. */
async function phaseOf(name: string): Promise<string> {
  const { status, json } = await account.api.get(path(name))
  return status === 404 ? 'done' : (json as { phase: string }).phase
}

test('no write is refused while the keys of its domain are replaced', async (t) => {
  const { system } = service()
  const names = Array.from({ length: DOMAINS }, (_, i) => `n${i}.test`)
  const former = new Map<string, string>()
  for (const name of names) {
    await newShortLived(name)
    former.set(name, (await domainOf(account.api, name)).keys[0]!.dnskey)
  }
  t.is(await enqueueAll(system, { algorithm: 'ecdsa256', emergency: false }, AT_MOST), DOMAINS)

  const answers = new Set<number>()
  const phases = new Set<string>()
  const underWay = `select name, phase from rollovers join domains on id = domain_id
    where phase <> 'queued' order by check_at limit ${WRITERS}`
  const left = async () => (await query(system.db, 'select from rollovers limit 1')).length > 0
  const write = async (writer: number) => {
    for (let i = 0; await left(); i++) {
      const due = await query<{ name: string; phase: string }>(system.db, underWay)
      const { name, phase } = due[writer % due.length] ?? { name: names[0]!, phase: 'none' }
      const item = rrset({ subname: `w${writer}`, type: 'A', ttl: TTL, records: [`192.0.2.${i % 256}`] })
      answers.add((await account.api.put(`/domains/${name}/rrsets/`, [item])).status)
      phases.add(phase)
    }
  }
  await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)))

  t.deepEqual([...answers], [200])
  for (const phase of ['publish', 'await-ds', 'await-ds-ttl']) t.true(phases.has(phase), phase)
  await eventually(async () => (await query(system.db, 'select from marks where not settled')).length === 0)
  for (const name of names) {
    const { keys } = await domainOf(account.api, name)
    t.is(keys.length, 1)
    t.not(keys[0]!.dnskey, former.get(name))
    t.deepEqual(await discrepanciesOf(service(), name), [])
  }
})

test('a parent that does not answer holds up the rollovers of its own domains only', async (t) => {
  const openFirst = hold('.one.test')
  await begin('a.one.test')
  await eventually(() => asked.has('a.one.test'))
  // Due together when the next look begins.
  const open = hold('.two.test')
  for (const name of ['a.two.test', 'quick.test']) {
    await begin(name)
    await eventuallyIs(() => phaseOf(name), 'await-ds')
  }
  openFirst()
  await eventually(() => asked.has('a.two.test') && asked.has('quick.test'))
  open()
  for (const name of ['a.one.test', 'a.two.test', 'quick.test']) await eventuallyIs(() => phaseOf(name), 'done')
  t.pass()
})

test('many of these do not hold up those that wait for no parent', async (t) => {
  const open = hold('.many.test')
  const names = Array.from({ length: 11 }, (_, i) => `a.p${i}.many.test`)
  for (const name of names) await begin(name)
  for (const name of names) await eventuallyIs(() => phaseOf(name), 'await-ds')
  await begin('late.test')
  await eventuallyIs(() => phaseOf('late.test'), 'await-ds')
  open()
  for (const name of [...names, 'late.test']) await eventuallyIs(() => phaseOf(name), 'done')
  t.pass()
})

test('a secondary that does not answer about a domain holds up no other one', async (t) => {
  const { system, powerDns } = service()
  const { dnsHost: address, dnsPort: port } = powerDns
  Object.assign(system.secondaries, { all: [new HeldSecondary({ name: 'held', address, port })] })
  const openFirst = hold('first.test')
  await begin('first.test')
  await eventually(() => asked.has('first.test'))
  const open = hold('behind.test')
  for (const name of ['behind.test', 'ahead.test']) await begin(name)
  asked.clear()
  openFirst()
  await eventually(() => asked.has('behind.test') && asked.has('ahead.test'))
  open()
  for (const name of ['first.test', 'behind.test', 'ahead.test']) await eventuallyIs(() => phaseOf(name), 'done')
  t.pass()
})
