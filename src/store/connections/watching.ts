import type pg from 'pg'
import { violationError } from './constraints.ts'
import { isUnavailable } from './failures.ts'

/** Why a statement or a connection failed. */
export type DatabaseFailure = 'unavailable' | 'lock' | 'constraint' | 'other'

type Tell = (failure: DatabaseFailure) => void

/** Who wants to know of failures, by pool and by connection. */
const watchers = new WeakMap<object, Tell>()

/** Tells of each statement and connection of a pool that fails from now on. */
export function watchFailures(pool: pg.Pool, tell: Tell): void {
  watchers.set(pool, tell)
  pool.on('connect', (client) => watchers.set(client, tell))
}

/** @param db the pool or connection that has failed */
export function tellFailure(db: object, error: unknown): void {
  watchers.get(db)?.(kindOf(error))
}

function kindOf(error: unknown): DatabaseFailure {
  if (error instanceof Error && violationError(error) !== undefined) return 'constraint'
  if ((error as { code?: string }).code === '55P03') return 'lock'
  return isUnavailable(error) ? 'unavailable' : 'other'
}
