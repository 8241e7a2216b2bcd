import { nameOf, SUBNAME_LENGTH } from '../../dns/names.ts'
import { TYPES } from '../../dns/types.ts'
import { KEY_TYPES, printRRset, readZoneFile, ZoneFileError, type ZoneFileRRset } from '../../dns/zonefile.ts'
import { found, Invalid, NameserverFailure } from '../../errors.ts'
import { TTL_MAX } from '../../limits.ts'
import type { PublishedRRset } from '../../nameserver/nameserver.ts'
import type { Domain } from '../../store/domains.ts'
import * as store from '../../store/rrsets.ts'
import type { RRsetState } from '../../store/rrsets.ts'
import { inSlices, type Work } from '../../slices.ts'
import type { System } from '../../system.ts'
import { NS_STAYS, type Desired, type ZoneState } from '../zone/changes.ts'
import { authoriseWrites } from '../tokens/policies.ts'

/**
 * The RRsets of a zone file that a new domain imports (contract §7.7). Policies are checked for all RRsets of valid
 * subname and type, before any problem of their contents is reported.
 * @throws Denied, Invalid
 */
export async function readImport({ domain, policies, keepsNs }: ZoneState, text: string): Promise<Desired[]> {
  const read = await inSlices(readZoneFile(text, domain.name)).catch((error: unknown) => {
    throw error instanceof ZoneFileError ? refused(error.message) : error
  })
  const storable = read.filter(({ subname, type }) => subname.length <= SUBNAME_LENGTH && TYPES.has(type))
  authoriseWrites(policies, domain.id, storable)
  return inSlices(accepted(domain, read, keepsNs))
}

/** The RRsets, unless there are problems. @throws Invalid with all problems */
function* accepted(domain: Domain, read: ZoneFileRRset[], keepsNs: boolean): Work<Desired[]> {
  const rrsets: Desired[] = []
  const problems: string[] = []
  for (const rrset of read) {
    const { subname, type, ttl = 0, records, contents } = rrset
    rrsets.push({ subname, type, ttl: Math.min(Math.max(ttl, domain.minimumTtl), TTL_MAX), records, contents })
    const texts = [...rrset.problems]
    if (keepsNs && type === 'NS') texts.unshift(NS_STAYS)
    if (subname.length > SUBNAME_LENGTH)
      texts.unshift(`Ensure this field has no more than ${SUBNAME_LENGTH} characters.`)
    const name = nameOf(domain, subname).slice(0, -1)
    problems.push(...texts.map((text) => `${name}/${type}: ${text}`))
    yield
  }
  if (problems.length > 0) throw new Invalid({ zonefile: problems })
  return rrsets
}

/** The error for a failed creation of a zone with imported RRsets: Invalid if PowerDNS refused one of them. */
export function orRefused(error: unknown): unknown {
  const refusal = error instanceof NameserverFailure ? error.cause : undefined
  if (!(refusal instanceof NameserverFailure) || refusal.kind !== 'refused') return error
  const { rrset, message } = refusal
  if (rrset === undefined) return refused(`The DNS backend refused this zone: ${message}`)
  return refused(`${rrset.name.replace(/\.$/, '')}/${rrset.type}: The DNS backend refused this RRset: ${message}`)
}

function refused(text: string): Invalid {
  return Invalid.field('zonefile', text)
}

/**
 * The domain as a zone file that can be imported again (contract §7.8): a snapshot of the database, with the SOA that
 * is served for it.
 * @param host the service's host name, for the first line
 * @throws NotFound, NameserverFailure
 */
export async function exportZone(system: System, domain: Domain, host: string): Promise<string> {
  const { version, rrsets } = await store.snapshot(system.db, domain.id)
  const soa = await system.nameserver.servedSoa(`${domain.name}.`, found(version))
  const time = system.now().replace('T', ' ').replace('Z', '+00:00')
  const comment = `; Zonefile for ${domain.name} exported from ${host} at ${time}\n`
  return comment + (await inSlices(print(domain, soa, rrsets)))
}

function* print(domain: Domain, soa: PublishedRRset, rrsets: RRsetState[]): Work<string> {
  let text = printRRset(soa)
  for (const { subname, ...rrset } of rrsets) {
    if (!KEY_TYPES.has(rrset.type)) text += printRRset({ name: nameOf(domain, subname), ...rrset })
    yield
  }
  return text
}
