import { type Db, one, query } from '../database.ts'

// The domains above and below a name.

/** Returns the SQL condition for a name below another one, which an index on the reversed names serves. */
export function isBelow(name: string, other: string): string {
  // Reversed, the names below `other` lie between `other.` and `other/`, because the slash follows the dot in ASCII.
  return `reverse(${name}) ~>~ (reverse(${other}) || '.') and reverse(${name}) ~<~ (reverse(${other}) || '/')`
}

/**
 * Reports whether another account owns one of `ancestors`, or a domain below `name`.
 * @param options.orSuspended true to also look for those that are suspended, of any account
 */
export async function conflicts(
  db: Db,
  { ownerId, name, ancestors }: { ownerId: string; name: string; ancestors: string[] },
  { orSuspended }: { orSuspended: boolean },
): Promise<boolean> {
  const isTaken = `(owner_id <> :ownerId ${orSuspended ? 'or suspended is not null' : ''})`
  const { conflict } = await one<{ conflict: boolean }>(
    db,
    `select exists (select from domains where name = any (:ancestors) and ${isTaken})
       or exists (select from domains where ${isBelow('name', ':name')} and ${isTaken}) as conflict`,
    { ownerId, ancestors, name },
  )
  return conflict
}

/** Returns the names of the account's domains above and below a name that are served. */
export async function servedAround(db: Db, ownerId: string, name: string, ancestors: string[]): Promise<string[]> {
  const rows = await query<{ name: string }>(
    db,
    `select name from domains where owner_id = :ownerId and suspended is null
       and (name = any (:ancestors) or ${isBelow('name', ':name')}) order by name`,
    { ownerId, ancestors, name },
  )
  return rows.map((row) => row.name)
}

/** Returns the names of the suspended domains below a name. */
export async function suspendedBelow(db: Db, name: string): Promise<string[]> {
  const sql = `select name from domains where suspended is not null and ${isBelow('name', ':name')}`
  return (await query<{ name: string }>(db, sql, { name })).map((row) => row.name)
}

/** Locks domains for writing until the transaction ends, the longest name first. */
export async function lockAll(trx: Db, names: string[]): Promise<void> {
  const sql = 'select from domains where name = any (:names) order by length(name) desc for no key update'
  if (names.length > 0) await query(trx, sql, { names })
}

/** Serializes the creation of domains at or below `registrable`, and the checks for it, until the transaction ends. */
export async function lockCreation(trx: Db, registrable: string): Promise<void> {
  await query(trx, 'select pg_advisory_xact_lock(hashtextextended(:registrable, 0))', { registrable })
}

/** Acts like `lockCreation`, without waiting. Returns false if another transaction holds the lock. */
export async function lockCreationIfFree(trx: Db, registrable: string): Promise<boolean> {
  const sql = 'select pg_try_advisory_xact_lock(hashtextextended(:registrable, 0)) as free'
  return (await one<{ free: boolean }>(trx, sql, { registrable })).free
}
