import fc from 'fast-check'
import { parseRdata } from '../../src/dns/rdata.ts'
import { CLASSES } from '../../src/dns/wire/messages.ts'
import { type Entry, messageOf } from '../support/clients/dns-update.ts'

// Zones, and messages of DNS UPDATE about their names, for comparison with other nameservers.

/** Records that zones have, and updates are about. Two spellings of a name are the same record. */
const CONTENTS: Record<string, string[]> = {
  A: ['192.0.2.1', '192.0.2.2', '192.0.2.3'],
  AAAA: ['2001:db8::1', '2001:db8::2'],
  TXT: ['"a"', '"A"', '"a" "b"'],
  MX: ['10 mail.example.', '10 MAIL.Example.', '20 mail.example.'],
  SRV: ['1 2 3 a.example.', '1 2 3 A.Example.', '1 2 4 a.example.'],
  CNAME: ['a.example.', 'b.example.'],
  NS: ['ns1.zoneplane.test.', 'ns2.zoneplane.test.', 'ns3.zoneplane.test.'],
}

/** Types of RRsets that zones have besides NS of the apex and CNAME. */
const DATA_TYPES = ['A', 'AAAA', 'TXT', 'MX', 'SRV']

/** The apex, names beside and below each other, a name without records of its own above one, and a wildcard. */
const NAMES = ['', 'a', 'b', 'x.a', 'ent', 'deep.ent', '*.w']
const SPELLINGS: Record<string, string> = { a: 'A', 'x.a': 'X.a' }

const NUMBERS: Record<string, number> = { A: 1, NS: 2, CNAME: 5, SOA: 6, MX: 15, TXT: 16, AAAA: 28, SRV: 33, ANY: 255 }
const TTLS = [60, 3600, 7200]

const choose = <T>(...choices: T[]) => fc.constantFrom(...choices)

/** An RRset of a zone. */
export interface Held {
  name: string
  type: string
  ttl: number
  records: string[]
}

/** A record of a message, in text. */
export interface Line {
  name: string
  type: string | number
  class: number
  ttl: number
  content?: string | Buffer
}

/** A case: what a zone has besides its SOA, and a message about it. */
export interface Case {
  zone: Held[]
  prerequisites: Line[]
  updates: Line[]
}

const held = (name: string, type: string): fc.Arbitrary<Held> =>
  fc.record({
    name: fc.constant(name),
    type: fc.constant(type),
    ttl: choose(...TTLS),
    records: fc.uniqueArray(choose(...CONTENTS[type]!), {
      minLength: 1,
      maxLength: type === 'CNAME' ? 1 : 3,
      selector: (text) => text.toLowerCase() + (type === 'TXT' ? text : ''),
    }),
  })

/** What a name has: nothing, a CNAME, or other types. */
const heldAt = (name: string) =>
  fc.oneof(
    { weight: name === '' ? 0 : 3, arbitrary: fc.constant([]) },
    { weight: name === '' ? 0 : 1, arbitrary: held(name, 'CNAME').map((one) => [one]) },
    {
      weight: 4,
      arbitrary: fc
        .subarray(DATA_TYPES, { minLength: name === '' ? 0 : 1, maxLength: 3 })
        .chain((types) => fc.tuple(...types.map((type) => held(name, type)))),
    },
  )

const zone: fc.Arbitrary<Held[]> = fc
  .tuple(
    held('', 'NS').map((one) => [one]),
    ...NAMES.filter((name) => name !== 'ent').map(heldAt),
  )
  .map((all) => all.flat())

const aName = choose(...NAMES).chain((name) => choose(name, name, name, SPELLINGS[name] ?? name))
const aType = choose(...DATA_TYPES, 'A', 'CNAME', 'CNAME', 'NS')
const aContent = (type: string) => choose(...CONTENTS[type]!)

const line = (kind: number, more: Partial<Line> = {}) =>
  fc.tuple(aName, aType).map(([name, type]): Line => ({ name, type, class: kind, ttl: 0, ...more }))
