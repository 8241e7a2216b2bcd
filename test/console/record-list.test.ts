import test from 'ava'
import fc from 'fast-check'
import { domainToASCII } from 'node:url'
import { filterOf } from '../../console/rrsets/filter.ts'
import { inOrder } from '../../console/rrsets/order.ts'
import { asciiName, ownerOf } from '../../console/rrsets/owner.ts'
import { replaced } from '../../console/rrsets/rrset.ts'
import { typedName } from '../../console/tokens/policies.ts'

const labels = fc.array(fc.stringMatching(/^[a-z0-9_-]{1,4}$/), { maxLength: 4 })
const subname = fc.oneof(
  labels.map((some) => some.join('.')),
  labels.map((some) => ['*', ...some].join('.')),
)

/** Compares labels as octets, but their numbers by size. */
function compareLabels(one: string, other: string): number {
  const [ones, others] = [one, other].map((label) => label.match(/\d+|\D/g) ?? [])
  for (const [i, part] of ones!.entries()) {
    const with_ = others![i]
    if (with_ === undefined) return 1
    const areNumbers = /\d/.test(part) && /\d/.test(with_)
    const order = areNumbers ? Number(part) - Number(with_) : Buffer.compare(Buffer.from(part), Buffer.from(with_))
    if (order !== 0) return order
  }
  return ones!.length - others!.length
}

/** Compares names label by label from the right (RFC 4034 §6.1); what ends first comes first. */
function compare(one: string, other: string, labelwise = compareLabels): number {
  const [ones, others] = [one, other].map((name) => (name === '' ? [] : name.split('.').reverse()))
  for (const [i, label] of ones!.entries()) {
    if (others![i] === undefined) return 1
    const order = labelwise(label, others![i])
    if (order !== 0) return order
  }
  return ones!.length - others!.length
}

const asOctets = (one: string, other: string) => Buffer.compare(Buffer.from(one), Buffer.from(other))

test('names are in DNS order, the apex first, and then types', (t) => {
  const places = ['a TXT', '*.z MX', 'z A', ' NS', 'b.a A', 'a A', 'a-b A', ' A', 'z.b.a A', '_x._tcp SRV', '* A']
  const sorted = inOrder(places.map((place) => ({ subname: place.split(' ')[0]!, type: place.split(' ')[1]! })))
  t.deepEqual(
    sorted.map((place) => `${place.subname} ${place.type}`),
    [' A', ' NS', '* A', '_x._tcp SRV', 'a A', 'a TXT', 'b.a A', 'z.b.a A', 'a-b A', 'z A', '*.z MX'],
  )
})

test('the order is that of RFC 4034 §6.1, but for numbers', (t) => {
  const some = ['s10', 's2', 's1', 's01', 's', 's2.a10', 's2.a9'].map((name) => ({ subname: name, type: 'A' }))
  t.deepEqual(
    inOrder(some).map((place) => place.subname),
    ['s2.a9', 's2.a10', 's', 's01', 's1', 's2', 's10'],
  )
  fc.assert(
    fc.property(fc.uniqueArray(subname, { maxLength: 20 }), (names) => {
      const sorted = inOrder(names.map((name) => ({ subname: name, type: 'A' })))
      t.deepEqual(
        sorted.map((place) => place.subname),
        // Leading zeros decide only between names that are equal else.
        names.toSorted((one, other) => compare(one, other) || compare(one, other, asOctets)),
      )
    }),
  )
})

test('labels in Unicode become the Punycode that the service has for them', (t) => {
  for (const name of [
    'bücher',
    'bücher.example',
    '*.bücher.example',
    '_dmarc.bücher',
    'straße',
    'ＡＢＣ.ü',
    '例え',
    'ü.1x',
  ]) {
    t.is(asciiName(` ${name.toUpperCase()} `), domainToASCII(name.toUpperCase().toLowerCase()), name)
  }
  t.deepEqual(ownerOf('Bücher', 'example.org'), { subname: 'xn--bcher-kva' })
  t.deepEqual(ownerOf('*.bücher.example.org.', 'example.org'), { subname: '*.xn--bcher-kva' })
  t.deepEqual(ownerOf('bücher', 'xn--bcher-kva'), { subname: '' })
  t.is(typedName('Bücher.Example.'), 'xn--bcher-kva.example')
})

