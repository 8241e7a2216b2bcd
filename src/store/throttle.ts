import type { Rate } from '../limits.ts'
import { query, type Db } from './database.ts'

/** What a request is counted under, and the rates that must allow it. */
export interface Meter {
  key: string
  rates: readonly Rate[]
}

/** One rate of a meter, before the request is counted; times are milliseconds since the epoch. */
export interface Window {
  /** Requests counted in it. */
  used: number
  /** When the oldest of them leaves it; null if there is none. */
  leaves: number | null
  /** When it will have room, if it has none. */
  opens: number | null
}

export interface Count {
  /** Whether the request was counted, under all meters; it never is if a window has no room. */
  counted: boolean
  /** Of all rates of all meters, in order. */
  windows: Window[]
}

/** Counts a request at `now`, if every rate of every meter allows it; or only looks. */
export async function count(db: Db, meters: readonly Meter[], now: number, look: boolean): Promise<Count> {
  const rates = meters.flatMap((meter, i) => meter.rates.map((rate) => ({ ...rate, owner: i + 1 })))
  const rows = await query<Window & { counted: boolean }>(
    db,
    `select * from throttle_count(cast(:keys as text[]), cast(:owners as integer[]), cast(:quotas as integer[]),
       cast(:lengths as bigint[]), :now, :look)`,
    {
      keys: meters.map(({ key }) => key),
      owners: rates.map(({ owner }) => owner),
      quotas: rates.map(({ requests }) => requests),
      lengths: rates.map(({ seconds }) => seconds * 1000),
      now,
      look,
    },
  )
  return {
    counted: rows[0]!.counted,
    windows: rows.map(({ used, leaves, opens }) => ({ used, leaves, opens })),
  }
}

/** Forgets what is in no window any more, and of more than `most` requests the oldest. */
export async function sweep(db: Db, now: number, most: number): Promise<void> {
  await query(
    db,
    `delete from throttle
     where expires <= :now or at <= (select at from throttle order by at desc offset :most limit 1)`,
    { now, most },
  )
}
