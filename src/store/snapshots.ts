import { maybeOne, one, query, type Db } from './database.ts'

/** The rows of all tables that users change, as JSON of Postgres. */
export interface Snapshot {
  text: string
  rows: Record<string, Record<string, unknown>[]>
}

/** What a reset restores after accounts and zones, in the order of their references. */
const RESTORED = [
  ...['tokens', 'policies', 'totp_factors', 'confirmations', 'mails', 'captchas'],
  ...['deleted_domains', 'history', 'transfers'],
]

/** The rows of a table in the snapshot `:text`. */
function rowsOf(table: string): string {
  return `json_populate_recordset(null::${table}, cast(:text as json) -> '${table}')`
}

/** Takes a snapshot of the database. */
export async function take(db: Db): Promise<Snapshot> {
  const tables = ['accounts', 'domains', 'keys', 'rrsets', ...RESTORED]
  const members = tables.map((table) => `'${table}', (select coalesce(json_agg(t), '[]') from ${table} t)`)
  const { text } = await one<{ text: string }>(db, `select cast(json_build_object(${members.join()}) as text) as text`)
  return { text, rows: JSON.parse(text) as Snapshot['rows'] }
}

/**
 * About how many rows these tables have, without counting them: what Postgres has counted while they changed, or the last
 * ANALYZE if that is more. A new primary, and a Postgres that crashed, begins to count anew.
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

/** A domain that is not as in a snapshot. */
export interface Difference {
  id: number
  name: string
  ownerId: string
  kind: 'added' | 'removed' | 'changed'
}

/** The domains that were added, removed, or whose zones, or who may transfer them, were changed since the snapshot. */
export async function differences(db: Db, { text }: Snapshot): Promise<Difference[]> {
  return query(
    db,
    `select coalesce(now.id, past.id) as id, coalesce(now.name, past.name) as name,
       coalesce(now.owner_id, past.owner_id) as "ownerId",
       case when past.id is null then 'added' when now.id is null then 'removed' else 'changed' end as kind
     from domains now full join ${rowsOf('domains')} past using (id)
     where now.version is distinct from past.version
       or (select (addresses, notify, secret) from transfers where domain_id = now.id)
         is distinct from (select (addresses, notify, secret) from ${rowsOf('transfers')} where domain_id = past.id)
     order by id`,
    { text },
  )
}

/** Deletes added accounts, which have no domains any more, and restores the others; `domains` is kept by a trigger. */
export async function restoreAccounts(trx: Db, { text, rows }: Snapshot): Promise<void> {
  await query(trx, `delete from accounts where id not in (select id from ${rowsOf('accounts')})`, { text })
  const columns = Object.keys(rows['accounts']![0] ?? {}).filter((name) => name !== 'domains')
  if (columns.length === 0) return
  const changed = columns.filter((name) => name !== 'id')
  // Two accounts may have exchanged their addresses.
  await query(
    trx,
    `update accounts set email = cast(accounts.id as text) from ${rowsOf('accounts')} past
     where accounts.id = past.id and accounts.email <> past.email`,
    { text },
  )
  await query(
    trx,
    `insert into accounts (${columns.join()}) select ${columns.join()} from ${rowsOf('accounts')}
     on conflict (id) do update set ${changed.map((name) => `${name} = excluded.${name}`).join()}`,
    { text },
  )
}

/** Adds a removed domain again with its keys, without RRsets, and with this version. */
export async function addDomain(trx: Db, { text }: Snapshot, id: number, version: number): Promise<void> {
  await maybeOne(
    trx,
    `insert into domains overriding system value
     select (json_populate_record(past, json_build_object('version', cast(:version as bigint), 'size', 0, 'rectify', true))).*
     from ${rowsOf('domains')} past where id = :id`,
    { text, id, version },
  )
  const keys = `insert into keys select * from ${rowsOf('keys')} where domain_id = :id on conflict do nothing`
  await query(trx, keys, { text, id })
  await restoreTransfers(trx, { text }, id)
}

/** Restores who may transfer a domain's zone; returns whether that was different. */
export async function restoreTransfers(trx: Db, { text }: Pick<Snapshot, 'text'>, id: number): Promise<boolean> {
  const changed = await query(
    trx,
    `with past as (select * from ${rowsOf('transfers')} where domain_id = :id)
     insert into transfers select * from past
       union all select :id, '{}', '{}', null where not exists (select from past)
         and exists (select from transfers where domain_id = :id)
     on conflict (domain_id) do update
       set addresses = excluded.addresses, notify = excluded.notify, secret = excluded.secret
       where (transfers.addresses, transfers.notify, transfers.secret)
         is distinct from (excluded.addresses, excluded.notify, excluded.secret)
     returning domain_id`,
    { text, id },
  )
  return changed.length > 0
}

/** Restores everything but the accounts and the contents of zones, which are restored before. */
export async function restoreRest(trx: Db, { text }: Snapshot): Promise<void> {
  for (const table of [...RESTORED, 'throttle']) await query(trx, `delete from ${table}`)
  // RRsets that were written again get their times back, and their places in lists.
  const same = `rrsets.domain_id = past.domain_id and rrsets.subname = past.subname and rrsets.type = past.type
    and rrsets.ttl = past.ttl and rrsets.records @> past.records and rrsets.records <@ past.records
    and (rrsets.id, rrsets.records, rrsets.created, rrsets.touched)
      is distinct from (past.id, past.records, past.created, past.touched)`
  await query(trx, `delete from rrsets using ${rowsOf('rrsets')} past where ${same}`, { text })
  await query(
    trx,
    `insert into rrsets overriding system value select * from ${rowsOf('rrsets')} past
     where exists (select from domains where id = past.domain_id) on conflict do nothing`,
    { text },
  )
  await query(
    trx,
    `update domains set minimum_ttl = past.minimum_ttl, created = past.created, published = past.published,
       touched = past.touched
     from ${rowsOf('domains')} past where domains.id = past.id`,
    { text },
  )
  for (const table of RESTORED) await query(trx, `insert into ${table} select * from ${rowsOf(table)}`, { text })
}