test('what is no name in Unicode is refused', (t) => {
  for (const name of ['ü@x', 'ü/x', 'ü:1', 'ü?', 'ü#', 'ü\\x', 'ü x', 'ü／x', 'a%ü', '[ü]']) {
    t.true('problems' in ownerOf(name, 'example.org'), name)
  }
  // Numbers are not read as addresses.
  t.is(asciiName('１'), '1')
  for (const name of ['1', '0x7f', 'a_b', '*', '@', 'xn--bcher-kva']) t.is(asciiName(name), name)
})

const RRSETS = [
  { subname: '', type: 'MX', ttl: 3600, records: ['10 mail.example.'] },
  { subname: 'mx1', type: 'A', ttl: 300, records: ['192.0.2.1', '192.0.2.7'] },
  { subname: 'www', type: 'AAAA', ttl: 60, records: ['2001:db8::A', 'shop.test.'] },
  { subname: 'www', type: 'TXT', ttl: 86_400, records: ['"Type:A name:192 (x"'] },
]

/** Filters, and the positions of the RRsets that they find. */
const filters: [filter: string, ...found: number[]][] = [
  ['', 0, 1, 2, 3],
  ['  ', 0, 1, 2, 3],
  ['mx', 0, 1],
  ['MX', 0, 1],
  ['@', 0],
  ['type:a', 1],
  ['type:A', 1],
  ['type:aa'],
  ['192.0.2.', 1],
  ['192.0.2.7', 1],
  ['2001:DB8', 2],
  ['ttl<300', 2],
  ['ttl<=300', 1, 2],
  ['ttl>3600', 3],
  ['ttl>=3600', 0, 3],
  ['ttl=60', 2],
  ['ttl<x'],
  ['www type:txt', 3],
  ['www ttl<300', 2],
  ['(x', 3],
  ['.*'],
  ['name:mx', 1],
  ['name:192'],
  ['name:@', 0],
  ['mx1.shop.test', 1],
  ['MX1.shop.test.', 1],
  ['name:mx1.shop.test', 1],
  ['x1.shop.test'],
  ['shop.test', 0, 2],
  ['name:shop.test.', 0],
  ['mx1.other.test'],
]

test('a filter finds rows by names, types, TTLs and contents', (t) => {
  for (const [filter, ...found] of filters) {
    const isFound = filterOf(filter, 'shop.test')
    t.deepEqual(
      RRSETS.flatMap((rrset, i) => (isFound(rrset) ? [i] : [])),
      found,
      filter,
    )
  }
})

// A text is replaced in records where it stands for itself.

const ADDRESS = '192.0.2.1'

const cases: [record: string, text: string, other: string, after: string][] = [
  ['192.0.2.1', ADDRESS, '203.0.113.9', '203.0.113.9'],
  ['192.0.2.10', ADDRESS, '203.0.113.9', '192.0.2.10'],
  ['1192.0.2.1', ADDRESS, '203.0.113.9', '1192.0.2.1'],
  ['192.0.2.1.example.org.', ADDRESS, '203.0.113.9', '192.0.2.1.example.org.'],
  ['"v=spf1 ip4:192.0.2.1 ip4:192.0.2.1/32 -all"', ADDRESS, '203.0.113.9', '"v=spf1 ip4:203.0.113.9 ip4:203.0.113.9/32 -all"'],
  ['2001:db8::1', '2001:db8::1', '2001:db8::2', '2001:db8::2'],
  ['2001:db8::1', 'db8::1', '1', '2001:db8::1'],
  ['1:2::3', '2::3', '1', '1:2::3'],
  ['"v=spf1 ip6:2001:db8::1 -all"', '2001:db8::1', '::2', '"v=spf1 ip6:::2 -all"'],
  ['2001:db8::1:5', '2001:db8::1', '2001:db8::2', '2001:db8::1:5'],
  ['10 Mail.example.org.', 'mail.example.org.', 'mx.example.net.', '10 mx.example.net.'],
  ['10 webmail.example.org.', 'mail.example.org.', 'mx.example.net.', '10 webmail.example.org.'],
  ['10 web.mail.example.org.', 'mail.example.org.', 'mx.example.net.', '10 web.mail.example.org.'],
  ['"a.c abc"', 'a.c', '$&', '"$& abc"'],
  ['"(x) x"', '(x)', 'y', '"y x"'],
] // prettier-ignore

test('not in a longer number, word, name or address', (t) => {
  for (const [record, text, other, after] of cases) t.is(replaced(record, text, other), after, record)
})
