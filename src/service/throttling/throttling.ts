import ipaddr from 'ipaddr.js'
import { LRUCache } from 'lru-cache'
import { Throttled } from '../../errors.ts'
import type { Rate, Scope } from '../../limits.ts'
import { DAY } from '../../time.ts'
import type { Domain } from '../../store/domains/domains.ts'
import * as policies from '../../store/tokens/policies.ts'
import type { System } from '../../system.ts'
import type { Actor } from '../actor.ts'
import { isFull, type Counted, type Window } from './counters.ts'

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
  /** Takes the request back from the windows that the domain's other writers also use. */
  giveBack: () => Promise<void>
}

/**
 * Counts a request under a scope and under `user`, if all their windows have room for it (contract §14).
 * @param caller the token's actor, or the client's IP address if there is no token
 * @param domain that of a request in a scope that counts each domain separately
 * @returns undefined if throttling is off
 */
export async function admit(
  system: System,
  scope: Scope,
  caller: Actor | string,
  domain?: Pick<Domain, 'id' | 'name'>,
): Promise<Verdict | undefined> {
  const { counters } = system
  if (counters === undefined) return undefined
  const identity = identityOf(caller)
  const windowsOf = (key: string) => windowsFor(system, scope, `${key} ${domain?.name ?? ''}`)
  const isRestricted = domain !== undefined && typeof caller !== 'string' && caller.restricted
  const own = isRestricted ? windowsOf(caller.tokenId) : []
  const isAlone = scope === 'user' || (isRestricted && !(await mayWriteIn(system, caller.tokenId, domain.id)))
  const shared = isAlone ? [] : windowsOf(identity)
  const daily = windowsFor(system, 'user', identity, dailyRates(caller))
  const counted = await counters.count([...shared, ...own, ...daily])
  return {
    ...decide(counted),
    giveBack: async () => {
      if (isRestricted) await counters.uncount(counted.slice(0, shared.length))
    },
  }
}

/** Answers of `mayWriteIn` that are younger than a second: a flood of refused requests costs no further statements. */
const known = new LRUCache<string, boolean>({
  max: 10_000,
  ttl: 1_000,
  ttlResolution: 0,
  perf: { now: () => Date.now() },
})

/** Reports whether the policies of a token allow any write in a domain (contract §14). */
async function mayWriteIn({ db }: System, tokenId: string, domainId: number): Promise<boolean> {
  const key = `${tokenId} ${domainId}`
  const answer = known.get(key)
  if (answer !== undefined) return answer
  const isAllowed = await policies.allowAny(db, tokenId, domainId)
  known.set(key, isAllowed)
  return isAllowed
}

function decide(windows: Counted[]): Omit<Verdict, 'giveBack'> {
  const full = windows.filter(isFull)
  const remaining = ({ window, used }: Counted) => Math.max(window.quota - used - (full.length === 0 ? 1 : 0), 0)
  const [tightest] = windows.toSorted(
    (one, other) => remaining(one) - remaining(other) || other.window.length - one.window.length,
  )
  const { scope, quota, length } = tightest!.window
  return {
    retryAfter: waitingTime(full),
    exceeded: full[0]?.window.scope,
    tightest: { scope, quota, length, remaining: remaining(tightest!), seconds: secondsLeft(tightest!) },
  }
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
  const windows = windowsFor(system, scope, email.toLowerCase())
  // The account has no queue: strangers would fill it, and the owner wait. So simultaneous requests from many networks
  // may exceed its rate by as many as are being compared.
  const wait = waitingTime((await counters.read(windows)).filter(isFull))
  const accepted = await limitFailures(system, 'login_failure', identityOf(address), async () => {
    const mayPass = wait === undefined || (await isTrusted())
    // Compared in any case, so that the time is always the same.
    const isRight = await compare()
    if (isRight && mayPass) return true
    await counters.count(windows)
    return undefined
  })
  if (accepted !== true && wait !== undefined) throw new Throttled(wait, scope)
  return accepted === true
}

/** Counts an event of a scope, if all its rates allow it. Returns whether they do. */
export async function isWithinRates(system: System, scope: Scope, identity: string): Promise<boolean> {
  if (system.counters === undefined) return true
  const windows = windowsFor(system, scope, identity)
  return !(await system.counters.count(windows)).some(isFull)
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
  const windows = windowsFor(system, scope, identity)
  return system.bounds.queues.run(`${scope} ${identity}`, system.patience, async () => {
    const wait = waitingTime((await counters.read(windows)).filter(isFull))
    if (wait !== undefined) throw new Throttled(wait, scope)
    const result = await attempt()
    if (result === undefined) await counters.count(windows)
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

/** Returns the rates of `user` that the caller's account has of its own; undefined: none. */
function dailyRates(caller: Actor | string): readonly Rate[] | undefined {
  const dailyRate = typeof caller === 'string' ? null : caller.dailyRate
  return dailyRate === null ? undefined : [{ requests: dailyRate, seconds: DAY }]
}

/** Returns the windows of a scope for a key. @param rates instead of the configured ones */
function windowsFor({ config }: System, scope: Scope, key: string, rates = config.throttleRates[scope]): Window[] {
  return rates.map(({ requests, seconds }) => ({
    scope,
    key: `${scope} ${seconds} ${key}`,
    quota: requests,
    length: seconds,
  }))
}

function secondsLeft({ ends }: Counted): number {
  return Math.max(Math.ceil((ends - Date.now()) / 1000), 1)
}

/** Returns the seconds until all these windows have ended; undefined if the array is empty. */
function waitingTime(windows: Counted[]): number | undefined {
  return windows.length === 0 ? undefined : Math.max(...windows.map(secondsLeft))
}
