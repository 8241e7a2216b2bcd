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

// One record of each type; test/dns/examples has the others, and test/served has PowerDNS answer them.

/** The content as it is written, as the API shows it, and as DNS answers it. */
const ACCEPTED: [type: string, written: string, shown: string, answered?: string][] = [
  ['A', '\\# 4 c0000201', '192.0.2.1'],
  ['AAAA', '::ffff:192.0.2.1', '::ffff:c000:201', '::ffff:192.0.2.1'],
  ['CAA', '0128 "issue" "x"', '128 issue "x"'],
  ['CNAME', '\\084\\069\\083\\084.example.', 'TEST.example.'],
  ['DS', `06454 RSASHA256 2 ${SHA256.toUpperCase()}`, `6454 8 2 ${SHA256}`, `6454 8 2 ${SHA256}`],
  ['MX', '010 Mail.example.', '10 Mail.example.'],
  ['NS', 'NS1.example.', 'NS1.example.'],
  ['PTR', '$x.example.', '\\$x.example.', '\\$x.example.'],
  ['SRV', '01 02 03 a.example.', '1 2 3 a.example.'],
  ['TXT', '"\u00fc\t"', '"\\195\\188\\009"'],
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
  ['A', '192.0.2.1 192.0.2.2', malformed('A', 'expected end of record, got "192.0.2.2"')],
  ['AAAA', 'fe80::1%eth0', malformed('AAAA', 'Text input is malformed.')],
  ['CAA', 'x issue "a"', malformed('CAA', 'expecting an integer')],
  ['CNAME', 'a!.test.', refused('target', 'a!.test.')],
  ['DS', `1 13 2 ${SHA1}`, malformed('DS', 'digest length inconsistent with digest type')],
  ['MX', '10 $url.', refused('exchange', '\\$url.')],
  ['NS', LONG, TOO_LONG],
  ['PTR', 'a.example', NO_DOT],
  ['SRV', '1 2 3 _a.example.', refused('target', '_a.example.')],
  ['TXT', '"foo" bar', NO_QUOTES],
]

for (const [type, written, text] of REFUSED) {
  test(`${type} ${JSON.stringify(written).slice(0, 60)} is refused: ${text}`, async (t) => {
    const { api, domain } = await zone()
    const answer = await api.post(`/domains/${domain}/rrsets/`, rrset({ type, records: [written] }))
    t.deepEqual([answer.status, answer.text], [400, JSON.stringify({ non_field_errors: [text] })])
    t.is((await api.get(`/domains/${domain}/rrsets/www/${type}/`)).status, 404)
  })
}
