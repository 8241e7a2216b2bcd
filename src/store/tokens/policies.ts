import type { Timestamp } from '../../time.ts'
import { type Db, one, query } from '../database.ts'
import type { Policy } from './tokens.ts'

/** A stored policy. */
export interface StoredPolicy extends Policy {
  id: string
  /** The name of the domain; null: any domain. */
  domain: string | null
}

const COLUMNS = `policies.id, policies.domain_id as "domainId", policies.subname,
  policies.is_pattern as "isPattern", policies.type,
  policies.perm_write as "permWrite", (select name from domains where domains.id = policies.domain_id) as domain`

/** Reports whether this is the default policy, which applies where no other matches. */
export function isDefault({ domainId, subname, type }: Pick<Policy, 'domainId' | 'subname' | 'type'>): boolean {
  return domainId === null && subname === null && type === null
}

/** Returns the policies of a token: the default policy, then the others, oldest first. */
export async function list(db: Db, tokenId: string): Promise<StoredPolicy[]> {
  return query<StoredPolicy>(
    db,
    `select ${COLUMNS} from policies where token_id = :tokenId
     order by coalesce(cast(domain_id as text), subname, type) is not null, created, id`,
    { tokenId },
  )
}

/**
 * Returns the policies of a token that can match an RRset of a domain: those for this domain, and those for any.
 * @param names if given, only policies without name, or with one of these names or patterns
 */
export async function matching(db: Db, tokenId: string, domainId: number, names?: string[]): Promise<Policy[]> {
  return query<Policy>(
    db,
    `select domain_id as "domainId", subname, is_pattern as "isPattern", type, perm_write as "permWrite" from policies
     where token_id = :tokenId and (domain_id = :domainId or domain_id is null)
       ${names === undefined ? '' : 'and (subname is null or subname = any(cast(:names as text[])))'}`,
    { tokenId, domainId, ...(names !== undefined && { names }) },
  )
}

export async function insert(trx: Db, tokenId: string, policy: Policy, now: Timestamp): Promise<StoredPolicy> {
  return one(
    trx,
    `insert into policies (created, token_id, domain_id, subname, is_pattern, type, perm_write)
     values (:now, :tokenId, :domainId, :subname, :isPattern, :type, :permWrite) returning ${COLUMNS}`,
    { now, tokenId, ...policy },
  )
}

export async function update(trx: Db, id: string, policy: Policy): Promise<StoredPolicy> {
  return one(
    trx,
    `update policies set domain_id = :domainId, subname = :subname, is_pattern = :isPattern, type = :type,
       perm_write = :permWrite
     where id = :id returning ${COLUMNS}`,
    { ...policy, id },
  )
}

export async function remove(trx: Db, id: string): Promise<void> {
  await query(trx, 'delete from policies where id = :id', { id })
}

/** Adds a default policy that allows nothing. */
export async function restrict(trx: Db, tokenId: string, now: Timestamp): Promise<void> {
  await insert(trx, tokenId, { domainId: null, subname: null, isPattern: false, type: null, permWrite: false }, now)
}

/** Adds a policy that allows every write in a domain, if the token still has auto_policy. */
export async function allowDomain(trx: Db, tokenId: string, domainId: number, now: Timestamp): Promise<void> {
  await query(
    trx,
    `insert into policies (created, token_id, domain_id, perm_write)
     select :now, tokens.id, :domainId, true from tokens where tokens.id = :tokenId and auto_policy`,
    { now, tokenId, domainId },
  )
}
