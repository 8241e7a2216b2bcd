import test from 'ava'
import { adviceBy, adviceOn, cachedFor, lossesBy, type Past } from '../../console/records/advice.ts'
import { byPlace } from '../../console/records/draft.ts'
import { titleOf } from '../../console/rrsets/rows.ts'
import { type RRset, rrsetKey } from '../../console/rrsets/rrset.ts'

const DOMAIN = 'shop.test'

/** Reads lines such as `www A 192.0.2.1`. */
function zone(...lines: string[]): RRset[] {
  const rrsets = new Map<string, RRset>()
  for (const line of lines) {
    const [, name, type, record] = /^(\S+) (\S+) (.*)$/.exec(line)!
    const place = { subname: name === '@' ? '' : name!, type: type! }
    const rrset = rrsets.get(rrsetKey(place)) ?? { ...place, ttl: 3600, records: [] }
    rrset.records.push(record!)
    rrsets.set(rrsetKey(place), rrset)
  }
  return [...rrsets.values()]
}

const SPF = 'TXT "v=spf1 mx -all"'
const MX_TO_CNAME = 'mail.shop.test. is a CNAME, which no MX may point to.'
const MANY = (mechanism: string, count: number) => Array<string>(count).fill(mechanism).join(' ')
const TOO_MANY = '@ TXT: SPF fails after 10 look-ups: this has more.'

/** Zones, and the hints about them. */
const zones: [what: string, lines: string[], ...hints: string[]][] = [
  ['nothing', []],
  ['two SPF texts', [`@ ${SPF}`, '@ TXT "v=spf1" " -all"'], '@ TXT: There are 2 SPF texts, but a name may have one.'],
  ['SPF and other texts', [`@ ${SPF}`, '@ TXT "v=spf10"', '@ TXT "v=spf1x"', `www ${SPF}`]],
  ['eleven look-ups', [`@ TXT "v=spf1 ${MANY('a:x.example', 5)} ?mx mx/24 ptr exists:x.example ~include:x.example redirect=x.example"`], TOO_MANY], // prettier-ignore
  ['ten look-ups', [`@ TXT "v=spf1 ${MANY('a', 10)} ip4:192.0.2.0/24 ip6:2001:db8::/32 -all a redirect=x.example"`]],
  ['eleven look-ups through the zone', [`@ TXT "v=spf1 ${MANY('a', 4)} include:_Spf.shop.test -all"`, `_spf TXT "v=spf1 ${MANY('mx', 4)} redirect=_more.shop.test."`, '_more TXT "v=spf1 exists:%{i}.x.example ~all"'], TOO_MANY], // prettier-ignore
  ['ten look-ups through the zone', [`@ TXT "v=spf1 ${MANY('a', 4)} include:_spf.shop.test -all"`, `_spf TXT "v=spf1 ${MANY('mx', 5)} -all"`]], // prettier-ignore
  ['SPF that includes itself', ['@ TXT "v=spf1 include:shop.test -all"'], TOO_MANY],
  ['MX to a CNAME', ['@ MX 10 Mail.shop.test.', '@ MX 20 mail.shop.test.', 'mail CNAME www.shop.test.', 'www A 192.0.2.1'], '@ MX: Mail.shop.test. is a CNAME, which no MX may point to.', `@ MX: ${MX_TO_CNAME}`], // prettier-ignore
  ['MX to a CNAME of a wildcard', ['@ MX 10 mail.shop.test.', '* CNAME x.example.'], `@ MX: ${MX_TO_CNAME}`],
  ['NS to a CNAME', ['sub NS ns1.shop.test.', 'ns1 CNAME x.example.'], 'sub NS: ns1.shop.test. is a CNAME, which no NS may point to.'], // prettier-ignore
  ['MX, NS and SRV to addresses and elsewhere', ['@ MX 10 mail.shop.test.', 'mail A 192.0.2.1', '@ NS ns.example.', '@ MX 20 mail.other.test.', 'other CNAME x.example.', '_x._tcp SRV 1 1 443 other.shop.test.']], // prettier-ignore
  [
    'MX to a name with wildcard beside',
    ['@ MX 10 a.mail.shop.test.', 'mail A 192.0.2.1', '* CNAME x.example.'],
    '@ MX: a.mail.shop.test has no address.',
  ],
  ['an owner that ends in the domain', ['www.shop.test A 192.0.2.1', 'shop.test TXT "x"'], 'www.shop.test A: www.shop.test.shop.test. ends in shop.test twice.', 'shop.test TXT: shop.test.shop.test. ends in shop.test twice.'], // prettier-ignore
  ['a target that ends in the domain twice', ['@ MX 10 mail.Shop.test.shop.test.'], '@ MX: mail.Shop.test.shop.test. ends in shop.test twice.', '@ MX: mail.Shop.test.shop.test has no address.'], // prettier-ignore
  ['names that look similar', ['ashop.test A 192.0.2.1', '@ MX 10 mail.ashop.test.shop.test.', '@ TXT "a.shop.test.shop.test."'], '@ MX: mail.ashop.test.shop.test has no address.'], // prettier-ignore
  ['DMARC without SPF', ['_dmarc TXT "v=DMARC1; p=none"', 'a TXT "x"', '_dmarc.a TXT "v=DMARC1; p=none"'], '_dmarc TXT: DMARC is set, but shop.test. has no SPF text.', '_dmarc.a TXT: DMARC is set, but a.shop.test. has no SPF text.'], // prettier-ignore
  ['DMARC with SPF, or of names elsewhere', [`@ ${SPF}`, '_dmarc TXT "v=DMARC1; p=none"', '_dmarc.a TXT "v=DMARC1; p=none"', 'a CNAME x.example.', '_dmarc.b TXT "v=DMARC1; p=none"', 'b NS ns.example.', '_dmarc.c TXT "x"']], // prettier-ignore
  ['MX and NS to names without address', ['@ MX 10 mail.shop.test.', 'mail TXT "x"', 'sub NS ns.shop.test.', '_x._tcp SRV 1 1 443 no.shop.test.'], '@ MX: mail.shop.test has no address.', 'sub NS: ns.shop.test has no address.'], // prettier-ignore
  ['CNAME to nothing', ['www CNAME web.shop.test.', 'x.y A 192.0.2.1', 'z CNAME y.shop.test.'], 'www CNAME: There are no records at web.shop.test.', 'z CNAME: There are no records at y.shop.test.'], // prettier-ignore
  ['CNAME below a name, beside a wildcard', ['www CNAME a.mail.shop.test.', 'mail A 192.0.2.1', '* A 192.0.2.1'], 'www CNAME: There are no records at a.mail.shop.test.'], // prettier-ignore
  ['CNAME to what there is', ['a CNAME shop.test.', '@ NS ns.example.', 'b CNAME x.other.test.', 'c CNAME any.w.shop.test.', '*.w TXT "x"', 'd CNAME host.sub.shop.test.', 'sub NS ns.example.', 'e CNAME sub.shop.test.', 'f CNAME a.alias.shop.test.', 'alias DNAME x.example.']], // prettier-ignore
  ['CNAME below a DNAME at the apex', ['@ DNAME x.example.', 'a CNAME b.shop.test.']],
  ['private addresses', ['a A 10.0.0.1', 'b A 172.16.0.1', 'b A 172.31.0.1', 'c A 192.168.0.1', 'd A 100.127.0.1', 'e A 169.254.0.1', 'f AAAA fd00::1', 'g AAAA fe80::1'], 'a A: 10.0.0.1 is a private address.', 'b A: 172.16.0.1 is a private address.', 'b A: 172.31.0.1 is a private address.', 'c A: 192.168.0.1 is a private address.', 'd A: 100.127.0.1 is a private address.', 'e A: 169.254.0.1 is a private address.', 'f AAAA: fd00::1 is a private address.', 'g AAAA: fe80::1 is a private address.'], // prettier-ignore
  ['public addresses', ['a A 11.0.0.1', 'a A 172.15.0.1', 'a A 172.32.0.1', 'a A 192.169.0.1', 'a A 100.63.0.1', 'a A 100.128.0.1', 'a A 127.0.0.2', 'a AAAA 2001:db8::1', 'a AAAA fd0::1', 'a AAAA fec0::1', 'a TXT "10.0.0.1"']], // prettier-ignore
]

