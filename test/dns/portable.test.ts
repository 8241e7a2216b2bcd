import test from 'ava'
import fc from 'fast-check'
import { strictEqual as is } from 'node:assert'
import { isIPv4, isIPv6 } from 'node:net'
import { parseIPv4, parseIPv6 } from '../../src/dns/addresses.ts'
import { Unreadable } from '../../src/dns/malformed.ts'
import { detached, fromBase64, fromBytes, fromHex, toBase64, toHex, utf8 } from '../../src/dns/octets.ts'
import { depth } from '../support/depth.ts'

// Browsers run src/dns, too, so it has code of its own for what Node offers: here they agree.

const RUNS = Number(process.env['FUZZ_RUNS'] ?? depth(5_000, 100_000))

/** Octets, also more than a call has arguments. */
const BYTES = fc.oneof(
  { arbitrary: fc.uint8Array({ maxLength: 80 }), weight: 50 },
  fc.tuple(fc.uint8Array({ minLength: 1, maxLength: 9 }), fc.nat(20_000)).map(([some, length]) => {
    return Uint8Array.from({ length }, (_, i) => some[i % some.length]!)
  }),
)

const PIECES = [
  '0',
  '00',
  '1',
  '9',
  '09',
  '99',
  '255',
  '256',
  'f',
  'F',
  'ffff',
  '12345',
  'g',
  ':',
  '::',
  '.',
  '1.2.3.4',
]
const OTHERS = ['%', '%eth0', '/', ' ', '\n', '-1', '0x1', 'ſ', '١', '\0']
const ADDRESS = fc.oneof(
  fc.ipV4(),
  fc.ipV4Extended(),
  fc.ipV6(),
  fc.array(fc.constantFrom(...PIECES), { maxLength: 17 }).map((list) => list.join('')),
  fc.array(fc.constantFrom('0', '1', 'ab', 'FFFF', ''), { maxLength: 10 }).map((list) => list.join(':')),
  fc.array(fc.constantFrom('0', '1', '25', '255', '256', '01', ''), { maxLength: 6 }).map((list) => list.join('.')),
  fc.string({ unit: 'binary' }),
)

/** Addresses, and those in which a piece is put or a character is missing. */
const NEARLY = fc
  .tuple(ADDRESS, fc.nat(), fc.nat(1), fc.constantFrom('', '', ...PIECES, ...OTHERS))
  .map(([text, at, cut, put]) => {
    const start = at % (text.length + 1)
    return text.slice(0, start) + put + text.slice(start + cut)
  })

const EXAMPLES = [
  ...['', ':', '::', ':::', '::::', '1::', '::1', '1:2:3:4:5:6:7:8', '1:2:3:4:5:6:7::', '::2:3:4:5:6:7:8'],
  ...['1::2:3:4:5:6:7:8', '1:2:3:4:5:6:7:8::', '1:2:3:4:5:6:7', '1:2:3:4:5:6:7:8:9', '1::2::3', ':1::', '1:::2', '1:'],
  ...[
    '::1.2.3.4',
    '1.2.3.4::',
    '::1.2.3.4:1',
    '1:2:3:4:5:6:1.2.3.4',
    '1:2:3:4:5:6:7:1.2.3.4',
    '::a1.2.3.4',
    '::01.2.3.4',
  ],
  ...[
    '::1.2.3',
    '::1.2.3.256',
    '::00001',
    '::0001',
    'fe80::1%eth0',
    '::1%',
    '::%1',
    '::1.2.3.4%eth0',
    '[::1]',
    '::1/64',
  ],
  ...[
    '1.2.3.4',
    '01.2.3.4',
    '1.2.3.00',
    '1.2.3',
    '1.2.3.4.',
    '.1.2.3.4',
    '1..2.3',
    '1.2.3.4\n',
    ' 1.2.3.4',
    '0x1.2.3.4',
  ],
]

function attempt(read: (text: string) => string, text: string): string | undefined {
  try {
    return read(text)
  } catch (error) {
    if (error instanceof Unreadable) return undefined
    throw error
  }
}

test('addresses are those of Node, without zone ids', (t) => {
  let valid = 0
  const property = fc.property(fc.oneof(ADDRESS, NEARLY), (text) => {
    const four = attempt(parseIPv4, text)
    const six = attempt(parseIPv6, text)
    is(four?.length, isIPv4(text) ? 4 : undefined, text)
    is(six?.length, isIPv6(text) && !text.includes('%') ? 16 : undefined, text)
    if (six !== undefined) {
      valid++
      is(new URL(`http://[${toHex(six).replace(/.{4}(?!$)/g, '$&:')}]`).href, new URL(`http://[${text}]`).href)
    }
  })
  t.notThrows(() => {
    fc.assert(property, { numRuns: RUNS, examples: EXAMPLES.map((text): [string] => [text]) })
  })
  t.true(valid > RUNS / 20)
})

test('a long text that is no address is rejected', (t) => {
  for (const piece of ['1:', '1.', '1', ':', '::', 'a:.']) {
    t.throws(() => parseIPv6(piece.repeat(100_000)), { instanceOf: Unreadable })
    t.throws(() => parseIPv4(piece.repeat(100_000)), { instanceOf: Unreadable })
  }
})

test('hex, base64 and octets are those of Node', (t) => {
  const property = fc.property(BYTES, (bytes) => {
    const buffer = Buffer.from(bytes)
    const octets = buffer.toString('latin1')
    is(fromBytes(bytes), octets)
    is(toHex(octets), buffer.toString('hex'))
    is(fromHex(buffer.toString('hex')), octets)
    is(fromHex(buffer.toString('hex').toUpperCase()), octets)
    is(toBase64(octets), buffer.toString('base64'))
    if (octets !== '') is(fromBase64(buffer.toString('base64')), octets)
  })
  t.notThrows(() => {
    fc.assert(property, { numRuns: RUNS })
  })
})

test('base64 is read as Node reads it, or rejected', (t) => {
  let valid = 0
  const property = fc.property(
    fc.string({ unit: fc.constantFrom(...Array.from('AQgw+/9z==')), maxLength: 12 }),
    (digits) => {
      const octets = attempt(fromBase64, digits)
      if (octets === undefined) return
      valid++
      is(octets, Buffer.from(digits, 'base64').toString('latin1'))
    },
  )
  t.notThrows(() => {
    fc.assert(property, { numRuns: RUNS })
  })
  t.true(valid > RUNS / 50)
})

test('UTF-8 is that of Node, and a detached text is the same', (t) => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.nat(0xffff).map((c) => String.fromCharCode(c)) }),
  )
  const property = fc.property(text, (chars) => {
    is(utf8(chars), Buffer.from(chars, 'utf8').toString('latin1'))
    is(detached(chars), chars)
  })
  t.notThrows(() => {
    fc.assert(property, { numRuns: RUNS })
  })
})
