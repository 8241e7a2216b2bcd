import type { Problems } from '../../errors.ts'
import { inSlices, type Work } from '../../flow/slices.ts'
import type { Access } from '../actor.ts'
import { withNames } from '../rrsets/bulk.ts'
import type { Terms } from '../rrsets/conditions.ts'
import * as rrsets from '../rrsets/rrsets.ts'
import { rrsetKey, type Written } from '../zone/changes.ts'
import { canonical, type RRsetInput } from '../zone/rrset-input.ts'

/** How an RRset changes: as a whole, or by the records that come (EXTEND) or go (PRUNE). */
export const KINDS = ['REPLACE', 'DELETE', 'EXTEND', 'PRUNE'] as const

/** A change of one RRset in a request (contract §20.4). */
export interface Amendment extends rrsets.RRsetKey {
  kind: (typeof KINDS)[number]
  /** Undefined if no records come. */
  ttl: number | undefined
  records: string[]
}

/**
 * Changes RRsets, in the order of the request, under the zone's lock; all or nothing.
 * @throws Invalid with the problems of each RRset, by its name and type; Denied, PreconditionFailed
 */
export async function amend(access: Access, amendments: Amendment[], terms: Terms): Promise<Written> {
  const subnames = amendments.map(({ subname }) => subname)
  const inputs = (current: rrsets.RRset[]) => inSlices(requestOf(current, amendments))
  const keys = [...new Map(amendments.map((each) => [rrsetKey(each), each])).values()]
  return rrsets.amend(access, subnames, inputs, { terms, source: 'powerdns-api' }).catch((error: unknown) => {
    throw withNames(error, access.domain, keys)
  })
}

/** An RRset during the request. */
interface State extends rrsets.RRsetKey {
  /** undefined: that of the stored RRset */
  ttl: number | undefined
  /** As the request gives them, or a set of canonical ones. */
  records: string[] | Set<string>
  problems: Problems
}

/** Returns the bulk request that does the same, with one item for each RRset. Yields after each record that it reads. */
export function* requestOf(current: rrsets.RRset[], amendments: Amendment[]): Work<RRsetInput[]> {
  const stored = new Map(current.map((rrset) => [rrsetKey(rrset), rrset]))
  const states = new Map<string, State>()
  for (const amendment of amendments) {
    const key = rrsetKey(amendment)
    const { subname, type } = amendment
    const before = stored.get(key)
    const state = states.get(key) ?? { subname, type, ttl: undefined, records: new Set(before?.records), problems: {} }
    states.set(key, state)
    yield* apply(state, amendment, state.ttl ?? before?.ttl)
    yield
  }
  return Array.from(states.values(), (state) => ({ ...state, records: [...state.records] }))
}

/** @param present the TTL of the RRset, if it exists */
function* apply(state: State, { kind, type, ttl, records }: Amendment, present: number | undefined): Work<void> {
  if (kind === 'REPLACE' || kind === 'DELETE') {
    state.ttl = ttl
    state.records = records
    return
  }
  const known = Array.isArray(state.records) ? yield* canonicalSet(type, state.records) : state.records
  state.records = known
  for (const content of records.map((text) => canonical(type, text).text)) {
    if (kind === 'PRUNE') known.delete(content)
    else if (!known.has(content)) {
      if (known.size === 0) state.ttl = ttl
      else if (ttl !== present) state.problems = { ttl: [`The RRset has the TTL ${present}.`] }
      known.add(content)
    }
  }
}

/** Of very many records, too: an RRset that a request replaces is examined later. */
function* canonicalSet(type: string, texts: string[]): Work<Set<string>> {
  const known = new Set<string>()
  for (const text of texts) {
    known.add(canonical(type, text).text)
    yield
  }
  return known
}
