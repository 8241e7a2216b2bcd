import type pg from 'pg'
import { Busy, reasonOf, Unavailable } from '../../errors.ts'
import { violationError } from './constraints.ts'

const CONNECTION_CODES = new Set([
  'ECONNREFUSED', 'ECONNRESET', 'ENOENT', 'EPIPE', 'ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT', 'EHOSTUNREACH', 'EACCES',
]) // prettier-ignore

/**
 * Reports whether an error of the driver says nothing about the statement: Postgres is unreachable, starting, stopping,
 * overloaded or damaged now.
 */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = (error as { code?: string }).code ?? ''
  return (
    CONNECTION_CODES.has(code) ||
    // Classes 08: connection, 53: resources, 57: operator intervention, 58: system error (also a library that an upgrade
    // has replaced), F0: configuration file, XX: internal error; 25006: read-only, 25P03: idle in transaction, 40001:
    // serialization failure, 40P01: deadlock, 55P02: a parameter cannot be changed now.
    /^(08|53|57|58|F0|XX)|^(25006|25P03|40001|40P01|55P02)$/.test(code) ||
    /^(Connection terminated|timeout expired|timeout exceeded|Query read timeout|Client has encountered|Client was closed|Cannot use a pool)/.test(
      error.message,
    )
  )
}

/** Reports whether a statement failed only because one that was sent before has aborted the transaction. */
export function isConsequence(error: unknown): boolean {
  return (error as { code?: string } | undefined)?.code === '25P02'
}

/** Acts like Promise.all, but waits for all, also if one fails. The error is that of the first cause in the list. */
export async function allOf<T extends unknown[]>(work: [...T]): Promise<{ [K in keyof T]: Awaited<T[K]> }> {
  const results = await Promise.allSettled(work)
  const failures = results.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []))
  if (failures.length > 0) throw failures.find((failure) => !isConsequence(failure)) ?? failures[0]
  return Promise.all(work)
}

/** Returns the service's error for an error of Postgres or the pool; unexpected errors are returned unchanged. */
export function serviceError(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const violation = violationError(error)
  if (violation !== undefined) return violation
  if ((error as { code?: string }).code === '55P03') return Busy.waitedTooLong(`Postgres: ${reasonOf(error)}`)
  return isUnavailable(error) ? new Unavailable(`Postgres: ${reasonOf(error)}`, { cause: error }) : error
}

/** Returns an error for which `isUnavailable` holds: the server exists, but does not accept writes. */
export function notPrimary(message: string): Error {
  return Object.assign(new Error(message), { code: '25006' })
}

/** The reason for the failure of a statement or a connection. */
export type DatabaseFailure = 'unavailable' | 'lock' | 'constraint' | 'other'

type Tell = (failure: DatabaseFailure) => void

/** The observers of failures, by pool and by connection. */
const watchers = new WeakMap<object, Tell>()

/** Reports each statement and connection of a pool that fails from now on. */
export function watchFailures(pool: pg.Pool, tell: Tell): void {
  watchers.set(pool, tell)
  pool.on('connect', (client) => watchers.set(client, tell))
}

/** Reports a failure. @param db the pool or connection that has failed */
export function tellFailure(db: object, error: unknown): void {
  watchers.get(db)?.(kindOf(error))
}

function kindOf(error: unknown): DatabaseFailure {
  if (error instanceof Error && violationError(error) !== undefined) return 'constraint'
  if ((error as { code?: string }).code === '55P03') return 'lock'
  return isUnavailable(error) ? 'unavailable' : 'other'
}
