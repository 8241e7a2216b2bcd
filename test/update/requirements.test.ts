import { CLASSES } from '../../src/dns/wire/messages.ts'
import { newDomain, shared } from '../support/clients/api.ts'
import { type Key, keyFor, nameOn, rcodeOf, sendTo, signedWith } from '../support/clients/dns-update.ts'
import { servedSerial, transferred } from '../support/dns/wire.ts'
import { useService } from '../support/harness.ts'
import { test } from '../support/serial.ts'
import { type Line, messageFor } from './generated.ts'

// RFC 2136 §2, §3 and §7, requirement by requirement (contract §21.4; docs/design/dns-update.md has the table).

const service = useService({ DNS_UPDATE_PORT: '0' })

const { IN, NONE, ANY } = CLASSES
const A = '192.0.2.1'
const OCTETS = Buffer.from([192, 0, 2, 1])

interface Site {
  api: Awaited<ReturnType<ReturnType<typeof service>['account']>>['api']
  zone: string
  key: Key
}

const site = shared(async (): Promise<Site> => {
  const { api, tokenId } = await service().account({ limitDomains: null })
  return { api, zone: await newDomain(api), key: await keyFor(api, tokenId) }
})

const add = (name: string, type: string | number, content: string | Buffer, ttl = 3600): Line => ({ name, type, class: IN, ttl, content }) // prettier-ignore
const drop = (name: string, type: string | number, content: string | Buffer): Line => ({ name, type, class: NONE, ttl: 0, content }) // prettier-ignore
const dropAll = (name: string, type: string | number = 'ANY'): Line => ({ name, type, class: ANY, ttl: 0 })
const is = (name: string, type: string, content: string): Line => ({ name, type, class: IN, ttl: 0, content })
const exists = (name: string, type: string | number = 'ANY'): Line => ({ name, type, class: ANY, ttl: 0 })
const absent = (name: string, type: string | number = 'ANY'): Line => ({ name, type, class: NONE, ttl: 0 })

async function send(message: Buffer): Promise<string> {
  const { key } = await site()
  return rcodeOf(await sendTo(service().updatePort!, signedWith(key, message).message))
}

/** What each message finds besides SOA and NS: the names below are in use, `ent` has names below it alone. */
const BEFORE = [
  add('www', 'A', A),
  add('www', 'A', '192.0.2.2'),
  add('www', 'TXT', '"a"'),
  add('alias', 'CNAME', 'a.example.'),
  add('mail', 'MX', '10 mail.example.'),
  add('x.ent', 'A', A),
]
const NAMES = ['', 'www', 'alias', 'mail', 'x.ent', 'ent', 'new', 'ns', '*.w']

/** The zone before each row, as `name type` → TTL and contents. */
const START: Record<string, string> = {
  'alias CNAME': '3600 a.example.',
  'mail MX': '3600 10 mail.example.',
  'www A': '3600 192.0.2.1, 192.0.2.2',
  'www TXT': '3600 "a"',
  'x.ent A': '3600 192.0.2.1',
}

async function recordsOf(): Promise<Record<string, string>> {
  const { zone } = await site()
  const rrsets = await transferred(service().powerDns, zone)
  return Object.fromEntries(
    rrsets
      .filter(({ name, type }) => !(name === `${zone}.` && type === 'NS'))
      .map(({ name, type, ttl, records }) => [
        `${name.slice(0, -zone.length - 2) || '@'} ${type}`,
        `${ttl} ${records.join(', ')}`,
      ]),
  )
}

interface Parts {
  prerequisites?: Line[]
  updates?: Line[]
}

/** Section, requirement, message, answer, and what of the zone is different then; `-`: it is gone. */
type Row = [section: string, title: string, parts: Parts, rcode: string, changed?: Record<string, string>]

const proof = [add('new', 'A', A)]
const came = { 'new A': `3600 ${A}` }
/** A prerequisite, or several, and what an addition with it is answered. */
const given = (section: string, title: string, prerequisites: Line[], rcode: string): Row => [
  section,
  title,
  { prerequisites, updates: proof },
  rcode,
  rcode === 'NOERROR' ? came : {},
]
/** Updates that are malformed, or outside: nothing before them is done either. */
const wrong = (section: string, title: string, line: Line, rcode = 'FORMERR'): Row => [
  section,
  title,
  { updates: [...proof, line] },
  rcode,
]

