import test from 'ava'
import fc from 'fast-check'
import {
  answered,
  checked,
  contentOf,
  FIELDS,
  meant,
  questionIn,
  recordOf,
  valuesOf,
} from '../../console/rrsets/fields.ts'
import { split, takeCounted } from '../../src/dns/octets.ts'
import { parseRdata } from '../../src/dns/rdata.ts'
import { EXAMPLES } from '../dns/examples/index.ts'

// Records in labelled fields, and back.

const TYPES = Object.keys(FIELDS)

/** The octets of a record; those of TXT without the limits of its strings. */
function octetsOf(type: string, record: string): string {
  const { wire } = parseRdata(type, record)
  if (type !== 'TXT') return wire
  return split(wire, takeCounted)
    .map((string) => string.slice(1))
    .join('')
}

for (const type of TYPES) {
  test(`${type}: every record that has fields comes back from them`, (t) => {
    const texts = EXAMPLES.get(type)!.accepted.flatMap((example) => example)
    const inFields = texts.filter((text) => valuesOf(type, text) !== undefined)
    for (const text of inFields) {
      t.is(octetsOf(type, recordOf(type, valuesOf(type, text)!)), octetsOf(type, text), text)
    }
    // In presentation format: generic records, and what is no text.
    t.true(inFields.length > 0.6 * texts.length, texts.filter((text) => !inFields.includes(text)).join('\n'))
  })
}

/** Records, and the values of their fields; undefined: they are edited as text. */
const records: [type: string, record: string, values: string[] | undefined][] = [
  ['MX', '10 mail.example.', ['10', 'mail.example.']],
  ['MX', '10 a\\.b\\000\\255.', ['10', 'a\\.b\\000\\255.']],
  ['MX', '10', undefined],
  ['MX', '10 a. b.', undefined],
  ['MX', '\\# 4 000a0000', undefined],
  ['TXT', '"a b" "c\\"d"', ['a bc"d']],
  ['TXT', '"caf\\195\\169"', ['café']],
  ['TXT', '"\\239\\187\\191a"', ['\ufeffa']],
  ['TXT', '"\\255"', undefined],
  ['TXT', '""', undefined],
  ['TXT', 'bare', undefined],
  ['CAA', '0 issue "ca.example; x=1"', ['0', 'issue', 'ca.example; x=1']],
  ['SRV', '1 2 3 host.', ['1', '2', '3', 'host.']],
  ['HTTPS', '0 www.example.', ['0', 'www.example.', '']],
  ['HTTPS', '1 . alpn=h2,h3 key7="/x{?dns}"', ['1', '.', 'alpn=h2,h3 key7="/x{?dns}"']],
  ['DS', '1 13 2 ( ab cd )', ['1', '13', '2', 'ab cd']],
  ['PTR', 'host.example.', undefined],
]

test('a record is shown in its fields', (t) => {
  for (const [type, record, values] of records) t.deepEqual(valuesOf(type, record), values, `${type} ${record}`)
})

test('any text is the content of a TXT record, which shows it whole', (t) => {
  const texts = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 700 })
  fc.assert(
    fc.property(texts, (text) => {
      const { text: canonical } = parseRdata('TXT', recordOf('TXT', [text]))
      t.deepEqual(valuesOf('TXT', canonical), [text])
    }),
  )
})

test('a name in a content that somebody looks for needs no final dot', (t) => {
  const wanted: [typed: string, content: string][] = [
    ['ns1.shop.test', 'ns1.shop.test.'],
    ['10 mail.shop.test', '10 mail.shop.test.'],
    ['ns1.shop.test.', 'ns1.shop.test.'],
    ['192.0.2.1', '192.0.2.1'],
    ['2001:db8::1', '2001:db8::1'],
    ['"v=spf1 include:shop.test"', '"v=spf1 include:shop.test"'],
    ['1 . ipv4hint=192.0.2.1', '1 . ipv4hint=192.0.2.1'],
  ]
  for (const [typed, content] of wanted) t.is(contentOf(typed), content)
})