for (const [what, lines, ...hints] of zones) {
  test(`hints about ${what}`, (t) => {
    const found = adviceOn(zone(...lines), DOMAIN)
    t.deepEqual(
      found.map((advice) => `${titleOf(advice)}: ${advice.text}`),
      hints,
    )
  })
}

/** Zones, what is removed from them, and what the review says. */
const removals: [what: string, lines: string[], removed: string[], ...texts: string[]][] = [
  ['the only MX record', ['@ MX 10 mail.example.'], ['@ MX'], 'This removes the only MX record of shop.test.'],
  ['all MX records', ['a MX 10 mail.example.', 'a MX 20 mail.example.'], ['a MX'], 'This removes every MX record of a.shop.test.'], // prettier-ignore
  ['a delegation', ['sub NS ns.example.'], ['sub NS'], 'This removes the only NS record of sub.shop.test.'],
  ['the NS of the apex', ['@ NS ns.example.'], ['@ NS']],
  ['all addresses of a mail server', ['mail A 192.0.2.1', 'mail AAAA 2001:db8::1', '@ MX 10 Mail.shop.test.'], ['mail A', 'mail AAAA'], 'This removes the last address of mail.shop.test, to which @ MX points.'], // prettier-ignore
  ['glue', ['ns.sub A 192.0.2.1', 'sub NS ns.sub.shop.test.'], ['ns.sub A'], 'This removes the last address of ns.sub.shop.test, to which sub NS points.'], // prettier-ignore
  ['one kind of glue', ['ns.sub A 192.0.2.1', 'ns.sub AAAA 2001:db8::1', 'sub NS ns.sub.shop.test.'], ['ns.sub A']],
  ['one kind of address', ['mail A 192.0.2.1', 'mail AAAA 2001:db8::1', '@ MX 10 mail.shop.test.'], ['mail A']],
  ['an address beside a wildcard', ['mail A 192.0.2.1', '* A 192.0.2.2', '@ MX 10 mail.shop.test.'], ['mail A']],
  ['an address and what points to it', ['www A 192.0.2.1', 'a CNAME www.shop.test.'], ['www A', 'a CNAME']],
  ['an address to which nothing points, and a text', ['www A 192.0.2.1', '@ TXT "x"'], ['www A', '@ TXT']],
]

