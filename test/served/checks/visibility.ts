import type { ExecutionContext } from 'ava'
import type { TestService } from '../../support/harness.ts'
import { Zone, type Question } from '../../support/dns/zone.ts'
import { query, rrsetsOf } from '../../support/dns/wire.ts'

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

/**
 * Makes `writes` writes to one zone. Just before each write all questions whose answers it may change are asked, so that
 * PowerDNS caches the answers, denials included. When the response arrives, the same questions are asked again.
 */
export async function writesShowAtOnce(
  t: ExecutionContext,
  service: TestService,
  name: string,
  writes: number,
): Promise<void> {
  const zone = await Zone.create(service, (await service.account()).api, name)
  const fill = (text: string, round: number) => text.replaceAll('$', String(round)).replace('@', zone.at(''))
  for (let i = 0; i < writes; i++) {
    const round = Math.floor(i / ROUND.length)
    const questions = NAMES.flatMap((subname) => TYPES.map((type): Question => [zone.at(fill(subname, round)), type]))
    if (i % ROUND.length === 0) await zone.answers(t, questions)
    const [subname, type, ...records] = ROUND[i % ROUND.length]!.map((text) => fill(text, round)) as Write
    if (records.length > 0) await zone.put(subname, type, records)
    else await zone.remove(subname, type)
    await zone.answers(t, [[zone.at(subname), type], ...questions])
  }
}

/** Domains beside and below an existing parent, and the RCODE for them before they exist. */
const DOMAINS = [
  ['r$-@', 'REFUSED'],
  ['r$.@', 'NXDOMAIN'],
  ['d.e$.@', 'NXDOMAIN'],
  ['r$.wild.@', 'NOERROR'],
] as const
const BELOW = ['', 'www.', '_tcp.www.', 'absent.']

/**
 * Creates and deletes `rounds` domains, some of them below an existing domain, and writes an RRset in each. Their names,
 * and names below them, are asked for just before each request, and again when its response arrives.
 */
export async function domainsShowAtOnce(
  t: ExecutionContext,
  service: TestService,
  name: string,
  rounds: number,
): Promise<void> {
  const { api } = await service.account()
  const parent = await Zone.create(service, api, name)
  await parent.put('*.wild', 'A', ['192.0.2.1'])
  for (let round = 0; round < rounds; round++) {
    const [pattern, rcode] = DOMAINS[round % DOMAINS.length]!
    const domain = pattern.replace('$', String(round)).replace('@', name)
    const questions = BELOW.flatMap((below) => ['A', 'SOA', 'NS'].map((type): Question => [below + domain, type]))
    const before = await repliesTo(service, questions)
    t.deepEqual(new Set(before.map((reply) => reply.rcode)), new Set([rcode]), domain)

    const zone = await Zone.create(service, api, domain)
    await isServed(t, service, zone, questions)
    await zone.put('www', 'A', ['192.0.2.2'])
    await isServed(t, service, zone, questions)
    t.is((await zone.delete()).status, 204)
    t.deepEqual(await repliesTo(service, questions), before, domain)
  }
}

/** Asserts that the answers are from the zone itself, not from its parent. */
async function isServed(t: ExecutionContext, service: TestService, zone: Zone, questions: Question[]): Promise<void> {
  await zone.answers(
    t,
    questions.filter(([, type]) => type !== 'SOA').map(([name, type]) => [`${name}.`, type]),
  )
  const soas = questions.filter(([, type]) => type === 'SOA')
  for (const { soa } of await repliesTo(service, soas)) t.is(soa, zone.at(''))
}

/** The replies, with and without signatures; of an SOA record only the owner name. */
async function repliesTo(service: TestService, questions: Question[]) {
  const replies = []
  for (const [name, type] of questions) {
    for (const dnssec of [true, false]) {
      const message = await query(service.powerDns, name, type, { dnssec })
      const soa = [...message.answers, ...message.authorities].find((record) => record.type === 'SOA')?.name
      const answers = rrsetsOf(message.answers).filter((rrset) => rrset.type !== 'SOA')
      replies.push({ name, type, rcode: message.rcode, soa, answers })
    }
  }
  return replies
}
