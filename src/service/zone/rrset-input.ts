import { nameOf, ownerLength, subnameProblems } from '../../dns/names.ts'
import type { Neighbour } from '../../dns/node.ts'
import { Malformed, parseRdata, type Rdata } from '../../dns/rdata.ts'
import { sizeProblems } from '../../dns/rrset.ts'
import { typeProblems, TYPES } from '../../dns/types.ts'
import type { Problems } from '../../errors.ts'
import { TTL_MAX } from '../../limits.ts'
import type { Domain } from '../../store/domains/domains.ts'
import type { RRset, RRsetKey } from '../../store/zone/rrsets.ts'

/** One RRset of a request: its members, and the problems of their JSON types. */
export interface RRsetInput {
  subname?: string | undefined
  type?: string | undefined
  ttl?: number | undefined
  records?: string[] | undefined
  problems: Problems
}

export type Method = 'POST' | 'PUT' | 'PATCH'

/** One RRset of a request, and its surroundings in the zone. */
export interface Item {
  method: Method
  input: RRsetInput
  /** The RRset that the path names; undefined for RRsets in a collection. */
  target?: RRsetKey | undefined
  before?: RRset | undefined
  /** Returns the other RRsets that its subname will have. */
  neighbours: () => Neighbour[]
}

/** The zone that an RRset will be in. */
export interface Place {
  /** The members of the locked domain on which a plan depends. */
  domain: Pick<Domain, 'id' | 'name' | 'minimumTtl'>
}

const REQUIRED = 'This field is required.'

/** Returns the problems of the fields (contract §8.5, layer 1; §8.7, stage d); undefined without problems. */
export function fieldProblems(zone: Place, { method, input, target, before }: Item): Problems | undefined {
  // A PATCH can omit fields of an RRset that exists or that it deletes.
  const isPartial = method === 'PATCH' && (before !== undefined || input.records?.length === 0)
  const { subname, type, ttl, records, problems: found } = input
  let problems: Problems | undefined
  const note = (field: string, texts: readonly string[]) => {
    if (texts.length > 0) (problems ??= {})[field] = texts
  }
  note('subname', found['subname'] ?? subnameFieldProblems(zone, subname, method, target))
  note('type', found['type'] ?? typeFieldProblems(type, method, target))
  note('ttl', found['ttl'] ?? ttlProblems(zone.domain, ttl, isPartial))
  note('records', found['records'] ?? recordsProblems(records, method, isPartial))
  return problems
}

function subnameFieldProblems(zone: Place, subname: string | undefined, method: Method, target?: RRsetKey): string[] {
  if (subname === undefined) return method === 'PUT' && target !== undefined ? [REQUIRED] : []
  const texts = subnameProblems(subname)
  if (texts.length === 0 && ownerLength(nameOf(zone.domain, subname)) > 255) {
    texts.push('This field combined with the domain name must not exceed 255 characters.')
  }
  // The body may write the apex as "", however the path writes it.
  if (texts.length === 0 && target !== undefined && subname !== target.subname && subname !== '') {
    texts.push('Can only be written on create.')
  }
  return texts
}

function typeFieldProblems(type: string | undefined, method: Method, target?: RRsetKey): string[] {
  if (type === undefined) return method === 'PATCH' && target !== undefined ? [] : [REQUIRED]
  if (target !== undefined && type === target.type) return []
  const texts = typeProblems(type)
  if (texts.length === 0 && target !== undefined) texts.push('Can only be written on create.')
  return texts
}

/** Returns the form in which RRsets have a content; of what cannot be read, the same text, which is reported later. */
export function canonical(type: string, text: string): Pick<Rdata, 'key' | 'text'> {
  try {
    return TYPES.has(type) ? parseRdata(type, text) : { key: text, text }
  } catch (error) {
    if (error instanceof Malformed) return { key: text, text }
    throw error
  }
}

/** Returns the nearest TTL that the domain may have. */
export function clamped(ttl: number, { minimumTtl }: Pick<Domain, 'minimumTtl'>): number {
  return Math.min(Math.max(ttl, minimumTtl), TTL_MAX)
}

function ttlProblems(domain: Pick<Domain, 'minimumTtl'>, ttl: number | undefined, isPartial: boolean): string[] {
  if (ttl === undefined) return isPartial ? [] : [REQUIRED]
  if (ttl > TTL_MAX) return [`Ensure this value is less than or equal to ${TTL_MAX}.`]
  if (ttl < domain.minimumTtl) return [`Ensure this value is greater than or equal to ${domain.minimumTtl}.`]
  return []
}

function recordsProblems(records: string[] | undefined, method: Method, isPartial: boolean): string[] {
  if (records === undefined) return isPartial ? [] : [REQUIRED]
  if (records.length === 0) return method === 'POST' ? ['This field must not be empty when using POST.'] : []
  return sizeProblems(records)
}
