import test from 'ava'
import fc from 'fast-check'
import { parseRdata } from '../../src/dns/rdata.ts'
import type { PublishedRRset } from '../../src/nameserver/nameserver.ts'
import { differences as pairs } from '../../src/service/zone/differences.ts'

/** The RRsets to publish so that `live` becomes `desired`. */
async function differences(desired: PublishedRRset[], live: PublishedRRset[]): Promise<PublishedRRset[]> {
  return (await pairs(desired, live)).map(({ before, after }) => after ?? { ...before!, records: [] })
}

/** Different records by type, each in one or more spellings. */
const CONTENTS: Record<string, string[][]> = {
  A: [['192.0.2.1'], ['192.0.2.2'], ['192.0.2.3']],
  AAAA: [
    ['2001:db8::1', '2001:DB8:0::1'],
    ['::', '0:0::0'],
    ['::ffff:c000:201', '::FFFF:C000:201'],
  ],
  MX: [['10 mail.a.test.', '010 MAIL.a.test.'], ['20 mail.a.test.'], ['0 .']],
  NS: [['ns1.a.test.', 'NS1.A.test.'], ['ns2.a.test.']],
  PTR: [
    ['host\\.master.a.test.', 'host\\046master.a.test.'],
    ['$.a.test.', '\\$.a.test.'],
  ],
  TXT: [['"d"', '"\\100"'], ['"a" "b"', '"a"  "b"'], ['"ab"']],
}

const SUBNAME = fc.constantFrom('', 'www', '*')
const TTL = fc.constantFrom(60, 3600)

/** A type, at least one of its records, and the index of a spelling. */
const CHOICE = fc.constantFrom(...Object.keys(CONTENTS)).chain((type) =>
  fc.record({
    type: fc.constant(type),
    contents: fc.shuffledSubarray(CONTENTS[type]!, { minLength: 1 }),
    spelling: fc.nat(1),
  }),
)

const RRSET = fc
  .record({ subname: SUBNAME, ttl: TTL, choice: CHOICE })
  .map(({ subname, ttl, choice }): PublishedRRset => ({
    subname,
    type: choice.type,
    ttl,
    records: choice.contents.map((spellings) => spellings[choice.spelling] ?? spellings[0]!),
  }))

function rrsetKey({ subname, type }: PublishedRRset): string {
  return `${type} ${subname}`
}

const ZONE = fc.uniqueArray(RRSET, { selector: rrsetKey, maxLength: 12 })

/** A zone for comparison: TTL and records by subname and type, whatever their order and spelling. */
function meaning(zone: PublishedRRset[]): Map<string, string> {
  return new Map(
    zone
      .toSorted((a, b) => (rrsetKey(a) < rrsetKey(b) ? -1 : 1))
      .map((rrset) => {
        const keys = rrset.records.map((text) => parseRdata(rrset.type, text).key).sort()
        return [rrsetKey(rrset), JSON.stringify([rrset.ttl, keys])]
      }),
  )
}

/** Applies changes as a nameserver does: an RRset replaces the one of its subname and type; without records it deletes it. */
function apply(changes: PublishedRRset[], zone: PublishedRRset[]): PublishedRRset[] {
  const result = new Map(zone.map((rrset) => [rrsetKey(rrset), rrset]))
  for (const change of changes) {
    result.delete(rrsetKey(change))
    if (change.records.length > 0) result.set(rrsetKey(change), change)
  }
  return [...result.values()]
}

test('the differences applied to the live zone result in the desired zone', async (t) => {
  await fc.assert(
    fc.asyncProperty(ZONE, ZONE, async (desired, live) => {
      t.deepEqual(meaning(apply(await differences(desired, live), live)), meaning(desired))
    }),
    { numRuns: 3000 },
  )
})

test('only RRsets that differ in more than order and spelling are sent, each once', async (t) => {
  await fc.assert(
    fc.asyncProperty(ZONE, ZONE, async (desired, live) => {
      const changed = (await differences(desired, live)).map(rrsetKey)
      const wanted = meaning(desired)
      const had = meaning(live)
      const differing = [...new Set([...wanted.keys(), ...had.keys()])].filter(
        (key) => wanted.get(key) !== had.get(key),
      )
      t.deepEqual([...changed].sort(), differing.sort())
    }),
    { numRuns: 1000 },
  )
})

test('a live RRset that is not desired is deleted, whatever its type', async (t) => {
  const live = [{ subname: '', type: 'LUA', ttl: 60, records: ['A "x"'] }]
  t.deepEqual(await differences([], live), [{ subname: '', type: 'LUA', ttl: 60, records: [] }])
})

test('a live record that cannot be parsed is replaced', async (t) => {
  const desired = [{ subname: '', type: 'A', ttl: 60, records: ['192.0.2.1'] }]
  t.deepEqual(await differences(desired, [{ ...desired[0]!, records: ['garbage'] }]), desired)
})

test('a live RRset with a duplicate record is replaced', async (t) => {
  const desired = [{ subname: '', type: 'A', ttl: 60, records: ['192.0.2.1', '192.0.2.2'] }]
  t.deepEqual(await differences(desired, [{ ...desired[0]!, records: ['192.0.2.1', '192.0.2.1'] }]), desired)
})

test('a difference has the RRset as it is served', async (t) => {
  const desired = { subname: '', type: 'A', ttl: 60, records: ['192.0.2.1'] }
  const live = { ...desired, ttl: 61 }
  const key = { subname: '', type: 'A' }
  t.deepEqual(await pairs([desired], [live]), [{ ...key, before: live, after: desired }])
  t.deepEqual(await pairs([desired], []), [{ ...key, before: undefined, after: desired }])
})