test('a record is checked in the words of its fields', (t) => {
  const malformed = (type: string, reason: string) => `Record content for type ${type} malformed: ${reason}`
  const wrong: [type: string, values: string[], at: number, problem: string][] = [
    ['MX', ['x', 'mail.'], 0, 'x is not a whole number from 0 to 65535. Example: 10'],
    ['MX', ['65536', 'mail.'], 0, '65536 is not a whole number from 0 to 65535. Example: 10'],
    ['MX', ['1 2', 'mail.'], 0, '1 2 is not a whole number from 0 to 65535. Example: 10'],
    ['SRV', ['1', '', '3', 'a.'], 1, 'Weight is missing: a whole number from 0 to 65535. Example: 10'],
    ['A', ['192.0.2.256'], 0, '192.0.2.256 is not an IPv4 address. Example: 192.0.2.1'],
    ['CNAME', ['20 mx2.mail.example.'], 0, 'Target is one word, without blanks.'],
    ['MX', ['1', 'a_b.'], 1, 'Cannot parse record contents: invalid exchange: a_b.'],
    ['TLSA', ['3', '1', '1', 'abc'], 3, 'abc is not an even number of hexadecimal digits. Example: 9f86d081'],
    ['SSHFP', ['4', '2', 'ab cdx0'], 2, 'ab cdx0 is not an even number of hexadecimal digits. Example: 9f86d081'],
    ['DS', ['1', '', '2', 'ab'], 1, malformed('DS', 'expecting an integer')],
    ['DS', ['1', '13', '2', 'ab'], 3, malformed('DS', 'digest length inconsistent with digest type')],
    ['HTTPS', ['0', 'a.', 'alpn=h2'], 2, malformed('HTTPS', 'parameters in AliasMode')],
    ['HTTPS', ['1', 'a.', 'alpn'], 2, malformed('HTTPS', '"alpn" needs a value')],
  ]
  for (const [type, values, at, problem] of wrong) {
    const record = recordOf(type, values)
    t.deepEqual(checked(type, record, values), { at, problem }, record)
  }
  t.deepEqual(checked('MX', '1 a_b.'), {
    problem: 'Cannot parse record contents: invalid exchange: a_b. It is written as: Priority, Mail server.',
    at: 0,
  })
  t.like(checked('MX', '010 mail.', ['010', 'mail.']), { text: '10 mail.' })
})

test('what a name without final dot may mean is known, in any type; the first is taken', (t) => {
  const asked: [type: string, record: string, ...answers: string[]][] = [
    ['CNAME', 'www', 'www.x.test.', 'www.'],
    ['CNAME', 'www.eu', 'www.eu.', 'www.eu.x.test.'],
    ['CNAME', 'www.x.test', 'www.x.test.', 'www.x.test.x.test.'],
    ['MX', '10 mail', '10 mail.x.test.', '10 mail.'],
    ['MX', '10 @', '10 x.test.'],
    ['NS', 'ns\\.', 'ns\\..', 'ns\\..x.test.'],
    ['SRV', '1 2 3 a', '1 2 3 a.x.test.', '1 2 3 a.'],
    ['HTTPS', '1 a alpn=h2', '1 a.x.test. alpn=h2', '1 a. alpn=h2'],
    ['PTR', 'a', 'a.x.test.', 'a.'],
    ['NAPTR', '1 2 "" "" "" a', '1 2 "" "" "" a.x.test.', '1 2 "" "" "" a.'],
    ['MX', '0 .'],
    ['CNAME', 'www.'],
    ['CNAME', 'www\\'],
    ['CNAME', ''],
    ['TXT', '"a"'],
    ['CNAME', '\\# 1 00'],
    ['CNAME', '20 mx2.mail.example'],
    ['MX', '10 20 mail'],
  ]
  for (const [type, record, ...answers] of asked) {
    const question = questionIn(type, record, 'x.test')
    const texts = question?.answers.map((answer) => answered(record, question, answer)) ?? []
    t.deepEqual(texts, answers, `${type} ${record}`)
    t.is(meant(type, record, 'x.test').text, answers[0] ?? record)
  }
})
