import { Invalid, type Problems } from '../../errors.ts'
import { nameOf } from '../../dns/names.ts'
import { conflictProblem, type Neighbour } from '../../dns/node.ts'
import { Malformed, parseRdata, type Rdata } from '../../dns/rdata.ts'
import { rrsetProblems } from '../../dns/rrset.ts'
import type { Domain } from '../../store/domains.ts'
import type { RRset, RRsetState } from '../../store/rrsets.ts'
import type { Policy } from '../../store/tokens.ts'
import { fieldProblems, type Method, type RRsetInput } from './rrset-input.ts'
import { authoriseWrites, type RRsetKey } from '../tokens/policies.ts'

/** What a plan is made for. */
export interface ZoneState {
  /** Under its lock. */
  domain: Domain
  /** The RRsets at the subnames concerned. */
  current: RRset[]
  /** Those of the token that writes; empty: it may write everything. */
  policies: Policy[]
  /** The domain lies below a local public suffix: the account does not decide who serves it (contract §7.6). */
  keepsNs: boolean
}

/** An RRset as it shall be, with its contents as PowerDNS takes them. */
export interface Desired extends RRsetState {
  contents: string[]
}

/** An RRset before and after a write; undefined where there is none. */
export interface Change extends RRsetKey {
  before: RRset | undefined
  after: Desired | undefined
  /** Whether it has an effect; the order of records has none (contract §8.6). */
  isEffective: boolean
}

export function changeOf({ subname, type, before, after }: Omit<Change, 'isEffective'>): Change {
  return { subname, type, before, after, isEffective: differs(before, after) }
}

function differs(before: RRset | undefined, after: Desired | undefined): boolean {
  if (before === undefined || after === undefined) return before !== after
  if (before.ttl !== after.ttl || before.records.length !== after.records.length) return true
  const present = new Set(before.records)
  return after.records.some((text) => !present.has(text))
}

/** What one RRset of a request changes, or what is wrong with it. */
export type Outcome = Change | { problems: Problems }

/** An RRset with these records. Nearly all texts are given in their canonical form, and PowerDNS takes them: held once. */
export function desired(
  { subname, type, ttl }: RRsetKey & { ttl: number },
  rdata: Rdata[],
  given: string[] = [],
): Desired {
  const records = rdata.every(({ text }, i) => text === given[i]) ? given : rdata.map(({ text }) => text)
  const contents = rdata.every(({ backend }, i) => backend === records[i])
    ? records
    : rdata.map(({ backend }) => backend)
  return { subname, type, ttl, records, contents }
}

/** One RRset of a request, and what there is where it belongs. */
export interface Item {
  method: Method
  input: RRsetInput
  /** The RRset that the path names; of RRsets in a collection, undefined. */
  target: RRsetKey | undefined
  before: RRset | undefined
  /** What else will be at its subname. */
  neighbours: () => Neighbour[]
}

/**
 * What a request for one RRset changes (contract §§8.3 to 8.5).
 * @param target the RRset that the path names; of POST, undefined
 * @throws Invalid, Denied
 */
export function planOne(zone: ZoneState, method: Method, input: RRsetInput, target?: RRsetKey): Change {
  const { subname, type } = target ?? placeOf(input)
  const there = zone.current.filter((rrset) => rrset.subname === subname)
  const before = there.find((rrset) => rrset.type === type)
  const neighbours = (): Neighbour[] => there.map((rrset) => ({ place: 'database', type: rrset.type }))
  return accepted(planItem(zone, { method, input, target, before, neighbours }))
}

/** The change, if it is one. @throws Invalid */
export function accepted(outcome: Outcome): Change {
  if ('problems' in outcome) throw new Invalid(outcome.problems)
  return outcome
}

/** Where an RRset of a collection belongs; the type may be missing. */
export function placeOf({ subname = '', type }: RRsetInput): { subname: string; type: string | undefined } {
  return { subname, type }
}

/** The layers of contract §8.5 in their order. @throws Denied */
export function planItem(zone: ZoneState, item: Item): Outcome {
  const { domain } = zone
  const { method, input, target, before, neighbours } = item
  const problems = fieldProblems(domain, method, input, { target, exists: before !== undefined })
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
  const rdata = readRecords(type, records)
  if (typeof rdata === 'string') return refused(rdata)
  const broken = rrsetProblems({ type, name: nameOf(domain, subname), apex: subname === '', rdata })
  if (broken !== undefined) return { problems: { [broken.field ?? 'non_field_errors']: broken.texts } }
  const after = desired({ subname, type, ttl: ttl! }, rdata, records)
  return permitted(zone, changeOf({ subname, type, before, after }))
}

/** The outcome of an RRset with which, as a whole, something is wrong. */
function refused(text: string): Outcome {
  return { problems: { non_field_errors: [text] } }
}

/** What is said to a change of NS RRsets below a local public suffix (contract §7.6). */
export const NS_STAYS = 'Cannot modify NS records for this domain.'

/** The change, unless it is one of NS RRsets that stay as they are (contract §8.5, layer 10). */
export function permitted({ keepsNs }: ZoneState, change: Change): Outcome {
  const isNs = change.type === 'NS' && (change.after !== undefined || change.subname === '')
  return keepsNs && isNs && change.isEffective ? { problems: { type: [NS_STAYS] } } : change
}

/** The records, or what is wrong with the first bad one. */
function readRecords(type: string, records: string[]): Rdata[] | string {
  try {
    return records.map((text) => parseRdata(type, text))
  } catch (error) {
    if (error instanceof Malformed) return error.message
    throw error
  }
}
