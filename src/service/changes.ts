import { Invalid, type Problems } from '../errors.ts'
import { isSubname, ownerLength, SUBNAME_RULE } from '../dns/names.ts'
import { conflictProblem, type Neighbour } from '../dns/node.ts'
import { Malformed, parseRdata, type Rdata } from '../dns/rdata.ts'
import { rrsetProblems, sizeProblems } from '../dns/rrset.ts'
import { typeProblems } from '../dns/types.ts'
import { SUBNAME_LENGTH, TTL_MAX } from '../limits.ts'
import type { Domain } from '../store/domains.ts'
import type { RRset, RRsetState } from '../store/rrsets.ts'
import { suffixes } from './availability.ts'
import type { Place } from './policies.ts'

/** What a request says about one RRset: the members it has, and what is wrong with their shape. */
export interface RRsetInput {
  subname?: string
  type?: string
  ttl?: number
  records?: string[]
  problems: Problems
}

export type Method = 'POST' | 'PUT' | 'PATCH'

/** The domain under its lock, and what it has at the subnames concerned. */
export interface Zone {
  domain: Domain
  current: RRset[]
}

/** An RRset before and after a write; undefined where there is none. */
export interface Change extends Place {
  before: RRset | undefined
  after: (RRsetState & { rdata: Rdata[] }) | undefined
}

const REQUIRED = 'This field is required.'

/**
 * What a request for one RRset changes (contract §§8.3 to 8.5). `authorise` is asked once the fields are known to be
 * right, before anything else is told about the zone.
 * @param target the RRset that the path names; of POST, undefined
 * @throws Invalid
 */
export function planOne(
  zone: Zone,
  method: Method,
  input: RRsetInput,
  target: Place | undefined,
  authorise: (place: Place) => void,
): Change {
  const problems = fieldProblems(zone.domain, method, input, target)
  if (Object.keys(problems).length > 0) throw new Invalid(problems)
  const { subname, type } = target ?? { subname: input.subname ?? '', type: input.type! }
  authorise({ subname, type })

  const before = zone.current.find((rrset) => rrset.subname === subname && rrset.type === type)
  if (method === 'POST' && before !== undefined) {
    throw Invalid.object('Another RRset with the same subdomain and type exists for this domain. (Try modifying it.)')
  }
  const ttl = input.ttl ?? before!.ttl
  const records = input.records ?? before!.records
  if (records.length === 0) return { subname, type, before, after: undefined }

  const neighbours = zone.current
    .filter((rrset) => rrset.subname === subname)
    .map((rrset): Neighbour => ({ place: 'database', type: rrset.type }))
  const conflict = conflictProblem(type, neighbours)
  if (conflict !== undefined) throw Invalid.object(conflict)
  const rdata = readRecords(type, records)
  const broken = rrsetProblems({ type, name: nameOf(zone.domain, subname), apex: subname === '', rdata })
  if (broken !== undefined) throw new Invalid({ [broken.field ?? 'non_field_errors']: broken.texts })
  return { subname, type, before, after: { subname, type, ttl, records: rdata.map(({ text }) => text), rdata } }
}

/** Layer 1 of contract §8.5: everything that is wrong with the fields, whatever the zone holds. */
function fieldProblems(domain: Domain, method: Method, input: RRsetInput, target: Place | undefined): Problems {
  const rules: Record<string, (() => string[]) | undefined> = {
    subname: () => subnameProblems(domain, input.subname, method, target),
    type: () => typeFieldProblems(input.type, method, target),
    ttl: () => ttlProblems(domain, input.ttl, method),
    records: () => recordsProblems(input.records, method),
  }
  const problems: Problems = {}
  for (const [field, rule] of Object.entries(rules)) {
    const texts = input.problems[field] ?? rule!()
    if (texts.length > 0) problems[field] = texts
  }
  return problems
}

