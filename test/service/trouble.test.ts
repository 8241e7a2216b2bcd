import test from 'ava'
import type { DelegationState } from '../../src/service/delegation/judgement.ts'
import { followTrouble, nextCheck, waitsAfter } from '../../src/service/delegation/planning.ts'
import { later, secondsBetween } from '../../src/time.ts'
import { NO_TROUBLE } from '../support/state/checks.ts'

// When owners get mails about their delegations, and when domains are checked again.

const START = '2026-01-31T12:00:00.000000Z'
const MINUTE = 60
const DAY = 86_400

/** The mails that checks with these results cause. @param checks seconds after the last one, and the state */
function mails(...checks: [seconds: number, state: DelegationState][]): string[] {
  let trouble = NO_TROUBLE
  let now = START
  return checks.map(([seconds, state]) => {
    now = later(now, seconds)
    const { mail, ...after } = followTrouble(trouble, state, now)
    trouble = after
    return mail ?? ''
  })
}

const ROWS: [string, [number, DelegationState, mail: string][]][] = [
  ['a mismatch is told once it is confirmed', [[0, 'mismatch', ''], [600, 'mismatch', 'trouble'], [600, 'mismatch', '']]],
  ['ten minutes later, not earlier', [[0, 'mismatch', ''], [599, 'mismatch', ''], [1, 'mismatch', 'trouble']]],
  ['a lost DS is told', [[0, 'secure', ''], [DAY, 'insecure', ''], [600, 'insecure', 'trouble'], [DAY, 'insecure', '']]],
  ['a DS that was never there is not lost', [[0, 'insecure', ''], [600, 'insecure', ''], [600, 'insecure', '']]],
  ['the end is told', [[0, 'mismatch', ''], [600, 'mismatch', 'trouble'], [60, 'secure', 'over'], [60, 'secure', '']]],
  ['what is over before it is confirmed is not told', [[0, 'mismatch', ''], [60, 'secure', ''], [600, 'mismatch', '']]],
  [
    'what the parent does not tell confirms nothing, and ends nothing',
    [[0, 'secure', ''], [60, 'unknown', ''], [60, 'insecure', ''], [600, 'propagating', ''], [60, 'insecure', 'trouble'], [60, 'unknown', ''], [60, 'stale', 'over']],
  ],
  [
    'a domain gets one such mail a week',
    [[0, 'mismatch', ''], [600, 'mismatch', 'trouble'], [60, 'secure', 'over'], [60, 'mismatch', ''], [600, 'mismatch', ''], [7 * DAY, 'mismatch', 'trouble']],
  ],
  [
    'the DS of a mismatch that is removed is not lost',
    [[0, 'secure', ''], [60, 'mismatch', ''], [600, 'mismatch', 'trouble'], [60, 'insecure', 'over'], [600, 'insecure', '']],
  ],
] // prettier-ignore

for (const [what, checks] of ROWS) {
  test(what, (t) => {
    t.deepEqual(
      mails(...checks.map(([seconds, state]): [number, DelegationState] => [seconds, state])),
      checks.map(([, , mail]) => mail),
    )
  })
}

test('a domain that waits is checked after 5, 15 and 60 minutes and then hourly, until it is secure', (t) => {
  let waits: number | null = 0
  let now = START
  const pauses = Array.from({ length: 5 }, () => {
    waits = waitsAfter(waits, 'not-delegated', START, now)
    const next = nextCheck(waits, NO_TROUBLE, now)
    const pause = secondsBetween(now, next) / MINUTE
    now = next
    return pause
  })
  t.deepEqual(pauses, [5, 15, 60, 60, 60])
  t.is(waitsAfter(waits, 'secure', START, now), null)
  t.is(waitsAfter(waits, 'insecure', START, later(START, 7 * DAY + 1)), null)
  t.is(waitsAfter(null, 'insecure', START, now), null)
})

test('other domains are checked after a day, or up to an hour later', (t) => {
  const pauses = Array.from({ length: 1_000 }, () => secondsBetween(START, nextCheck(null, NO_TROUBLE, START)))
  t.true(pauses.every((pause) => pause >= DAY && pause <= DAY + 3_600))
  t.true(new Set(pauses).size > 100)
})

test('a trouble is looked at again after ten minutes', (t) => {
  const { mail, ...trouble } = followTrouble(NO_TROUBLE, 'mismatch', START)
  t.is(mail, undefined)
  t.is(nextCheck(null, trouble, START), later(START, 600))
  t.is(nextCheck(null, trouble, later(START, 60)), later(START, 600))
  const { mail: told, ...confirmed } = followTrouble(trouble, 'mismatch', later(START, 600))
  t.is(told, 'trouble')
  t.true(secondsBetween(START, nextCheck(null, confirmed, START)) >= DAY)
})