const withContent = (kind: number, ttl: fc.Arbitrary<number>) =>
  fc
    .tuple(aName, aType, ttl)
    .chain(([name, type, seconds]) =>
      aContent(type).map((content): Line => ({ name, type, class: kind, ttl: seconds, content })),
    )
const none = fc.constant(0)

/** The contents of an RRset, mostly as the zone has it. */
const contentsOf = (zone: Held[]): fc.Arbitrary<Line[]> =>
  fc.oneof(
    {
      weight: 4,
      arbitrary: choose(...zone).map(({ name, type, records }) =>
        records.map((content): Line => ({ name, type, class: CLASSES.IN, ttl: 0, content })),
      ),
    },
    { weight: 1, arbitrary: withContent(CLASSES.IN, none).map((one) => [one]) },
  )

const one = (arbitrary: fc.Arbitrary<Line>) => arbitrary.map((each) => [each])

/** What holds more often than not. */
const prerequisite = (zone: Held[]): fc.Arbitrary<Line[]> => {
  const there = choose(...zone)
  return fc.oneof(
    one(there.map(({ name, type }): Line => ({ name, type, class: CLASSES.ANY, ttl: 0 }))),
    one(line(CLASSES.ANY)),
    one(line(CLASSES.NONE)),
    one(there.map(({ name }): Line => ({ name, type: 'ANY', class: CLASSES.ANY, ttl: 0 }))),
    one(line(CLASSES.ANY, { type: 'ANY' })),
    one(line(CLASSES.NONE, { type: 'ANY' })),
    contentsOf(zone),
  )
}

const update = fc.oneof(
  { weight: 6, arbitrary: withContent(CLASSES.IN, choose(...TTLS)) },
  { weight: 3, arbitrary: withContent(CLASSES.NONE, none) },
  { weight: 2, arbitrary: line(CLASSES.ANY) },
  { weight: 1, arbitrary: line(CLASSES.ANY, { type: 'ANY' }) },
)

const content = Buffer.from([192, 0, 2, 1])

/** What makes a message wrong, each alone. */
const WRONG: { prerequisites?: Line; updates?: Line }[] = [
  { prerequisites: { name: 'a', type: 'A', class: CLASSES.ANY, ttl: 1 } },
  { prerequisites: { name: 'a', type: 'A', class: CLASSES.ANY, ttl: 0, content } },
  { prerequisites: { name: 'a', type: 'ANY', class: CLASSES.NONE, ttl: 0, content } },
  { prerequisites: { name: 'a', type: 'A', class: 3, ttl: 0 } },
  { prerequisites: { name: 'other.', type: 'A', class: CLASSES.ANY, ttl: 0 } },
  { updates: { name: 'a', type: 'A', class: 3, ttl: 60, content } },
  { updates: { name: 'a', type: 'ANY', class: CLASSES.IN, ttl: 60, content } },
  { updates: { name: 'a', type: 252, class: CLASSES.IN, ttl: 60, content } },
  { updates: { name: 'a', type: 254, class: CLASSES.ANY, ttl: 0 } },
  { updates: { name: 'a', type: 'A', class: CLASSES.ANY, ttl: 1 } },
  { updates: { name: 'a', type: 'A', class: CLASSES.ANY, ttl: 0, content } },
  { updates: { name: 'a', type: 'A', class: CLASSES.NONE, ttl: 1, content } },
  { updates: { name: 'a', type: 'ANY', class: CLASSES.NONE, ttl: 0, content } },
  { updates: { name: 'a', type: 'A', class: CLASSES.IN, ttl: 60, content: content.subarray(1) } },
  { updates: { name: 'other.', type: 'A', class: CLASSES.IN, ttl: 60, content } },
  { updates: { name: '', type: 'SOA', class: CLASSES.ANY, ttl: 0 } },
]

