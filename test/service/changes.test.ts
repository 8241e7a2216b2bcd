import test from 'ava'
import fc from 'fast-check'
import { Denied, Invalid } from '../../src/errors.ts'
import { parseRdata } from '../../src/dns/rdata.ts'
import { changeOf, planOne, type Change, type ZoneState } from '../../src/service/zone/changes.ts'
import type { Method, RRsetInput } from '../../src/service/zone/rrset-input.ts'
import type { RRsetKey } from '../../src/service/tokens/policies.ts'
import { needsRectification } from '../../src/service/zone/rectification.ts'
import { inSlices } from '../../src/slices.ts'
import type { RRset } from '../../src/store/rrsets.ts'
import type { Policy } from '../../src/store/tokens.ts'

const TIME = '2026-01-31T12:00:00.000000Z'
const DOMAIN = {
  ...{ id: 1, name: 'a.test', ownerId: 'account', minimumTtl: 60, version: 1, rectify: true, size: 1 },
  ...{ created: TIME, published: TIME, touched: TIME },
}

/** Contents by type, all different. */
const CONTENTS: Record<string, string[]> = {
  A: ['192.0.2.1', '192.0.2.2', '192.0.2.3'],
  CNAME: ['target.test.'],
  DS: [`1 13 1 ${'00'.repeat(20)}`, `2 13 1 ${'00'.repeat(20)}`],
  NS: ['ns1.test.', 'ns2.test.'],
  TXT: ['"a"', '"b"'],
}

const SUBNAME = fc.constantFrom('', 'www', '*')
const TYPE = fc.constantFrom(...Object.keys(CONTENTS))
const TTL: fc.Arbitrary<number> = fc.constantFrom(60, 3600, 86_400)
const METHOD = fc.constantFrom<Method>('POST', 'PUT', 'PATCH')

const recordsOf = (type: string, minLength = 1) => fc.shuffledSubarray(CONTENTS[type]!, { minLength })

const RRSET = fc
  .tuple(SUBNAME, TYPE, TTL)
  .chain(([subname, type, ttl]) =>
    recordsOf(type).map((records): RRset => ({ subname, type, ttl, records, created: TIME, touched: TIME })),
  )

function at(rrsets: readonly RRset[], { subname, type }: RRsetKey): RRset | undefined {
  return rrsets.find((rrset) => rrset.subname === subname && rrset.type === type)
}

/** RRsets that may stand together: no place twice, nothing beside a CNAME, and none of them where it may not stand. */
const CURRENT = fc
  .uniqueArray(RRSET, { selector: ({ subname, type }) => `${type} ${subname}`, maxLength: 8 })
  .map((rrsets) =>
    rrsets.filter(
      ({ subname, type }) =>
        !(subname === '' && (type === 'CNAME' || type === 'DS')) &&
        (type === 'CNAME' || at(rrsets, { subname, type: 'CNAME' }) === undefined || subname === ''),
    ),
  )

/** What a token has that may write nothing. */
const NOTHING: Policy[] = [{ domainId: null, subname: null, type: null, permWrite: false }]

/** A request whose fields are right, and the RRset that its path names, which exists. */
const REQUEST = fc.tuple(CURRENT, METHOD, SUBNAME, TYPE).chain(([current, method, subname, type]) =>
  fc.record({
    current: fc.constant(current),
    method: fc.constant(method === 'POST' || at(current, { subname, type }) !== undefined ? method : 'POST'),
    place: fc.constant({ subname, type }),
    ttl: TTL,
    records: recordsOf(type),
    without: fc.subarray(['subname', 'type', 'ttl', 'records'] as const),
    empty: fc.boolean(),
  }),
)

type Request = typeof REQUEST extends fc.Arbitrary<infer R> ? R : never

function inputOf({ method, place, ttl, records, without, empty }: Request): RRsetInput {
  const input: RRsetInput = { ...place, ttl, records: empty && method !== 'POST' ? [] : records, problems: {} }
  if (method === 'PATCH') for (const member of without) Reflect.deleteProperty(input, member)
  return input
}

