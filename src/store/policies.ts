import type { Timestamp } from '../time.ts'
import { query, type Db } from './database.ts'
import type { Policy } from './tokens.ts'

/** A policy as it is kept. */
export interface StoredPolicy extends Policy {
  id: string
  /** The name of the domain; null: any. */
  domain: string | null
}

const COLUMNS = `policies.id, policies.domain_id as "domainId", policies.subname, policies.type,
  policies.perm_write as "permWrite", (select name from domains where domains.id = policies.domain_id) as domain`

/** Whether this is the policy for everything that no other speaks of. */
export function isDefault({ domainId, subname, type }: Omit<Policy, 'permWrite'>): boolean {
  return domainId === null && subname === null && type === null
}

/** The policies of a token: the default one, then the others, oldest first. */
export async function list(db: Db, tokenId: string): Promise<StoredPolicy[]> {
  return query<StoredPolicy>(
    db,
    `select ${COLUMNS} from policies where token_id = :tokenId
     order by coalesce(cast(domain_id as text), subname, type) is not null, created, id`,
    { tokenId },
  )
}

/** The policies of a token that can match something in a domain: those that name it, and those for any. */
export async function matching(db: Db, tokenId: string, domainId: number): Promise<Policy[]> {
  return query<Policy>(
    db,
    `select domain_id as "domainId", subname, type, perm_write as "permWrite" from policies
     where token_id = :tokenId and (domain_id = :domainId or domain_id is null)`,
    { tokenId, domainId },
  )
}

export async function insert(trx: Db, tokenId: string, policy: Policy, now: Timestamp): Promise<StoredPolicy> {
  const [row] = await query<StoredPolicy>(
    trx,
    `insert into policies (created, token_id, domain_id, subname, type, perm_write)
     values (:now, :tokenId, :domainId, :subname, :type, :permWrite) returning ${COLUMNS}`,
    { now, tokenId, ...policy },
  )
  return row!
}

export async function update(trx: Db, id: string, policy: Policy): Promise<StoredPolicy> {
  const { domainId, subname, type, permWrite } = policy
  const [row] = await query<StoredPolicy>(
    trx,
    `update policies set domain_id = :domainId, subname = :subname, type = :type, perm_write = :permWrite
     where id = :id returning ${COLUMNS}`,
    { id, domainId, subname, type, permWrite },
  )
  return row!
}

export async function remove(trx: Db, id: string): Promise<void> {
  await query(trx, 'delete from policies where id = :id', { id })
}

/** Gives a token a default policy that allows nothing. */
export async function restrict(trx: Db, tokenId: string, now: Timestamp): Promise<void> {
  await insert(trx, tokenId, { domainId: null, subname: null, type: null, permWrite: false }, now)
}

/** Lets a token write everything in a domain, if it is still one with auto policy. */
export async function allowDomain(trx: Db, tokenId: string, domainId: number, now: Timestamp): Promise<void> {
  await query(
    trx,
    `insert into policies (created, token_id, domain_id, perm_write)
     select :now, tokens.id, :domainId, true from tokens where tokens.id = :tokenId and auto_policy`,
    { now, tokenId, domainId },
  )
}