function subnameProblems(domain: Domain, subname: string | undefined, method: Method, target?: Place): string[] {
  if (subname === undefined) return method === 'PUT' ? [REQUIRED] : []
  const texts: string[] = []
  if (Array.from(subname).length > SUBNAME_LENGTH) {
    texts.push(`Ensure this field has no more than ${SUBNAME_LENGTH} characters.`)
  }
  if (subname !== subname.toLowerCase()) texts.push(`Invalid value (not lowercase): ${subname}`)
  if (!isSubname(subname)) texts.push(SUBNAME_RULE)
  if (texts.length === 0 && ownerLength(nameOf(domain, subname)) > 255) {
    texts.push('This field combined with the domain name must not exceed 255 characters.')
  }
  // The apex may be written "" in a path that names it by other means.
  if (texts.length === 0 && target !== undefined && subname !== target.subname && subname !== '') {
    texts.push('Can only be written on create.')
  }
  return texts
}

function typeFieldProblems(type: string | undefined, method: Method, target?: Place): string[] {
  if (type === undefined) return method === 'PATCH' ? [] : [REQUIRED]
  if (target !== undefined && type === target.type) return []
  const texts = typeProblems(type)
  if (texts.length === 0 && target !== undefined) texts.push('Can only be written on create.')
  return texts
}

function ttlProblems(domain: Domain, ttl: number | undefined, method: Method): string[] {
  if (ttl === undefined) return method === 'PATCH' ? [] : [REQUIRED]
  if (ttl > TTL_MAX) return [`Ensure this value is less than or equal to ${TTL_MAX}.`]
  if (ttl < domain.minimumTtl) return [`Ensure this value is greater than or equal to ${domain.minimumTtl}.`]
  return []
}

function recordsProblems(records: string[] | undefined, method: Method): string[] {
  if (records === undefined) return method === 'PATCH' ? [] : [REQUIRED]
  if (records.length === 0) return method === 'POST' ? ['This field must not be empty when using POST.'] : []
  return sizeProblems(records)
}

function readRecords(type: string, records: string[]): Rdata[] {
  try {
    return records.map((text) => parseRdata(type, text))
  } catch (error) {
    if (error instanceof Malformed) throw Invalid.object(error.message)
    throw error
  }
}

/** The absolute name of an RRset's owner. */
export function nameOf(domain: { name: string }, subname: string): string {
  return subname === '' ? `${domain.name}.` : `${subname}.${domain.name}.`
}

/** Whether a write has an effect; the order of records has none (contract §8.6). */
export function isEffective({ before, after }: Change): boolean {
  if (before === undefined || after === undefined) return before !== after
  if (before.ttl !== after.ttl || before.records.length !== after.records.length) return true
  const present = new Set(before.records)
  return after.records.some((text) => !present.has(text))
}

/**
 * Whether the zone's order, its delegations and the proofs of what it has not must be worked out anew (powerdns.md
 * §1.3): names, delegations or redirections come or go, or something is written at or below a delegation, which
 * PowerDNS takes for authoritative, and signs, until then. Other contents never need it.
 * @param current what there is at the subnames of the changes, and at those above them
 */
export function changesStructure(current: RRset[], changes: Change[]): boolean {
  const before = typesBySubname(current)
  const after = typesBySubname(current)
  for (const change of changes) {
    const types = after.get(change.subname) ?? new Set()
    if (change.after === undefined) types.delete(change.type)
    else types.add(change.type)
    after.set(change.subname, types)
  }
  return (
    [...after].some(([subname, types]) => structure(subname, types) !== structure(subname, before.get(subname))) ||
    changes.some((change) => change.after !== undefined && change.type !== 'DS' && isDelegated(change.subname, after))
  )
}

/** Whether a delegation stands at a subname or above it; a DS there is the parent's own all the same. */
function isDelegated(subname: string, types: Map<string, Set<string>>): boolean {
  return suffixes(subname).some((place) => place !== '' && types.get(place)?.has('NS'))
}

function typesBySubname(rrsets: RRset[]): Map<string, Set<string>> {
  const types = new Map<string, Set<string>>()
  for (const { subname, type } of rrsets) types.set(subname, (types.get(subname) ?? new Set()).add(type))
  return types
}

/** What of a name's types the zone's order and its denials depend on. */
function structure(subname: string, types = new Set<string>()): string {
  const delegates = types.has('NS') && subname !== ''
  return [types.size > 0, delegates, types.has('DS'), types.has('DNAME')].join()
}
