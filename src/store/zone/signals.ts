import { type Db, query } from '../database.ts'
import type { Domain } from '../domains/domains.ts'
import type { StoredKey } from '../domains/keys.ts'
import type { RRsetState } from './rrsets.ts'

// What the signalling zones have, and what they should have (RFC 9615; contract §15.11).

/** A signalling zone that is hosted here. */
export type SignallingZone = Pick<Domain, 'id' | 'name' | 'minimumTtl'>

/** A domain that waits for its first DS: its keys, and the CDS and CDNSKEY that its owner has added. */
export interface WaitingDomain {
  name: string
  ownerId: string
  keys: Omit<StoredKey, 'secret'>[]
  added: RRsetState[]
}

/** An RRset of a signalling zone. */
export type Signal = RRsetState & { zoneId: number }

/** Returns those of these domains that are there, and neither paused nor suspended, in the order of their names. */
export async function zones(db: Db, names: string[]): Promise<SignallingZone[]> {
  const sql = `select id, name, minimum_ttl as "minimumTtl" from domains
    where name = any (:names) and not paused and suspended is null order by name`
  return query(db, sql, { names })
}

/**
 * Returns the domains that are delegated to us and never had a DS, as far as we know, the newest first.
 * @param most characters of what an owner has added, as JSON: domains with more are left out
 */
export async function waiting(db: Db, most: number, limit: number): Promise<WaitingDomain[]> {
  return query(
    db,
    `select name, owner_id as "ownerId", keys, added from delegations join domains on domains.id = domain_id
     cross join lateral (
       select coalesce(json_agg(json_build_object(
         'dnskey', dnskey, 'active', active, 'published', keys.published, 'announced', announced) order by dnskey), '[]') as keys
       from keys where keys.domain_id = domains.id and retired is null
     ) as signing
     cross join lateral (
       select coalesce(json_agg(json_build_object(
         'subname', subname, 'type', type, 'ttl', ttl, 'records', records) order by type), '[]') as added
       from rrsets where rrsets.domain_id = domains.id and subname = '' and type in ('CDS', 'CDNSKEY')
     ) as own
     where settled = 'insecure' and trouble is null and not paused and suspended is null and length(cast(added as text)) <= :most
     order by domains.id desc limit :limit`,
    { most, limit },
  )
}

/** Returns the CDS and CDNSKEY in these zones at names below this prefix, such as `_dsboot.`. */
export async function listed(db: Db, zoneIds: number[], prefix: string): Promise<Signal[]> {
  return query(
    db,
    `select domain_id as "zoneId", subname, type, ttl, records from rrsets
     where domain_id = any (:zoneIds) and type in ('CDS', 'CDNSKEY') and starts_with(subname, :prefix)`,
    { zoneIds, prefix },
  )
}
