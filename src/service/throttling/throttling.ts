import ipaddr from 'ipaddr.js'
import type { RateLimiterAbstract, RateLimiterRes } from 'rate-limiter-flexible'
import { Throttled } from '../../errors.ts'
import { DAY, type Rate, type Scope } from '../../limits.ts'
import type { System } from '../../system.ts'
import type { Actor } from '../tokens/actor.ts'

/** A caller's use of one rate of a scope. */
export interface Window {
  scope: Scope
  quota: number
  /** In seconds. */
  length: number
  /** Counted requests, including rejected ones. */
  used: number
  remaining: number
  /** Whole seconds, at least 1, until the window ends. */
  seconds: number
}

/** Whether a request may pass, and how many more may. */
export interface Verdict {
  /** Seconds to wait; undefined if the request may pass. */
  retryAfter: number | undefined
  /** The window with the fewest requests left; of several, the longest. */
  tightest: Window
}

/**
 * Counts a request under a scope and under `user`. It may pass if all rates of both scopes allow it (contract §14).
 * @param caller the token's actor, or the client's IP address if there is no token
 * @param bucket counted separately: the domain's name, for scopes per domain
 * @returns undefined if throttling is off
 */
export async function admit(
  system: System,
  scope: Scope,
  caller: Actor | string,
  bucket = '',
): Promise<Verdict | undefined> {
  const { counters } = system
  if (counters === undefined) return undefined
  const identity = typeof caller === 'string' ? identityOf(caller) : caller.accountId
  const windows = await Promise.all([
    ...(scope === 'user' ? [] : count(counters, scope, system.config.throttleRates[scope], `${identity} ${bucket}`)),
    ...count(counters, 'user', dailyRates(system, caller), identity),
  ])
  const [tightest] = windows.toSorted((one, other) => one.remaining - other.remaining || other.length - one.length)
  return { retryAfter: waitingTime(windows.filter(({ used, quota }) => used > quota)), tightest: tightest! }
}

/**
 * Compares a password and counts a failure for the client's address (contract §14, `login_failure`). Comparisons for
 * one address run one after the other, so that simultaneous requests cannot exceed the rate.
 * @param compare returns whether the password is right
 * @throws Throttled if too many comparisons failed for the address
 */
export async function comparePassword(
  system: System,
  address: string,
  compare: () => Promise<boolean>,
): Promise<boolean> {
  const scope = 'login_failure'
  const { counters } = system
  if (counters === undefined) return compare()
  const rates = system.config.throttleRates[scope]
  const identity = identityOf(address)
  return system.queues.run(`${scope} ${identity}`, async () => {
    const failures = await Promise.all(read(counters, scope, rates, identity))
    const wait = waitingTime(failures.filter(({ remaining }) => remaining === 0))
    if (wait !== undefined) throw new Throttled(wait)
    const isRight = await compare()
    if (!isRight) await Promise.all(count(counters, scope, rates, identity))
    return isRight
  })
}

/** Identifies a client without a token by its IPv4 address or its IPv6 /64 network, which belongs to one subscriber. */
function identityOf(address: string): string {
  const parsed = ipaddr.process(address)
  const network = 'parts' in parsed ? new ipaddr.IPv6([...parsed.parts.slice(0, 4), 0, 0, 0, 0]) : parsed
  return network.toString()
}

function dailyRates(system: System, caller: Actor | string): readonly Rate[] {
  const dailyRate = typeof caller === 'string' ? null : caller.dailyRate
  return dailyRate === null ? system.config.throttleRates.user : [{ requests: dailyRate, seconds: DAY }]
}

function count(counters: RateLimiterAbstract, scope: Scope, rates: readonly Rate[], key: string): Promise<Window>[] {
  return rates.map(async (rate) =>
    toWindow(scope, rate, await counters.penalty(keyOf(scope, rate, key), 1, { customDuration: rate.seconds })),
  )
}

function read(counters: RateLimiterAbstract, scope: Scope, rates: readonly Rate[], key: string): Promise<Window>[] {
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

/** Seconds until all these windows have ended; undefined if the array is empty. */
function waitingTime(windows: Window[]): number | undefined {
  return windows.length === 0 ? undefined : Math.max(...windows.map(({ seconds }) => seconds))
}
