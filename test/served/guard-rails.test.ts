import type { ExecutionContext } from 'ava'
import { newDomain, rrset, type RRsetBody, shared, succeeded } from '../support/clients/api.ts'
import { contentOf, query } from '../support/dns/wire.ts'
import { useService } from '../support/harness.ts'
import { test } from '../support/serial.ts'

// PowerDNS 4.7 does not survive some contents, does not serve others, and accepts some that are invalid. The service
// sends it none of them. PowerDNS survives the largest contents that the service accepts.

const service = useService({ THROTTLE: 'off' })

const account = shared(async () => {
  const { api } = await service().account()
  return { api, domain: await newDomain(api, 'rails.test') }
})

const object = (text: string) => ({ non_field_errors: [text] })
const malformed = (type: string, reason: string) => object(`Record content for type ${type} malformed: ${reason}`)
const unsupported = (type: string) => ({ type: [`The ${type} RR set type is currently unsupported.`] })
const invalid = (role: string, name: string) => object(`Cannot parse record contents: invalid ${role}: ${name}`)
const tooLong = (size: number) => ({
  records: [`Ensure this field has no more than 64000 characters after JSON encoding (it has ${size}).`],
})
const ADDRESSES = Array.from({ length: 4092 }, (_, i) => `10.0.${i >> 8}.${i & 255}`)

/** One of each kind of refusal. Which contents are refused, and with which text: test/dns/examples. */
const REFUSED: [title: string, members: RRsetBody, problems: object][] = [
  ['64,001 characters of records', { type: 'TXT', records: [`"${'a'.repeat(63_993)}"`] }, tooLong(64_001)],
  [
    'records that grow beyond 64,000 characters in canonical form',
    { type: 'CAA', records: [`0 issue "${'\u00fc'.repeat(31_000)}"`] },
    tooLong(31_000 * 10 + 16),
  ],
  [
    'rdata beyond 64,000 octets',
    { type: 'CAA', records: [`0 issue "${'\u00fc'.repeat(32_000)}"`] },
    malformed('CAA', 'the record is longer than 64000 octets'),
  ],
  ['CAA without value', { type: 'CAA', records: ['0 issue ""'] }, malformed('CAA', 'the value is empty')],
  ...['ALIAS', 'LUA', 'IPSECKEY', 'ZONEMD', 'TKEY'].map((type): [string, RRsetBody, object] => [
    `the type ${type}`,
    { type, records: ['x'] },
    unsupported(type),
  ]),
  ['an underscore in NS', { type: 'NS', records: ['_a.test.'] }, invalid('target', '_a.test.')],
  [
    'two DNAMEs',
    { type: 'DNAME', records: ['a.test.', 'b.test.'] },
    object('DNAME RRset cannot have multiple records.'),
  ],
]

/** Asserts that PowerDNS is still the same process, answers questions and accepts changes. */
async function isAlive(t: ExecutionContext): Promise<void> {
  const { powerDns } = service()
  t.true(process.kill(powerDns.pid, 0))
  const { api, domain } = await account()
  t.is((await query(powerDns, domain, 'SOA')).rcode, 'NOERROR')
  const path = `/domains/${domain}/rrsets/`
  const subname = 'alive'
  t.is((await api.post(path, rrset({ subname }))).status, 201)
  const { answers } = await query(powerDns, `${subname}.${domain}`, 'A', { dnssec: false })
  t.deepEqual(answers.map(contentOf), ['192.0.2.1'])
  t.is((await api.delete(`${path}${subname}/A/`)).status, 204)
}

for (const [title, members, problems] of REFUSED) {
  test(`${title}: refused, and not sent to PowerDNS`, async (t) => {
    const { api, domain } = await account()
    const { proxy } = service()
    proxy.calls.length = 0
    const { status, text } = await api.post(`/domains/${domain}/rrsets/`, rrset(members))
    t.is(status, 400)
    t.is(text, JSON.stringify(problems))
    t.deepEqual(proxy.calls, [])
  })
}

const LONGEST: [type: string, record: (filler: string) => string][] = [
  ['TXT', (filler) => `"${filler}"`],
  ['SPF', (filler) => `"${filler}"`],
  ['CAA', (filler) => `0 issue "${filler}"`],
  ['URI', (filler) => `1 1 "${filler}"`],
  ['SVCB', (filler) => `1 . key65400="${filler}"`],
  ['HTTPS', (filler) => `1 . alpn=${filler.replace(/.{255}/g, '$&,')}`],
  ['OPENPGPKEY', (filler) => filler],
  ['DHCID', (filler) => filler],
  ['TLSA', (filler) => `3 1 1 ${filler}`],
  ['SSHFP', (filler) => `1 1 ${filler}`],
]

test('PowerDNS survives and serves the longest records', async (t) => {
  const { api, domain } = await account()
  for (const [type, record] of LONGEST) {
    const subname = `longest-${type.toLowerCase()}`
    const records = [record('a'.repeat(62_400))]
    succeeded(await api.post(`/domains/${domain}/rrsets/`, rrset({ subname, type, records })), 201)
    for (const dnssec of [false, true]) {
      const { rcode, answers } = await query(service().powerDns, `${subname}.${domain}`, type, { dnssec })
      t.is(rcode, 'NOERROR', type)
      t.is(answers.filter((answer) => answer.type === type).length, 1, type)
    }
    await isAlive(t)
  }
})

test('PowerDNS survives and serves the largest number of records', async (t) => {
  const { api, domain } = await account()
  const records = ADDRESSES.slice(0, 4091)
  succeeded(await api.post(`/domains/${domain}/rrsets/`, rrset({ subname: 'most', records })), 201)
  const { answers } = await query(service().powerDns, `most.${domain}`, 'A', { dnssec: false })
  t.is(answers.length, 4091)
  await isAlive(t)
})

test('at the end PowerDNS still runs and answers', async (t) => {
  await isAlive(t)
})
