import test from 'ava'
import fc from 'fast-check'
import { parseRdata } from '../../src/dns/rdata.ts'
import { NEWEST_SPELLING, spell, type Spelling, spellingOf, standard } from '../../src/nameserver/powerdns/spelling.ts'
import { RECORD } from '../dns/arbitraries.ts'
import { depth } from '../support/depth.ts'

const [V4, V50, V51] = ['4.7.3', '5.0.0', '5.1.5'].map((version) => spellingOf(version)!) as [
  Spelling,
  Spelling,
  Spelling,
]

test('a version has the spelling that was measured; of others none is known', (t) => {
  for (const version of ['4.8.0', '4.9.17', '4.10.0']) t.is(spellingOf(version), V4, version)
  for (const version of ['5.0.7', '5.0.0-beta1']) t.is(spellingOf(version), V50, version)
  for (const version of ['5.1.0-alpha1', '5.1.0']) t.is(spellingOf(version), V51, version)
  for (const version of ['5.2.0', '5.10.0', '6.0.0', '0.0.1234.0.master.gabc', '']) t.is(spellingOf(version), undefined)
  t.is(NEWEST_SPELLING, V51)
})

/** A content in standard format, and how PowerDNS up to 5.0 and from 5.1 on spell it; undefined: in the same way. */
const ESCAPES: [type: string, content: string, old: string | undefined, now: string | undefined][] = [
  ['A', '192.0.2.1', undefined, undefined],
  ['PTR', 'a\\"\\(\\)\\;\\@\\$b.', 'a"();@$b.', undefined],
  ['PTR', '\\.\\\\\\032\\255.a.', undefined, '\\\\.\\\\\\\\\\\\032\\\\255.a.'],
  ['RP', '\\"a. b\\\\\\".', '"a. b\\\\".', '\\"a. b\\\\\\\\\\".'],
  ['TXT', '"a.b;()@$ c" ""', undefined, undefined],
  ['TXT', '"\\"" "\\\\"', undefined, '"\\\\\\"" "\\\\\\\\"'],
  ['TXT', '"\\000\\255"', undefined, '"\\\\000\\\\255"'],
  [
    'NAPTR',
    '1 2 "\\"" "\\\\" ";a;;" \\;\\..',
    '1 2 "\\"" "\\\\" ";a;;" ;\\..',
    '1 2 "\\\\\\"" "\\\\\\\\" ";a;;" \\;\\\\..',
  ],
  ['SVCB', '1 \\;. alpn=a\\\\\\\\b', '1 ;. alpn=a\\\\\\\\b', '1 \\;. alpn=a\\\\\\\\\\\\\\\\b'],
  ['HTTPS', '1 a. key65400="\\"\\\\\\009"', undefined, '1 a. key65400="\\\\\\"\\\\\\\\\\\\009"'],
]

test('escapes are spelled as each PowerDNS reads them', (t) => {
  for (const [type, content, old = content, now = content] of ESCAPES) {
    t.is(spell(type, content, V4), old)
    t.is(spell(type, content, V50), old)
    t.is(spell(type, content, V51), now)
  }
})

/** The end of a LOC record. */
const SIZES = '0.00m 1.00m 10000.00m 10.00m'

test('the angles of LOC are spelled as PowerDNS calculates them', (t) => {
  for (const [angles, old] of [
    ['0 0 0.000 N 0 0 0.000 E', '0 0 0.000 S 0 0 0.000 W'],
    ['1 5 0.000 N 0 0 0.001 W', '1 4 60.000 N 0 0 0.001 W'],
    ['90 0 0.000 S 180 0 0.000 E', '90 0 0.000 S 180 0 0.000 E'],
  ]) {
    t.is(spell('LOC', `${angles} ${SIZES}`, V4), `${old} ${SIZES}`)
    t.is(spell('LOC', `${angles} ${SIZES}`, V50), `${angles} ${SIZES}`)
    t.is(spell('LOC', `${angles} ${SIZES}`, V51), `${angles} ${SIZES}`)
  }
})

test('types and parameters have the names that each PowerDNS knows', (t) => {
  const types = '1 0 A TYPE67 TYPE68 TYPE261 TYPE262 TYPE6540 TYPE65401 TYPE65402'
  t.is(spell('CSYNC', types, V50), '1 0 A TYPE67 TYPE68 TYPE261 TYPE262 TYPE6540 ALIAS LUA')
  t.is(spell('CSYNC', types, V51), '1 0 A HHIT BRID RESINFO WALLET TYPE6540 ALIAS LUA')

  const parameters = '1 key7. mandatory=alpn,key7,key8,key77 alpn=key7 key7="/a" key8="" key77="b"'
  t.is(spell('SVCB', parameters, V50), parameters)
  const named = '1 key7. mandatory=alpn,dohpath,ohttp,key77 alpn=key7 dohpath="/a" ohttp key77="b"'
  t.is(spell('SVCB', parameters, V51), named)
  t.is(spell('HTTPS', parameters, V51), named)
})

test('a value of SVCB that looks like parameters is left alone', (t) => {
  const value = '1 . key65400="b mandatory=key7 key7=\\"x\\" key8=\\"\\""'
  t.is(spell('SVCB', value, V51), value.replaceAll('\\"', '\\\\\\"'))
})

test('what PowerDNS shows is read as the record that was sent', (t) => {
  const shown = fc.constantFrom(V4, V50, { ...V51, keepsEscapes: true })
  fc.assert(
    fc.property(RECORD, shown, ([type, text], spelling) => {
      const sent = parseRdata(type, text)
      const read = standard(type, spell(type, sent.text, spelling))
      t.is(parseRdata(type, read).key, sent.key)
    }),
    { numRuns: depth(500, 5000) },
  )
})
