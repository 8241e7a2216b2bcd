import { setTimeout as sleep } from 'node:timers/promises'
import { openDatabase, query } from '../../src/store/database.ts'
import { Client } from '../../test/support/clients/client.ts'
import { rrset } from './zones.ts'

/** Creates an account beside the one that attacks, with a token of this secret. */
export async function createOtherAccount(databaseUrl: string, secret: string): Promise<void> {
  const db = openDatabase(databaseUrl, 1)
  await query(
    db,
    `with other as (
       insert into accounts (created, email, state, credentials_changed) values (now(), 'other@bench.test', 'active', now())
       returning id
     ) insert into tokens (created, owner_id, secret_hash, perm_create_domain)
       select now(), id, sha256(convert_to(:secret, 'UTF8')), true from other`,
    { secret },
  )
  await db.end()
}

/**
 * Consecutive changes of one RRset: their times in milliseconds, ascending, and their statuses.
 * @param pause milliseconds between two of them
 */
export async function changesFor(
  client: Client,
  name: string,
  seconds: number,
  pause = 0,
): Promise<{ times: number[]; statuses: number[] }> {
  const times: number[] = []
  const statuses: number[] = []
  const end = performance.now() + seconds * 1000
  for (let i = 1; performance.now() < end; i++) {
    const start = performance.now()
    const { status } = await client.put(`/domains/${name}/rrsets/`, [rrset('www', i)])
    statuses.push(status)
    times.push(performance.now() - start)
    if (pause > 0) await sleep(pause)
  }
  return { times: times.sort((a, b) => a - b), statuses }
}

/** How often each status occurs. */
export function tally(statuses: number[]): string {
  const counts = new Map<number, number>()
  for (const status of statuses) counts.set(status, (counts.get(status) ?? 0) + 1)
  return [...counts].map(([status, count]) => `${status}: ${count}`).join(', ')
}
