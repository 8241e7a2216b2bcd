import { parentAmong, withAncestors } from '../../dns/names.ts'
import { parseRdata } from '../../dns/rdata.ts'
import { Denied } from '../../errors.ts'
import { APEX_NS_TTL, DELEGATION_DS_TTL } from '../../limits.ts'
import type { Db } from '../../store/database.ts'
import * as domains from '../../store/domains/domains.ts'
import { unrestricted, type Writer } from '../actor.ts'
import { authoriseWrites, policiesOn } from '../tokens/policies.ts'
import { type Change, changeOf, desired } from '../zone/changes.ts'
import { lockZone } from '../zone/opening.ts'
import type { Publication } from '../zone/publication.ts'
import type { Key } from './keys.ts'

/** The RRsets of a delegation; those without records are deleted. */
type Delegation = Record<'NS' | 'DS', { ttl: number; records: string[] }>

/**
 * A new zone hides what the zone above it has at and below its name, as a delegation there would.
 * @throws Denied unless the writer may write that delegation, if the account has the zone above
 */
export async function authoriseCut(trx: Db, writer: Writer, name: string): Promise<void> {
  if (!writer.restricted) return
  // Also those that the writer cannot see.
  const above = await domains.named(trx, unrestricted(writer.accountId), withAncestors(name).slice(1))
  const [closest] = above.sort((a, b) => b.name.length - a.name.length)
  if (closest === undefined) return
  const policies = await policiesOn(trx, writer, closest.id)
  // A confined writer writes only where it sees something, whatever its default policy says.
  const isSeen = !domains.isConfined(writer) || policies.some(({ domainId }) => domainId === closest.id)
  if (!isSeen) throw new Denied('Insufficient token permissions.')
  authoriseWrites(policies, closest.id, [{ subname: name.slice(0, -closest.name.length - 1), type: 'NS' }])
}

/** Delegates a new domain in the zone of its local public suffix, if this service hosts it (contract §7.6). */
export async function delegate(publication: Publication, name: string, keys: Pick<Key, 'ds'>[]): Promise<void> {
  await write(publication, name, {
    NS: { ttl: APEX_NS_TTL, records: publication.system.config.nameServers },
    DS: { ttl: DELEGATION_DS_TTL, records: keys.flatMap(({ ds }) => ds) },
  })
}

/** Removes the delegation of a domain that is being deleted. */
export async function withdraw(publication: Publication, name: string): Promise<void> {
  const empty = { ttl: APEX_NS_TTL, records: [] }
  await write(publication, name, { NS: empty, DS: empty })
}

async function write(publication: Publication, name: string, delegation: Delegation): Promise<void> {
  const suffix = parentAmong(name, publication.system.config.localPublicSuffixes)
  if (suffix === undefined) return
  const subname = name.slice(0, -suffix.length - 1)
  const parent = await lockZone(publication, suffix, [subname])
  if (parent === undefined) return
  const current = new Map(parent.current.map((rrset) => [rrset.type, rrset]))
  const changes = Object.entries(delegation).map(([type, { ttl, records }]): Change => {
    const rdata = records.map((text) => parseRdata(type, text))
    const after = rdata.length === 0 ? undefined : desired({ subname, type, ttl }, rdata, records)
    return changeOf({ subname, type, before: current.get(type), after })
  })
  // A CNAME excludes a delegation.
  const cname = changeOf({ subname, type: 'CNAME', before: current.get('CNAME'), after: undefined })
  await parent.apply(delegation.NS.records.length === 0 ? changes : [cname, ...changes])
}
