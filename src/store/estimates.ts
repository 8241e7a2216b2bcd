import { type Db, query } from './database.ts'

/**
 * Estimates the numbers of rows of these tables: by the count that Postgres keeps while they change, or the last
 * ANALYZE if that is more. A new primary, and a Postgres that crashed, begin to count anew.
 */
export async function estimates(db: Db, tables: string[]): Promise<Map<string, number>> {
  const rows = await query<{ name: string; number: number }>(
    db,
    `select pg_class.relname as name, cast(greatest(reltuples, n_live_tup, 0) as float8) as number
     from pg_class join pg_stat_user_tables on relid = oid
     where oid = any (cast(cast(:tables as text[]) as regclass[]))`,
    { tables },
  )
  return new Map(rows.map(({ name, number }) => [name, number]))
}
