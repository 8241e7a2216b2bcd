import { absolute, isSubname, lowerCase } from '../../dns/names.ts'
import type { Neighbour } from '../../dns/node.ts'
import { AUTOMATIC_TYPES } from '../../dns/types.ts'
import { Invalid, textOf } from '../../errors.ts'
import type { Work } from '../../flow/slices.ts'
import { RRSETS_MAX, TTL_MAX } from '../../limits.ts'
import type { FoundRRset, FoundZone } from '../../nameserver/nameserver.ts'
import type { RRsetState } from '../../store/zone/rrsets.ts'
import { changesTo, planItem, type ZoneState } from '../zone/changes.ts'
import { created, deleted, occlusions } from '../zone/occlusion.ts'
import { canonical, clamped } from '../zone/rrset-input.ts'

/** The changes that the operator allows an adoption to make. */
export interface AdoptionOptions {
  /** True if TTLs that the API rejects become the nearest one that it accepts; otherwise such a zone is not adopted. */
  clampTtl: boolean
  /** True if records that are not served are left out; otherwise a zone with such records is not adopted. */
  dropDisabled: boolean
}

/** The new contents of a zone. Every text is for the operator and names its RRset. */
export interface ContentsPlan {
  rrsets: RRsetState[]
  /** The changed RRsets, with their changes. */
  normalised: string[]
  /** The contents that the adopted zone loses. */
  givenUp: string[]
  /** The reasons why the zone cannot be adopted. */
  obstacles: string[]
}

/** Types of records that a signer makes. A zone that stores some was signed elsewhere. */
const SIGNATURES: ReadonlySet<string> = new Set(['RRSIG', 'NSEC', 'NSEC3', 'NSEC3PARAM'])

/** Metadata of PowerDNS that Zoneplane sets itself, or that repeat other parts of a plan. */
const OWN_METADATA: ReadonlySet<string> = new Set([
  'API-RECTIFY',
  'NSEC3NARROW',
  'NSEC3PARAM',
  'PRESIGNED',
  'SOA-EDIT-API',
])

/** Kinds of zones whose source is their nameserver. */
const OWN_KINDS: ReadonlySet<string> = new Set(['Native', 'Master', 'Primary'])

/**
 * Plans the contents of an adopted zone. It is pure; yields after each record.
 * @param zone of the domain, with all RRsets that it already has
 */
export function* planContents(found: FoundZone, zone: ZoneState, options: AdoptionOptions): Work<ContentsPlan> {
  const plan: ContentsPlan = { rrsets: [], normalised: [], givenUp: [], obstacles: zoneObstacles(found) }
  const left = found.metadata.filter((kind) => !OWN_METADATA.has(kind))
  if (left.length > 0) plan.givenUp.push(`metadata, which stay at PowerDNS but not in the database: ${left.join(', ')}`)
  const neighboursAt = new Map<string, Neighbour[]>()
  for (const rrset of found.rrsets) {
    const name = lowerCase(rrset.name)
    const own: Neighbour = { source: 'database', type: rrset.type }
    if (isTaken(rrset)) neighboursAt.set(name, [...(neighboursAt.get(name) ?? []), own])
    yield
  }
  for (const rrset of found.rrsets) {
    yield* planRRset(rrset, zone, neighboursAt.get(lowerCase(rrset.name)) ?? [], options, plan)
    yield
  }
  const changes = changesTo(plan.rrsets, zone.current)
  const occluded = yield* occlusions(zone.domain, created(changes), deleted(changes), zone.current)
  plan.obstacles.push(...occluded.map(({ text }) => text))
  if (plan.rrsets.length > RRSETS_MAX) plan.obstacles.push(`it has more than ${RRSETS_MAX} RRsets`)
  return plan
}

function zoneObstacles({ kind, presigned, rrsets }: FoundZone): string[] {
  const obstacles: string[] = []
  if (!OWN_KINDS.has(kind)) obstacles.push(`it is a zone of the kind ${kind}, so its contents come from elsewhere`)
  if (presigned || rrsets.some(({ type }) => SIGNATURES.has(type))) {
    obstacles.push('it is presigned: its keys are not here')
  }
  return obstacles
}

