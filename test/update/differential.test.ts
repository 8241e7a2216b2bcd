import fc from 'fast-check'
import { CLASSES } from '../../src/dns/wire/messages.ts'
import { newDomain, shared } from '../support/clients/api.ts'
import { type Key, keyFor, rcodeOf, sendTo, signedWith } from '../support/clients/dns-update.ts'
import { depth } from '../support/depth.ts'
import type { Server } from '../support/dns/dns.ts'
import { folded, transferred } from '../support/dns/wire.ts'
import { useService } from '../support/harness.ts'
import { SEED } from '../support/random.ts'
import { test } from '../support/serial.ts'
import { CASE, type Case, type Line, messageFor, messagesThatMake, shown } from './generated.ts'
import { startUpdated, type Updated } from './updated.ts'

// Contract §21.4: what BIND and Knot do with a message, and what we do. All three get the same octets.

const service = useService({ DNS_UPDATE_PORT: '0' })
const FULL = 2_000
const RUNS = depth(40, FULL)
const ROUND = Math.min(RUNS, 200)
const NAMESERVERS = ['ns1.zoneplane.test.', 'ns2.zoneplane.test.']

/** What a nameserver answers, and the records that it serves then, as `name type` → `ttl contents`. */
interface Result {
  rcode: string
  records: Record<string, string>
}

/** A zone at the three. */
interface Site {
  zone: string
  key: Key
  servers: Record<'ours' | Updated, { port: number; server: Server }>
}

const typesAt = (lines: Line[]) => lines.map(({ name, type }) => `${name.toLowerCase() || '@'} ${type}`)
const contentOf = ({ name, type, content }: Line) => `${name} ${type} ${String(content)}`.toLowerCase()

/** The RRsets in which two zones differ. */
function differing(one: Result, other: Result): string[] {
  const all = [...new Set([...Object.keys(one.records), ...Object.keys(other.records)])]
  return all.filter((key) => one.records[key] !== other.records[key])
}

/** Whether a prerequisite has something that none may have. */
const isWrong = ({ name, class: kind, ttl, content }: Line) =>
  name === 'other.' || kind === 3 || ttl > 0 || (kind !== CLASSES.IN && content !== undefined)

/** Whether they tell that a prerequisite does not hold, when we tell what is wrong with the form. */
const looksAtThemFirst = (ours: Result, theirs: Result) =>
  /^(FORMERR|NOTZONE)$/.test(ours.rcode) && /^(NX|YX)/.test(theirs.rcode) && differing(ours, theirs).length === 0

/** Why a difference is none of ours, and whether it is the one of a case. */
type Reason = (one: Case, ours: Result, theirs: Result) => boolean

/** Contract §8.10. */
const noZoneCutBelowAnother: Reason = ({ updates }, ours, theirs) => {
  const cuts = updates.filter(({ name, type, class: kind }) => name !== '' && type === 'NS' && kind === CLASSES.IN)
  const names = cuts.map(({ name }) => name.toLowerCase())
  const isNested = names.some((below) => names.some((above) => below.endsWith(`.${above}`)))
  return ours.rcode === 'REFUSED' && theirs.rcode === 'NOERROR' && isNested
}

const REASONS: Record<Updated, Record<string, Reason>> = {
  bind: {
    'BIND takes a zone cut below another': noZoneCutBelowAnother,
    'BIND looks at prerequisites one after the other: at their form, and whether they hold': ({ prerequisites }, ours, theirs) =>
      looksAtThemFirst(ours, theirs) && prerequisites.some(isWrong),
    'BIND ignores the addition of NS to a wildcard': (_, ours, theirs) =>
      ours.rcode === theirs.rcode && differing(ours, theirs).every((key) => key === '*.w NS'),
    'for BIND, contents with the same record twice are those of no RRset (RFC 2181 §5)': ({ prerequisites }, ours, theirs) => {
      const contents = prerequisites.filter(({ class: kind }) => kind === CLASSES.IN).map(contentOf)
      return theirs.rcode === 'NXRRSET' && ours.rcode !== 'NXRRSET' && new Set(contents).size < contents.length
    },
  },
  knot: {
    'Knot takes a zone cut below another': noZoneCutBelowAnother,
    'Knot keeps the TTL when a record is added that is there': ({ updates }, ours, theirs) => {
      const added = typesAt(updates.filter(({ class: kind }) => kind === CLASSES.IN))
      const [a, b] = [ours, theirs].map(({ records }) => (key: string) => records[key]?.replace(/^\d+ /, ''))
      const different = differing(ours, theirs)
      return ours.rcode === theirs.rcode && different.every((key) => added.includes(key) && a!(key) === b!(key))
    },
    'Knot looks at prerequisites before it looks at the form of updates': (_, ours, theirs) =>
      looksAtThemFirst(ours, theirs),
    'Knot takes deletions of RRsets with TTL, data, or a type of questions (RFC 2136 §3.4.1.3)': ({ updates }, ours, theirs) =>
      ours.rcode === 'FORMERR' &&
      theirs.rcode === 'NOERROR' &&
      updates.some(({ class: kind, ttl, content, type }) => kind === CLASSES.ANY && (ttl > 0 || content !== undefined || type === 254)),
  },
} // prettier-ignore

