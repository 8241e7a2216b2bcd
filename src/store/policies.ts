import type { Timestamp } from '../time.ts'
import { query, type Db } from './database.ts'

/** Lets a token write everything in a domain. */
export async function allowDomain(trx: Db, tokenId: string, domainId: number, now: Timestamp): Promise<void> {
  await query(
    trx,
    `insert into policies (created, token_id, domain_id, perm_write) values (:now, :tokenId, :domainId, true)`,
    { now, tokenId, domainId },
  )
}
