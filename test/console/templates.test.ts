import test from 'ava'
import { byPlace, type Edits } from '../../console/records/draft.ts'
import { answerTo, editsFor, TEMPLATES } from '../../console/records/templates.ts'
import { rowsOf, titleOf } from '../../console/rrsets/rows.ts'
import { type RRset, rrsetKey } from '../../console/rrsets/rrset.ts'

const DOMAIN = 'shop.test'
const NO_EDITS: Edits = new Map()

/** What a template stages, one line a record, and what it leaves out. */
function filled(title: string, typed: string[], rrsets: RRset[] = [], staged = NO_EDITS) {
  const { asks, lines } = TEMPLATES[title]!
  const answers = asks(DOMAIN).map((ask, i) => answerTo(ask, typed[i] ?? ask[2] ?? '', DOMAIN))
  const values = answers.flatMap((answer) => ('value' in answer ? answer.value : []))
  if (values.length < answers.length) return answers.filter((answer) => !('value' in answer))
  const rows = new Map(rowsOf(byPlace(rrsets), staged).map((row) => [row.key, row]))
  const { edits, omitted } = editsFor(lines(values, DOMAIN), rows, 300)
  const texts = edits.flatMap((edit) =>
    edit.after!.records.map((record) => `${titleOf(edit)} ${edit.after!.ttl} ${record}`),
  )
  return [...texts, ...omitted]
}

const TXT: RRset = { subname: '', type: 'TXT', ttl: 60, records: ['"x"'] }
const SPF: RRset = { ...TXT, records: ['"v=spf1 -all"'] }
const MX: RRset = { subname: '', type: 'MX', ttl: 60, records: ['5 old.example.'] }
const WWW: RRset = { subname: 'www', type: 'A', ttl: 60, records: ['192.0.2.9'] }
const ALIAS: RRset = { subname: 'sub', type: 'CNAME', ttl: 60, records: ['x.example.'] }
const MAIL = ['@ MX 300 10 mail.shop.test.', '@ TXT 300 "v=spf1 mx -all"', '_dmarc TXT 300 "v=DMARC1; p=none"']
const A = '@ A 300 192.0.2.1'

/** Templates, what is typed, what there is, and what comes of it. */
const cases: [title: string, typed: string[], rrsets: RRset[], ...lines: string[]][] = [
  ['Mail', [], [], ...MAIL],
  ['Mail', ['m.example.', '', '', 's1', 'v=DKIM1; p=A'], [], '@ MX 300 10 m.example.', 's1._domainkey TXT 300 "v=DKIM1; p=A"'], // prettier-ignore
  ['Mail', [], [MX, TXT], '@ MX 60 5 old.example.', '@ MX 60 10 mail.shop.test.', '@ TXT 60 "x"', '@ TXT 60 "v=spf1 mx -all"', MAIL[2]!], // prettier-ignore
  ['Mail', ['10 mx1.postbox.example,20 mx2.postbox.example ; mail', '', ''], [], '@ MX 300 10 mx1.postbox.example.', '@ MX 300 20 mx2.postbox.example.', '@ MX 300 30 mail.shop.test.'], // prettier-ignore
  ['Mail', [], [SPF], MAIL[0]!, MAIL[2]!, '@ TXT stays as it is: TXT "v=spf1 mx -all" is left out.'],
  ['DKIM by CNAME', ['s1', 'a.example.'], [], 's1._domainkey CNAME 300 a.example.'],
  ['DKIM by CNAME', ['selector1', 'a.example.', 's2._domainkey', 'b.example.', 's3._domainkey.shop.test.', 'c.example.'], [], 'selector1._domainkey CNAME 300 a.example.', 's2._domainkey CNAME 300 b.example.', 's3._domainkey CNAME 300 c.example.'], // prettier-ignore
  ['DKIM by CNAME', ['k.mail', 'a.example.'], [{ ...ALIAS, subname: 'k.mail._domainkey' }], 'k.mail._domainkey CNAME stays as it is: CNAME a.example. is left out.'], // prettier-ignore
  ['DKIM by CNAME', ['s1._domainkey.shop.test', 'a.example'], [], 's1._domainkey CNAME 300 a.example.'],
  ['Web', ['192.0.2.1', '2001:DB8::1'], [], A, '@ AAAA 300 2001:db8::1', 'www CNAME 300 shop.test.'],
  ['Web', ['192.0.2.1'], [WWW], A, 'www A stays as it is: CNAME shop.test. is left out.'],
  ['Web', [], []],
  ['Certificate authority', [], [], '@ CAA 300 0 issue "letsencrypt.org"'],
  ['Delegation of a subdomain', ['sub', 'ns1.example.', 'ns2.example.'], [], 'sub NS 300 ns1.example.', 'sub NS 300 ns2.example.'], // prettier-ignore
  ['Delegation of a subdomain', ['sub', 'ns1.example.'], [ALIAS], 'sub CNAME stays as it is: NS ns1.example. is left out.'], // prettier-ignore
  ['Verification text', ['@', 'token=1;"'], [SPF], '@ TXT 60 "v=spf1 -all"', '@ TXT 60 "token=1;\\""'],
  ['Verification text', ['@', 'x'], [TXT]],
  ['ACME challenges elsewhere', ['*.www', 'a.example.'], [], '_acme-challenge.www CNAME 300 a.example.'],
  ['ACME challenges elsewhere', ['@', 'a.example.'], [], '_acme-challenge CNAME 300 a.example.'],
  ['ACME challenges elsewhere', ['@', 'a.example.'], [{ ...ALIAS, subname: '_acme-challenge' }], '_acme-challenge CNAME stays as it is: CNAME a.example. is left out.'], // prettier-ignore
]

for (const [i, [title, typed, rrsets, ...lines]] of cases.entries()) {
  test(`${i}: ${title} of ${typed.join(', ')} beside ${rrsets.map(titleOf).join(', ')}`, (t) => {
    t.deepEqual(filled(title, typed, rrsets), lines)
  })
}

test('what was typed is judged', (t) => {
  t.like(filled('Mail', ['x mail.example.']), [{ problems: ['x is not a whole number from 0 to 65535. Example: 10'] }])
  t.like(filled('Web', ['192.0.2.x', 'x']), [
    { problems: ['192.0.2.x is not an IPv4 address. Example: 192.0.2.1'] },
    { problems: ['x is not an IPv6 address. Example: 2001:db8::1'] },
  ])
  t.like(filled('Verification text', ['www.', '']), [
    { problems: ['www. is not in shop.test.'] },
    { problems: ['Fill this in.'] },
  ])
})

test('staged edits are kept, and what is staged to be deleted is replaced', (t) => {
  const deleted = new Map([[rrsetKey(MX), { subname: '', type: 'MX', base: MX, after: null }]])
  t.deepEqual(filled('Mail', [], [MX], deleted), MAIL)
  const added = new Map([[rrsetKey(MX), { subname: '', type: 'MX', base: null, after: { ttl: 7, records: ['1 a.example.'] } }]]) // prettier-ignore
  t.deepEqual(filled('Mail', [], [], added).slice(0, 2), ['@ MX 7 1 a.example.', '@ MX 7 10 mail.shop.test.'])
  const rows = new Map(rowsOf(byPlace([MX]), NO_EDITS).map((row) => [row.key, row]))
  const { edits } = editsFor([['', 'MX', '10 mail.shop.test.']], rows, 300)
  t.deepEqual(edits[0]!.base, { ttl: 60, records: MX.records })
})
