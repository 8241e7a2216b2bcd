import { setTimeout as sleep } from 'node:timers/promises'

/** Milliseconds after which the service sends a response whose time must not reveal its work. */
const CONSTANT_TIME = 100

/**
 * Delays the result of `work` to CONSTANT_TIME, so that the response time does not reveal, for example, whether an
 * account exists.
 */
export async function inConstantTime<T>(work: () => Promise<T>): Promise<T> {
  const [result] = await Promise.allSettled([work(), sleep(CONSTANT_TIME)])
  if (result.status === 'rejected') throw result.reason
  return result.value
}
