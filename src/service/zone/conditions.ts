import { createHash } from 'node:crypto'
import { PreconditionFailed } from '../../errors.ts'
import type { Domain } from '../../store/domains.ts'
import type { RRset } from '../../store/rrsets.ts'
import type { Change, ZoneState } from './changes.ts'

/** What a caller makes a condition of his write (contract §15.1). */
export interface Conditions {
  /** Tags of which the resource must have one now; `*`: it must exist. */
  match: string[] | '*' | undefined
  /** There must be no such resource. */
  isNew: boolean
}

/** The tag of an RRset: another one whenever anything is different that the API shows of it. */
export function tagOf({ subname, type, ttl, records, created, touched }: RRset): string {
  return digest([subname, type, ttl, records, created, touched])
}

/** The tag of a domain: another one with every accepted write to its records, and with its settings. */
export function tagOfDomain({ id, minimumTtl, created, published, touched }: Domain): string {
  return digest([id, minimumTtl, created, published, touched])
}

function digest(representation: unknown[]): string {
  return createHash('sha256').update(JSON.stringify(representation)).digest('base64url').slice(0, 22)
}

/** Lets a write to one RRset pass if the conditions hold. @throws PreconditionFailed */
export function examineOne({ before }: Pick<Change, 'before'>, { match, isNew }: Conditions): void {
  if (match !== undefined && !matches(match, before && tagOf(before))) throw new PreconditionFailed()
  if (isNew && before !== undefined) throw new PreconditionFailed()
}

/** Lets a write to a domain's collection of RRsets pass if the conditions hold. @throws PreconditionFailed */
export function examineMany(
  { domain }: Pick<ZoneState, 'domain'>,
  changes: Change[],
  { match, isNew }: Conditions,
): void {
  if (match !== undefined && !matches(match, tagOfDomain(domain))) throw new PreconditionFailed()
  if (isNew && changes.some(({ before }) => before !== undefined)) throw new PreconditionFailed()
}

function matches(match: string[] | '*', tag: string | undefined): boolean {
  return tag !== undefined && (match === '*' || match.includes(tag))
}
