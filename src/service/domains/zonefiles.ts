import { absolute, nameOf, relative, SUBNAME_LENGTH, withoutDot } from '../../dns/names.ts'
import { TYPES } from '../../dns/types.ts'
import { MAX_ZONE_PROBLEMS, ZoneFileError, type ZoneFileRRset } from '../../dns/zone-problems.ts'
import { KEY_TYPES, printRRset, readZoneFile } from '../../dns/zonefile.ts'
import { Invalid, Occluded, orNotFound, refusalOf } from '../../errors.ts'
import { Holder } from '../../flow/budget.ts'
import { inSlices, type Work } from '../../flow/slices.ts'
import type { Domain } from '../../store/domains/domains.ts'
import type { Filter, RRset, RRsetKey, RRsetState } from '../../store/zone/rrsets.ts'
import * as store from '../../store/zone/rrsets.ts'
import type { System } from '../../system.ts'
import type { Access } from '../actor.ts'
import { suspension } from '../names/suspended.ts'
import { checkConditions, tagOfDomain, type Terms } from '../rrsets/conditions.ts'
import { groupOf, inTurn } from '../throttling/callers.ts'
import { authoriseEach, authoriseWrites } from '../tokens/policies.ts'
import {
  type Change,
  changeOf,
  type Outcome,
  permitted,
  rrsetKey,
  type Written,
  type ZoneState,
} from '../zone/changes.ts'
import { type Occlusion, occlusions } from '../zone/occlusion.ts'
import { openZone } from '../zone/opening.ts'
import { clamped } from '../zone/rrset-input.ts'

/** Octets of an export that are sent at once. */
const EXPORT_PIECE = 64 * 1024

/** The RRsets of a zone file, or the reason why it cannot be read. */
export type ZoneFile = ZoneFileRRset[] | ZoneFileError

/** Reads the zone file of a domain. @param domain its name, of valid syntax */
export async function read(text: string, domain: string, options?: { apexNs: boolean }): Promise<ZoneFile> {
  return inSlices(readZoneFile(text, domain, options)).catch((error: unknown) => {
    if (error instanceof ZoneFileError) return error
    throw error
  })
}

/**
 * Returns the RRsets of a zone file that a new domain imports (contract §7.7). Checks policies for all RRsets of valid
 * subname and type, before it reports any problem of their contents.
 * @throws Denied, Invalid
 */
export function* toImport(zone: ZoneState, zonefile: ZoneFile): Work<RRsetState[]> {
  if (zonefile instanceof ZoneFileError) throw refused(textsIn(zonefile))
  const { domain } = zone
  const rrsets: RRsetState[] = []
  const problems: string[] = []
  for (const rrset of zonefile) {
    const { subname, type, ttl = 0 } = rrset
    if (subname.length <= SUBNAME_LENGTH && TYPES.has(type)) authoriseWrites(zone.policies, domain.id, [rrset])
    // The same objects: there may be very many.
    const after = Object.assign(rrset, { ttl: clamped(ttl, domain) })
    rrsets.push(after)
    const outcome = permitted(zone, changeOf({ subname, type, before: undefined, after }))
    const texts = [...lengthProblems(subname), ...textsOf(outcome), ...rrset.problems]
    problems.push(...texts.map((text) => problemOf(domain, rrset, text)))
    yield
  }
  problems.push(...occlusionTexts(domain, yield* occlusions(domain, rrsets, [], [])))
  if (problems.length > 0) throw refused(problems)
  return rrsets
}

function occlusionTexts(domain: Pick<Domain, 'name'>, found: readonly Occlusion[]): string[] {
  return found.map((occlusion) => problemOf(domain, occlusion, occlusion.text))
}

/**
 * Makes a domain equal to a zone file (contract §15.4); all or nothing.
 * @throws Invalid, Denied, PreconditionFailed, NotFound
 */
export async function replace(access: Access, text: string, terms: Terms): Promise<Written> {
  const { system, actor, domain } = access
  return inTurn(system, `account ${actor.accountId}`, actor, async () => {
    const zonefile = await read(text, domain.name, { apexNs: true })
    if (zonefile instanceof ZoneFileError) throw refused(textsIn(zonefile))
    await using zone = await openZone(access, 'all', { dryRun: terms.dryRun, source: 'zonefile' })
    const changes = await inSlices(replacements(zone, zonefile))
    const effective = changes.filter(({ isEffective }) => isEffective)
    await authoriseEach(zone.policies, domain.id, effective)
    checkConditions(terms, tagOfDomain(zone.domain), zone.current.length > 0)
    return await zone.write(effective).catch((error: unknown) => {
      throw error instanceof Occluded ? refused(occlusionTexts(domain, error.occlusions)) : orRefused(error)
    })
  })
}

