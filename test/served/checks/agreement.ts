import type { ExecutionContext } from 'ava'
import fc from 'fast-check'
import { decodeRdata, parseRdata } from '../../../src/dns/rdata.ts'
import { TYPES } from '../../../src/dns/types.ts'
import { RECORDS } from '../../dns/arbitraries.ts'
import { succeeded } from '../../support/api.ts'
import type { TestService } from '../../support/harness.ts'
import { SEED } from '../../support/random.ts'
import { query } from '../../support/dns/wire.ts'

/** The number of records in one zone, and of questions asked at once. */
const ZONE_SIZE = 600
const QUESTIONS = 16

interface GeneratedRRset {
  subname: string
  type: string
  records: string[]
}

/** Draws from a generator of fast-check with a seed. */
type Draw = <T>(arbitrary: fc.Arbitrary<T>) => T

/**
 * Writes `records` random records of all types, with one request per zone. Asserts that PowerDNS refuses none, and that
 * DNS serves exactly these records, octet for octet except for the case of names.
 */
export async function apiAndDnsAgree(t: ExecutionContext, service: TestService, records: number): Promise<void> {
  const { api } = await service.account()
  for (let left = records, i = 0; left > 0; left -= ZONE_SIZE, i++) {
    const zone = `agreement${i}.test`
    const rrsets = compose(Math.min(left, ZONE_SIZE), SEED + i)
    succeeded(await api.post('/domains/', { name: zone }), 201)
    const body = rrsets.map((rrset) => ({ ...rrset, ttl: 300 }))
    const { status, text } = await api.post(`/domains/${zone}/rrsets/`, body)
    t.is(status, 201, text.replaceAll('{},', ''))
    for (let at = 0; at < rrsets.length; at += QUESTIONS) {
      await Promise.all(rrsets.slice(at, at + QUESTIONS).map((rrset) => isServed(t, service, zone, rrset)))
    }
  }
}

async function isServed(
  t: ExecutionContext,
  service: TestService,
  zone: string,
  { subname, type, records }: GeneratedRRset,
) {
  const name = subname === '' ? `${zone}.` : `${subname}.${zone}.`
  const { answers, authorities } = await query(service.powerDns, name, type)
  // The NS RRset of a delegation is in the authority section.
  const served = [...answers, ...(type === 'NS' ? authorities : [])].filter(
    (record) => record.name === name && record.type === type,
  )
  const keys = served.map(({ rdata }) => hex(decodeRdata(type, rdata).key)).sort()
  const wanted = records.map((text) => hex(parseRdata(type, text).key)).sort()
  // At the apex PowerDNS adds the zone's own keys.
  const found = subname === '' ? keys.filter((key) => wanted.includes(key)) : keys
  t.deepEqual(found, wanted, `${name} ${type} ${JSON.stringify(records)}`)
}

function hex(octets: string): string {
  return Buffer.from(octets, 'latin1').toString('hex')
}

/** RRsets of all types in turn, with `size` records in total, at names where the type is allowed and can be queried. */
function compose(size: number, seed: number): GeneratedRRset[] {
  let next = seed
  const draw: Draw = (arbitrary) => fc.sample(arbitrary, { numRuns: 1, seed: next++ })[0]!
  const rrsets = new Map<string, GeneratedRRset>()
  const types = [...TYPES]
  for (let left = size, i = 0; left > 0; i++) {
    const [type, { single }] = types[i % types.length]!
    const count = single ? 1 : draw(fc.integer({ min: 1, max: Math.min(left, 5) }))
    const contents = fc.sample(RECORDS[type]!, { numRuns: count, seed: next++ })
    const records = [...new Map(contents.map((text) => [parseRdata(type, text).key, text])).values()]
    const subname = subnameFor(type, i, draw)
    if (rrsets.has(`${type} ${subname}`)) continue
    rrsets.set(`${type} ${subname}`, { subname, type, records })
    left -= records.length
  }
  return [...rrsets.values()]
}

const LABEL = fc.stringMatching(/^[a-z0-9_-]{1,20}$/)

/** A subname for an RRset. A type that changes the answers for other RRsets at or below its name gets its own name. */
function subnameFor(type: string, i: number, draw: Draw): string {
  if (TYPES.get(type)!.apex === 'only') return ''
  if (type === 'NS' || type === 'DS') return `child${Math.floor(i / TYPES.size)}`
  if (type === 'CNAME' || type === 'DNAME') return `${type.toLowerCase()}${i}`
  return draw(
    fc.oneof(
      fc.constantFrom('', '*', 'a', 'b', 'a.b', '*.b', '_a._tcp.b', 'www', 'x.y.z'),
      fc.array(LABEL, { minLength: 1, maxLength: 4 }).map((labels) => `${labels.join('.')}.in`),
    ),
  )
}
