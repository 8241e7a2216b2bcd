import test from 'ava'
import { MAX_RDATA } from '../../src/dns/presentation.ts'
import { decodeRdata, Malformed, parseRdata } from '../../src/dns/rdata.ts'
import { Refused } from '../../src/dns/malformed.ts'
import { TYPES } from '../../src/dns/types.ts'
import { EXAMPLES } from './examples/index.ts'

test('every type has examples of good and bad content, and there are no others', (t) => {
  t.deepEqual([...EXAMPLES.keys()].sort(), [...TYPES.keys()].sort())
  for (const [type, { accepted, rejected }] of EXAMPLES) t.true(accepted.length >= 12 && rejected.length >= 12, type)
})

for (const [type, { accepted, rejected }] of EXAMPLES) {
  test(`${type}: what is accepted has one canonical form`, (t) => {
    for (const example of accepted) {
      const [input, canonical] = typeof example === 'string' ? [example, example] : example
      const rdata = parseRdata(type, input)
      t.is(rdata.text, canonical)
      t.deepEqual(parseRdata(type, canonical), rdata)
      t.deepEqual(decodeRdata(type, rdata.wire), rdata)
    }
  })

  test(`${type}: what is refused is told in the contract's words`, (t) => {
    for (const [input, text] of rejected) {
      t.throws(() => parseRdata(type, input), { instanceOf: Malformed, message: text }, JSON.stringify(input))
    }
  })
}

const WIRES = [
  ['A', '192.0.2.1', 'c0000201'],
  ['AAAA', '2001:db8::1', '20010db8000000000000000000000001'],
  ['CAA', '128 issue "a;b"', '80056973737565613b62'],
  ['CNAME', 'Ab.example.', '024162076578616d706c6500'],
  ['DS', '60485 5 5 2BB183AF', 'ec4505052bb183af'],
  ['MX', '10 m.', '000a016d00'],
  ['NS', 'n.', '016e00'],
  ['PTR', 'a\\.b\\000.', '04612e620000'],
  ['SRV', '1 2 513 .', '00010002020100'],
  ['TXT', '"ab" "" "\\255"', '0261620001ff'],
] as const

test('the wire form is the one of the RFCs', (t) => {
  for (const [type, text, wire] of WIRES) {
    t.is(Buffer.from(parseRdata(type, text).wire, 'latin1').toString('hex'), wire, type)
  }
})

test('PowerDNS gets the spelling it insists on', (t) => {
  const { text, backend } = parseRdata('PTR', 'a\\"\\(\\)\\;\\@\\$\\.\\\\\\032b.')
  t.is(text, 'a\\"\\(\\)\\;\\@\\$\\.\\\\\\032b.')
  t.is(backend, 'a"();@$\\.\\\\\\032b.')
  t.is(parseRdata('TXT', '"a;\\"b"').backend, '"a;\\"b"')
})

test('the case of ASCII letters in names does not count for duplicates', (t) => {
  t.is(parseRdata('MX', '1 AZ.').key, parseRdata('MX', '01 az.').key)
  t.not(parseRdata('PTR', '\\192.').key, parseRdata('PTR', '\\224.').key)
  t.not(parseRdata('TXT', '"A"').key, parseRdata('TXT', '"a"').key)
  t.not(parseRdata('CAA', '0 issue "a"').key, parseRdata('CAA', '0 ISSUE "a"').key)
})

test('content that is readable but against a rule can be told apart', (t) => {
  t.throws(() => parseRdata('MX', '10 _a.'), { instanceOf: Refused })
  t.false(t.throws(() => parseRdata('MX', 'x _a.')) instanceof Refused)
})

test('rdata fits its length field', (t) => {
  const longest = '"' + 'a'.repeat(MAX_RDATA - 7) + '"'
  t.is(parseRdata('CAA', `0 issue ${longest}`).wire.length, MAX_RDATA)
  t.throws(() => parseRdata('CAA', `0 issue2 ${longest}`), { instanceOf: Malformed, message: /65535 octets/ })
})

test('a type that is not in the table is a mistake of the caller', (t) => {
  t.false(t.throws(() => parseRdata('SOA', 'x')) instanceof Malformed)
})