for (const [what, lines, removed, ...texts] of removals) {
  test(`the review of the removal of ${what}`, (t) => {
    const rrsets = zone(...lines)
    const edits = rrsets
      .filter((rrset) => removed.includes(titleOf(rrset)))
      .map((rrset) => [rrsetKey(rrset), { ...rrset, base: rrset, after: null }] as const)
    t.is(edits.length, removed.length)
    t.deepEqual(lossesBy(new Map(edits), byPlace(rrsets), DOMAIN), texts)
  })
}

test('the review says nothing of what is changed or new', (t) => {
  const rrsets = zone('@ MX 10 mail.example.')
  const edits = zone('@ MX 10 other.example.', 'a MX 10 mail.example.').map(
    (rrset) => [rrsetKey(rrset), { ...rrset, base: rrset.subname === '' ? rrsets[0]! : null, after: rrset }] as const,
  )
  t.deepEqual(lossesBy(new Map(edits), byPlace(rrsets), DOMAIN), [])
})

const TARGETLESS = ['www CNAME web.shop.test.']

/** Edits that put the RRsets of one zone in place of those of another. */
function editsTo(before: RRset[], after: RRset[]) {
  const [bases, states] = [byPlace(before), byPlace(after)]
  const changed = [...new Map([...bases, ...states]).values()].filter(
    (rrset) => JSON.stringify(bases.get(rrsetKey(rrset))) !== JSON.stringify(states.get(rrsetKey(rrset))),
  )
  return new Map(
    changed.map((rrset) => {
      const key = rrsetKey(rrset)
      return [key, { ...rrset, base: bases.get(key) ?? null, after: states.get(key) ?? null }] as const
    }),
  )
}

test('the review tells the hints that edits bring, and which record would mend them', (t) => {
  const before = zone(...TARGETLESS, 'mail A 192.0.2.1', 'gone CNAME x.shop.test.', 'x A 192.0.2.1')
  // That the name that `gone` points to loses its address is said otherwise.
  const after = zone(...TARGETLESS, '@ MX 10 backup.shop.test.', 'new CNAME y.shop.test.', 'gone CNAME x.shop.test.')
  const found = adviceBy(editsTo(before, after), byPlace(before), DOMAIN)
  t.deepEqual(found, [
    { subname: '', type: 'MX', text: 'backup.shop.test has no address.', lacking: { subname: 'backup', type: 'A' } },
    {
      subname: 'new',
      type: 'CNAME',
      text: 'There are no records at y.shop.test.',
      lacking: { subname: 'y', type: 'A' },
    },
  ])
})

test('the review tells how long caches keep what is replaced or removed', (t) => {
  const at = (ttl: number, ...lines: string[]) => zone(...lines).map((rrset) => ({ ...rrset, ttl }))
  const of = (before: RRset[], after: RRset[], past: Past[] = []) => {
    const { changed, lowered } = cachedFor(editsTo(before, after), past)
    return [changed, lowered]
  }
  const one = 'a A 192.0.2.1'
  const other = 'a A 192.0.2.2'
  t.deepEqual(of([], at(60, one)), [0, 0])
  t.deepEqual(of(at(60, one), at(90, one)), [0, 0])
  t.deepEqual(of(at(60, one), at(90, other)), [60, 0])
  t.deepEqual(of([...at(60, one), ...at(7200, 'b A 192.0.2.1')], at(90, other)), [7200, 0])
  t.deepEqual(of(at(86_400, one), at(300, one)), [0, 86_400])
  // The TTL was lowered, and a cache may have asked just before that.
  const lowered = (age: number): Past[] => [
    { age: 1, changes: [{ subname: 'b', type: 'A', before: at(86_400, one)[0]!, after: null }] },
    { age: 5, changes: [{ subname: 'a', type: 'A', before: null, after: at(86_400, one)[0]! }] },
    { age, changes: [{ subname: 'a', type: 'A', before: at(86_400, one)[0]!, after: at(300, one)[0]! }] },
  ]
  t.deepEqual(of(at(300, one), at(300, other), lowered(3600)), [82_800, 0])
  t.deepEqual(of(at(300, one), at(300, other), lowered(86_200)), [300, 0])
  t.deepEqual(of(at(300, one), at(60, one), lowered(3600)), [0, 82_800])
  // What was before is not known.
  t.like(cachedFor(editsTo(at(300, one), at(300, other)), undefined), { changed: 86_400, lowered: 0 })
  t.like(cachedFor(editsTo([], at(300, one)), undefined), { changed: 0, lowered: 0 })
})
