import type { Rcode } from '../dns/wire/messages.ts'
import {
  causeOf, Conflict, consequenceOf, Denied, Invalid, NameserverFailure, NotFound, problemTexts, Throttled, Unauthenticated, Unavailable,
} from '../errors.ts' // prettier-ignore
import { Unmet } from '../service/doors/updates.ts'
import type { System } from '../system.ts'
import type { Outcome } from './answers.ts'
import { Refused } from './requests.ts'

/** The codes of the answers to errors of the service; those of others are SERVFAIL. */
const CODES: [kind: new (...args: never[]) => Error, rcode: Rcode][] = [
  [NotFound, 'NOTAUTH'],
  [Invalid, 'REFUSED'],
  [Unauthenticated, 'REFUSED'],
  [Denied, 'REFUSED'],
  [Conflict, 'REFUSED'],
  [Throttled, 'REFUSED'],
]

/** Returns the answer to an error, with what the API would say. */
export function outcomeOf(error: unknown): Outcome {
  const text = error instanceof Error ? error.message : ''
  if (error instanceof Refused || error instanceof Unmet) return { rcode: error.rcode, text }
  const [, rcode] = CODES.find(([kind]) => error instanceof kind) ?? []
  if (rcode !== undefined) return { rcode, text: error instanceof Invalid ? (problemTexts(error)[0] ?? text) : text }
  return {
    rcode: 'SERVFAIL',
    text: isTrouble(error) ? `${causeOf(error)} ${consequenceOf(error)}` : 'Internal Server Error.',
  }
}

/** Logs an error that is not the client's, as HTTP does. */
export function logTrouble({ log }: System, error: unknown): void {
  if (isTrouble(error)) log.warn('request failed: a backend is unavailable', { reason: (error as Error).message })
  else if (outcomeOf(error).rcode === 'SERVFAIL')
    log.error('unexpected error', { error: error instanceof Error ? error.stack : String(error) })
}

function isTrouble(error: unknown): boolean {
  return error instanceof NameserverFailure || error instanceof Unavailable
}

/** @throws Refused if reading fails because of what the message contains */
export function reading<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    return malformed(error)
  }
}

/** @throws Refused for an error in reading a message; others as they are */
export function malformed(error: unknown): never {
  throw error instanceof RangeError ? new Refused('FORMERR', error.message) : error
}
