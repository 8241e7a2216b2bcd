import { nameOf, SUBNAME_LENGTH, topLabel } from '../../dns/names.ts'
import { TYPES } from '../../dns/types.ts'
import { KEY_TYPES, printRRset, readZoneFile, ZoneFileError, type ZoneFileRRset } from '../../dns/zonefile.ts'
import { found, Invalid, NameserverFailure } from '../../errors.ts'
import { ANSWER_PIECE, TTL_MAX } from '../../limits.ts'
import type { Domain } from '../../store/domains.ts'
import * as store from '../../store/rrsets.ts'
import type { RRsetState } from '../../store/rrsets.ts'
import { inSlices, type Work } from '../../slices.ts'
import type { System } from '../../system.ts'
import { NS_STAYS, type ZoneState } from '../zone/changes.ts'
import { authoriseWrites } from '../tokens/policies.ts'

/** What a zone file says, or why it cannot be read. */
export type ZoneFile = ZoneFileRRset[] | ZoneFileError

/** Reads the zone file of a domain. @param domain its name, of valid syntax */
export async function read(text: string, domain: string): Promise<ZoneFile> {
  return inSlices(readZoneFile(text, domain)).catch((error: unknown) => {
    if (error instanceof ZoneFileError) return error
    throw error
  })
}

/**
 * The RRsets of a zone file that a new domain imports (contract §7.7). Policies are checked for all RRsets of valid
 * subname and type, before any problem of their contents is reported.
 * @throws Denied, Invalid
 */
export async function toImport(zone: ZoneState, zonefile: ZoneFile): Promise<RRsetState[]> {
  if (zonefile instanceof ZoneFileError) throw refused(zonefile.message)
  const storable = zonefile.filter(({ subname, type }) => subname.length <= SUBNAME_LENGTH && TYPES.has(type))
  authoriseWrites(zone.policies, zone.domain.id, storable)
  return inSlices(accepted(zone, zonefile))
}

/** The RRsets, unless there are problems. @throws Invalid with all problems */
function* accepted({ domain, keepsNs, labelProblem }: ZoneState, zonefile: ZoneFileRRset[]): Work<RRsetState[]> {
  const rrsets: RRsetState[] = []
  const problems: string[] = []
  for (const rrset of zonefile) {
    const { subname, type, ttl = 0, records } = rrset
    rrsets.push({ subname, type, ttl: Math.min(Math.max(ttl, domain.minimumTtl), TTL_MAX), records })
    const texts = [...rrset.problems]
    if (keepsNs && type === 'NS') texts.unshift(NS_STAYS)
    const problem = labelProblem(topLabel(subname))
    if (problem !== undefined) texts.unshift(problem)
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
 * The domain as a zone file that can be imported again (contract §7.8), in parts: a snapshot of the database, with the
 * SOA that is served for it.
 * @param host the service's host name, for the first line
 * @param hold stores a part
 * @throws NotFound, NameserverFailure
 */
export async function exportZone<Part>(
  system: System,
  domain: Domain,
  host: string,
  hold: (text: string) => Part,
): Promise<Part[]> {
  const parts: Part[] = []
  let served: number | undefined
  // One at a time in this process, because each keeps a connection to the database, which other readers need.
  await system.queues.run('exports', async () => {
    for await (const { version, rrsets } of store.snapshot(system.db, domain.id)) {
      served = version
      parts.push(...(await inSlices(print(domain, rrsets, hold))))
    }
  })
  const soa = await system.nameserver.servedSoa(`${domain.name}.`, found(served))
  const time = system.now().replace('T', ' ').replace('Z', '+00:00')
  const comment = `; Zonefile for ${domain.name} exported from ${host} at ${time}\n`
  return [hold(comment + printRRset(soa)), ...parts]
}

function* print<Part>(domain: Domain, rrsets: RRsetState[], hold: (text: string) => Part): Work<Part[]> {
  const parts: Part[] = []
  let text = ''
  for (const { subname, ...rrset } of rrsets) {
    if (!KEY_TYPES.has(rrset.type)) text += printRRset({ name: nameOf(domain, subname), ...rrset })
    // An RRset alone may have two million octets, because each record repeats the name.
    if (text.length > ANSWER_PIECE) {
      parts.push(hold(text))
      text = ''
    }
    yield
  }
  return [...parts, hold(text)]
}
