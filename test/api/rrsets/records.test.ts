import { newDomain, rrset, shared } from '../../support/api.ts'
import { lookUp } from '../../support/dns/dns.ts'
import { useService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'

const service = useService()

const malformed = (type: string, reason: string) => `Record content for type ${type} malformed: ${reason}`
const NO_DOT = 'Hostname must be fully qualified (i.e., end in a dot: "example.com.")'
const TOO_LONG = 'Hostname must be no longer than 255 characters'
const NO_QUOTES = 'Data for TXT records must be given using quotation marks.'
const refused = (role: string, name: string) => `Cannot parse record contents: invalid ${role}: ${name}`

const SHA1 = '0123456789abcdef0123456789abcdef01234567'
const SHA256 = `${SHA1}${'ab'.repeat(12)}`
/** A name of 256 octets in wire form, with valid labels. */
const LONG = `${'a'.repeat(63)}.`.repeat(3) + `${'a'.repeat(62)}.`

/** The content as it is written, as the API shows it, and as DNS answers it. */
const ACCEPTED: [type: string, written: string, shown: string, answered?: string][] = [
  ['A', '192.0.2.1', '192.0.2.1'],
  ['A', '\\# 4 c0000201', '192.0.2.1'],
  ['AAAA', '0000::0001', '::1'],
  ['AAAA', '2001:DB8:0:0:1::', '2001:db8:0:0:1::'],
  ['AAAA', '::ffff:192.0.2.1', '::ffff:c000:201', '::ffff:192.0.2.1'],
  ['CAA', '0128 "issue" "x"', '128 issue "x"'],
  ['CAA', '0 iodef mailto:a@b.test', '0 iodef "mailto:a@b.test"'],
  ['CAA', '0 issue ";"', '0 issue ";"'],
  ['CNAME', '\\084\\069\\083\\084.example.', 'TEST.example.'],
  ['CNAME', '*._a.b-c.test.', '*._a.b-c.test.'],
  ['CNAME', '.', '.'],
  ['DS', `06454 RSASHA256 2 ${SHA256.toUpperCase()}`, `6454 8 2 ${SHA256}`, `6454 8 2 ${SHA256}`],
  ['DS', `1 13 1 ${SHA1.slice(0, 10)} ${SHA1.slice(10)}`, `1 13 1 ${SHA1}`, `1 13 1 ${SHA1}`],
  ['DS', '1 13 250 00', '1 13 250 00'],
  ['MX', '010 Mail.example.', '10 Mail.example.'],
  ['MX', '0 .', '0 .'],
  ['NS', 'NS1.example.', 'NS1.example.'],
  ['NS', '127.0.0.1.', '127.0.0.1.'],
  ['PTR', 'a\\ b.example.', 'a\\032b.example.'],
  ['PTR', '$x.example.', '\\$x.example.', '\\$x.example.'],
  ['PTR', 'host\\046master.example.', 'host\\.master.example.'],
  ['SRV', '01 02 03 a.example.', '1 2 3 a.example.'],
  ['SRV', '0 0 0 .', '0 0 0 .'],
  ['TXT', '"a" "b"', '"a" "b"'],
  ['TXT', '"" "foo"', '"" "foo"'],
  ['TXT', '"v=DMARC1\\; p=none"', '"v=DMARC1; p=none"', '"v=DMARC1; p=none"'],
  ['TXT', '"\\"\\\\\\097"', '"\\"\\\\a"'],
  ['TXT', '"\u00fc\t"', '"\\195\\188\\009"'],
  ['TXT', `"${'x'.repeat(300)}"`, `"${'x'.repeat(255)}" "${'x'.repeat(45)}"`],
]

const zone = shared(async () => {
  const { api } = await service().account()
  return { api, domain: await newDomain(api) }
})

for (const [i, [type, written, shown, answered = shown]] of ACCEPTED.entries()) {
  test(`${type} ${written.slice(0, 60)} is accepted, shown and answered in canonical form`, async (t) => {
    const { api, domain } = await zone()
    const subname = `n${i}`
    const answer = await api.post(`/domains/${domain}/rrsets/`, rrset({ subname, type, records: [written] }))
    t.is(answer.status, 201, answer.text)
    t.like(answer.json, { records: [shown] })
    t.like((await api.get(`/domains/${domain}/rrsets/${subname}/${type}/`)).json, { records: [shown] })
    if (type === 'NS') return // Of a delegation the server answers with a referral.
    const answers = (await lookUp(service().powerDns, `${subname}.${domain}`, type)).map((line) =>
      // dig splits long strings.
      type === 'DS'
        ? line
            .toLowerCase()
            .replace(/^(\S+ \S+ \S+) (.*)$/, (_, head: string, hex: string) => `${head} ${hex.replaceAll(' ', '')}`)
        : line,
    )
    t.deepEqual(answers, [answered])
  })
}

const REFUSED: [type: string, written: string, text: string][] = [
  ['A', '127.0.0.999', malformed('A', 'Text input is malformed.')],
  ['A', '127.000.0.01', malformed('A', 'Text input is malformed.')],
  ['A', '::1', malformed('A', 'Text input is malformed.')],
  ['A', '192.0.2.1 192.0.2.2', malformed('A', 'expected end of record, got "192.0.2.2"')],
  ['AAAA', '1.2.3.4', malformed('AAAA', 'Text input is malformed.')],
  ['AAAA', '::g', malformed('AAAA', 'Text input is malformed.')],
  ['AAAA', 'fe80::1%eth0', malformed('AAAA', 'Text input is malformed.')],
  ['CAA', 'x issue "a"', malformed('CAA', 'expecting an integer')],
  ['CAA', '256 issue "a"', malformed('CAA', '256 is not an unsigned 8-bit integer')],
  ['CAA', '0 issue', malformed('CAA', 'expecting a string')],
  ['CAA', '0 issue "a" "b"', malformed('CAA', 'expected end of record, got "b"')],
  ['CNAME', 'example.com', NO_DOT],
  ['CNAME', '@', NO_DOT],
  ['CNAME', LONG, TOO_LONG],
  ['CNAME', `${'a'.repeat(64)}.test.`, malformed('CNAME', 'A DNS label is > 63 octets long.')],
  ['CNAME', 'a..test.', malformed('CNAME', 'A DNS label is empty.')],
  ['CNAME', 'a!.test.', refused('target', 'a!.test.')],
  ['CNAME', 'a.test. b.test.', malformed('CNAME', 'expected end of record, got "b.test."')],
  ['DS', `65536 13 2 ${SHA256}`, malformed('DS', '65536 is not an unsigned 16-bit integer')],
  ['DS', `1 13 2 ${SHA1}`, malformed('DS', 'digest length inconsistent with digest type')],
  ['DS', '1 13 2 abc', malformed('DS', 'Odd-length string')],
  ['DS', '1 13 2 xy', malformed('DS', 'Non-hexadecimal digit found')],
  ['DS', '1 13 2', malformed('DS', 'expecting another identifier')],
  ['MX', 'mail.example.', malformed('MX', 'expecting an integer')],
  ['MX', '65537 mail.example.', malformed('MX', '65537 is not an unsigned 16-bit integer')],
  ['MX', '10', malformed('MX', 'expecting an identifier')],
  ['MX', '10 mail.example', NO_DOT],
  ['MX', '10 _foo.example.com.', refused('exchange', '_foo.example.com.')],
  ['MX', '10 $url.', refused('exchange', '\\$url.')],
  ['MX', `10 ${LONG}`, TOO_LONG],
  ['NS', 'ns.example', NO_DOT],
  ['NS', '.', refused('target', '.')],
  ['NS', '_ns.example.', refused('target', '_ns.example.')],
  ['NS', LONG, TOO_LONG],
  ['PTR', 'a.example', NO_DOT],
  ['PTR', '"a.example."', malformed('PTR', 'expecting an identifier')],
  ['PTR', 'example.com. *.example.com.', malformed('PTR', 'expected end of record, got "*.example.com."')],
  ['PTR', LONG, TOO_LONG],
  ['SRV', '1 2 a.example.', malformed('SRV', 'expecting an integer')],
  ['SRV', '1 2 3 a.example', NO_DOT],
  ['SRV', '1 2 3 _a.example.', refused('target', '_a.example.')],
  ['SRV', '1 2 3 a-.example.', refused('target', 'a-.example.')],
  ['TXT', 'foo', NO_QUOTES],
  ['TXT', '"foo" bar', NO_QUOTES],
  ['TXT', '"a\nb"', NO_QUOTES],
  ['TXT', '"a"\n"b"', NO_QUOTES],
  ['TXT', '"foo', malformed('TXT', 'Text input ended unexpectedly.')],
  ['TXT', '"foo\\"', malformed('TXT', 'Text input ended unexpectedly.')],
  ['TXT', '"\\256"', malformed('TXT', 'Text input is malformed.')],
  ['TXT', '"\\12x"', malformed('TXT', 'Text input is malformed.')],
]

for (const [type, written, text] of REFUSED) {
  test(`${type} ${JSON.stringify(written).slice(0, 60)} is refused: ${text}`, async (t) => {
    const { api, domain } = await zone()
    const answer = await api.post(`/domains/${domain}/rrsets/`, rrset({ type, records: [written] }))
    t.deepEqual([answer.status, answer.text], [400, JSON.stringify({ non_field_errors: [text] })])
    t.is((await api.get(`/domains/${domain}/rrsets/www/${type}/`)).status, 404)
  })
}
