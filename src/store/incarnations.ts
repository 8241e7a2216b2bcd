import { answerTime, CLAIM_LIFETIME, CLOCK_SKEW, SMALL_WRITE } from '../limits.ts'
import { type Db, maybeOne, query } from './database.ts'

// An incarnation of Postgres lasts from one crash, or one promotion of a standby, to the next (architecture.md).

/**
 * Milliseconds after a crash of Postgres in which PowerDNS may still apply a request whose mark was lost. Only marks of
 * small writes are committed without a flush.
 */
const DOUBT_TIME = CLAIM_LIFETIME + answerTime(SMALL_WRITE)

/** An incarnation of Postgres. */
export interface Incarnation {
  id: string
  /** True if it began so recently that a request may still arrive whose mark was lost. */
  isDoubtful: boolean
}

/** SQL: the time until which a request may arrive at PowerDNS whose mark was lost. */
export const DOUBTFUL_UNTIL = `coalesce((select doubtful_until from incarnations),
  clock_timestamp() + ${DOUBT_TIME} * interval '1 millisecond')`

/** Returns SQL for a serial above `known` and above those of requests with lost marks; null if none can arrive. */
export function lostSerialSql(known: string): string {
  const clock = 'cast(extract(epoch from clock_timestamp()) as bigint)'
  return `case when ${DOUBTFUL_UNTIL} > clock_timestamp() then greatest(${known} + 1, ${clock} + ${CLOCK_SKEW}) end`
}

/** Returns the present incarnation. It is doubtful from the first call after its begin. @throws Unavailable */
export async function currentIncarnation(db: Db): Promise<Incarnation> {
  const sql = 'select id, doubtful_until > clock_timestamp() as "isDoubtful" from incarnations'
  const found = await maybeOne<Incarnation>(db, sql)
  if (found !== undefined) return found
  await query(db, `insert into incarnations (doubtful_until) values (${DOUBTFUL_UNTIL}) on conflict do nothing`)
  return currentIncarnation(db)
}
