import type { Access, Writer } from '../actor.ts'
import { REMOVAL } from '../zone/cds.ts'
import { changeOf } from '../zone/changes.ts'
import { openZone } from '../zone/opening.ts'

/**
 * Asks the parent of a domain to remove its DS (RFC 8078 §4), or takes that back. Other CDS and CDNSKEY records of the
 * domain stay.
 * @param isWanted false to take it back
 * @throws NotFound, Unavailable, NameserverFailure; Conflict if the domain is paused
 */
export async function announceRemoval(access: Access<Writer>, { isWanted }: { isWanted: boolean }): Promise<void> {
  await using zone = await openZone(access, [''])
  const { current, domain, publication } = zone
  const changes = Object.entries(REMOVAL).map(([type, wish]) => {
    const before = current.find((rrset) => rrset.type === type)
    const others = (before?.records ?? []).filter((content) => content !== wish)
    const records = isWanted ? [...others, wish] : others
    const ttl = before?.ttl ?? Math.max(publication.system.waits.dnskeyTtl, domain.minimumTtl)
    const after = records.length === 0 ? undefined : { subname: '', type, ttl, records }
    return changeOf({ subname: '', type, before, after })
  })
  await zone.write(changes.filter(({ isEffective }) => isEffective))
}
