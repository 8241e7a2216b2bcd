import ipaddr from 'ipaddr.js'
import type { RateLimiterAbstract, RateLimiterRes } from 'rate-limiter-flexible'
import { Throttled } from '../../errors.ts'
import { DAY, type Rate, type Scope } from '../../limits.ts'
import type { System } from '../../system.ts'
import type { Actor } from '../tokens/actor.ts'

/** One rate of a scope, and what a caller has used of it. */
export interface Window {
  scope: Scope
  quota: number
  /** Its length in seconds. */
  length: number
  /** Requests counted in it, rejected ones included. */
  used: number
  remaining: number
  /** Whole seconds, at least 1, until it ends. */
  seconds: number
}

/** What throttling says of a request: whether it may pass, and how many more may. */
export interface Verdict {
  /** Seconds to wait; undefined: the request may pass. */
  retryAfter: number | undefined
  /** The window with the fewest requests left; of several, the longest. */
  tightest: Window
}

/**
 * Counts a request under a scope and under `user`; it may pass if all rates of both allow it (contract §14).
 * @param who whom the token acts for, or the address of a caller without one
 * @param bucket what is counted apart: the domain's name, for scopes per domain
 * @returns undefined if requests are not counted: then they pass
 */
export async function admit(
  system: System,
  scope: Scope,
  who: Actor | string,
  bucket = '',
): Promise<Verdict | undefined> {
  const { counters } = system
  if (counters === undefined) return undefined
  const identity = typeof who === 'string' ? identityOf(who) : who.accountId
  const windows = await Promise.all([
    ...(scope === 'user' ? [] : count(counters, scope, system.config.throttleRates[scope], `${identity} ${bucket}`)),
    ...count(counters, 'user', dailyRates(system, who), identity),
  ])
  return {
    retryAfter: waitingTime(windows.filter(({ used, quota }) => used > quota)),
    tightest: windows.reduce((tightest, other) => (isTighter(other, tightest) ? other : tightest)),
  }
}

/**
 * Compares a password on behalf of a caller, unless too many comparisons failed for their address; those that fail are
 * counted (contract §14, `login_failure`). For one address they are made one after the other, so that what many
 * requests try at once is not tried before the first failure counts.
 * @param compare whether the password is right
 * @throws Throttled
 */
export async function comparePassword(
  system: System,
  address: string,
  compare: () => Promise<boolean>,
): Promise<boolean> {
  const scope = 'login_failure'
  const rates = system.config.throttleRates[scope]
  const identity = identityOf(address)
  const { counters } = system
  if (counters === undefined) return compare()
  return system.queues.run(`${scope} ${identity}`, async () => {
    const failures = await Promise.all(look(counters, scope, rates, identity))
    const wait = waitingTime(failures.filter(({ remaining }) => remaining === 0))
    if (wait !== undefined) throw new Throttled(wait)
    const isRight = await compare()
    if (!isRight) await Promise.all(count(counters, scope, rates, identity))
    return isRight
  })
}

/** A caller without token: their address, of IPv6 the network of 64 bits that is one subscriber's. */
function identityOf(address: string): string {
  const parsed = ipaddr.process(address)
  if (parsed.kind() === 'ipv4') return parsed.toString()
  return `${(parsed as ipaddr.IPv6).parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`
}

function dailyRates(system: System, who: Actor | string): readonly Rate[] {
  const own = typeof who === 'string' ? null : who.dailyRate
  return own === null ? system.config.throttleRates.user : [{ requests: own, seconds: DAY }]
}

function count(counters: RateLimiterAbstract, scope: Scope, rates: readonly Rate[], key: string): Promise<Window>[] {
  return rates.map(async (rate) =>
    toWindow(scope, rate, await counters.penalty(keyOf(scope, rate, key), 1, { customDuration: rate.seconds })),
  )
}

function look(counters: RateLimiterAbstract, scope: Scope, rates: readonly Rate[], key: string): Promise<Window>[] {
  return rates.map(async (rate) => toWindow(scope, rate, await counters.get(keyOf(scope, rate, key))))
}

function keyOf(scope: Scope, { seconds }: Rate, key: string): string {
  return `${scope} ${seconds} ${key}`
}

function toWindow(scope: Scope, { requests, seconds }: Rate, counted: RateLimiterRes | null): Window {
  const used = counted?.consumedPoints ?? 0
  return {
    scope,
    quota: requests,
    length: seconds,
    used,
    remaining: Math.max(requests - used, 0),
    seconds: Math.max(Math.ceil((counted?.msBeforeNext ?? 0) / 1000), 1),
  }
}

function isTighter(one: Window, other: Window): boolean {
  return one.remaining < other.remaining || (one.remaining === other.remaining && one.length > other.length)
}

/** Seconds until all these windows have ended; undefined if there are none. */
function waitingTime(windows: Window[]): number | undefined {
  return windows.length === 0 ? undefined : Math.max(...windows.map(({ seconds }) => seconds))
}