const METATYPES = [249, 250, 251, 252, 253, 254, 41]

const ROWS: Row[] = [
  given('2.4.1', 'an RRset that exists', [exists('www', 'A')], 'NOERROR'),
  given('2.4.1', 'an RRset that does not exist, at a name in use', [exists('www', 'AAAA')], 'NXRRSET'),
  given('2.4.1', 'the SOA exists', [exists('', 'SOA')], 'NOERROR'),
  given('2.4.1', 'a TTL', [{ ...exists('www', 'A'), ttl: 1 }], 'FORMERR'),
  given('2.4.1', 'data', [{ ...exists('www', 'A'), content: OCTETS }], 'FORMERR'),
  given('2.4.1', 'names in any case', [exists('WWW', 'A')], 'NOERROR'),
  given('2.4.2', 'all records, in any order', [is('www', 'A', '192.0.2.2'), is('www', 'A', A)], 'NOERROR'),
  given('2.4.2', 'only some of the records', [is('www', 'A', A)], 'NXRRSET'),
  given('2.4.2', 'more records', [is('www', 'A', A), is('www', 'A', '192.0.2.2'), is('www', 'A', '192.0.2.3')], 'NXRRSET'), // prettier-ignore
  given('2.4.2', 'other records', [is('www', 'A', A), is('www', 'A', '192.0.2.3')], 'NXRRSET'),
  given('2.4.2', 'names in data in any case', [is('mail', 'MX', '10 MAIL.example.')], 'NOERROR'),
  given('2.4.2', 'RRsets mixed, one of which differs', [is('mail', 'MX', '10 mail.example.'), is('www', 'TXT', '"b"')], 'NXRRSET'), // prettier-ignore
  given('2.4.2', 'a TTL', [{ ...is('mail', 'MX', '10 mail.example.'), ttl: 3600 }], 'FORMERR'),
  given('2.4.2', 'a record twice', [is('www', 'TXT', '"a"'), is('www', 'TXT', '"a"')], 'NOERROR'),
  given('2.4.3', 'no such RRset', [absent('www', 'AAAA')], 'NOERROR'),
  given('2.4.3', 'an RRset that exists must not', [absent('www', 'A')], 'YXRRSET'),
  given('2.4.3', 'a TTL', [{ ...absent('www', 'AAAA'), ttl: 1 }], 'FORMERR'),
  given('2.4.3', 'data', [{ ...absent('www', 'AAAA'), content: OCTETS }], 'FORMERR'),
  given('2.4.4', 'a name in use', [exists('www')], 'NOERROR'),
  given('2.4.4', 'a name that is not in use', [exists('none')], 'NXDOMAIN'),
  given('2.4.4', 'the apex', [exists('')], 'NOERROR'),
  given('2.4.4', 'a TTL', [{ ...exists('www'), ttl: 1 }], 'FORMERR'),
  given('2.4.4', 'data', [{ ...exists('www'), content: OCTETS }], 'FORMERR'),
  given('2.4.5', 'no such name', [absent('none')], 'NOERROR'),
  given('2.4.5', 'a name in use must not be', [absent('www')], 'YXDOMAIN'),
  given('2.4.5', 'a TTL', [{ ...absent('none'), ttl: 1 }], 'FORMERR'),
  given('3.2', 'a name outside of the zone', [exists('other.', 'A')], 'NOTZONE'),
  given('3.2.3', 'a class of its own', [{ ...exists('www', 'A'), class: 3 }], 'FORMERR'),
  given('3.2.3', 'contents of type ANY', [{ ...is('www', 'A', A), type: 'ANY', content: OCTETS }], 'FORMERR'),
  given('3.2.5', 'contents are compared last', [is('www', 'A', A), absent('www')], 'YXDOMAIN'),
  given('3.2.5', 'the first that does not hold is told', [exists('none'), absent('www')], 'NXDOMAIN'),

  ['2.5.1', 'additions', { updates: [add('new', 'A', A), add('www', 'A', '192.0.2.3')] }, 'NOERROR', { ...came, 'www A': '3600 192.0.2.1, 192.0.2.2, 192.0.2.3' }], // prettier-ignore
  ['2.5.2', 'the deletion of an RRset', { updates: [dropAll('www', 'A')] }, 'NOERROR', { 'www A': '-' }],
  ['2.5.3', 'the deletion of all RRsets of a name', { updates: [dropAll('www')] }, 'NOERROR', { 'www A': '-', 'www TXT': '-' }], // prettier-ignore
  ['2.5.4', 'the deletion of a record', { updates: [drop('www', 'A', A)] }, 'NOERROR', { 'www A': '3600 192.0.2.2' }],
  ['2.5.4', 'the deletion of the last record', { updates: [drop('mail', 'MX', '10 MAIL.example.')] }, 'NOERROR', { 'mail MX': '-' }], // prettier-ignore
  wrong('3.4.1', 'a name outside of the zone', add('other.', 'A', A), 'NOTZONE'),
  wrong('3.4.1', 'a class of its own', { ...add('www', 'A', A), class: 3 }),
  wrong('3.4.1.2', 'an addition of ANY', add('www', 'ANY', OCTETS)),
  wrong('3.4.1.2', 'a deletion of a record of ANY', drop('www', 'ANY', OCTETS)),
  ...METATYPES.flatMap((type): Row[] => [
    wrong('3.4.1.2', `an addition of type ${type}`, add('www', type, OCTETS)),
    wrong('3.4.1.2', `a deletion of a record of type ${type}`, drop('www', type, OCTETS)),
    wrong('3.4.1.2', `a deletion of type ${type}`, dropAll('www', type)),
  ]),
  wrong('3.4.1.2', 'a TTL in a deletion of a record', { ...drop('www', 'A', A), ttl: 1 }),
  wrong('3.4.1.2', 'a TTL in a deletion of an RRset', { ...dropAll('www', 'A'), ttl: 1 }),
  wrong('3.4.1.2', 'a TTL in a deletion of a name', { ...dropAll('www'), ttl: 1 }),
  wrong('3.4.1.2', 'data in a deletion of an RRset', { ...dropAll('www', 'A'), content: OCTETS }),
  wrong('3.4.1.2', 'data that is too short for its type', add('www', 'A', OCTETS.subarray(1))),
  wrong('3.4.1.2', 'data that is too long for its type', add('www', 'A', Buffer.concat([OCTETS, OCTETS]))),
  wrong('3.4.1.2', 'a type that the service does not have', add('www', 65_280, OCTETS), 'REFUSED'),
  ['3.4.2', 'updates are carried out in order: come and gone', { updates: [...proof, dropAll('new', 'A')] }, 'NOERROR'],
  ['3.4.2', 'updates are carried out in order: gone and come', { updates: [dropAll('www'), add('www', 'A', A)] }, 'NOERROR', { 'www A': `3600 ${A}`, 'www TXT': '-' }], // prettier-ignore
  ['3.4.2.2', 'a record that is there gets the new TTL', { updates: [add('www', 'TXT', '"a"', 60)] }, 'NOERROR', { 'www TXT': '60 "a"' }], // prettier-ignore
  ['3.4.2.2', 'a CNAME beside other records is ignored', { updates: [add('www', 'CNAME', 'b.example.')] }, 'NOERROR'],
  ['3.4.2.2', 'another record beside a CNAME is ignored', { updates: [add('alias', 'A', A)] }, 'NOERROR'],
  ['3.4.2.2', 'a CNAME replaces one', { updates: [add('alias', 'CNAME', 'b.example.', 60)] }, 'NOERROR', { 'alias CNAME': '60 b.example.' }], // prettier-ignore
  ['3.4.2.2', 'a CNAME can come once other records are gone', { updates: [dropAll('www'), add('www', 'CNAME', 'b.example.')] }, 'NOERROR', { 'www A': '-', 'www TXT': '-', 'www CNAME': '3600 b.example.' }], // prettier-ignore
  ['3.4.2.2', 'of two that cannot be together, the first counts', { updates: [add('new', 'A', A), add('new', 'CNAME', 'b.example.')] }, 'NOERROR', came], // prettier-ignore
  ['3.4.2.2', 'a DNAME replaces one', { updates: [add('new', 39, Buffer.from('\x01a\x00')), add('new', 39, Buffer.from('\x01b\x00'))] }, 'NOERROR', { 'new DNAME': '3600 b.' }], // prettier-ignore
  ['3.4.2.4', 'a record that is not there', { updates: [drop('www', 'A', '192.0.2.9'), drop('none', 'A', A)] }, 'NOERROR'], // prettier-ignore
  ['3.4.2.4', 'the last NS below the apex goes', { updates: [add('ns', 'NS', 'ns.example.'), drop('ns', 'NS', 'ns.example.')] }, 'NOERROR'], // prettier-ignore
  ['3.7', 'nothing is done if one update is refused', { updates: [dropAll('www'), ...proof, add('mail', 'A', A, 1)] }, 'REFUSED'], // prettier-ignore
  ['7.2', 'what is not there can be deleted', { updates: [dropAll('none'), dropAll('www', 'AAAA')] }, 'NOERROR'],
  ['7.12', 'all records of an RRset have one TTL', { updates: [add('www', 'A', '192.0.2.3', 60)] }, 'NOERROR', { 'www A': '60 192.0.2.1, 192.0.2.2, 192.0.2.3' }], // prettier-ignore
  ['7.14', 'targets need not exist', { updates: [add('new', 'MX', '10 nothing.invalid.')] }, 'NOERROR', { 'new MX': '3600 10 nothing.invalid.' }], // prettier-ignore
  ['7.15', 'a wildcard may have a CNAME', { updates: [add('*.w', 'CNAME', 'a.example.')] }, 'NOERROR', { '*.w CNAME': '3600 a.example.' }], // prettier-ignore
  given('7.16', 'a name with names below it alone is not in use', [exists('ent')], 'NXDOMAIN'),
  given('7.16', 'a name with names below it alone is not in use, which may be required', [absent('ent')], 'NOERROR'),
  ['7.18', 'names below a new zone cut stay', { updates: [add('ent', 'NS', 'ns.example.')] }, 'NOERROR', { 'ent NS': '3600 ns.example.' }], // prettier-ignore
]

