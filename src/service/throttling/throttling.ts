import { LASTING_WINDOW, type Rate, type Scope, SHARED_RATES } from '../../limits.ts'
import type { Domain } from '../../store/domains/domains.ts'
import type { System } from '../../system.ts'
import { DAY } from '../../time.ts'
import type { Actor } from '../actor.ts'
import { partiesOf } from './callers.ts'
import { type Counted, isFull, type Window } from './counters.ts'
import { multiplied, secondsLeft, waitingTime, windowsFor } from './rates.ts'

/** The decision about a request. */
export interface Verdict {
  /** Seconds to wait; undefined if the request may pass. */
  retryAfter: number | undefined
  /** A scope whose rate is exceeded. */
  exceeded: Scope | undefined
  /** The window with the fewest requests left; of several, the longest. */
  tightest: Pick<Window, 'scope' | 'quota' | 'length'> & {
    remaining: number
    /** Whole seconds, at least 1, until the window ends. */
    seconds: number
  }
  /** Takes the request back from the lasting windows, because it was the client's mistake. */
  takeBack: () => Promise<void>
}

/** The scopes that count strangers' requests of endpoints which also have others, or all those of tokens. */
const STRANGERS: Partial<Record<Scope, Scope>> = { user: 'public', account_management_passive: 'public' }

/**
 * Counts a request under a scope, and that of a token under `user`, if all their windows have room for it (contract §14).
 * @param caller the token's actor, or the client's IP address if there is no token
 * @param domain that of a request in a scope that counts each domain separately
 * @returns undefined if throttling is off
 */
export async function admit(
  system: System,
  scope: Scope,
  caller: Actor | string,
  domain?: Pick<Domain, 'name'>,
): Promise<Verdict | undefined> {
  const { counters, config } = system
  if (counters === undefined) return undefined
  const { own, shared } = partiesOf(caller)
  const isStranger = typeof caller === 'string'
  const chosen = isStranger ? (STRANGERS[scope] ?? scope) : scope
  const rates = config.throttleRates[chosen]
  const daily = isStranger ? [] : dailyRates(system, caller)
  const windowsOf = (key: string, times: number) => [
    ...(chosen === 'user' ? [] : windowsFor(system, chosen, `${key} ${domain?.name ?? ''}`, multiplied(rates, times))),
    ...windowsFor(system, 'user', key, multiplied(daily, times)),
  ]
  const counted = await counters.count([
    ...windowsOf(own, 1),
    ...(shared === undefined ? [] : windowsOf(shared, SHARED_RATES)),
  ])
  const kept = Math.max(LASTING_WINDOW, Math.min(...rates.map(({ seconds }) => seconds)))
  return {
    ...decide(counted),
    takeBack: () => counters.uncount(counted.filter(({ window }) => window.length > kept)),
  }
}

function decide(windows: Counted[]): Omit<Verdict, 'takeBack'> {
  const retryAfter = waitingTime(windows)
  const remaining = ({ window, used }: Counted) => Math.max(window.quota - used - (retryAfter === undefined ? 1 : 0), 0)
  const tightest = windows.reduce((one, other) => {
    const difference = remaining(one) - remaining(other) || other.window.length - one.window.length
    return difference > 0 ? other : one
  })
  const { scope, quota, length } = tightest.window
  return {
    retryAfter,
    exceeded: windows.find(isFull)?.window.scope,
    tightest: { scope, quota, length, remaining: remaining(tightest), seconds: secondsLeft(tightest) },
  }
}

/** Returns the rates of `user` for an account: its own, or else the configured ones. */
export function dailyRates({ config }: System, { dailyRate }: Pick<Actor, 'dailyRate'>): readonly Rate[] {
  return dailyRate === null ? config.throttleRates.user : [{ requests: dailyRate, seconds: DAY }]
}
