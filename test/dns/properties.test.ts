import test from 'ava'
import fc from 'fast-check'
import { isIPv4, isIPv6 } from 'node:net'
import { lowerCase } from '../../src/dns/names.ts'
import { lexRecord } from '../../src/dns/presentation.ts'
import { decodeRdata, Malformed, parseRdata, type Rdata } from '../../src/dns/rdata.ts'
import { TYPES } from '../../src/dns/types.ts'
import { EXAMPLES } from './examples/index.ts'

/** More runs want more time: FUZZ_RUNS=100000 npx ava --timeout=30m. */
const numRuns = Number(process.env['FUZZ_RUNS'] ?? 3000)

function chars(text: string): string[] {
  return Array.from(text)
}

/** Characters that mean something in some field, and some that should not. */
const NASTY = fc.constantFrom(
  ...chars('\\"();@$.,:*-_+0129afgzAZ \t\r\n\0\x7füß\u{1f600}\ud800'),
  '\\#',
  '\\032',
  '\\256',
  '::',
)

const TYPE = fc.constantFrom(...TYPES.keys())
const OCTETS = fc.string({ unit: fc.nat(255).map((octet) => String.fromCharCode(octet)) })

/** A type and one of its accepted examples, canonical. */
const VALID = fc
  .constantFrom(...EXAMPLES)
  .chain(([type, { accepted }]) =>
    fc.tuple(
      fc.constant(type),
      fc.constantFrom(...accepted.map((example) => (typeof example === 'string' ? example : example[1]))),
    ),
  )

/** A type and an accepted example with some characters put in, replaced or taken out. */
const MUTATED = fc
  .tuple(
    VALID,
    fc.array(fc.record({ at: fc.nat(), cut: fc.nat(2), put: fc.option(NASTY) }), { minLength: 1, maxLength: 3 }),
  )
  .map(([[type, text], edits]) => {
    const mutated = edits.reduce((was, { at, cut, put }) => {
      const start = at % (was.length + 1)
      return was.slice(0, start) + (put ?? '') + was.slice(start + cut)
    }, text)
    return [type, mutated] as const
  })

const RANDOM = fc.tuple(TYPE, fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: NASTY })))

const ANY = fc.oneof({ arbitrary: MUTATED, weight: 4 }, RANDOM)

function attempt(work: () => Rdata): Rdata | undefined {
  try {
    return work()
  } catch (error) {
    if (error instanceof Malformed) return undefined
    throw error
  }
}

test('reading throws nothing but Malformed, and what is read prints to itself', (t) => {
  fc.assert(
    fc.property(ANY, ([type, text]) => {
      const rdata = attempt(() => parseRdata(type, text))
      if (!rdata) return
      t.deepEqual(parseRdata(type, rdata.text), rdata)
      t.deepEqual(decodeRdata(type, rdata.wire), rdata)
      if (!/^[ -~]+$/.test(rdata.text)) t.fail(rdata.text)
    }),
    { numRuns: numRuns * 4 },
  )
  t.pass()
})

test('decoding throws nothing but Malformed, and what is decoded encodes to the same octets', (t) => {
  const wires = fc.oneof(
    fc.tuple(TYPE, OCTETS),
    fc.tuple(VALID, fc.nat(), OCTETS).map(([[type, text], at, put]) => {
      const { wire } = parseRdata(type, text)
      const start = at % (wire.length + 1)
      return [type, wire.slice(0, start) + put + wire.slice(start + 1)] as const
    }),
  )
  fc.assert(
    fc.property(wires, ([type, wire]) => {
      const rdata = attempt(() => decodeRdata(type, wire))
      if (!rdata) return
      t.is(rdata.wire, wire)
      t.deepEqual(parseRdata(type, rdata.text), rdata)
      if (!TYPES.get(type)?.quoted) {
        t.deepEqual(parseRdata(type, `\\# ${wire.length} ${Buffer.from(wire, 'latin1').toString('hex')}`), rdata)
      }
    }),
    { numRuns: numRuns * 2 },
  )
  t.pass()
})

