import { withoutDot } from '../../dns/names.ts'
import { Invalid } from '../../errors.ts'
import { mapInSlices } from '../../flow/slices.ts'
import { COLLECTION_ITEMS } from '../../limits.ts'
import type { DomainInput } from '../../service/domains/creation.ts'
import { type Amendment, KINDS } from '../../service/doors/amendments.ts'
import type { Nsec3, ZoneView } from '../../service/doors/zone-views.ts'
import type { RRsetInput } from '../../service/zone/rrset-input.ts'
import { typeName } from '../fields/fields.ts'
import { isAbsolute, subnameIn } from './zone-names.ts'

type Members = Record<string, unknown>

/** Reads the changes of a zone (contract §20.4). @throws Invalid */
export async function readAmendments(body: unknown, domain: string): Promise<Amendment[]> {
  const items = rrsetsIn(body)
  if (items === undefined) throw Invalid.object('No rrsets given in update request')
  const known = new Set<string>()
  return mapInSlices(items, (item) => {
    const { label, ...amendment } = readAmendment(item, domain)
    const { kind, subname, type } = amendment
    const key = `${kind} ${type} ${subname}`
    if ((kind === 'REPLACE' || kind === 'DELETE') && known.size === known.add(key).size)
      throw new Invalid({ [label]: [`Duplicate RRset with changetype ${kind}`] })
    return amendment
  })
}

function readAmendment(item: unknown, domain: string): Amendment & { label: string } {
  const members = readObject(item)
  const named = readHeader(members, domain)
  const { label, subname, type } = named
  const changetype = String(members['changetype']).toUpperCase()
  const kind = KINDS.find((each) => each === changetype)
  if (kind === undefined) throw new Invalid({ [label]: [`changetype: must be one of ${KINDS.join(', ')}`] })
  if (kind === 'DELETE') return { label, kind, subname, type, ttl: undefined, records: [] }
  const { records, comments } = members
  if (!Array.isArray(records)) {
    if (kind !== 'REPLACE' || !Array.isArray(comments)) throw new Invalid({ [label]: ['records: a list is required'] })
    // Comments alone, which are dropped: what comes and goes is nothing.
    return { label, kind: 'PRUNE', subname, type, ttl: undefined, records: [] }
  }
  if (kind !== 'REPLACE' && records.length !== 1)
    throw new Invalid({ [label]: [`records: exactly one is required for ${kind}`] })
  const rrset = readContents(members, label)
  return { label, kind, subname, type, ...rrset }
}

/** Reads the RRsets of a new zone. @throws Invalid */
function readNew(item: unknown, domain: string): RRsetInput[] {
  const members = readObject(item)
  const { label, subname, type } = readHeader(members, domain)
  if (!Array.isArray(members['records']) || members['records'].length === 0) return []
  return [{ subname, type, ...readContents(members, label), problems: {} }]
}

function readHeader(members: Members, domain: string): { label: string; subname: string; type: string } {
  const { name, type } = members
  if (!isAbsolute(name)) throw Invalid.field('name', `${shown(name)} is not an absolute name`)
  if (typeof type !== 'string' || !/^[!-~]+$/.test(type)) throw Invalid.field('type', `${shown(type)} is not a type`)
  const label = `RRset ${name.toLowerCase()} IN ${type}`
  const subname = subnameIn(domain, name)
  if (subname === undefined) throw new Invalid({ [label]: ['Name is out of zone'] })
  return { label, subname, type: type.toUpperCase() }
}

/** Reads TTL and records. @throws Invalid */
function readContents({ ttl, records }: Members, label: string): { ttl: number; records: string[] } {
  const seconds = typeof ttl === 'string' && /^\d{1,10}$/.test(ttl) ? Number(ttl) : ttl
  if (!Number.isSafeInteger(seconds)) throw new Invalid({ [label]: ['ttl: a whole number is required'] })
  const contents = (records as unknown[]).map((record) => {
    const { content, disabled = false, priority } = readObject(record)
    if (typeof content !== 'string' || content.includes('\0') || !content.isWellFormed())
      throw new Invalid({ [label]: [`content: ${shown(content)} is not a text`] })
    if (priority !== undefined) throw new Invalid({ [label]: ['priority: belongs into the content'] })
    if (disabled !== false) throw new Invalid({ [label]: ['disabled: records cannot be disabled here'] })
    return content.trim()
  })
  return { ttl: seconds as number, records: contents }
}