for (const [section, title, { prerequisites = [], updates = [] }, rcode, changed = {}] of ROWS) {
  test(`RFC 2136 §${section}: ${title}: ${rcode}`, async (t) => {
    const { zone } = await site()
    const clear = NAMES.map((name) => dropAll(name))
    t.is(await send(messageFor(zone, { prerequisites: [], updates: [...clear, ...BEFORE] })), 'NOERROR')
    t.is(await send(messageFor(zone, { prerequisites, updates })), rcode)
    const expected = Object.entries({ ...START, ...changed }).filter(([, value]) => value !== '-')
    t.deepEqual(await recordsOf(), Object.fromEntries(expected))
  })
}

test('RFC 2136 §2.6 and §7.3: additional records are ignored', async (t) => {
  const { zone } = await site()
  const message = messageFor(zone, { prerequisites: [add('glue', 'A', A)], updates: [] })
  // The section of prerequisites becomes that of additional records.
  message.writeUInt16BE(0, 6)
  message.writeUInt16BE(1, 10)
  t.is(await send(message), 'NOERROR')
  t.false('glue A' in (await recordsOf()))
})

test('RFC 2136 §3.1: there is one zone, given by SOA, of class IN, or the answer is FORMERR, or NOTAUTH', async (t) => {
  const { zone } = await site()
  const message = () => messageFor(zone, { prerequisites: [], updates: proof })
  const end = 12 + zone.length + 2
  const withFields = (type: number, kind: number) => {
    const changed = message()
    changed.writeUInt16BE(type, end)
    changed.writeUInt16BE(kind, end + 2)
    return changed
  }
  t.is(await send(withFields(6, 1)), 'NOERROR')
  for (const type of [1, 2, 255, 252]) t.is(await send(withFields(type, 1)), 'FORMERR')
  for (const kind of [0, 3, 254, 255]) t.is(await send(withFields(6, kind)), 'NOTAUTH')
  const question = message().subarray(12, end + 4)
  const twice = Buffer.concat([message().subarray(0, end + 4), question])
  twice.writeUInt16BE(2, 4)
  twice.writeUInt16BE(0, 8)
  t.is(await send(twice), 'FORMERR')
})

