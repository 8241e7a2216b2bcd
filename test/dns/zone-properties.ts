import fc from 'fast-check'
import { deepStrictEqual as same } from 'node:assert'
import { nameOf } from '../../src/dns/names.ts'
import { parseRdata } from '../../src/dns/rdata.ts'
import { TYPES } from '../../src/dns/types.ts'
import { ZoneFileError, type ZoneFileRRset } from '../../src/dns/zone-problems.ts'
import { printRRset, readZoneFile } from '../../src/dns/zonefile.ts'
import { RECORD, RECORDS } from './arbitraries.ts'
import { chars, edited, EDITS, NASTY } from './edits.ts'

const DOMAIN = 'x.test'

interface RRset {
  subname: string
  type: string
  ttl: number
  records: string[]
}

type ReadRRset = Omit<ZoneFileRRset, 'line'>

/** What a text says; where it stands there differs. */
function withoutLine({ subname, type, ttl, records, problems }: ZoneFileRRset): ReadRRset {
  return { subname, type, ttl, records, problems }
}

function read(text: string): ReadRRset[] {
  const steps = readZoneFile(text, DOMAIN)
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value.map(withoutLine)
  }
}

/** As an export prints a domain (contract §7.8). */
function print(rrsets: RRset[]): string {
  const name = `${DOMAIN}.`
  const soa = { name, ttl: 300, type: 'SOA', records: [`ns1.test. hostmaster.${name} 1 86400 7200 3600000 300`] }
  const ns = { name, ttl: 3600, type: 'NS', records: ['ns1.test.', 'ns2.test.'] }
  const own = rrsets.map(({ subname, ...rrset }) => ({ ...rrset, name: nameOf({ name: DOMAIN }, subname) }))
  return ['; Zonefile\n', ...[soa, ns, ...own].map(printRRset)].join('')
}

const SUBNAME = fc.oneof(
  fc.constantFrom('', 'a', '*', '*.a', 'www', '_x._tcp', '10', 'in', 'soa'),
  fc.string({ unit: fc.constantFrom(...chars('abxyz0189_-')), minLength: 1, maxLength: 63 }),
)

/** A type that is imported, and some records that it accepts. */
const CONTENTS = fc.oneof(
  ...Object.entries(RECORDS)
    .filter(([type]) => !['DNSKEY', 'CDS', 'CDNSKEY'].includes(type))
    .map(([type, record]) => fc.tuple(fc.constant(type), fc.array(record, { minLength: 1, maxLength: 2 }))),
)

/** A domain: RRsets that may exist side by side. */
const ZONE = fc
  .array(fc.tuple(SUBNAME, CONTENTS, fc.nat(86_400)), { maxLength: 2 })
  .map((candidates) => candidates.reduce<RRset[]>(withCandidate, []))

function withCandidate(zone: RRset[], [subname, [type, texts], ttl]: [string, [string, string[]], number]): RRset[] {
  const beside = zone.filter((rrset) => rrset.subname === subname).map((rrset) => rrset.type)
  const isAlone = type === 'CNAME' || beside.includes('CNAME')
  if (beside.includes(type) || (isAlone && beside.length > 0)) return zone
  if (subname === '' && ['CNAME', 'DS', 'NS'].includes(type)) return zone
  const byKey = new Map(texts.map((text) => parseRdata(type, text)).map((rdata) => [rdata.key, rdata.text]))
  const records = [...byKey.values()].slice(0, TYPES.get(type)!.single ? 1 : undefined)
  return [...zone, { subname, type, ttl, records }]
}

const identity = fc.property(ZONE, (zone) => {
  const imported = read(print(zone))
  same(
    imported,
    zone.map((rrset) => ({ ...rrset, problems: [] })),
  )
})

/** Text with a meaning in a zone file. */
const WORDS = fc.constantFrom(
  ...['\n', '\r\n', ' ', '\t', '(', ')', ';', '@', '$ORIGIN ', '$TTL ', '$INCLUDE ', ' IN ', ' CH ', ' SOA ', ' A '],
  ...[' 300 ', '1w', 'x.test.', 'a', '*.', '\\', '\\#', ' CNAME b', ' TXT "', '"', '192.0.2.1', '\ufeff', 'TYPE65280'],
)

/** A line as users may write it. */
const LINE = fc
  .tuple(fc.constantFrom('a', '@', '', 'x.test.', 'b.test.'), fc.constantFrom('', '5', 'IN', 'IN 5', '1h IN'), RECORD)
  .map(([owner, head, [type, text]]) => `${owner} ${head} ${type} ${text}\n`)

const TEXT = fc.oneof(
  { arbitrary: fc.tuple(ZONE.map(print), EDITS).map(([text, edits]) => edited(text, edits)), weight: 2 },
  fc.array(fc.oneof(LINE, WORDS, NASTY), { maxLength: 12 }).map((pieces) => pieces.join('')),
  fc.array(fc.oneof(WORDS, NASTY), { maxLength: 30 }).map((pieces) => pieces.join('')),
  fc.string({ unit: 'binary' }),
)

const anyText = fc.property(TEXT, (text) => {
  let rrsets: ReadRRset[]
  try {
    rrsets = read(text)
  } catch (error) {
    if (error instanceof ZoneFileError) return
    throw error
  }
  if (rrsets.some(({ problems }) => problems.length > 0)) return
  const zone = rrsets.map((rrset) => ({ ...rrset, ttl: rrset.ttl ?? 60 }))
  same(read(print(zone)), zone)
})

/** The properties of all zone files, each with a sentence that names it. */
export const ZONE_PROPERTIES: [sentence: string, property: unknown][] = [
  ['what is exported is imported as it was', identity],
  ['reading a zone file throws nothing but ZoneFileError, and what is read prints to itself', anyText],
]
