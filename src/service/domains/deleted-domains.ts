import { isConfined } from '../../store/domains/domains.ts'
import type { ListedDeletion } from '../../store/zone/deleted-domains.ts'
import * as store from '../../store/zone/deleted-domains.ts'
import { DAY, fromMicroseconds, microseconds, type Timestamp } from '../../time.ts'
import type { Visit } from '../actor.ts'
import { searchedText } from '../names/search.ts'
import { type Cursor, EMPTY, type Page } from '../pagination.ts'

/** A deleted domain that its account can restore (contract §15.5). */
export interface RestorableDomain {
  name: string
  deleted: Timestamp
  /** Until when its history is kept. */
  restorableUntil: Timestamp
}

/** Returns a page of the deleted domains that the actor can restore, whose names contain a text; last deletion first. */
export async function list(
  { system, actor }: Visit,
  search: string | undefined,
  cursor?: Cursor,
): Promise<Page<RestorableDomain>> {
  const text = searchedText(search ?? '')
  // No policy names a deleted domain.
  if (text === undefined || isConfined(actor)) return EMPTY
  const page = await store.restorable(system.db, actor.accountId, text, cursor)
  return { ...page, rows: page.rows.map((row) => restorable(row, system.config.historyDays)) }
}

/** Counts the domains of `list`. */
export async function count({ system, actor }: Visit, search: string | undefined): Promise<number> {
  const text = searchedText(search ?? '')
  return text === undefined ? 0 : store.countRestorable(system.db, actor.accountId, text)
}

function restorable({ name, created: deleted }: ListedDeletion, historyDays: number): RestorableDomain {
  const until = fromMicroseconds(microseconds(deleted) + BigInt(historyDays * DAY) * 1_000_000n)!
  return { name, deleted, restorableUntil: until }
}