function plan(request: Request, policies: Policy[] = []): Change {
  const { current, method, place } = request
  const zone: ZoneState = { domain: DOMAIN, current, policies, keepsNs: false }
  return planOne(zone, method, inputOf(request), method === 'POST' ? undefined : place)
}

/** What is in the way of a well-formed request (contract 8.5, layers 3, 4 and 9), or what it makes of the RRset. */
function expected(request: Request): string[] | { ttl: number; records: string[] } | undefined {
  const { current, method, place } = request
  const before = at(current, place)
  if (method === 'POST' && before !== undefined) {
    return ['Another RRset with the same subdomain and type exists for this domain. (Try modifying it.)']
  }
  const input = inputOf(request)
  const after = { ttl: input.ttl ?? before!.ttl, records: input.records ?? before!.records }
  if (after.records.length === 0) return undefined
  const others = current
    .filter(({ subname, type }) => subname === place.subname && type !== place.type)
    .map(({ type }) => type)
  const conflicts = place.type === 'CNAME' ? others : others.filter((type) => type === 'CNAME')
  if (conflicts.length > 0) {
    const types = conflicts.sort().join(', ')
    return [
      `RRset with conflicting type present at same subname: database (${types}). ` +
        '(No other RRsets are allowed alongside CNAME.)',
    ]
  }
  if (place.subname === '' && (place.type === 'CNAME' || place.type === 'DS')) {
    return [`${place.type} RRset cannot have empty subname.`]
  }
  return after
}

test('a well-formed request makes of the RRset what it says, or is told what is in its way', (t) => {
  fc.assert(
    fc.property(REQUEST, (request) => {
      const wanted = expected(request)
      if (Array.isArray(wanted)) {
        const error = t.throws(() => plan(request), { instanceOf: Invalid })
        t.deepEqual(error.problems, { non_field_errors: wanted })
        return
      }
      const { subname, type, before, after } = plan(request)
      t.deepEqual({ subname, type }, request.place)
      t.is(before, at(request.current, request.place))
      t.deepEqual(after && { ttl: after.ttl, records: after.records }, wanted)
      t.deepEqual(
        after?.contents,
        wanted?.records.map((text) => parseRdata(type, text).backend),
      )
    }),
    { numRuns: 3000 },
  )
})

test('what the token may not write is denied before anything is told about the zone', (t) => {
  fc.assert(
    fc.property(REQUEST, (request) => {
      t.throws(() => plan(request, NOTHING), { instanceOf: Denied })
      const { subname, type } = request.place
      t.throws(() => plan(request, [...NOTHING, { domainId: 1, subname, type, permWrite: false }]), {
        instanceOf: Denied,
      })
    }),
    { numRuns: 500 },
  )
})

test('only the policies for the RRset concerned decide', (t) => {
  fc.assert(
    fc.property(REQUEST, (request) => {
      const policies = [...NOTHING, { domainId: null, ...request.place, permWrite: true }]
      const attempt = () => {
        try {
          return plan(request, policies)
        } catch (error) {
          return error
        }
      }
      t.false(attempt() instanceof Denied)
    }),
    { numRuns: 500 },
  )
})

test('a request with a wrong field is told so whatever the token may write', (t) => {
  fc.assert(
    fc.property(REQUEST, (request) => {
      const error = t.throws(() => plan({ ...request, ttl: 59, without: [] }, NOTHING), { instanceOf: Invalid })
      t.deepEqual(error.problems, { ttl: ['Ensure this value is greater than or equal to 60.'] })
    }),
    { numRuns: 500 },
  )
})

test('whatever the members are, the plan is right or Invalid', (t) => {
  const input: fc.Arbitrary<RRsetInput> = fc
    .record(
      {
        subname: fc.oneof(SUBNAME, fc.string({ unit: 'binary' })),
        type: fc.oneof(TYPE, fc.string({ unit: 'binary' })),
        ttl: fc.oneof(TTL, fc.integer()),
        records: fc.array(fc.oneof(fc.constantFrom(...Object.values(CONTENTS).flat()), fc.string({ unit: 'binary' }))),
      },
      { requiredKeys: [] },
    )
    .map((members) => ({ ...members, problems: {} }))
  fc.assert(
    fc.property(CURRENT, METHOD, input, fc.nat(), (current, method, members, choice) => {
      const target = method === 'POST' ? undefined : current[choice % (current.length || 1)]
      if (method !== 'POST' && target === undefined) return
      try {
        const { after } = planOne({ domain: DOMAIN, current, policies: [], keepsNs: false }, method, members, target)
        if (after === undefined) return
        t.true(after.ttl >= 60 && after.ttl <= 86_400)
        t.true(after.records.every((text) => parseRdata(after.type, text).text === text))
      } catch (error) {
        if (!(error instanceof Invalid)) throw error
      }
    }),
    { numRuns: 3000 },
  )
  t.pass()
})

