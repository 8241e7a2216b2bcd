import { Throttled } from '../../errors.ts'
import type { Scope } from '../../limits.ts'
import type { System } from '../../system.ts'
import { networkOf } from './callers.ts'
import { isFull } from './counters.ts'
import { waitingTime, windowsFor } from './rates.ts'

/** A password that somebody claims to be an account's. */
export interface Guess {
  /** The client's IP address. */
  address: string
  /** The e-mail address of the account, which need not exist. */
  email: string
  /** Whether the client's network is one from which the account has logged in before. */
  isKnownNetwork: boolean
  /** Uses up the client's captcha; undefined: it has sent none. @throws Invalid unless it is solved */
  solve: (() => Promise<void>) | undefined
  /** Returns whether the password is right. @param isTrusted whether the client has proved more than the password */
  compare: (isTrusted: boolean) => Promise<boolean>
}

/**
 * Compares a password and counts a failure for the client's network and for the account (contract §14,
 * `login_failure`). After too many failures for the network, only passwords with a solved captcha are compared, which
 * count apart; after too many for the account, only a right password with a captcha or from a known network is
 * accepted. Everything else is throttled, so that strangers learn nothing, and cannot lock out the owner.
 * @throws Throttled if too many comparisons failed; Invalid if a captcha was needed and is not solved
 */
export async function comparePassword(system: System, guess: Guess): Promise<boolean> {
  const { counters } = system
  const { solve, compare, isKnownNetwork } = guess
  if (counters === undefined) return compare(isKnownNetwork)
  const [network, account] = [networkOf(guess.address), guess.email.toLowerCase()]
  const ofNetwork = windowsFor(system, 'login_failure', network)
  const ofAccount = windowsFor(system, 'login_failure_per_account', account)
  // One at a time, so that a client which logs in often at once is not taken for one that guesses. Others' attempts do
  // not wait for these.
  const turn = `password ${network} ${account} ${solve === undefined ? '' : 'with captcha'}`
  return system.bounds.queues.run(turn, system.patience, async () => {
    const states = await counters.read([...ofNetwork, ...ofAccount])
    const isBeyond = states.slice(0, ofNetwork.length).some(isFull)
    const wait = waitingTime(states.slice(ofNetwork.length))
    const isSolved = solve !== undefined && (isBeyond || wait !== undefined)
    if (isSolved) await solve()
    const identity = isBeyond && isSolved ? `${network} with captcha` : network
    const accepted = await limitFailures(system, 'login_failure', identity, async () => {
      const isTrusted = isSolved || isKnownNetwork
      // Compared in any case, so that the time is always the same.
      if ((await compare(isTrusted)) && (wait === undefined || isTrusted)) return true
      // Not reserved: strangers would hold the places. So simultaneous requests from many networks may exceed the rate.
      await counters.count(ofAccount)
      return undefined
    })
    if (accepted === undefined && wait !== undefined) throw new Throttled(wait, 'login_failure_per_account')
    return accepted === true
  })
}

/**
 * Runs `attempt`, and counts a failure. An attempt counts while it lasts, so that simultaneous requests cannot exceed
 * the rate.
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
  const counted = await counters.count(windowsFor(system, scope, identity))
  const wait = waitingTime(counted)
  const turn = `${scope} ${identity}`
  // Those that run may turn out right.
  if (wait !== undefined) throw new Throttled(running.has(turn) ? 1 : wait, scope)
  const end = start(turn)
  let hasFailed = false
  try {
    const result = await attempt()
    hasFailed = result === undefined
    return result
  } finally {
    end()
    if (!hasFailed) await counters.uncount(counted)
  }
}

/** The attempts that run in this process, by their scope and identity. */
const running = new Map<string, number>()

/** Begins an attempt; the returned function ends it. */
function start(turn: string): () => void {
  running.set(turn, (running.get(turn) ?? 0) + 1)
  return () => {
    const left = running.get(turn)! - 1
    if (left === 0) running.delete(turn)
    else running.set(turn, left)
  }
}