/** Cases; one in ten has something wrong. */
export const CASE: fc.Arbitrary<Case> = zone.chain((held) =>
  fc
    .record({
      zone: fc.constant(held),
      prerequisites: fc.array(prerequisite(held), { maxLength: 3 }).map((all) => all.flat()),
      updates: fc.array(update, { maxLength: 6 }),
      wrong: fc.oneof({ weight: 9, arbitrary: choose(undefined) }, { weight: 1, arbitrary: choose(...WRONG) }),
      position: fc.nat(6),
    })
    .map(({ wrong, position, ...parts }) => {
      const put = (lines: Line[], more?: Line) => (more === undefined ? lines : lines.toSpliced(position, 0, more))
      return {
        zone: parts.zone,
        prerequisites: put(parts.prerequisites, wrong?.prerequisites),
        updates: put(parts.updates, wrong?.updates),
      }
    }),
)

/** A line as a record on the wire. */
function entryOf(domain: string, { name, type, class: kind, ttl, content }: Line): Entry {
  const data =
    typeof content === 'string'
      ? Buffer.from(parseRdata(String(type), content).wire, 'latin1')
      : (content ?? Buffer.alloc(0))
  return {
    name: name.endsWith('.') ? name : name === '' ? domain : `${name}.${domain}`,
    type: typeof type === 'number' ? type : NUMBERS[type]!,
    class: kind,
    ttl,
    data,
  } // prettier-ignore
}

let ids = 0

/** The message of a case, not signed. Its id is that of no other, so that it is not taken for one that came before. */
export function messageFor(domain: string, { prerequisites, updates }: Omit<Case, 'zone'>): Buffer {
  const sections = [prerequisites, updates].map((lines) => lines.map((each) => entryOf(domain, each)))
  return messageOf({
    id: ids++ & 0xffff,
    question: { name: domain, type: 6 },
    sections: [sections[0]!, sections[1]!, []],
  })
}

/** A nameserver that no zone of a case has. */
const OTHER = 'other.zoneplane.test.'

/** The messages that give a zone these contents, whatever it had. */
export function messagesThatMake(domain: string, zone: Held[]): [Buffer, Buffer] {
  const ttl = zone.find(({ name, type }) => name === '' && type === 'NS')!.ttl
  const nameserver = (kind: number, content: string): Line => ({
    ...{ name: '', type: 'NS', class: kind, ttl: kind === CLASSES.IN ? ttl : 0, content },
  })
  const additions = zone.flatMap(({ name, type, ttl, records }) =>
    records.map((text): Line => ({ name, type, class: CLASSES.IN, ttl, content: text })),
  )
  const clear = [
    ...NAMES.map((name): Line => ({ name, type: 'ANY', class: CLASSES.ANY, ttl: 0 })),
    // The last NS of the apex stays, and its TTL, unless another one comes.
    nameserver(CLASSES.IN, OTHER),
    ...CONTENTS['NS']!.map((text) => nameserver(CLASSES.NONE, text)),
  ]
  return [
    messageFor(domain, { prerequisites: [], updates: clear }),
    messageFor(domain, { prerequisites: [], updates: [...additions, nameserver(CLASSES.NONE, OTHER)] }),
  ]
}

const SIGNS: Record<number, string> = { [CLASSES.IN]: '+', [CLASSES.NONE]: '-', [CLASSES.ANY]: '*' }

/** A case in short. */
export function shown({ zone, prerequisites, updates }: Case): string {
  const text = (line: Line) => {
    const content = typeof line.content === 'string' ? line.content : (line.content?.toString('hex') ?? '')
    return `${SIGNS[line.class] ?? line.class} ${line.name || '@'} ${line.ttl} ${line.type} ${content}`
  }
  const has = zone.map(({ name, type, ttl, records }) => `${name || '@'} ${ttl} ${type} ${records.join(', ')}`)
  return ['zone:', ...has, 'prerequisites:', ...prerequisites.map(text), 'updates:', ...updates.map(text)].join('\n  ')
}