async function newSite(): Promise<Site & { close: () => Promise<void> }> {
  const { api, tokenId } = await service().account({ limitDomains: null })
  const zone = await newDomain(api)
  const key = await keyFor(api, tokenId)
  const setting = { zone, key, nameservers: NAMESERVERS }
  const [bind, knot] = [await startUpdated('bind', setting), await startUpdated('knot', setting)]
  const servers = {
    ours: { port: service().updatePort!, server: service().powerDns },
    bind: { port: bind.dnsPort, server: bind },
    knot: { port: knot.dnsPort, server: knot },
  }
  const close = async () => {
    await Promise.all([bind.kill(), knot.kill()])
  }
  return { zone, key, servers, close }
}

/** Sends the same octets to all three. */
async function sendToAll({ zone, key, servers }: Site, message: Buffer): Promise<Record<'ours' | Updated, Result>> {
  const signed = signedWith(key, message).message
  const results = Object.entries(servers).map(async ([kind, { port, server }]) => {
    const rcode = rcodeOf(await sendTo(port, signed, 20_000))
    const rrsets = folded(await transferred(server, zone))
    const records = rrsets.map(({ name, type, ttl, records }) => [
      `${name.slice(0, -zone.length - 2) || '@'} ${type}`,
      `${ttl} ${records.join(', ')}`,
    ])
    return [kind, { rcode, records: Object.fromEntries(records) as Result['records'] }]
  })
  return Object.fromEntries(await Promise.all(results)) as Record<'ours' | Updated, Result>
}

const site = shared(newSite)
const counts: Record<string, number> = {}

function note(what: string): void {
  counts[what] = (counts[what] ?? 0) + 1
}

test.after.always('the others end', async () => (await site()).close())

for (let first = 0; first < RUNS; first += ROUND) {
  test(`BIND, Knot and the service answer the same, and have the same zone then, or their difference is known: messages ${first + 1} to ${first + ROUND}`, async (t) => {
    const place = await site()
    const unknown: string[] = []
    for (const one of fc.sample(CASE, { numRuns: ROUND, seed: SEED + first })) {
      const [clear, make] = messagesThatMake(place.zone, one.zone)
      await sendToAll(place, clear)
      const before = await sendToAll(place, make)
      for (const kind of ['bind', 'knot'] as const) t.deepEqual(before.ours, before[kind], shown(one))
      const { ours, ...others } = await sendToAll(place, messageFor(place.zone, one))
      note(ours.rcode)
      for (const kind of ['bind', 'knot'] as const) {
        const theirs = others[kind]
        const different = differing(ours, theirs)
        if (ours.rcode === theirs.rcode && different.length === 0) continue
        const reason = Object.entries(REASONS[kind]).find(([, isOne]) => isOne(one, ours, theirs))?.[0]
        const records = different.map((key) => `${key}: ${ours.records[key]} is not ${theirs.records[key]}`)
        if (reason === undefined) unknown.push([kind, ours.rcode, theirs.rcode, ...records, shown(one)].join('\n'))
        else note(reason)
      }
    }
    t.is(unknown.join('\n\n'), '')
  })
}

test('all answers have come up', (t) => {
  t.log(counts)
  // Few messages do not bring them all.
  const expected = RUNS < FULL ? ['NOERROR'] : ['NOERROR', 'FORMERR', 'NXDOMAIN', 'YXDOMAIN', 'NXRRSET', 'YXRRSET', 'NOTZONE'] // prettier-ignore
  t.deepEqual(
    expected.filter((what) => counts[what] === undefined),
    [],
  )
})
