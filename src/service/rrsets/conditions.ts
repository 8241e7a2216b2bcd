import { createHash } from 'node:crypto'
import { PreconditionFailed } from '../../errors.ts'
import type { Domain } from '../../store/domains/domains.ts'
import type { RRset } from '../../store/zone/rrsets.ts'

/** The conditions of a write (contract §15.1). */
export interface Conditions {
  /** The resource must have one of these tags; `*`: it must exist. */
  match: string[] | '*' | undefined
  /** The resource must have none of these tags; `*`: it must not exist. */
  noneMatch: string[] | '*' | undefined
}

export const NO_CONDITIONS: Conditions = { match: undefined, noneMatch: undefined }

/** The conditions of a write to RRsets, and the wish for a dry run (contract §15.3). */
export interface Terms extends Conditions {
  dryRun: boolean
}

/** Returns the tag of an RRset. It changes with everything that the API shows of the RRset. */
export function tagOf({ subname, type, ttl, records, created, touched }: RRset): string {
  return digest([subname, type, ttl, records, created, touched])
}

/** Returns the tag of a domain. It changes with every accepted write to its RRsets, and with its settings. */
export function tagOfDomain({ id, minimumTtl, created, published, touched, note }: Domain): string {
  // Without a note it is what processes of versions without notes send.
  return digest([id, minimumTtl, created, published, touched, ...(note === null ? [] : [note])])
}

function digest(representation: unknown[]): string {
  return createHash('sha256').update(JSON.stringify(representation)).digest('base64url').slice(0, 22)
}

/**
 * @param tag that of the written resource; undefined if it does not exist
 * @param exists true if an object exists that `*` forbids, if that is not the resource of the tag
 * @throws PreconditionFailed unless the conditions hold
 */
export function checkConditions(
  { match, noneMatch }: Conditions,
  tag: string | undefined,
  exists = tag !== undefined,
): void {
  const isMatch = match === undefined || (tag !== undefined && (match === '*' || match.includes(tag)))
  const isForbidden = noneMatch === '*' ? exists : tag !== undefined && noneMatch?.includes(tag) === true
  if (!isMatch || isForbidden) throw new PreconditionFailed()
}