/** Reports whether the service or the signer makes such RRsets. */
function isMade({ type }: FoundRRset): boolean {
  return type === 'SOA' || SIGNATURES.has(type)
}

/** Reports whether the domain would have the RRset: it is served, and the service does not make it. */
function isTaken(rrset: FoundRRset): boolean {
  return rrset.records.length > 0 && !isMade(rrset)
}

/** Adds the fate of one RRset to the plan. */
function* planRRset(
  rrset: FoundRRset,
  zone: ZoneState,
  neighbours: Neighbour[],
  options: AdoptionOptions,
  plan: ContentsPlan,
): Work<void> {
  const { name, type, comments, disabled } = rrset
  const what = `${name} ${type}`
  if (comments > 0) plan.givenUp.push(`${what}: ${counted(comments, 'comment')}`)
  if (type === 'SOA') plan.givenUp.push(`SOA ${rrset.records.join()}`)
  if (isMade(rrset)) return
  if (disabled > 0) {
    const records = counted(disabled, 'disabled record')
    if (options.dropDisabled) plan.givenUp.push(`${what}: ${records}`)
    else plan.obstacles.push(`${what}: ${records} (--drop-disabled leaves them out)`)
  }
  if (!isTaken(rrset)) return
  const subname = subnameIn(lowerCase(name), zone.domain.name)
  if (subname === undefined || !isSubname(subname)) {
    plan.obstacles.push(`${what}: the API has no such names`)
    return
  }
  if (AUTOMATIC_TYPES.has(type)) {
    plan.obstacles.push(`${what}: the API has no such type`)
    return
  }
  const ttl = ttlOf(rrset, zone, options, plan)
  const records = yield* canonicalRecords(rrset, plan)
  const input = { subname, type, ttl, records, problems: {} }
  const outcome = yield* planItem(zone, { method: 'POST', input, neighbours: () => neighbours })
  if ('problems' in outcome) plan.obstacles.push(`${what}: ${textOf(new Invalid(outcome.problems))}`)
  else plan.rrsets.push(outcome.after!)
  if (name !== lowerCase(name)) plan.normalised.push(`${what}: the name becomes ${lowerCase(name)}`)
}

/** Returns the TTL of the adopted RRset. One that the API rejects is an obstacle, unless it may be clamped. */
function ttlOf(
  { name, type, ttl }: FoundRRset,
  { domain }: ZoneState,
  { clampTtl }: AdoptionOptions,
  plan: ContentsPlan,
): number {
  const nearest = clamped(ttl, domain)
  if (nearest === ttl) return ttl
  if (clampTtl) plan.normalised.push(`${name} ${type}: the TTL ${ttl} becomes ${nearest}`)
  else {
    plan.obstacles.push(
      `${name} ${type}: the TTL ${ttl} is not between ${domain.minimumTtl} and ${TTL_MAX} (--clamp-ttl changes it)`,
    )
  }
  return nearest
}

/** Returns the records in the API's spelling, each once. One that cannot be read stays unchanged. */
function* canonicalRecords({ name, type, records }: FoundRRset, plan: ContentsPlan): Work<string[]> {
  const texts = new Map<string, string>()
  for (const record of records) {
    const { key, text } = canonical(type, record)
    if (texts.has(key)) plan.normalised.push(`${name} ${type}: ${record} is there twice, and stays once`)
    else if (text !== record) plan.normalised.push(`${name} ${type}: ${record} becomes ${text}`)
    texts.set(key, text)
    yield
  }
  return [...texts.values()]
}

/** Returns the subname of an absolute name; undefined if it is not in the domain. */
function subnameIn(name: string, domain: string): string | undefined {
  if (name === absolute(domain)) return ''
  return name.endsWith(`.${domain}.`) ? name.slice(0, -domain.length - 2) : undefined
}

export function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}
