import fc from 'fast-check'
import ipaddr from 'ipaddr.js'
import { deepStrictEqual as same, match, strictEqual as is } from 'node:assert'
import { lexRecord } from '../../src/dns/presentation.ts'
import { decodeRdata, Malformed, parseRdata, type Rdata } from '../../src/dns/rdata.ts'
import { TYPES } from '../../src/dns/types.ts'
import { RECORD } from './arbitraries.ts'
import { edited, EDITS, NASTY } from './edits.ts'
import { EXAMPLES } from './examples/index.ts'
import { ZONE_PROPERTIES } from './zone-properties.ts'

const TYPE = fc.constantFrom(...TYPES.keys())
const OCTETS = fc.string({ unit: fc.nat(255).map((octet) => String.fromCharCode(octet)) })

/** A type and one of its accepted examples, canonical. */
const EXAMPLE = fc.constantFrom(
  ...[...EXAMPLES].flatMap(([type, { accepted }]) =>
    accepted.map((example): [string, string] => [type, typeof example === 'string' ? example : example[1]]),
  ),
)

const VALID = fc.oneof({ arbitrary: EXAMPLE, weight: 3 }, RECORD)

const MUTATED = fc.tuple(EXAMPLE, EDITS).map(([[type, text], edits]): [string, string] => [type, edited(text, edits)])

const RANDOM = fc.tuple(TYPE, fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: NASTY })))

const ANY = fc.oneof({ arbitrary: MUTATED, weight: 4 }, RANDOM, VALID)

function attempt(work: () => Rdata): Rdata | undefined {
  try {
    return work()
  } catch (error) {
    if (error instanceof Malformed) return undefined
    throw error
  }
}

const canonical = fc.property(ANY, ([type, text]) => {
  const rdata = attempt(() => parseRdata(type, text))
  if (!rdata) return
  same(parseRdata(type, rdata.text), rdata)
  same(decodeRdata(type, rdata.wire), rdata)
  match(rdata.text, /^[ -~]+$/)
})

const WIRES = fc.oneof(
  fc.tuple(TYPE, OCTETS),
  fc.tuple(EXAMPLE, fc.nat(), fc.nat(2), OCTETS).map(([[type, text], at, cut, put]): [string, string] => {
    const { wire } = parseRdata(type, text)
    const start = at % (wire.length + 1)
    return [type, wire.slice(0, start) + put + wire.slice(start + cut)]
  }),
)

const decoding = fc.property(WIRES, ([type, wire]) => {
  const rdata = attempt(() => decodeRdata(type, wire))
  if (!rdata) return
  is(rdata.wire, wire)
  same(parseRdata(type, rdata.text), rdata)
  if (!TYPES.get(type)?.quoted) {
    same(parseRdata(type, `\\# ${wire.length} ${Buffer.from(wire, 'latin1').toString('hex')}`), rdata)
  }
})

/** The number of words at the beginning of a record that can only be numbers. */
const NUMBERS: Record<string, number> = {
  AFSDB: 1, CAA: 1, CDNSKEY: 3, CDS: 3, CERT: 3, CSYNC: 2, DLV: 3, DNSKEY: 3, DS: 3, HTTPS: 1, KX: 1, L32: 1, L64: 1,
  LOC: 3, LP: 1, MX: 1, NAPTR: 2, NID: 1, SMIMEA: 3, SRV: 3, SSHFP: 2, SVCB: 1, TLSA: 3, URI: 2,
} // prettier-ignore

/** Types whose word after the numbers has hex digits, in upper or lower case. */
const HEX = new Set(['AAAA', 'CDS', 'DLV', 'DS', 'EUI48', 'EUI64', 'L64', 'NID', 'SMIMEA', 'SSHFP', 'TLSA'])

/** Types whose word after the numbers may be split by blanks. */
const SPLIT = new Set([
  'CDNSKEY', 'CDS', 'CERT', 'DHCID', 'DLV', 'DNSKEY', 'DS', 'OPENPGPKEY', 'SMIMEA', 'SSHFP', 'TLSA',
]) // prettier-ignore

