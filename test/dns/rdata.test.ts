import test from 'ava'
import { Refused } from '../../src/dns/malformed.ts'
import { MAX_RDATA } from '../../src/dns/presentation.ts'
import { decodeRdata, Malformed, parseRdata } from '../../src/dns/rdata.ts'
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

/** From the examples of the RFCs, where they have any. */
const WIRES = [
  ['A', '192.0.2.1', 'c0000201'],
  ['AAAA', '2001:db8::1', '20010db8000000000000000000000001'],
  ['AFSDB', '1 a.', '0001 0161 00'],
  // RFC 3123 §8
  ['APL', '1:192.168.32.0/21 !1:192.168.38.0/28', '0001 15 03 c0a820 0001 1c 83 c0a826'],
  ['APL', '1:224.0.0.0/4 2:FF00:0:0:0:0:0:0:0/8', '0001 04 01 e0 0002 08 01 ff'],
  ['CAA', '128 issue "a;b"', '80056973737565613b62'],
  ['CDNSKEY', '0 3 0 AA==', '0000 03 00 00'],
  ['CDS', '0 0 0 00', '0000 00 00 00'],
  ['CERT', 'PKIX 1 RSASHA256 AAEC', '0001 0001 08 000102'],
  ['CNAME', 'Ab.example.', '024162076578616d706c6500'],
  // RFC 7477 §2.1.1
  ['CSYNC', '66 3 A NS AAAA', '00000042 0003 000460000008'],
  // RFC 4034 §4.3
  ['CSYNC', '1 1 A MX RRSIG NSEC TYPE1234', `00000001 0001 0006400100000003 041b${'00'.repeat(26)}20`],
  // RFC 4701 §3.6.1
  [
    'DHCID',
    'AAIBY2/AuCccgoJbsaxcQc9TUapptP69lOjxfNuVAA2kjEA=',
    '000201636fc0b8271c82825bb1ac5c41cf5351aa69b4febd94e8f17cdb95000da48c40',
  ],
  ['DLV', '60485 5 5 2BB183AF', 'ec45 05 05 2bb183af'],
  ['DNAME', 'a.b.', '0161 0162 00'],
  ['DNSKEY', '256 3 5 AQPS', '0100 03 05 0103d2'],
  ['DS', '60485 5 5 2BB183AF', 'ec45 05 05 2bb183af'],
  // RFC 7043 §3.2, §4.2
  ['EUI48', '00-00-5e-00-53-2a', '00005e00532a'],
  ['EUI64', '00-00-5e-ef-10-00-00-2a', '00005eef1000002a'],
  ['HINFO', 'PC "a b"', '025043 03612062'],
  // RFC 9460, appendix D
  ['HTTPS', '0 foo.example.com.', '0000 03666f6f076578616d706c6503636f6d00'],
  ['SVCB', '1 .', '0001 00'],
  ['SVCB', '16 foo.example.com. port=53', '0010 03666f6f076578616d706c6503636f6d00 0003 0002 0035'],
  [
    'SVCB',
    '1 foo.example.com. key667="hello\\210qoo"',
    '0001 03666f6f076578616d706c6503636f6d00 029b 0009 68656c6c6fd2716f6f',
  ],
  [
    'SVCB',
    '1 foo.example.com. ipv6hint="2001:db8::1,2001:db8::53:1"',
    '0001 03666f6f076578616d706c6503636f6d00 0006 0020 ' +
      '20010db8000000000000000000000001 20010db8000000000000000000530001',
  ],
  [
    'SVCB',
    '16 foo.example.org. ( alpn=h2,h3-19 mandatory=ipv4hint,alpn ipv4hint=192.0.2.1 )',
    '0010 03666f6f076578616d706c65036f726700 0000 0004 0001 0004 0001 0009 02683205 68332d3139 0004 0004 c0000201',
  ],
  [
    'SVCB',
    '16 foo.example.org. alpn="f\\\\\\\\oo\\\\,bar,h2"',
    '0010 03666f6f076578616d706c65036f726700 0001 000c 08665c6f6f2c626172 026832',
  ],
  ['SVCB', '1 . ech=AAEC ohttp', '0001 00 0005 0003 000102 0008 0000'],
  ['KX', '2 a.', '0002 0161 00'],
  // RFC 6742 §2
  ['L32', '10 10.1.2.0', '000a 0a010200'],
  ['L64', '10 2001:0DB8:1140:1000', '000a 20010db811401000'],
  ['LP', '10 a.', '000a 0161 00'],
  ['NID', '10 0014:4fff:ff20:ee64', '000a 00144fffff20ee64'],
  // RFC 1876 §2: 0x80000000 is the equator, and the prime meridian; altitudes are from 100,000 m below.
  ['LOC', '0 N 0 E 0m', '00 12 16 13 80000000 80000000 00989680'],
  ['LOC', '42 21 54 N 71 06 18 W -24m 30m', '00 33 16 13 89172dd0 70be15f0 00988d20'],
  ['MX', '10 m.', '000a016d00'],
  ['NAPTR', '1 2 "s" "" "!a!!" .', '0001 0002 0173 00 0421612121 00'],
  ['NS', 'n.', '016e00'],
  ['OPENPGPKEY', 'AAEC', '000102'],
  ['PTR', 'a\\.b\\000.', '04612e620000'],
  ['RP', 'a. b.', '0161 00 0162 00'],
  ['SMIMEA', '3 1 1 AB', '03 01 01 ab'],
  ['SPF', '"v=spf1" ""', '06763d73706631 00'],
  ['SRV', '1 2 513 .', '00010002020100'],
  ['SSHFP', '2 1 123456789abcdef67890123456789abcdef67890', '02 01 123456789abcdef67890123456789abcdef67890'],
  ['TLSA', '0 0 1 d2ab', '00 00 01 d2ab'],
  ['TXT', '"ab" "" "\\255"', '0261620001ff'],
  ['URI', '10 1 "ab"', '000a 0001 6162'],
] as const

test('the wire form is the one of the RFCs', (t) => {
  t.deepEqual([...new Set<string>(WIRES.map(([type]) => type))].sort(), [...TYPES.keys()].sort())
  for (const [type, text, wire] of WIRES) {
    t.is(Buffer.from(parseRdata(type, text).wire, 'latin1').toString('hex'), wire.replaceAll(' ', ''), type)
  }
})

test('a parameter without a name may have no value', (t) => {
  t.is(parseRdata('SVCB', '1 . mandatory=key9 key9').text, '1 . mandatory=key9 key9=""')
  t.is(parseRdata('HTTPS', '1 . key65535=""').text, '1 . key65535=""')
})

test('content that can be read but breaks a rule is a different error', (t) => {
  t.throws(() => parseRdata('MX', '10 _a.'), { instanceOf: Refused })
  t.false(t.throws(() => parseRdata('MX', 'x _a.')) instanceof Refused)
})

test('rdata has 64,000 octets at most', (t) => {
  const longest = '"' + 'a'.repeat(MAX_RDATA - 7) + '"'
  t.is(parseRdata('CAA', `0 issue ${longest}`).wire.length, MAX_RDATA)
  t.throws(() => parseRdata('CAA', `0 issue2 ${longest}`), { instanceOf: Malformed, message: /64000 octets/ })
})

test('a type that is not in the table is a bug of the caller', (t) => {
  t.false(t.throws(() => parseRdata('SOA', 'x')) instanceof Malformed)
})
