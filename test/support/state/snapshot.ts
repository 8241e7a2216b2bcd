import { type Db, query } from '../../../src/store/database.ts'

/** Everything that a write may leave in the database, as text. */
export async function snapshot(db: Db): Promise<string> {
  const tables = await query<{ name: string }>(
    db,
    `select table_name as name from information_schema.tables
     where table_schema = 'public' and table_name not like 'knex%' and table_name <> 'throttle' order by 1`,
  )
  const rows: unknown[] = []
  for (const { name } of tables) {
    // Authentication notes the use of tokens.
    rows.push(name, await query(db, `select to_jsonb(rows) - 'last_used' as row from ${name} as rows order by 1`))
  }
  return JSON.stringify(rows)
}

/** Domains and RRsets, without the versions, which repair raises. */
export async function stored(db: Db): Promise<string> {
  const rows = await query(
    db,
    `select (select json_agg(to_jsonb(domains) - 'version' order by id) from domains) as domains,
       (select json_agg(rrsets order by id) from rrsets) as rrsets`,
  )
  return JSON.stringify(rows)
}
