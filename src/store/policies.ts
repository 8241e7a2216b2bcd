import type { Knex } from 'knex'
import type { Timestamp } from '../time.ts'
import { query } from './database.ts'

/** Lets a token write everything in a domain. */
export async function allowDomain(trx: Knex, tokenId: string, domainId: number, now: Timestamp): Promise<void> {
  await query(
    trx,
    `insert into policies (created, token_id, domain_id, perm_write) values (:now, :tokenId, :domainId, true)`,
    { now, tokenId, domainId },
  )
}