test('RFC 2136 §3.6: the serial grows with each change, whatever SOA an update has', async (t) => {
  const { zone } = await site()
  const serial = () => servedSerial(service().powerDns, zone)
  const soa = (number: number) => {
    const numbers = Buffer.alloc(20)
    numbers.writeUInt32BE(number)
    return add('', 'SOA', Buffer.concat([Buffer.from('\x01a\x00\x01b\x00'), numbers]))
  }
  for (const updates of [[add('new', 'A', '192.0.2.7')], [soa(0), add('new', 'A', '192.0.2.8')], [soa(2 ** 31), dropAll('new')]]) {
    const before = await serial()
    t.is(await send(messageFor(zone, { prerequisites: [], updates })), 'NOERROR')
    const after = await serial()
    t.true(after > before && after < before + 10, `${before} ${after}`)
  } // prettier-ignore
})

test('RFC 2136 §3.7: of ten updates at once that require a name that is not in use, one is carried out', async (t) => {
  const { zone } = await site()
  const messages = Array.from({ length: 10 }, (_, i) => messageFor(zone, { prerequisites: [absent('once')], updates: [add('once', 'A', `192.0.2.${i}`)] })) // prettier-ignore
  const rcodes = await Promise.all(messages.map(send))
  t.deepEqual(rcodes.toSorted(), ['NOERROR', ...Array<string>(9).fill('YXDOMAIN')])
  const { 'once A': records } = await recordsOf()
  t.is(records, `3600 192.0.2.${rcodes.indexOf('NOERROR')}`)
})

