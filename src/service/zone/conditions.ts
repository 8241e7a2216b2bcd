import { createHash } from 'node:crypto'
import { PreconditionFailed } from '../../errors.ts'
import type { Domain } from '../../store/domains.ts'
import type { RRset } from '../../store/rrsets.ts'
import type { Change } from './changes.ts'

/** The conditions of a write (contract §15.1). */
export interface Conditions {
  /** The resource must have one of these tags; `*`: it must exist. */
  match: string[] | '*' | undefined
  /** The resource must not exist. */
  isNew: boolean
}

/** The tag of an RRset. It changes with everything that the API shows of the RRset. */
export function tagOf({ subname, type, ttl, records, created, touched }: RRset): string {
  return digest([subname, type, ttl, records, created, touched])
}

/** The tag of a domain. It changes with every accepted write to its RRsets, and with its settings. */
export function tagOfDomain({ id, minimumTtl, created, published, touched }: Domain): string {
  return digest([id, minimumTtl, created, published, touched])
}

function digest(representation: unknown[]): string {
  return createHash('sha256').update(JSON.stringify(representation)).digest('base64url').slice(0, 22)
}

/**
 * @param tag that of the resource that is written; undefined if it does not exist
 * @param changes to RRsets; with `isNew`, none of these may exist
 * @throws PreconditionFailed unless the conditions hold
 */
export function checkConditions({ match, isNew }: Conditions, tag: string | undefined, changes: Change[]): void {
  const isMatch = match === undefined || (tag !== undefined && (match === '*' || match.includes(tag)))
  const isPresent = changes.some(({ before }) => before !== undefined)
  if (!isMatch || (isNew && isPresent)) throw new PreconditionFailed()
}
