import test from 'ava'
import fc from 'fast-check'
import { parseRdata } from '../../src/dns/rdata.ts'
import type { PublishedRRset } from '../../src/nameserver/nameserver.ts'
import { differences } from '../../src/service/zone/differences.ts'

/** Contents of a type that mean different things, each in several spellings. */
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

const NAME = fc.constantFrom('a.test.', 'www.a.test.', '*.a.test.')
const TTL = fc.constantFrom(60, 3600)

/** Positions of contents and of their spellings, of at least one content. */
const CHOICE = fc.constantFrom(...Object.keys(CONTENTS)).chain((type) =>
  fc.record({
    type: fc.constant(type),
    contents: fc.shuffledSubarray(CONTENTS[type]!, { minLength: 1 }),
    spelling: fc.nat(1),
  }),
)

const RRSET = fc.record({ name: NAME, ttl: TTL, choice: CHOICE }).map(({ name, ttl, choice }): PublishedRRset => ({
  name,
  type: choice.type,
  ttl,
  records: choice.contents.map((spellings) => spellings[choice.spelling] ?? spellings[0]!),
}))

function place({ name, type }: PublishedRRset): string {
  return `${type} ${name}`
}

const ZONE = fc.uniqueArray(RRSET, { selector: place, maxLength: 12 })

/** What a zone says: places, TTLs and the set of contents, whatever their order and spelling. */
function meaning(zone: PublishedRRset[]): Map<string, string> {
  return new Map(
    zone
      .toSorted((a, b) => (place(a) < place(b) ? -1 : 1))
      .map((rrset) => {
        const keys = rrset.records.map((text) => parseRdata(rrset.type, text).key).sort()
        return [place(rrset), JSON.stringify([rrset.ttl, keys])]
      }),
  )
}

/** What a nameserver makes of changes: an RRset replaces what has its place; without records it removes it. */
function apply(changes: PublishedRRset[], zone: PublishedRRset[]): PublishedRRset[] {
  const result = new Map(zone.map((rrset) => [place(rrset), rrset]))
  for (const change of changes) {
    result.delete(place(change))
    if (change.records.length > 0) result.set(place(change), change)
  }
  return [...result.values()]
}

/** The same zone, told otherwise. */
const respelt = (zone: PublishedRRset[]) =>
  fc.tuple(fc.shuffledSubarray(zone, { minLength: zone.length }), fc.nat(1)).map(([rrsets, spelling]) =>
    rrsets.map(({ records, ...rrset }) => ({
      ...rrset,
      records: records
        .map((text) => CONTENTS[rrset.type]!.find((spellings) => spellings.includes(text))!)
        .map((spellings) => spellings[spelling] ?? spellings[0]!)
        .reverse(),
    })),
  )

test('the differences applied to what is live give what is desired', async (t) => {
  await fc.assert(
    fc.asyncProperty(ZONE, ZONE, async (desired, live) => {
      t.deepEqual(meaning(apply(await differences(desired, live), live)), meaning(desired))
    }),
    { numRuns: 3000 },
  )
})

test('there are no differences between zones that mean the same', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      ZONE.chain((zone) => fc.tuple(fc.constant(zone), respelt(zone))),
      async ([desired, live]) => {
        t.deepEqual(await differences(desired, live), [])
      },
    ),
    { numRuns: 1000 },
  )
})

test('only what differs is sent, each place once', async (t) => {
  await fc.assert(
    fc.asyncProperty(ZONE, ZONE, async (desired, live) => {
      const changed = (await differences(desired, live)).map(place)
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

test('what is not wanted is removed, whatever its type', async (t) => {
  const live = [{ name: 'a.test.', type: 'LUA', ttl: 60, records: ['A "x"'] }]
  t.deepEqual(await differences([], live), [{ name: 'a.test.', type: 'LUA', ttl: 60, records: [] }])
})

test('a live content that cannot be read is replaced', async (t) => {
  const desired = [{ name: 'a.test.', type: 'A', ttl: 60, records: ['192.0.2.1'] }]
  t.deepEqual(await differences(desired, [{ ...desired[0]!, records: ['garbage'] }]), desired)
})

test('a record that is live twice is replaced', async (t) => {
  const desired = [{ name: 'a.test.', type: 'A', ttl: 60, records: ['192.0.2.1', '192.0.2.2'] }]
  t.deepEqual(await differences(desired, [{ ...desired[0]!, records: ['192.0.2.1', '192.0.2.1'] }]), desired)
})
