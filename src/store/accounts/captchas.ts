import type { Timestamp } from '../../time.ts'
import { type Db, maybeOne, one, query, removal } from '../database.ts'

/** A stored challenge, with the key that signed it. */
export interface StoredChallenge {
  challenge: string
  key: string
}

/** Stores a new challenge, and returns its id. */
export async function insert(db: Db, { challenge, key }: StoredChallenge, now: Timestamp): Promise<string> {
  const sql = 'insert into captchas (created, challenge, key) values (:now, :challenge, :key) returning id'
  return (await one<{ id: string }>(db, sql, { now, challenge, key })).id
}

/** Deletes and returns a challenge, so that it can be answered only once. */
export async function take(db: Db, id: string): Promise<(StoredChallenge & { created: Timestamp }) | undefined> {
  return maybeOne(db, 'delete from captchas where id = :id returning created, challenge, key', { id })
}

/** Deletes the challenges that are older than `age` seconds. */
export async function removeOld(db: Db, now: Timestamp, age: number): Promise<void> {
  const isOld = `created < cast(:now as timestamptz) - :age * interval '1 second'`
  await query(db, removal('captchas', 'id', isOld), { now, age })
}
