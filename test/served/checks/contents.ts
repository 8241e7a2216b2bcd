import type { ExecutionContext } from 'ava'
import fc from 'fast-check'
import { decodeRdata, parseRdata } from '../../../src/dns/rdata.ts'
import { TYPES } from '../../../src/dns/types.ts'
import { RECORDS } from '../../dns/arbitraries.ts'
import { EXAMPLES } from '../../dns/examples/index.ts'
import type { TestService } from '../../support/harness.ts'
import { query } from '../../support/dns/wire.ts'

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

/**
 * Writes every example and `runs` random RRsets, and asserts that the API and DNS have what was written.
 * @param zone its last label is in no record: in names that have it, compression would change its case
 */
export async function contentsAreServed(
  t: ExecutionContext,
  service: TestService,
  zone: string,
  runs: number,
): Promise<void> {
  const { api } = await service.account()
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
    const { answers, authorities } = await query(service.powerDns, name, type)
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
  await fc.assert(fc.asyncProperty(CONTENTS, isServed), { numRuns: runs, endOnFailure: true })
}

/** The records without duplicates: one spelling of each. */
function distinct(type: string, texts: string[]): string[] {
  const byKey = new Map(texts.map((text) => [parseRdata(type, text).key, text]))
  return [...byKey.values()]
}