/** The settings of zones that zones have nowhere here. */
const ABSENT = ['account', 'catalog', 'master_tsig_key_ids', 'masters', 'presigned', 'slave_tsig_key_ids'] as const

/**
 * Reads a new zone (contract §20.3).
 * @param nsec3 that of new zones
 * @throws Invalid
 */
export async function readZone(body: unknown, nsec3: Nsec3): Promise<DomainInput> {
  const members = readObject(body)
  const { name, nameservers = [], zone = '' } = members
  if (!isAbsolute(name)) throw Invalid.field('name', `${shown(name)} is not an absolute name`)
  if (members['kind'] === undefined) throw Invalid.field('kind', 'required')
  refuseForeign(members)
  // A zone that was shown here can be created again.
  refuseSet(
    members,
    (['nsec3param', 'nsec3narrow'] as const).filter((each) => members[each] !== nsec3[each]),
  )
  if (!Array.isArray(nameservers) || !nameservers.every(isAbsolute))
    throw Invalid.field('nameservers', 'must be a list of absolute names')
  if (typeof zone !== 'string') throw Invalid.field('zone', `${shown(zone)} is not a text`)
  const items = rrsetsIn(members)
  if (items !== undefined && zone !== '') throw Invalid.object('You cannot give rrsets AND zone data as text')
  const domain = withoutDot(name).toLowerCase()
  const rrsets = items && (await mapInSlices(items, (item) => readNew(item, domain))).flat()
  return { name: domain, zonefile: zone, ...(rrsets && { rrsets }), problems: {} }
}

/** Examines settings of a zone, of which all must be those that it has anyway (contract §20.5). @throws Invalid */
export function examineSettings(body: unknown, { nsec3param, nsec3narrow }: ZoneView): void {
  const members = readObject(body)
  refuseForeign(members)
  if (members['rrsets'] !== undefined) throw Invalid.field('rrsets', 'change RRsets by PATCH')
  const kept: Members = { dnssec: true, api_rectify: true, nsec3param, nsec3narrow, soa_edit: '' }
  for (const [name, own] of Object.entries(kept)) {
    if (members[name] !== undefined && members[name] !== own)
      throw Invalid.field(name, `the service decides: it is ${shown(own)}`)
  }
  if (!['', 'DEFAULT', 'INCREASE', undefined].includes(members['soa_edit_api'] as string | undefined))
    throw Invalid.field('soa_edit_api', 'the service counts the serial itself')
}

/** @throws Invalid for settings that zones never have */
function refuseForeign(members: Members): void {
  const { kind } = members
  if (kind !== undefined && !(typeof kind === 'string' && /^(native|master|primary)$/i.test(kind)))
    throw Invalid.field('kind', `${shown(kind)} is not possible here: zones are Native`)
  refuseSet(members, ABSENT)
}

/** @throws Invalid unless these members are missing, false or empty */
function refuseSet(members: Members, names: readonly string[]): void {
  for (const name of names) {
    const value = members[name] ?? ''
    if (value !== '' && value !== false && !(Array.isArray(value) && value.length === 0))
      throw Invalid.field(name, 'not possible here')
  }
}

/** @throws Invalid if there are too many */
function rrsetsIn(body: unknown): unknown[] | undefined {
  const rrsets = readObject(body)['rrsets'] as unknown[]
  if (!Array.isArray(rrsets)) return undefined
  if (rrsets.length <= COLLECTION_ITEMS) return rrsets
  throw Invalid.field('rrsets', `Ensure this request has no more than ${COLLECTION_ITEMS} items.`)
}

function readObject(value: unknown): Members {
  if (value !== null && typeof value === 'object' && !Array.isArray(value)) return value as Members
  throw Invalid.object(`Invalid data. Expected a dictionary, but got ${typeName(value)}.`)
}

/** Returns the beginning of a value as JSON, for an error. */
function shown(value: unknown): string {
  return JSON.stringify(value ?? null).slice(0, 100)
}
