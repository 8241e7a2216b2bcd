import test, { type ExecutionContext } from 'ava'
import { query as sql } from '../../src/store/database.ts'
import { currentTime, unixTime } from '../../src/time.ts'
import { depth } from '../support/depth.ts'
import { verifyTransfer } from '../support/dns/dns.ts'
import { validate } from '../support/dns/validators.ts'
import { query, rrsetsOf, servedSerial } from '../support/dns/wire.ts'
import { isConsistent, type Question, Zone } from '../support/dns/zone.ts'
import { useService } from '../support/harness.ts'

const service = useService({ THROTTLE: 'off' })

/** A write of an RRset; without records it is deleted. */
type Write = [subname: string, type: string, ...records: string[]]

/** The writes of one round; `$` is its number. Each write makes an answer outdated that PowerDNS may have cached. */
const ROUND: Write[] = [
  ['n$', 'A', '192.0.2.1'],
  ['n$', 'A', '192.0.2.2', '192.0.2.3'],
  ['n$', 'TXT', '"beside it"'],
  ['n$', 'A'],
  ['b.e.n$', 'AAAA', '2001:db8::1'],
  ['*.n$', 'A', '192.0.2.4'],
  ['a.n$', 'TXT', '"closer than the wildcard"'],
  ['*.n$', 'A'],
  ['a.n$', 'TXT'],
  ['a.n$', 'CNAME', 'n$.@'],
  ['a.n$', 'CNAME', 'b.e.n$.@'],
  ['b.e.n$', 'AAAA'],
  ['e.n$', 'NS', 'ns.b.e.n$.@'],
  ['b.e.n$', 'A', '192.0.2.5'],
  ['e.n$', 'DS', `1 13 2 ${'ab'.repeat(32)}`],
  ['e.n$', 'DS'],
  ['e.n$', 'NS'],
  ['a.n$', 'CNAME'],
  ['b.e.n$', 'A'],
  ['n$', 'TXT'],
]
const NAMES = ['n$', 'a.n$', 'x.a.n$', 'e.n$', 'b.e.n$', '*.n$', 'absent.n$']
const TYPES = ['A', 'TXT', 'AAAA', 'DS']

// Just before each write, all questions whose answers it may change are asked, so that PowerDNS caches the answers, denials
// included. When the response arrives, the same questions are asked again.
test.serial('a write is visible in DNS when its response arrives, denials included', async (t) => {
  const zone = await Zone.create(service(), (await service().account()).api, 'seen.test')
  const fill = (text: string, round: number) => text.replaceAll('$', String(round)).replace('@', zone.at(''))
  for (let i = 0; i < depth(40, 600); i++) {
    const round = Math.floor(i / ROUND.length)
    const questions = NAMES.flatMap((subname) => TYPES.map((type): Question => [zone.at(fill(subname, round)), type]))
    if (i % ROUND.length === 0) await zone.answers(t, questions)
    const [subname, type, ...records] = ROUND[i % ROUND.length]!.map((text) => fill(text, round)) as Write
    if (records.length > 0) await zone.put(subname, type, records)
    else await zone.remove(subname, type)
    await zone.answers(t, [[zone.at(subname), type], ...questions])
  }
})

/** Domains beside and below an existing parent, and the RCODE for them before they exist. */
const DOMAINS = [
  ['r$-@', 'REFUSED'],
  ['r$.@', 'NXDOMAIN'],
  ['d.e$.@', 'NXDOMAIN'],
  ['r$.wild.@', 'NOERROR'],
] as const
const BELOW = ['', 'www.', '_tcp.www.', 'absent.']

// Some are below an existing domain, and each gets an RRset. Their names, and names below them, are asked for just before each
// request, and again when its response arrives.
test.serial('a new domain is served, and a deleted one no longer, when the response arrives', async (t) => {
  const { api } = await service().account()
  const parent = await Zone.create(service(), api, 'parent.test')
  await parent.put('*.wild', 'A', ['192.0.2.1'])
  for (let round = 0; round < depth(8, 100); round++) {
    const [pattern, rcode] = DOMAINS[round % DOMAINS.length]!
    const domain = pattern.replace('$', String(round)).replace('@', parent.name)
    const questions = BELOW.flatMap((below) => ['A', 'SOA', 'NS'].map((type): Question => [below + domain, type]))
    const before = await repliesTo(questions)
    t.deepEqual(new Set(before.map((reply) => reply.rcode)), new Set([rcode]), domain)

    const zone = await Zone.create(service(), api, domain)
    await isServed(t, zone, questions)
    await zone.put('www', 'A', ['192.0.2.2'])
    await isServed(t, zone, questions)
    t.is((await zone.delete()).status, 204)
    t.deepEqual(await repliesTo(questions), before, domain)
  }
})

