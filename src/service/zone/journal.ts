import { characters } from '../../dns/presentation.ts'
import { mapInSlices } from '../../flow/slices.ts'
import { MESSAGE_LENGTH } from '../../limits.ts'
import type { Db } from '../../store/database.ts'
import type { Author, Occasion, Source, Step } from '../../store/zone/history.ts'
import * as history from '../../store/zone/history.ts'
import type { RRsetState } from '../../store/zone/rrsets.ts'
import type { System } from '../../system.ts'
import { hasToken, isOperator, type Writer } from '../actor.ts'

export type { Author, Source, Step }

/** A version of a domain, its time, and what happened to the domain itself or its rollover, if that is the reason. */
type State = Pick<Occasion, 'version' | 'now'> & Partial<Pick<Occasion, 'event' | 'rollover'>>

/** Returns the author of a writer's changes. The operator, and the service itself, are not named. */
export function authorOf(writer: Writer, source: Source): Author {
  if (isOperator(writer)) return SERVICE
  return hasToken(writer)
    ? { source, ownerId: writer.ownerId, tokenId: writer.tokenId }
    : { source, ownerId: writer.accountId, tokenId: null }
}

/** The author of changes that no account asked for. */
export const SERVICE: Author = { source: 'operator', ownerId: null, tokenId: null }
export const REPAIR: Author = { source: 'repair', ownerId: null, tokenId: null }

/** What creates these RRsets. */
export async function creations(rrsets: RRsetState[]): Promise<Step[]> {
  return mapInSlices(rrsets, (after) => ({ subname: after.subname, type: after.type, before: undefined, after }))
}

/** What is wrong with the message of a write (contract §15.14). */
export const MESSAGE_PROBLEMS = {
  control: 'Control characters are not allowed.',
  length: `Ensure this field has no more than ${MESSAGE_LENGTH} characters.`,
}

/** Returns the problem of the message of a write; undefined if it is as it must be: one line wherever it is shown. */
export function messageProblem(text: string): string | undefined {
  if (/[\p{Cc}\u2028\u2029]/u.test(text)) return MESSAGE_PROBLEMS.control
  return characters(text) > MESSAGE_LENGTH ? MESSAGE_PROBLEMS.length : undefined
}

/** Returns the entry of a domain's history for changes (contract §15.5). The transaction that makes them adds it. */
export async function draft(system: System, author: Author, state: State, steps: Step[]): Promise<history.Draft> {
  return history.draft(occasionOf(system, author, state), steps)
}

/** Adds an entry to a domain's history, for what does not count its octets itself. */
export async function record(
  system: System,
  trx: Db,
  domain: history.Owned,
  author: Author,
  state: State,
  steps: Step[],
): Promise<void> {
  await history.addCounted(trx, domain, await draft(system, author, state, steps))
}

/**
 * Returns the occasion of a change. It has the id and the message of the request only if an account is the author: what a
 * request causes in another account's domain does not carry the words of its sender there. The operator's commands have a
 * message without a request; it is not about what a repair finds.
 */
export function occasionOf(
  { request, message }: System,
  author: Author,
  { version, now, event = null, rollover = null }: State,
): Occasion {
  const isByAccount = author.ownerId !== null
  const isSaid = isByAccount || (request === undefined && author.source !== 'repair')
  return {
    ...author,
    version,
    now,
    event,
    rollover,
    requestId: isByAccount ? (request ?? null) : null,
    message: isSaid ? (message ?? null) : null,
  }
}
