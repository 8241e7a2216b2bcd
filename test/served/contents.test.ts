import test, { type ExecutionContext } from 'ava'
import fc from 'fast-check'
import { decodeRdata, parseRdata } from '../../src/dns/rdata.ts'
import { TYPES } from '../../src/dns/types.ts'
import { audit } from '../../src/service/repair/audit.ts'
import { RECORDS } from '../dns/arbitraries.ts'
import { EXAMPLES } from '../dns/examples/index.ts'
import { succeeded } from '../support/clients/api.ts'
import { depth } from '../support/depth.ts'
import { query } from '../support/dns/wire.ts'
import { isConsistent } from '../support/dns/zone.ts'
import { useService } from '../support/harness.ts'

// The API shows what was written, DNS serves it, and PowerDNS shows it, for all contents that may be spelled in several ways.

const service = useService()

/** The type and records of one RRset. */
type Contents = [type: string, texts: string[]]

/** The accepted examples of a type, as input. */
function examplesOf(type: string): string[] {
  return EXAMPLES.get(type)!.accepted.map((example) => (typeof example === 'string' ? example : example[0]))
}

function isSingle(type: string): boolean {
  return TYPES.get(type)!.single === true
}

const CONTENTS: fc.Arbitrary<Contents> = fc
  .constantFrom(...TYPES.keys())
  .chain((type) =>
    fc
      .array(RECORDS[type]!, { minLength: 1, maxLength: isSingle(type) ? 1 : 3 })
      .map((texts): Contents => [type, texts]),
  )

test.serial('DNS serves, octet for octet, the records that the API shows', async (t) => {
  // Its last label is in no record: in names that have it, compression would change its case.
  const zone = 'contents.no-random-name'
  const { api } = await service().account()
  t.is((await api.post('/domains/', { name: zone })).status, 201)
  let count = 0

  async function isServed([type, given]: Contents): Promise<void> {
    const texts = distinct(type, given)
    const contents = texts.map((text) => parseRdata(type, text))
    const apex = TYPES.get(type)!.apex === 'only'
    const subname = apex ? '' : `r${count++}`
    if (apex) await api.delete(`/domains/${zone}/rrsets/@/${type}/`)
    const body = { subname, type, ttl: 60, records: texts }
    const { status, text, json } = await api.post(`/domains/${zone}/rrsets/`, body)
    t.is(status, 201, `${type} ${JSON.stringify(texts)}: ${text}`)
    const records = contents.map((content) => content.text)
    t.deepEqual((json as { records: string[] }).records, records)

    const name = apex ? `${zone}.` : `${subname}.${zone}.`
    const { answers, authorities } = await query(service().powerDns, name, type)
    const served = [...answers, ...authorities].filter((record) => record.name === name && record.type === type)
    const keys = new Set(served.map(({ rdata }) => decodeRdata(type, rdata).key))
    for (const content of contents) t.true(keys.has(content.key), `${name} ${type} ${content.text}`)
    // At the apex PowerDNS adds its own records, with their own TTL.
    if (apex) return
    t.is(served.length, contents.length, `${name} ${type}`)
    // With several records, name compression may change the case of names.
    if (served.length === 1) t.is(served[0]!.rdata, contents[0]!.wire)
    t.deepEqual(new Set(served.map(({ ttl }) => ttl)), new Set([60]))
  }

  for (const type of EXAMPLES.keys()) {
    const texts = examplesOf(type)
    for (const set of isSingle(type) ? texts.map((text) => [text]) : [texts]) await isServed([type, set])
  }
  await fc.assert(fc.asyncProperty(CONTENTS, isServed), { numRuns: depth(300, 4_000), endOnFailure: true })
})

/** The records without duplicates: one spelling of each. */
function distinct(type: string, texts: string[]): string[] {
  const byKey = new Map(texts.map((text) => [parseRdata(type, text).key, text]))
  return [...byKey.values()]
}

/** Records with an octet, written as `\DDD`, in each field that may hold it. */
const FIELDS: Record<string, (octet: string) => string> = {
  PTR: (octet) => `a${octet}b.${octet}.`,
  RP: (octet) => `${octet}. a.${octet}${octet}.`,
  AFSDB: (octet) => `1 ${octet}a.`,
  KX: (octet) => `1 a${octet}.`,
  LP: (octet) => `1 ${octet}.`,
  DNAME: (octet) => `${octet}.a.`,
  NAPTR: (octet) => `1 2 "${octet}" "a${octet}" "!\\\\${octet}!b\\\\${octet}!" ${octet}.`,
  TXT: (octet) => `"${octet}" "a${octet}b" "${octet}${octet}"`,
  SPF: (octet) => `"v=${octet}"`,
  HINFO: (octet) => `"${octet}" "a${octet}"`,
  CAA: (octet) => `0 issue "${octet}b${octet}"`,
  URI: (octet) => `1 2 "${octet}${octet}b"`,
  SVCB: (octet) => `1 a${octet}. key65400="a"`,
  HTTPS: (octet) => `0 ${octet}.`,
}