test('spelling does not change the octets', (t) => {
  const blank = fc.constantFrom(' ', '  ', '\t', '\r ', ' () ')
  const wrap = fc.constantFrom(
    (text: string) => text,
    (text: string) => ` ( ${text} ) `,
  )
  /** One choice for each character; they repeat. */
  const choices = fc.array(fc.nat(11), { minLength: 1, maxLength: 40 })
  fc.assert(
    fc.property(VALID, choices, blank, wrap, ([type, text], choice, between, around) => {
      let i = 0
      const tokens = lexRecord(text).map(({ raw, quoted }, at) => {
        const isNumber = /^[0-9]+$/.test(raw) && !(type === 'DS' && at === 3)
        const zeros = isNumber ? '0'.repeat(choice[at % choice.length]! % 3) : ''
        const respelt = raw.replace(/\\[0-9]{3}|\\.|[^.]/g, (piece) =>
          choice[i++ % choice.length]! > 9 ? ddd(piece) : piece,
        )
        return quoted ? `"${respelt}"` : zeros + respelt
      })
      const spelt = around(tokens.join(between))
      t.deepEqual(parseRdata(type, spelt), parseRdata(type, text), spelt)
    }),
    { numRuns },
  )
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...chars('0123456789abcdefABCDEF ')), minLength: 1 }), (digits) => {
      const upper = attempt(() => parseRdata('DS', `1 2 5 ${digits.toUpperCase()}`))
      t.deepEqual(
        attempt(() => parseRdata('DS', `1 2 5 ${digits}`)),
        upper,
      )
    }),
    { numRuns },
  )
})

/** A character, or an escaped one, in the form `\DDD`. */
function ddd(piece: string): string {
  if (/^\\[0-9]/.test(piece)) return piece
  return `\\${String(piece.charCodeAt(piece.length - 1)).padStart(3, '0')}`
}

test('two records are duplicates exactly if they are the same but for the case of names', (t) => {
  const named = new Set(['CNAME', 'NS', 'PTR', 'MX', 'SRV'])
  const pair = VALID.chain(([type, text]) =>
    fc.tuple(
      fc.constant(type),
      fc.constant(text),
      fc.oneof(
        fc.constant(text.toUpperCase()),
        MUTATED.map(([, other]) => other),
      ),
    ),
  )
  fc.assert(
    fc.property(pair, ([type, one, other]) => {
      const a = attempt(() => parseRdata(type, one))
      const b = attempt(() => parseRdata(type, other))
      if (!a || !b) return
      const same = named.has(type) ? lowerCase(a.text) === lowerCase(b.text) : a.text === b.text
      t.is(a.key === b.key, same)
    }),
    { numRuns },
  )
})

test('addresses are those that the system knows, and no others', (t) => {
  const v4 = fc.oneof(fc.ipV4(), fc.ipV4Extended(), fc.string({ unit: fc.constantFrom(...chars('0125.9x')) }))
  const v6 = fc.oneof(fc.ipV6(), fc.string({ unit: fc.constantFrom(...chars('0:'), '::', 'fF', '12345', '1:', '.1') }))
  const word = /^[^ \t\r\n"();\\]+$/
  fc.assert(
    fc.property(v4, v6, (four, six) => {
      if (word.test(four)) t.is(attempt(() => parseRdata('A', four))?.text, isIPv4(four) ? four : undefined)
      if (word.test(six)) t.is(attempt(() => parseRdata('AAAA', six)) !== undefined, isIPv6(six), six)
    }),
    { numRuns },
  )
})

test('IPv6 addresses print as a URL prints them', (t) => {
  const group = fc.oneof(fc.constant(0), fc.nat(0xffff))
  fc.assert(
    fc.property(fc.array(group, { minLength: 8, maxLength: 8 }), (groups) => {
      const text = groups.map((value) => value.toString(16)).join(':')
      t.is(`[${parseRdata('AAAA', text).text}]`, new URL(`http://[${text}]/`).hostname)
    }),
    { numRuns },
  )
})
