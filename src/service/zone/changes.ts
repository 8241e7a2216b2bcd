import { nameOf, topLabel } from '../../dns/names.ts'
import { conflictProblem, type Neighbour } from '../../dns/node.ts'
import { Malformed, parseRdata, type Rdata } from '../../dns/rdata.ts'
import { rrsetProblems } from '../../dns/rrset.ts'
import { Invalid, limitExceeded, type Problems } from '../../errors.ts'
import type { Work } from '../../flow/slices.ts'
import { octetsOf, RRSETS_MAX } from '../../limits.ts'
import type { Config } from '../../settings/config.ts'
import type { Domain } from '../../store/domains/domains.ts'
import type { Policy } from '../../store/tokens/tokens.ts'
import type { Growth, RRset, RRsetKey, RRsetState } from '../../store/zone/rrsets.ts'
import type { Timestamp } from '../../time.ts'
import { authoriseWrites } from '../tokens/policies.ts'
import type { Step } from './journal.ts'
import { fieldProblems, type Item, type Method, type Place, type RRsetInput } from './rrset-input.ts'

/** The state at the start of a write. */
export interface ZoneState extends Place {
  /** The RRsets at the subnames of the write. */
  current: RRset[]
  /** The policies of the writing token; empty: it may write everything. */
  policies: Policy[]
  /** True if the domain lies below a local public suffix, so its NS RRsets are not the account's (contract §7.6). */
  keepsNs: boolean
  /** Returns the damage that a name with this label directly below the zone's could do to other names of the zone. */
  labelProblem: (label: string) => string | undefined
}

/** An RRset before and after a write; undefined: it does not exist. */
export interface Change extends RRsetKey {
  before: RRset | undefined
  after: RRsetState | undefined
  /** True if DNS changes; the order of records does not count (contract §8.6). */
  isEffective: boolean
}

export function changeOf({ subname, type, before, after }: Omit<Change, 'isEffective'>): Change {
  return { subname, type, before, after, isEffective: differs(before, after) }
}

/** Returns the changes that make `current` equal to `wanted`: the removals last. */
export function changesTo(wanted: RRsetState[], current: RRset[]): Change[] {
  const left = new Map(current.map((rrset) => [rrsetKey(rrset), rrset]))
  const changes = wanted.map((after) => {
    const before = left.get(rrsetKey(after))
    left.delete(rrsetKey(after))
    return changeOf({ ...after, before, after })
  })
  return [...changes, ...Array.from(left.values(), (before) => changeOf({ ...before, before, after: undefined }))]
}

/** Returns a text for each RRset of a zone. Unambiguous: neither subname nor type contains a null character. */
export function rrsetKey({ subname, type }: RRsetKey): string {
  return `${type}\0${subname}`
}

function differs(before: RRset | undefined, after: RRsetState | undefined): boolean {
  if (before === undefined || after === undefined) return before !== after
  if (before.ttl !== after.ttl || before.records.length !== after.records.length) return true
  const old = new Set(before.records)
  return after.records.some((text) => !old.has(text))
}

/** The change that one RRset of a request makes, or its problems. */
export type Outcome = Change | { problems: Problems }

/**
 * Returns the RRset with these records.
 * @param given the texts that `rdata` was parsed from. Nearly all are already canonical, so the arrays share memory.
 */
export function desired(rrset: Omit<RRsetState, 'records'>, rdata: Rdata[], given: string[]): RRsetState {
  const records = rdata.every(({ text }, i) => text === given[i]) ? given : rdata.map(({ text }) => text)
  return { ...rrset, records }
}

/**
 * Plans the change of a request for one RRset (contract §§8.3 to 8.5).
 * @param target the RRset that the path names; of POST, undefined
 * @throws Invalid, Denied
 */
export function* planOne(zone: ZoneState, method: Method, input: RRsetInput, target?: RRsetKey): Work<Change> {
  const { subname = '', type } = target ?? input
  const siblings = zone.current.filter((rrset) => rrset.subname === subname)
  const before = siblings.find((rrset) => rrset.type === type)
  const neighbours = (): Neighbour[] => siblings.map((rrset) => ({ source: 'database', type: rrset.type }))
  return accepted(yield* planItem(zone, { method, input, target, before, neighbours }))
}

/** Returns the change, unless it has problems. @throws Invalid */
export function accepted(outcome: Outcome): Change {
  if ('problems' in outcome) throw new Invalid(outcome.problems)
  return outcome
}