/** The same for values of parameters, and the octets that cannot stand there, or not as `\DDD`. */
const VALUES: Record<string, [value: (octet: string) => string, refused: RegExp]> = {
  key7: [(octet) => `1 . key7="a${octet}${octet}"`, /[;()]/],
  key65400: [(octet) => `1 . key65400="${octet}b" key65401="${octet}${octet}"`, /[;()]/],
  alpn: [(octet) => `1 . alpn=a${octet},${octet}b`, /[^!#-'*-+\--:<-[\]-~]/],
}

const OCTETS = Array.from({ length: 256 }, (_, octet) => `\\${String(octet).padStart(3, '0')}`)

interface Input {
  subname: string
  type: string
  ttl: number
  records: string[]
}

/** An RRset for each record, at its own name. */
function spread(type: string, records: string[], label = type.toLowerCase()): Input[] {
  return records.map((record, i) => ({ subname: `${label}-${i}`, type, ttl: 60, records: [record] }))
}

/** Creates a domain with these RRsets, of which the last tests assert that PowerDNS serves and shows what the API does. */
async function areAccepted(t: ExecutionContext, domain: string, rrsets: Input[]): Promise<void> {
  const { api } = await service().account()
  succeeded(await api.post('/domains/', { name: domain }), 201)
  const { status, text } = await api.post(`/domains/${domain}/rrsets/`, rrsets)
  t.is(status, 201, text.replaceAll('{},', ''))
}

test.serial('every octet is accepted in every field that may hold it', async (t) => {
  const fields = Object.entries(FIELDS).flatMap(([type, field]) => spread(type, OCTETS.map(field)))
  const values = Object.entries(VALUES).flatMap(([key, [value, refused]]) => {
    const octets = OCTETS.filter((_, octet) => !refused.test(String.fromCharCode(octet)))
    return spread('SVCB', octets.map(value), key)
  })
  await areAccepted(t, 'octets.zz', [...fields, ...values])
})

test.serial('every minute and second of an angle, and 0, is accepted', async (t) => {
  const rest = '0m 1m 10000m 10m'
  const zeros = ['0 N 0 E', '0 S 0 W', '0 0 0.001 N 0 0 0.001 E', '0 0 0.001 S 0 0 0.001 W', '90 S 180 W']
  const minutes = Array.from({ length: 60 }, (_, i) => [`${i} ${i} N ${2 * i} ${i} ${i} E`, `1 ${i} S 3 ${i} 0.5 W`])
  const records = [...zeros, ...minutes.flat()].map((angles) => `${angles} ${rest}`)
  await areAccepted(t, 'angles.zz', spread('LOC', records))
})

test.serial('every type in CSYNC is accepted', async (t) => {
  const types = Array.from({ length: 65_535 }, (_, i) => `TYPE${i + 1}`)
  const lists = Array.from({ length: 14 }, (_, i) => types.slice(5000 * i, 5000 * (i + 1)).join(' '))
  await areAccepted(
    t,
    'types.zz',
    spread(
      'CSYNC',
      lists.filter(Boolean).map((list) => `1 0 ${list}`),
    ),
  )
})

test.serial('named parameters are accepted, also as mandatory ones', async (t) => {
  await areAccepted(
    t,
    'parameters.zz',
    spread('HTTPS', [
      '1 . dohpath=/q{?dns} ohttp',
      '1 key7. mandatory=alpn,dohpath,ohttp,key77 alpn=key7 dohpath=/q ohttp key77=key8',
      '1 . mandatory=port port=1 key65400=" mandatory=key7 key7=\\"x\\" key8=\\"\\""',
    ]),
  )
})

test.serial('a parameter that PowerDNS 5.1 cannot spell is refused; others serve it', async (t) => {
  const { version } = (await service().pdns('GET', '')).json as { version: string }
  const { api } = await service().account()
  const domain = 'refused.zz'
  succeeded(await api.post('/domains/', { name: domain }), 201)
  for (const [i, records] of [['1 . key65400=""'], ['1 . key9="\\000\\029"']].entries()) {
    const rrset = { subname: `p${i}`, type: 'SVCB', ttl: 60, records }
    const { status, text } = await api.post(`/domains/${domain}/rrsets/`, rrset)
    if (/^4\.|^5\.0/.test(version)) t.is(status, 201, text)
    else t.regex(text, /^\{"non_field_errors":\["The DNS backend refused this RRset: Record /)
  }
})

test.serial('all of these are served as they were written', async (t) => {
  await isConsistent(t, service())
})

test.serial('PowerDNS shows all of these as they were written', async (t) => {
  t.deepEqual(await audit(service().system, () => true), [])
})
