import type { Timestamp } from '../time.ts'
import { query, type Db } from './database.ts'

/** Makes sure that an active account with this address exists, and returns its id. */
export async function ensure(
  db: Db,
  account: { email: string; limitDomains: number | null; now: Timestamp },
): Promise<string> {
  await query(
    db,
    `insert into accounts (created, email, state, limit_domains, credentials_changed)
     values (:now, :email, 'active', :limitDomains, :now) on conflict (lower(email)) do nothing`,
    account,
  )
  const [row] = await query<{ id: string }>(db, 'select id from accounts where lower(email) = lower(:email)', account)
  return row!.id
}

/** Locks the account until the transaction ends. */
export async function lock(trx: Db, id: string): Promise<void> {
  await query(trx, 'select from accounts where id = :id for no key update', { id })
}

/** Whether the account may have another domain. */
export async function hasRoom(db: Db, id: string): Promise<boolean> {
  const [row] = await query<{ free: boolean }>(
    db,
    'select limit_domains is null or limit_domains > domains as free from accounts where id = :id',
    { id },
  )
  return row?.free ?? false
}

/** How many domains the account has. */
export async function countDomains(db: Db, id: string): Promise<number> {
  const [row] = await query<{ domains: number }>(db, 'select domains from accounts where id = :id', { id })
  return row?.domains ?? 0
}
