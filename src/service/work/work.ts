import { type Db, onceCommitted } from '../../store/database.ts'
import type { Claimed, NewWork, Scanned, Shown } from '../../store/work.ts'
import * as store from '../../store/work.ts'
import type { System } from '../../system.ts'
import type { Timestamp } from '../../time.ts'

export type { Shown }

/** Work that is being done. */
export type Work = Pick<Claimed, 'subject' | 'created' | 'attempts' | 'payload'>

/** A kind of work (architecture.md). */
export interface Kind {
  kind: string
  /** How much of it a process does at a time, and how much of that for one account; default: in the order of its times. */
  all: number
  each?: number
  /** Seconds until it is tried again after each failure; then it is given up. */
  retry: readonly number[]
  /** Whether it can be done now; default: always. */
  isOn?(system: System): boolean
  /**
   * Does it. It may be done again: the process can die before that is noted.
   * @param signal aborts when it should end early
   * @returns when it is to be done again, as if it was caused then; undefined: it is done
   * @throws if it failed; with `isFinal`, it is given up at once
   */
  run(system: System, work: Work, signal: AbortSignal): Promise<Timestamp | undefined>
}

/** Work that no transaction causes by a row: it is found in tables of its own, with claims of its own, or it comes again and again. */
export interface Scan {
  name: string
  /** The tables; default: none. */
  of?: Scanned
  /** Milliseconds from a run to the next one although nothing is found, the first at the start; default: for ever. */
  pause?: number
  /** Whether it can be done now; default: always. */
  isOn?(system: System): boolean
  /** Does what is due. @param stopping aborts when the process stops @returns the pause if it is another */
  run(system: System, stopping: AbortSignal): Promise<unknown>
}

/** Stores work, which begins when this transaction is committed, or when it is due. */
export async function add(system: System, trx: Db, ...work: NewWork[]): Promise<void> {
  if (work.length === 0) return
  await store.add(trx, work, system.now())
}

/** Lets the catalog zone be published, if there is one, when this transaction with a member that comes or leaves is committed. */
export function scanForMembers({ config, workBell }: System, trx: Db): void {
  if (config.catalogZone === undefined) return
  onceCommitted(trx, () => {
    workBell.ring()
  })
}

/** Returns the work of a kind, or all, for the operator. */
export async function list({ db }: System, kind: string | undefined): Promise<Shown[]> {
  return store.list(db, kind ?? null)
}

/** Makes work due now, and returns its number; for the operator. */
export async function hasten({ db, now }: System, kind: string | undefined): Promise<number> {
  return store.hasten(db, kind ?? null, now())
}

/** Deletes all work of a kind, and returns its number; for the operator. */
export async function drop({ db }: System, kind: string): Promise<number> {
  return store.drop(db, kind)
}