const BLANK = fc.constantFrom(' ', '  ', '\t', '\r ', ' () ', '(\t)')
/** One choice for each character; a longer text starts again with the first. */
const CHOICES = fc.array(fc.nat(11), { minLength: 1, maxLength: 40 })

/** A character, or an escaped one, in the form `\DDD`. */
function ddd(piece: string): string {
  if (/^\\[0-9]/.test(piece)) return piece
  return `\\${String(piece.charCodeAt(piece.length - 1)).padStart(3, '0')}`
}

const spelling = fc.property(VALID, CHOICES, BLANK, fc.boolean(), ([type, given], choices, blank, wrapped) => {
  const { text } = parseRdata(type, given)
  let turn = 0
  const choice = () => choices[turn++ % choices.length]!
  const numbers = NUMBERS[type] ?? 0
  const words = lexRecord(text).map(({ raw, quoted, joined }, at) => {
    const zeros = at < numbers ? '0'.repeat(choice() % 3) : ''
    // An escaped dot does not end a label.
    const respelt = raw.replace(/\\[0-9]{3}|\\.|[^.]/g, (piece) => {
      const cased = HEX.has(type) && at === numbers && choice() > 6 ? piece.toUpperCase() : piece
      const split = SPLIT.has(type) && at === numbers && choice() > 9 ? blank : ''
      return split + (choice() > 9 ? ddd(cased) : cased)
    })
    return (joined ? '' : blank) + (quoted ? `"${respelt}"` : zeros + respelt)
  })
  const spelt = words.join('')
  same(parseRdata(type, wrapped ? ` ( ${spelt} ) ` : spelt), parseRdata(type, text), spelt)
})

/** Types whose names are compared case-insensitively (RFC 4034 §6.2, contract §9.5). */
const FOLDED = new Set(['NS', 'CNAME', 'PTR', 'DNAME', 'MX', 'RP', 'AFSDB', 'KX', 'SRV'])

/** The canonical text without the differences that do not count; each text belongs to one wire form. */
function folded(type: string, text: string): string {
  if (FOLDED.has(type)) return text.toLowerCase()
  if (type !== 'NAPTR') return text
  const name = text.lastIndexOf(' ')
  return text.slice(0, name) + text.slice(name).toLowerCase()
}

const PAIR = VALID.chain(([type, text]) =>
  fc.tuple(
    fc.constant(type),
    fc.constant(text),
    fc.oneof(
      fc.constantFrom(text.toUpperCase(), text.toLowerCase(), text.replace('a', 'A'), text.replace('E', 'e')),
      EDITS.map((edits) => edited(text, edits)),
    ),
  ),
)

const duplicates = fc.property(PAIR, ([type, one, other]) => {
  const a = attempt(() => parseRdata(type, one))
  const b = attempt(() => parseRdata(type, other))
  if (!a || !b) return
  is(a.text === b.text, a.wire === b.wire)
  is(a.key === b.key, folded(type, a.text) === folded(type, b.text))
})

const GROUPS = fc.array(fc.oneof(fc.constant(0), fc.nat(0xffff)), { minLength: 8, maxLength: 8 })

const compressed = fc.property(GROUPS, (groups) => {
  const text = groups.map((value) => value.toString(16)).join(':')
  is(parseRdata('AAAA', text).text, ipaddr.IPv6.parse(text).toRFC5952String())
})

/** The properties of all records, each with a sentence that names it. */
export const PROPERTIES: [sentence: string, check: (numRuns: number) => void][] = (
  [
    ['reading throws nothing but Malformed, and what is read prints to itself', canonical],
    ['decoding throws nothing but Malformed, and what is decoded encodes to the same octets', decoding],
    ['spelling does not change the octets', spelling],
    ['two records are duplicates exactly if they are the same but for the case of names', duplicates],
    ['IPv6 addresses print as RFC 5952 says', compressed],
    ...ZONE_PROPERTIES,
  ] as [string, fc.IProperty<unknown>][]
).map(([sentence, property]) => [
  sentence,
  (numRuns) => {
    fc.assert(property, { numRuns })
  },
])
