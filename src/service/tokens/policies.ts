import { Denied } from '../../errors.ts'
import type { Db } from '../../store/database.ts'
import * as store from '../../store/tokens/policies.ts'
import type { Policy } from '../../store/tokens/tokens.ts'
import type { RRsetKey } from '../../store/zone/rrsets.ts'
import type { Actor } from '../actor.ts'

/** The policies of a member who may only read (contract §19.1). */
const READ_ONLY: Policy[] = [{ domainId: null, subname: null, type: null, permWrite: false }]

/**
 * Returns the policies of the actor's token that can match an RRset of the domain. An empty array means that the token
 * may write everything, because a restricted token has a default policy (contract §6.3).
 */
export async function policiesOn(
  db: Db,
  { tokenId, restricted, role }: Pick<Actor, 'tokenId' | 'restricted' | 'role'>,
  domainId: number,
): Promise<Policy[]> {
  if (role === 'viewer') return READ_ONLY
  return restricted ? store.matching(db, tokenId, domainId) : []
}

/**
 * Reports whether a token with these policies may write this RRset. The most specific matching policy decides: a domain
 * outweighs subname and type, and a subname outweighs a type (contract §6.4).
 */
export function mayWrite(policies: Policy[], domainId: number, key: RRsetKey): boolean {
  if (policies.length === 0) return true
  const permissions = permissionsOf(policies)
  for (const domain of [domainId, null]) {
    for (const subname of [key.subname, null]) {
      for (const type of [key.type, null]) {
        const permission = permissions.get(scope(domain, subname, type))
        if (permission !== undefined) return permission
      }
    }
  }
  return false
}

/** The permission of each scope, by list of policies: lists may have thousands, and so may the RRsets of a request. */
const known = new WeakMap<Policy[], Map<string, boolean>>()

function permissionsOf(policies: Policy[]): Map<string, boolean> {
  const permissions =
    known.get(policies) ??
    new Map(policies.map(({ domainId, subname, type, permWrite }) => [scope(domainId, subname, type), permWrite]))
  known.set(policies, permissions)
  return permissions
}

function scope(domainId: number | null, subname: string | null, type: string | null): string {
  return `${domainId ?? ''}/${subname === null ? '' : `=${subname}`}/${type ?? ''}`
}

/** @throws Denied unless a token with these policies may write all of these RRsets (contract §6.5) */
export function authoriseWrites(policies: Policy[], domainId: number, keys: Iterable<RRsetKey>): void {
  for (const key of keys) {
    if (!mayWrite(policies, domainId, key)) throw new Denied('Insufficient token permissions.')
  }
}
