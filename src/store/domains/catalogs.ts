import { type Db, one, query } from '../database.ts'

/** A member of the catalog zone. */
export interface Member {
  /** The id of the domain. */
  id: number
  /** Its label in the catalog zone, which nobody can guess: what is at it says which zones there are. */
  label: string
  /** The name, without final dot. */
  zone: string
  /** True if the domain is missing. */
  gone: boolean
  /** True if nobody has deleted the missing domain: the database may be an old one. */
  lost: boolean
}

const COLUMNS = 'domain_id as id, label, zone, gone, lost'

/** Counts the members that wait to be listed, and to be removed. */
export async function countWaiting(db: Db): Promise<{ coming: number; leaving: number }> {
  return one(
    db,
    `select count(*) filter (where not gone) as coming, count(*) filter (where gone) as leaving
     from catalog_members where gone or not listed`,
  )
}

/** Returns the members that wait to be listed or removed. */
export async function waiting(db: Db): Promise<Member[]> {
  return query(db, `select ${COLUMNS} from catalog_members where gone or not listed order by domain_id`)
}

/** Returns all members; in linear time. */
export async function all(db: Db): Promise<Member[]> {
  return query(db, `select ${COLUMNS} from catalog_members order by domain_id`)
}

/** Returns the members of the catalog zone as it was published last; in linear time. */
export async function listed(db: Db): Promise<Member[]> {
  return query(db, `select ${COLUMNS} from catalog_members where listed order by domain_id`)
}

/** Counts the members of the catalog zone; in linear time. */
export async function size(db: Db): Promise<number> {
  return (await one<{ size: number }>(db, 'select count(*) as size from catalog_members where listed')).size
}

/** Makes the members those of the domains that are served, as if each had been created now, or lost; in linear time. */
export async function equalise(trx: Db): Promise<void> {
  await query(
    trx,
    `insert into catalog_members (domain_id, zone) select id, name from domains
     where suspended is null and not exists (select from catalog_members where domain_id = domains.id and not gone)
     on conflict (domain_id) do update set gone = false, lost = false`,
  )
  const sql = `update catalog_members set gone = true, lost = not exists (select from domains where id = domain_id)
    where not gone and not exists (select from domains where id = domain_id and suspended is null)`
  await query(trx, sql)
}

/** Drops members of deleted domains that were never listed. */
export async function forget(trx: Db): Promise<void> {
  await query(trx, 'delete from catalog_members where gone and not listed')
}

/** Notes the present members of the catalog zone. A member that its domain needs again stays, to be listed again. */
export async function note(trx: Db, listed: number[], removed: number[]): Promise<void> {
  await query(
    trx,
    `with gone as (delete from catalog_members where domain_id = any (:removed) and gone)
     update catalog_members set listed = true where domain_id = any (:listed) and not listed`,
    { listed, removed },
  )
}
