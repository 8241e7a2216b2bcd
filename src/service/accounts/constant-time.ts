import { setTimeout as sleep } from 'node:timers/promises'
import { CONSTANT_TIME } from '../../limits.ts'

/**
 * Does work whose result comes at the same time whatever there was to do, as long as it takes no longer than that: who
 * measures learns nothing, for example whether an account exists.
 */
export async function inConstantTime<T>(work: () => Promise<T>): Promise<T> {
  const [result] = await Promise.allSettled([work(), sleep(CONSTANT_TIME)])
  if (result.status === 'rejected') throw result.reason
  return result.value
}
