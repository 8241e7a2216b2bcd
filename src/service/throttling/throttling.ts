import ipaddr from 'ipaddr.js'
import { Throttled } from '../../errors.ts'
import { DAY, type Rate, type Scope } from '../../limits.ts'
import type { System } from '../../system.ts'
import { milliseconds } from '../../time.ts'
import type { Actor } from '../tokens/actor.ts'
import type { Count, Meter } from './counters.ts'

/** The window that is nearest to its end: of those with the fewest requests left, the longest. */
export interface Headroom {
  scope: Scope
  quota: number
  /** The window's length in seconds. */
  window: number
  remaining: number
  /** Seconds until there is room for one more. */
  seconds: number
}

/** What throttling says of a request: whether it may pass, and how many more may. */
export interface Verdict {
  /** Seconds to wait; undefined: the request may pass, and is counted. */
  retryAfter: number | undefined
  headroom: Headroom
}

/**
 * Counts a request under a scope and under `user`, if all rates of both allow it (contract §14).
 * @param who whom the token acts for, or the address of a caller without one
 * @param bucket what is counted apart: the domain's name, for scopes per domain
 * @returns undefined if requests are not counted, or cannot be: then they pass
 */
export async function admit(
  system: System,
  scope: Scope,
  who: Actor | string,
  bucket?: string,
): Promise<Verdict | undefined> {
  const identity = typeof who === 'string' ? identityOf(who) : who.accountId
  const scopes: Scope[] = scope === 'user' ? ['user'] : [scope, 'user']
  const meters = scopes.map((each) => ({
    key: [each, identity, ...(bucket === undefined || each === 'user' ? [] : [bucket])].join(' '),
    rates: ratesOf(system, each, who),
  }))
  const now = milliseconds(system.now())
  const count = await system.counters?.count(meters, now)
  return count && judge(scopes, meters, count, now)
}

/**
 * Compares a password on behalf of a caller, unless too many comparisons failed for his address; those that fail are
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
  const key = `${scope} ${identityOf(address)}`
  const meters = [{ key, rates: system.config.throttleRates[scope] }]
  const { counters } = system
  if (counters === undefined) return compare()
  return system.queues.run(key, async () => {
    const now = milliseconds(system.now())
    const failures = await counters.count(meters, now, { look: true })
    const wait = failures && waitingTime(failures, now)
    if (wait !== undefined) throw new Throttled(wait)
    const isRight = await compare()
    if (!isRight) await counters.count(meters, milliseconds(system.now()))
    return isRight
  })
}

/** A caller without token: his address, of IPv6 the network of 64 bits that is one subscriber's. */
function identityOf(address: string): string {
  const parsed = ipaddr.process(address)
  if (parsed.kind() === 'ipv4') return parsed.toString()
  return `${(parsed as ipaddr.IPv6).parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`
}

function ratesOf(system: System, scope: Scope, who: Actor | string): readonly Rate[] {
  const own = scope === 'user' && typeof who !== 'string' ? who.dailyRate : null
  return own === null ? system.config.throttleRates[scope] : [{ requests: own, seconds: DAY }]
}

function judge(scopes: Scope[], meters: Meter[], count: Count, now: number): Verdict {
  const rates = meters.flatMap((meter, i) => meter.rates.map((rate) => ({ ...rate, scope: scopes[i]! })))
  const all = rates.map(({ scope, requests, seconds }, i) => {
    const { used, leaves } = count.windows[i]!
    const remaining = Math.max(requests - used - (count.counted ? 1 : 0), 0)
    const wait = leaves === null ? seconds : wholeSeconds(leaves - now)
    return { scope, quota: requests, window: seconds, remaining, seconds: wait }
  })
  const headroom = all.reduce((tightest, other) => (isTighter(other, tightest) ? other : tightest))
  return { retryAfter: waitingTime(count, now), headroom }
}

function isTighter(one: Headroom, other: Headroom): boolean {
  return one.remaining < other.remaining || (one.remaining === other.remaining && one.window > other.window)
}

/** Seconds until every window has room; undefined if all have. */
function waitingTime({ windows }: Count, now: number): number | undefined {
  const opens = windows.flatMap((window) => window.opens ?? [])
  return opens.length === 0 ? undefined : wholeSeconds(Math.max(...opens) - now)
}

function wholeSeconds(ms: number): number {
  return Math.max(Math.ceil(ms / 1000), 1)
}
