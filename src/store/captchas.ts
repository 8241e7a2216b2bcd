import type { Timestamp } from '../time.ts'
import { query, type Db } from './database.ts'

/** Keeps the solution of a new challenge, and returns its id. */
export async function insert(db: Db, solution: string, now: Timestamp): Promise<string> {
  const sql = 'insert into captchas (created, solution) values (:now, :solution) returning id'
  const [row] = await query<{ id: string }>(db, sql, { now, solution })
  return row!.id
}

/** Uses a challenge up, so that of any number who answer it one is heard. */
export async function take(db: Db, id: string): Promise<{ created: Timestamp; solution: string } | undefined> {
  const [row] = await query<{ created: Timestamp; solution: string }>(
    db,
    'delete from captchas where id = :id returning created, solution',
    { id },
  )
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