/** Returns the changes that make a domain equal to a zone file. @throws Invalid with all problems */
function* replacements(zone: ZoneState, zonefile: ZoneFileRRset[]): Work<Change[]> {
  const left = new Map<string, RRset>()
  for (const rrset of zone.current) {
    left.set(rrsetKey(rrset), rrset)
    yield
  }
  const changes: Change[] = []
  const problems: string[] = []
  const add = (rrset: RRsetKey, after: RRsetState | undefined, texts: readonly string[] = []) => {
    const { subname, type } = rrset
    const before = left.get(rrsetKey(rrset))
    left.delete(rrsetKey(rrset))
    const outcome = permitted(zone, changeOf({ subname, type, before, after }))
    const found = [...textsOf(outcome), ...(before === undefined ? lengthProblems(subname) : []), ...texts]
    if (!('problems' in outcome)) changes.push(outcome)
    problems.push(...found.map((text) => problemOf(zone.domain, rrset, text)))
  }
  for (const { subname, type, ttl = 0, records, problems: texts } of zonefile) {
    // A TTL may be out of bounds that have changed, or that do not hold for dynDNS. It stays if the file repeats it.
    const isKept = left.get(rrsetKey({ subname, type }))?.ttl === ttl
    add({ subname, type }, { subname, type, ttl: isKept ? ttl : clamped(ttl, zone.domain), records }, texts)
    yield
  }
  const keepsApexNs = !zonefile.some((rrset) => isApexNs(rrset))
  for (const rrset of left.values()) {
    if (!KEY_TYPES.has(rrset.type) && !(keepsApexNs && isApexNs(rrset))) add(rrset, undefined)
    yield
  }
  if (problems.length > 0) throw refused(problems)
  return changes
}

function isApexNs({ subname, type }: RRsetKey): boolean {
  return subname === '' && type === 'NS'
}

function lengthProblems(subname: string): string[] {
  return subname.length > SUBNAME_LENGTH ? [`Ensure this field has no more than ${SUBNAME_LENGTH} characters.`] : []
}

function textsOf(outcome: Outcome): readonly string[] {
  return 'problems' in outcome ? Object.values(outcome.problems).flat() : []
}

function problemOf(domain: Pick<Domain, 'name'>, { subname, type }: RRsetKey, text: string): string {
  return `${relative(nameOf(domain, subname))}/${type}: ${text}`
}

/** Returns the error for a failed publication of RRsets from a zone file: Invalid if PowerDNS rejected one of them. */
export function orRefused(error: unknown): unknown {
  const refusal = refusalOf(error)
  if (refusal === undefined) return error
  const { rrset, message } = refusal
  if (rrset === undefined) return refused([`The DNS backend refused this zone: ${message}`])
  return refused([`${withoutDot(rrset.name)}/${rrset.type}: The DNS backend refused this RRset: ${message}`])
}

/** The problems of a zone file: some at most, and a text that says so if there are others. */
function refused(texts: readonly string[]): Invalid {
  const more =
    texts.length > MAX_ZONE_PROBLEMS ? [`There are more problems: these are the first ${MAX_ZONE_PROBLEMS}.`] : []
  return Invalid.field('zonefile', ...texts.slice(0, MAX_ZONE_PROBLEMS), ...more)
}

/** Each text once: one of them does not say its name. */
function textsIn({ problems }: ZoneFileError): string[] {
  return [...new Set(problems.map(({ text }) => text))]
}

/** The text of a domain, in some form. */
export interface Form {
  /** Returns what comes before the RRsets of this version. @throws NotFound, NameserverFailure */
  head: (version: number) => string
  /** Returns the text of an RRset. */
  rrset: (rrset: RRsetState) => string
  tail: string
}

/**
 * Exports the domain as a zone file that can be imported again (contract §7.8), in parts, with the SOA that is served.
 * @param host the service's host name, for the first line
 * @param breakOff as in `exportIn`
 * @throws NotFound, NameserverFailure before the first part; Conflict if the domain is suspended; Busy
 */
export function exportZone(access: Access, host: string, breakOff: () => void): AsyncGenerator<string> {
  const { system, domain } = access
  // It has no served SOA.
  if (domain.suspended !== null) throw suspension(domain.name)
  const form: Form = {
    head: (version) => headOf(system, domain, version, host),
    rrset: ({ subname, ...rrset }) =>
      KEY_TYPES.has(rrset.type) ? '' : printRRset({ name: nameOf(domain, subname), ...rrset }),
    tail: '',
  }
  return exportIn(access, form, breakOff)
}

/**
 * Exports the domain in a form, in parts: a snapshot of the database. Few run at a time, because each keeps a connection to
 * the database until its end.
 * @param breakOff ends the export, because others wait and its client is slow (contract §1.8)
 * @param filter those RRsets alone
 * @throws NotFound before the first part; Busy
 */
export async function* exportIn(
  { system, actor, domain }: Access,
  form: Form,
  breakOff: () => void,
  filter: Filter = {},
): AsyncGenerator<string> {
  const holder = new Holder()
  const leave = await system.bounds.exports.take(`exports of ${groupOf(actor)}`, system.patience, { holder })
  try {
    let text: string | undefined
    for await (const { version, rrsets } of store.snapshot(system.db, domain.id, filter)) {
      text ??= form.head(version)
      for (const rrset of rrsets) {
        text += form.rrset(rrset)
        // A single RRset may have two million octets, because each record repeats the name.
        if (text.length > EXPORT_PIECE) {
          holder.begin(breakOff)
          yield text
          holder.end()
          text = ''
        }
      }
    }
    holder.begin(breakOff)
    yield orNotFound(text) + form.tail
  } finally {
    leave()
  }
}

/** Prints a comment, and the SOA. */
function headOf({ nameserver, now }: System, domain: Domain, version: number, host: string): string {
  const name = absolute(domain.name)
  const soa = { name, ...nameserver.soaOf(name, version, now()) }
  const time = now().replace('T', ' ').replace('Z', '+00:00')
  return `; Zonefile for ${domain.name} exported from ${host} at ${time}\n${printRRset(soa)}`
}