/** A change of some RRset, to any state. */
const CHANGE = fc.tuple(SUBNAME, TYPE).chain(([subname, type]) =>
  fc
    .record({
      before: fc.option(fc.record({ ttl: TTL, records: recordsOf(type) }), { nil: undefined }),
      after: fc.option(fc.record({ ttl: TTL, records: recordsOf(type) }), { nil: undefined }),
    })
    .map(({ before, after }): Change =>
      changeOf({
        ...{ subname, type },
        before: before && { subname, type, ...before, created: TIME, touched: TIME },
        after: after && { subname, type, ...after, contents: after.records },
      }),
    ),
)

test('a change is effective unless TTL and set of records stay the same', (t) => {
  const state = (rrset: { ttl: number; records: string[] } | undefined) =>
    rrset && { ttl: rrset.ttl, records: [...rrset.records].sort() }
  fc.assert(
    fc.property(CHANGE, (change) => {
      t.is(change.isEffective, JSON.stringify(state(change.before)) !== JSON.stringify(state(change.after)))
    }),
    { numRuns: 3000 },
  )
})

/** The names that exist, those that are delegated, and those that have a DS or a DNAME. */
function structure(rrsets: readonly RRsetKey[]): unknown {
  const names = (wanted: (place: RRsetKey) => boolean) =>
    [...new Set(rrsets.filter(wanted).map(({ subname }) => subname))].sort()
  return {
    present: names(() => true),
    delegated: names(({ subname, type }) => type === 'NS' && subname !== ''),
    secured: names(({ type }) => type === 'DS'),
    redirected: names(({ type }) => type === 'DNAME'),
  }
}

/** Whether an RRset lies at or below a delegation; a DS at a delegation is the parent's own. */
function isCut({ subname, type }: RRsetKey, rrsets: readonly RRsetKey[]): boolean {
  return (
    type !== 'DS' &&
    rrsets.some(
      (cut) =>
        cut.type === 'NS' && cut.subname !== '' && (subname === cut.subname || subname.endsWith(`.${cut.subname}`)),
    )
  )
}

test('a zone is rectified when names, delegations, DS or DNAME come or go, or a delegated RRset is written', async (t) => {
  const subname = fc.constantFrom('', 'www', 'a.www', 'b.a.www', 'awww', '*')
  const type = fc.constantFrom('A', 'DNAME', 'DS', 'NS', 'TXT')
  const places = fc.uniqueArray(fc.record({ subname, type }), {
    selector: (place) => `${place.type} ${place.subname}`,
    maxLength: 6,
  })
  const rrset = (place: RRsetKey): RRset => ({ ...place, ttl: 60, records: ['x'], created: TIME, touched: TIME })
  await fc.assert(
    fc.asyncProperty(places, places, fc.boolean(), async (before, after, rewritten) => {
      const [current, later] = [before.map(rrset), after.map(rrset)]
      const gone = before.filter((place) => at(later, place) === undefined)
      const written = after.filter((place) => rewritten || at(current, place) === undefined)
      const changes = [
        ...gone.map((place) => changeOf({ ...place, before: at(current, place), after: undefined })),
        ...written.map((place) =>
          changeOf({ ...place, before: at(current, place), after: { ...rrset(place), contents: [] } }),
        ),
      ]
      const moved = JSON.stringify(structure(before)) !== JSON.stringify(structure(after))
      const expected = moved || written.some((place) => isCut(place, after))
      t.is(await inSlices(needsRectification(current, changes)), expected)
    }),
    { numRuns: 5000 },
  )
})
