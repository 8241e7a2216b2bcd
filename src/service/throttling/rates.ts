import type { Rate, Scope } from '../../limits.ts'
import type { System } from '../../system.ts'
import { type Counted, isFull, type Window } from './counters.ts'

/** Returns the windows of a scope for a key. @param rates instead of the configured ones */
export function windowsFor(
  { config }: System,
  scope: Scope,
  key: string,
  rates = config.throttleRates[scope],
): Window[] {
  return rates.map(({ requests, seconds }) => ({
    scope,
    key: `${scope} ${seconds} ${key}`,
    quota: requests,
    length: seconds,
  }))
}

/** Returns these rates, with as many times the requests. */
export function multiplied(rates: readonly Rate[], times: number): Rate[] {
  return rates.map(({ requests, seconds }) => ({ requests: times * requests, seconds }))
}

/** Counts an event of a scope, if all its rates allow it. Returns whether they do. */
export async function isWithinRates(system: System, scope: Scope, identity: string): Promise<boolean> {
  if (system.counters === undefined) return true
  return !(await system.counters.count(windowsFor(system, scope, identity))).some(isFull)
}

/** Returns the seconds until no window is full; undefined if none is. */
export function waitingTime(windows: Counted[]): number | undefined {
  const full = windows.filter(isFull)
  return full.length === 0 ? undefined : Math.max(...full.map(secondsLeft))
}

/** Returns whole seconds, at least 1, until the window ends. */
export function secondsLeft({ ends }: Counted): number {
  return Math.max(Math.ceil((ends - Date.now()) / 1000), 1)
}
