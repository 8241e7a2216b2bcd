import type { Timestamp } from '../time.ts'
import { query, type Db } from './database.ts'

/** A challenge as it is kept, with the key that it is signed with. */
export interface StoredChallenge {
  challenge: string
  key: string
}

/** Keeps a new challenge, and returns its id. */
export async function insert(db: Db, { challenge, key }: StoredChallenge, now: Timestamp): Promise<string> {
  const sql = 'insert into captchas (created, challenge, key) values (:now, :challenge, :key) returning id'
  const [row] = await query<{ id: string }>(db, sql, { now, challenge, key })
  return row!.id
}

/** Uses a challenge up, so that of any number who answer it one is heard. */
export async function take(db: Db, id: string): Promise<(StoredChallenge & { created: Timestamp }) | undefined> {
  const sql = 'delete from captchas where id = :id returning created, challenge, key'
  const [row] = await query<StoredChallenge & { created: Timestamp }>(db, sql, { id })
  return row
}

/** Forgets the challenges that were made so many seconds before now. */
export async function removeOld(db: Db, now: Timestamp, age: number): Promise<void> {
  await query(
    db,
    `delete from captchas where id in (
       select id from captchas where created < cast(:now as timestamptz) - :age * interval '1 second'
       for update skip locked
     )`,
    { now, age },
  )
}
