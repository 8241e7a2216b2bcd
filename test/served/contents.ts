import type { ExecutionContext } from 'ava'
import fc from 'fast-check'
import { decodeRdata, parseRdata } from '../../src/dns/rdata.ts'
import { EXAMPLES } from '../dns/examples/index.ts'
import { query } from '../support/wire.ts'
import type { World } from '../support/world.ts'

/** A record as somebody could write it. */
type Content = [type: string, text: string]

const number = (bits: number) => fc.nat(2 ** bits - 1).map(String)
const octets = (min: number, max: number) =>
  fc.uint8Array({ minLength: min, maxLength: max }).map((bytes) => [...bytes])
const hex = (bytes: number) => octets(bytes, bytes).map((values) => Buffer.from(values).toString('hex'))
const escaped = (values: number[]) => values.map((octet) => `\\${String(octet).padStart(3, '0')}`).join('')
const quoted = (values: number[]) => `"${escaped(values)}"`

const chars = (text: string) => fc.constantFrom(...Array.from(text))
const ALNUM = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'
const hostLabel = fc
  .tuple(chars(ALNUM), fc.string({ unit: chars(`${ALNUM}-`), maxLength: 61 }), chars(ALNUM))
  .map((parts) => parts.join(''))
const host = fc.array(hostLabel, { minLength: 1, maxLength: 3 }).map((labels) => `${labels.join('.')}.`)
const alias = fc
  .array(fc.string({ unit: chars(`${ALNUM}-_*`), minLength: 1, maxLength: 63 }), { minLength: 1, maxLength: 3 })
  .map((labels) => `${labels.join('.')}.`)
const anyName = fc.array(octets(1, 63), { maxLength: 3 }).map((labels) => labels.map(escaped).join('.') + '.')
const digest = fc.constantFrom<[string, number]>(['1', 20], ['2', 32], ['3', 32], ['4', 48], ['200', 7])

const TEXTS: Record<string, fc.Arbitrary<string>> = {
  A: fc.ipV4(),
  AAAA: fc.ipV6(),
  NS: host,
  CNAME: alias,
  PTR: anyName,
  MX: fc.tuple(number(16), host).map((fields) => fields.join(' ')),
  SRV: fc.tuple(number(16), number(16), number(16), fc.oneof(host, fc.constant('.'))).map((fields) => fields.join(' ')),
  TXT: fc.array(octets(0, 300).map(quoted), { minLength: 1, maxLength: 3 }).map((strings) => strings.join(' ')),
  CAA: fc
    .tuple(number(8), fc.string({ unit: chars(ALNUM), minLength: 1, maxLength: 20 }), octets(1, 300).map(quoted))
    .map((fields) => fields.join(' ')),
  DS: digest.chain(([type, length]) =>
    fc.tuple(number(16), number(8), fc.constant(type), hex(length)).map((fields) => fields.join(' ')),
  ),
}

/** The accepted examples of a type, as input. */
function examplesOf(type: string): string[] {
  return EXAMPLES.get(type)!.accepted.map((example) => (typeof example === 'string' ? example : example[0]))
}

const CONTENT: fc.Arbitrary<Content[]> = fc.constantFrom(...Object.keys(TEXTS)).chain((type) =>
  fc.array(
    fc
      .oneof({ arbitrary: TEXTS[type]!, weight: 2 }, fc.constantFrom(...examplesOf(type)))
      .map((text): Content => [type, text]),
    { minLength: 1, maxLength: type === 'CNAME' ? 1 : 3 },
  ),
)

/** Writes so many random RRsets, and every example, and asserts that the API and DNS have what was written. */
export async function contentsAreServed(t: ExecutionContext, world: World, zone: string, runs: number): Promise<void> {
  const { api } = await world.account()
  t.is((await api.post('/domains/', { name: zone })).status, 201)
  let count = 0

  async function isServed(given: Content[]): Promise<void> {
    const type = given[0]![0]
    const texts = distinct(
      type,
      given.map(([, text]) => text),
    )
    const contents = texts.map((text) => parseRdata(type, text))
    const subname = `r${count++}`
    const { status, text, json } = await api.post(`/domains/${zone}/rrsets/`, {
      subname,
      type,
      ttl: 60,
      records: texts,
    })
    t.is(status, 201, `${type} ${JSON.stringify(texts)}: ${text}`)
    const records = contents.map((content) => content.text)
    t.deepEqual((json as { records: string[] }).records, records)

    const name = `${subname}.${zone}.`
    const { answers, authorities } = await query(world.powerDns, name, type)
    const served = [...answers, ...authorities].filter((record) => record.name === name && record.type === type)
    const keys = served.map(({ rdata }) => decodeRdata(type, rdata).key)
    t.deepEqual(keys.sort(), contents.map(({ key }) => key).sort(), name)
    // With one name in an answer, it does not matter that names may be told by others that differ in case.
    if (served.length === 1) t.is(served[0]!.rdata, contents[0]!.wire)
    t.deepEqual(new Set(served.map(({ ttl }) => ttl)), new Set([60]))
  }

  for (const type of EXAMPLES.keys()) for (const text of examplesOf(type)) await isServed([[type, text]])
  await fc.assert(fc.asyncProperty(CONTENT, isServed), { numRuns: runs, endOnFailure: true })
}

/** Without those that may not stand in one RRset with an earlier one. */
function distinct(type: string, texts: string[]): string[] {
  const keys = texts.map((text) => parseRdata(type, text).key)
  return texts.filter((_, i) => keys.indexOf(keys[i]!) === i)
}