test('RFC 2136 §3.8: the answer has id, opcode and zone of the message, and none of its other sections', async (t) => {
  const { zone, key } = await site()
  const { message } = signedWith(key, messageFor(zone, { prerequisites: [exists('')], updates: proof }))
  const answer = (await sendTo(service().updatePort!, message))!
  t.is(answer.readUInt16BE(0), message.readUInt16BE(0))
  t.is(answer.readUInt16BE(2), 0x8000 | (5 << 11))
  t.deepEqual(
    [4, 6, 8, 10].map((at) => answer.readUInt16BE(at)),
    [1, 0, 0, 1],
  )
  t.deepEqual(answer.subarray(12, 12 + nameOn(zone).length), nameOn(zone))
})

test('RFC 2136 §7.13: SOA and NS of the apex stay, but for an NS that is not the last', async (t) => {
  const { zone } = await site()
  const nameservers = async () => (await transferred(service().powerDns, zone)).find(({ name, type }) => name === `${zone}.` && type === 'NS')!.records // prettier-ignore
  const [first, last] = await nameservers()
  const updates = [dropAll(''), dropAll('', 'NS'), dropAll('', 'SOA')]
  t.is(await send(messageFor(zone, { prerequisites: [], updates })), 'NOERROR')
  t.deepEqual(await nameservers(), [first!, last!])
  t.is(await send(messageFor(zone, { prerequisites: [], updates: [drop('', 'NS', first!), drop('', 'NS', last!)] })), 'NOERROR') // prettier-ignore
  t.deepEqual(await nameservers(), [last!])
})

test('RFC 2136 §7.16: a name whose last record goes is not in use', async (t) => {
  const { zone } = await site()
  t.is(await send(messageFor(zone, { prerequisites: [], updates: [add('brief', 'A', A)] })), 'NOERROR')
  t.is(await send(messageFor(zone, { prerequisites: [exists('brief')], updates: [drop('brief', 'A', A)] })), 'NOERROR')
  t.is(await send(messageFor(zone, { prerequisites: [exists('brief')], updates: [] })), 'NXDOMAIN')
})