/** Runs the validation layers of contract §8.5, in their order. Yields after each record. @throws Denied */
export function* planItem(zone: ZoneState, item: Item): Work<Outcome> {
  const { domain } = zone
  const { method, input, target, before, neighbours } = item
  const problems = fieldProblems(zone, item)
  if (problems !== undefined) return { problems }
  const { subname, type } = target ?? { subname: input.subname ?? '', type: input.type! }
  authoriseWrites(zone.policies, domain.id, [{ subname, type }])

  if (method === 'POST' && before !== undefined) {
    return refused('Another RRset with the same subdomain and type exists for this domain. (Try modifying it.)')
  }
  const ttl = input.ttl ?? before?.ttl
  const records = input.records ?? before!.records
  if (records.length === 0) return permitted(zone, changeOf({ subname, type, before, after: undefined }))

  const conflict = conflictProblem(type, neighbours())
  if (conflict !== undefined) return refused(conflict)
  const rdata = yield* readRecords(type, records)
  if (typeof rdata === 'string') return refused(rdata)
  const invalid = rrsetProblems({ type, name: nameOf(domain, subname), apex: subname === '', rdata })
  if (invalid !== undefined) return { problems: { [invalid.field ?? 'non_field_errors']: invalid.texts } }
  const after = desired({ subname, type, ttl: ttl! }, rdata, records)
  return permitted(zone, changeOf({ subname, type, before, after }))
}

/** Returns a problem of the RRset as a whole. */
function refused(text: string): Outcome {
  return { problems: { non_field_errors: [text] } }
}

/** The error text for a change of NS RRsets below a local public suffix (contract §7.6). */
const NS_STAYS = 'Cannot modify NS records for this domain.'

/** The end of the error text for a name that a token with policies must not create (contract §8.5, layer 10). */
const WITHOUT_POLICIES = 'So only a token without policies can create it.'

/**
 * Returns the change, or a problem if it affects NS RRsets that are not the account's, or if a token that may not write
 * everything could damage other names with it (contract §8.5, layer 10).
 */
export function permitted({ keepsNs, policies, labelProblem }: ZoneState, change: Change): Outcome {
  const { subname, type, before, after, isEffective } = change
  const isNs = type === 'NS' && (after !== undefined || subname === '')
  if (keepsNs && isNs && isEffective) return { problems: { type: [NS_STAYS] } }
  const isNew = before === undefined && after !== undefined
  const damage = isNew && policies.length > 0 ? labelProblem(topLabel(subname)) : undefined
  return damage === undefined ? change : { problems: { subname: [`${damage} ${WITHOUT_POLICIES}`] } }
}

/** Returns the parsed records, or the error text of the first one that is malformed. */
function* readRecords(type: string, records: string[]): Work<Rdata[] | string> {
  const rdata: Rdata[] = []
  try {
    for (const text of records) {
      rdata.push(parseRdata(type, text))
      yield
    }
    return rdata
  } catch (error) {
    if (error instanceof Malformed) return error.message
    throw error
  }
}

/** The effect of a write, or of a dry run. */
export interface Written {
  /** The changes with an effect, in the order of the request. */
  changes: Change[]
  /** The RRset after each change of the request, undefined if it is deleted; of a dry run, nothing. */
  rrsets: (RRset | undefined)[]
  /** The published version; undefined: nothing was published. */
  version: number | undefined
}

/** Returns the RRset that a change leaves. A change without effect keeps the order of the records. */
export function rrsetAfter({ before, after, isEffective }: Change, now: Timestamp): RRset | undefined {
  if (after === undefined) return undefined
  if (before !== undefined && !isEffective) return { ...before, touched: now }
  const { subname, type, ttl, records } = after
  return { subname, type, ttl, records, created: before?.created ?? now, touched: now }
}

/** Returns the number of the RRsets, and the octets of their records. */
export function sizeOf(rrsets: Pick<RRsetState, 'records'>[]): Growth {
  return { rrsets: rrsets.length, octets: octetsOf(rrsets) }
}

/** Returns what a domain gains by these changes. */
export function growthOf(changes: Pick<Step, 'before' | 'after'>[]): Growth {
  const lost = sizeOf(changes.flatMap(({ before }) => before ?? []))
  const gained = sizeOf(changes.flatMap(({ after }) => after ?? []))
  return { rrsets: gained.rrsets - lost.rrsets, octets: gained.octets - lost.octets }
}

/** @throws Denied if the domain grows beyond its limits (contract §8.6); one that is beyond them may still shrink */
export function refuseTooLarge(
  { limitOctets }: Pick<Config, 'limitOctets'>,
  { size, octets }: Pick<Domain, 'size' | 'octets'>,
  growth: Growth,
): void {
  if (growth.rrsets > 0 && size + growth.rrsets > RRSETS_MAX) throw limitExceeded('a domain', RRSETS_MAX, 'RRsets')
  if (growth.octets > 0 && octets + growth.octets > limitOctets)
    throw limitExceeded('a domain', limitOctets, 'octets of records')
}
