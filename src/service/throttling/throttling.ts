import ipaddr from 'ipaddr.js'
import type { RateLimiterAbstract, RateLimiterRes } from 'rate-limiter-flexible'
import { Throttled } from '../../errors.ts'
import { DAY, type Rate, type Scope } from '../../limits.ts'
import type { System } from '../../system.ts'
import type { Actor } from '../actor.ts'

/** A caller's use of one rate of a scope. */
export interface Window {
  scope: Scope
  quota: number
  /** Seconds. */
  length: number
  /** Counted requests, including rejected ones. */
  used: number
  remaining: number
  /** Whole seconds, at least 1, until the window ends. */
  seconds: number
}

/** The decision about a request, and the number of further requests that may pass. */
export interface Verdict {
  /** Seconds to wait; undefined if the request may pass. */
  retryAfter: number | undefined
  /** A scope whose rate is exceeded. */
  exceeded: Scope | undefined
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
  const identity = identityOf(caller)
  const windows = await Promise.all([
    ...(scope === 'user' ? [] : count(counters, scope, system.config.throttleRates[scope], `${identity} ${bucket}`)),
    ...count(counters, 'user', dailyRates(system, caller), identity),
  ])
  const [tightest] = windows.toSorted((one, other) => one.remaining - other.remaining || other.length - one.length)
  const exceeded = windows.filter(({ used, quota }) => used > quota)
  return { retryAfter: waitingTime(exceeded), exceeded: exceeded[0]?.scope, tightest: tightest! }
}

/**
 * Compares a password and counts a failure for the client's network and for the account (contract §14,
 * `login_failure`). After too many failures for the account, only a right password from a trusted client is accepted;
 * everything else is throttled, so that strangers learn nothing, and cannot lock out the owner.
 * @param login the client's IP address, and the e-mail address of the account, which need not exist
 * @param compare returns whether the password is right
 * @param isTrusted returns whether the client has proved more than the password
 * @throws Throttled if too many comparisons failed
 */
export async function comparePassword(
  system: System,
  { address, email }: { address: string; email: string },
  compare: () => Promise<boolean>,
  isTrusted: () => Promise<boolean>,
): Promise<boolean> {
  const { counters } = system
  if (counters === undefined) return compare()
  const scope = 'login_failure_per_account'
  const rates = system.config.throttleRates[scope]
  const key = email.toLowerCase()
  // The account has no queue: strangers would fill it, and the owner wait. So simultaneous requests from many networks
  // may exceed its rate by as many as are being compared.
  const failures = await Promise.all(read(counters, scope, rates, key))
  const wait = waitingTime(failures.filter(({ remaining }) => remaining === 0))
  const accepted = await limitFailures(system, 'login_failure', identityOf(address), async () => {
    const mayPass = wait === undefined || (await isTrusted())
    // Compared in any case, so that the time is always the same.
    const isRight = await compare()
    if (isRight && mayPass) return true
    await Promise.all(count(counters, scope, rates, key))
    return undefined
  })
  if (accepted !== true && wait !== undefined) throw new Throttled(wait, scope)
  return accepted === true
}

/** Counts an event of a scope. Returns true if all rates of the scope allow it. */
export async function isWithinRates(system: System, scope: Scope, identity: string): Promise<boolean> {
  if (system.counters === undefined) return true
  const windows = await Promise.all(count(system.counters, scope, system.config.throttleRates[scope], identity))
  return windows.every(({ used, quota }) => used <= quota)
}

/**
 * Runs `attempt`, and counts a failure. The attempts of one identity run one after the other, so that simultaneous
 * requests cannot exceed the rate.
 * @param identity the account, or the client's network
 * @param attempt resolves with undefined if it failed
 * @throws Throttled if too many attempts have failed
 */
export async function limitFailures<T>(
  system: System,
  scope: Scope,
  identity: string,
  attempt: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const { counters } = system
  if (counters === undefined) return attempt()
  const rates = system.config.throttleRates[scope]
  return system.bounds.queues.run(`${scope} ${identity}`, async () => {
    const failures = await Promise.all(read(counters, scope, rates, identity))
    const wait = waitingTime(failures.filter(({ remaining }) => remaining === 0))
    if (wait !== undefined) throw new Throttled(wait, scope)
    const result = await attempt()
    if (result === undefined) await Promise.all(count(counters, scope, rates, identity))
    return result
  })
}

/**
 * Identifies a caller by its account; without a token by its IPv4 address or its IPv6 /64 network, which belongs to one
 * subscriber.
 */
export function identityOf(caller: Actor | string): string {
  if (typeof caller !== 'string') return caller.accountId
  const parsed = ipaddr.process(caller)
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

/** Returns the seconds until all these windows have ended; undefined if the array is empty. */
function waitingTime(windows: Window[]): number | undefined {
  return windows.length === 0 ? undefined : Math.max(...windows.map(({ seconds }) => seconds))
}
