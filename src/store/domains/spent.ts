import { SERIAL_MAX } from '../../limits.ts'
import { type Db, one, query } from '../database.ts'

// The table `spent`: serials that were sent for zones, above the versions of their domains. It has the zone of a domain by
// its name, and every other zone by the hash of its name only: a deleted domain leaves nothing that tells its name.

/** Returns SQL for what the table has instead of the name of a zone without a domain; no zone has such a name. */
export function hashSql(name: string): string {
  return `encode(sha256(convert_to(${name}, 'UTF8')), 'hex')`
}

/** Returns SQL for the highest serial that the table has for a zone; null if it has none. */
export function spentSql(name: string): string {
  return `(select max(version) from spent where spent.name in (${name}, ${hashSql(name)}))`
}

/** The end of an insert: a serial only grows. */
export const ONLY_GROWING =
  'on conflict (name) do update set version = greatest(spent.version, excluded.version), noted = now()'

/** The remains of the zone of a name without a domain. */
export interface Past {
  /** The highest serial that was ever sent for it, otherwise 0. */
  sent: number
  marked: boolean
}

/** Returns the past of a name without a domain. */
export async function past(db: Db, name: string): Promise<Past> {
  return one(
    db,
    `select coalesce(greatest(${spentSql(':name')}, (select version from marks where zone = :name)), 0) as sent,
       exists (select from marks where zone = :name) as marked`,
    { name },
  )
}

/**
 * Puts the next serials above those that were sent meanwhile, after a restore of the database. UNIX time is, except for
 * zones whose serials are ahead of it: these go on as if they had been written once per second since their last write.
 */
export async function skipSerials(db: Db): Promise<void> {
  await query(
    db,
    `insert into spent (name, version)
       select name, greatest(version, least(version + cast(extract(epoch from now() - published) as bigint), ${SERIAL_MAX}))
       from domains where version > extract(epoch from published)
     ${ONLY_GROWING}`,
  )
}

/** Keeps the serials of foreign zones, so that domains of these names begin above them. */
export async function spend(db: Db, zones: { name: string; serial: number }[]): Promise<void> {
  await query(
    db,
    `insert into spent (name, version)
       select ${hashSql('name')}, serial from unnest(cast(:names as text[]), cast(:serials as bigint[])) as zone (name, serial)
     ${ONLY_GROWING}`,
    { names: zones.map(({ name }) => name), serials: zones.map(({ serial }) => serial) },
  )
}
