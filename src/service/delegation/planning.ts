import type { StoredCheck } from '../../store/domains/delegations.ts'
import { DAY, HOUR, later, MINUTE, secondsBetween, type Timestamp } from '../../time.ts'
import type { DelegationState } from './judgement.ts'

/** Seconds until the next checks of a domain that waits for its delegation: the last one again and again. */
export const WAITING_PAUSES = [MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR]

/** Seconds for which a new domain waits, at most. */
const WAITING_TIME = 7 * DAY

/** Seconds between two checks of other domains: at least a day, and at random more, so that they never come in step. */
const PAUSE = DAY
const JITTER = HOUR

/** Seconds after which a trouble must be seen again before its owner is told, and between two such mails. */
export const CONFIRMATION_TIME = 10 * MINUTE
const MAIL_PAUSE = 7 * DAY

/** The part of a stored check that is about mails. */
export type Trouble = Pick<StoredCheck, 'settled' | 'trouble' | 'since' | 'told' | 'mailed'>

/** The mail that a check causes: a trouble is confirmed, or one that the owner knows is over. */
export type Alarm = 'trouble' | 'over' | undefined

/**
 * Returns the trouble after a check, and the mail that it causes. States that say nothing about the delegation change
 * nothing.
 */
export function followTrouble(before: Trouble, state: DelegationState, now: Timestamp): Trouble & { mail: Alarm } {
  if (state === 'unknown' || state === 'propagating') return { ...before, mail: undefined }
  const trouble = troubleOf(before, state)
  const { mailed } = before
  if (trouble === null) {
    return { settled: state, trouble, since: null, told: false, mailed, mail: before.told ? 'over' : undefined }
  }
  if (trouble !== before.trouble) {
    // Another trouble takes the place of one that the owner knows, without a mail that all is well.
    return { settled: state, trouble, since: now, told: false, mailed, mail: undefined }
  }
  const isConfirmed = secondsBetween(before.since!, now) >= CONFIRMATION_TIME
  const mayMail = mailed === null || secondsBetween(mailed, now) >= MAIL_PAUSE
  const mail = isConfirmed && !before.told && mayMail ? 'trouble' : undefined
  return {
    ...{ settled: state, trouble, since: before.since, mail },
    told: before.told || mail !== undefined,
    mailed: mail === undefined ? mailed : now,
  }
}

/** A domain that never had a DS has not lost it. */
function troubleOf({ settled, trouble }: Trouble, state: DelegationState): 'mismatch' | 'insecure' | null {
  if (state === 'mismatch') return 'mismatch'
  const hadDs = settled === 'secure' || settled === 'stale' || trouble === 'insecure'
  return state === 'insecure' && hadDs ? 'insecure' : null
}

/** The state of the waiting: the checks since its beginning; null: the domain does not wait. */
type Waits = StoredCheck['waits']

/** Returns the number of waits after a check. @param created when the domain was created */
export function waitsAfter(waits: Waits, state: DelegationState, created: Timestamp, now: Timestamp): Waits {
  if (waits === null || state === 'secure' || secondsBetween(created, now) > WAITING_TIME) return null
  return waits + 1
}

/** Returns the time of the next check. */
export function nextCheck(waits: Waits, { trouble, told, since }: Trouble, now: Timestamp): Timestamp {
  if (trouble !== null && !told && secondsBetween(since!, now) < CONFIRMATION_TIME)
    return later(since!, CONFIRMATION_TIME)
  if (waits !== null) return later(now, WAITING_PAUSES[waits] ?? WAITING_PAUSES.at(-1)!)
  return later(now, PAUSE + Math.floor(JITTER * Math.random()))
}