// In each life it gets so many writes that its version runs ahead of the clock. DNS queries in between let PowerDNS cache
// answers, which must not outlive a life.
test.serial('a deleted domain can be created again at once, each time with a new key', async (t) => {
  const { api } = await service().account()
  const [name, lives, writes] = ['again.test', depth(4, 50), depth(5, 8)]
  const keys = new Set<string>()
  let serial = 0
  let before: string[] = []
  for (let life = 1; life <= lives; life++) {
    const zone = await Zone.create(service(), api, name)
    keys.add(zone.ds[0]!)
    t.is(keys.size, life, 'the key is new')
    t.true((await servedSerial(service().powerDns, name)) > serial, 'the serial grows')
    await zone.answers(t, [
      [zone.at(''), 'NS'],
      [zone.at('host'), 'A'],
      [zone.at(`host${life - 1}`), 'A'],
    ])
    for (const ds of zone.ds) {
      t.is(await validate(service().powerDns, name, [ds], name, 'NS'), 'fully validated')
    }
    await zone.validates(t, [
      [zone.at('host'), 'A'],
      [zone.at(`host${life - 1}`), 'A'],
    ])
    if (life > 1) t.is(await validate(service().powerDns, name, before, name, 'SOA'), 'failed: broken trust chain')
    before = zone.ds

    for (let i = 1; i <= writes; i++) await zone.put('host', 'A', [`192.0.2.${i}`])
    await zone.put(`host${life}`, 'A', ['192.0.2.1'])
    await zone.answers(t, [
      [zone.at('host'), 'A'],
      [zone.at(`host${life}`), 'A'],
      [zone.at('other'), 'A'],
    ])
    await zone.validates(t, [[zone.at('host'), 'A']])
    if (life === lives) await verifyTransfer(service().powerDns, name, zone.ds)
    serial = await servedSerial(service().powerDns, name)

    t.is((await zone.delete()).status, 204)
    for (const asked of [name, `host.${name}`]) {
      t.is((await query(service().powerDns, asked, 'A')).rcode, 'REFUSED')
    }
  }
})

test.serial('the serial of a domain created again grows, even if it was ahead of the clock', async (t) => {
  const { api } = await service().account()
  const first = await Zone.create(service(), api, 'ahead.test')
  const ahead = unixTime(currentTime()) + 3600
  await sql(service().system.db, `update domains set version = :ahead where name = 'ahead.test'`, { ahead })
  await first.put('host', 'A', ['192.0.2.1'])
  const serial = await servedSerial(service().powerDns, 'ahead.test')
  // The deletion has a version, too, in the domain's history.
  await first.delete()
  const second = await Zone.create(service(), api, 'ahead.test')
  t.is(await servedSerial(service().powerDns, 'ahead.test'), serial + 3)
  await second.put('host', 'A', ['192.0.2.2'])
  t.is(await servedSerial(service().powerDns, 'ahead.test'), serial + 4)
})

test.serial('at the end no mark remains, and DNS equals the database, serials included', async (t) => {
  await isConsistent(t, service())
})

/** Asserts that the answers are from the zone itself, not from its parent. */
async function isServed(t: ExecutionContext, zone: Zone, questions: Question[]): Promise<void> {
  await zone.answers(
    t,
    questions.filter(([, type]) => type !== 'SOA').map(([name, type]) => [`${name}.`, type]),
  )
  const soas = questions.filter(([, type]) => type === 'SOA')
  for (const { soa } of await repliesTo(soas)) t.is(soa, zone.at(''))
}

/** The replies, with and without signatures; of an SOA record only the owner name. */
async function repliesTo(questions: Question[]) {
  const replies = []
  for (const [name, type] of questions) {
    for (const dnssec of [true, false]) {
      const message = await query(service().powerDns, name, type, { dnssec })
      const soa = [...message.answers, ...message.authorities].find((record) => record.type === 'SOA')?.name
      const answers = rrsetsOf(message.answers).filter((rrset) => rrset.type !== 'SOA')
      replies.push({ name, type, rcode: message.rcode, soa, answers })
    }
  }
  return replies
}
