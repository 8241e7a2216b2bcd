import { absolute, isDomainName, parentAmong, relative, withAncestors } from '../../dns/names.ts'
import { characters } from '../../dns/presentation.ts'
import { Invalid, type Problems } from '../../errors.ts'
import { onDemand } from '../../flow/on-demand.ts'
import { DOMAIN_NAME_LENGTH } from '../../limits.ts'
import { NSEC3, SCRATCH_ZONE } from '../../nameserver/nameserver.ts'
import type { Config } from '../../settings/config.ts'
import type { Db } from '../../store/database.ts'
import * as store from '../../store/domains/domains.ts'
import { conflicts, lockCreation } from '../../store/domains/relatives.ts'
import type { Past } from '../../store/domains/spent.ts'
import * as spent from '../../store/domains/spent.ts'
import type { System } from '../../system.ts'
import { isOperator, unrestricted, type Writer } from '../actor.ts'
import { NIL_UUID } from '../ids.ts'
import { signallingZones } from './signalling-zones.ts'

const tldts = onDemand((require) => require('tldts') as typeof import('tldts'))

const UNDERSCORE = 'Domain names may not begin with an underscore.'
/** The problem of a name that is a domain already. */
export const EXISTS = 'domain with this name already exists.'
const DISALLOWED = 'This domain name conflicts with an existing domain, or is disallowed by policy.'

export function disallowed(): Invalid {
  return Invalid.field('name', DISALLOWED)
}

/** The name of a new domain in a request, and the problems of all members' JSON types. */
export interface NameInput {
  name?: string
  problems: Problems
}

/**
 * Reserves the name of a new domain for the writer's account until the transaction ends (contract §7.3).
 * @returns also the past of its zone
 * @throws Invalid
 */
export async function reserveName(
  system: System,
  trx: Db,
  writer: Writer,
  { name, problems }: NameInput,
): Promise<{ name: string; past: Past }> {
  if (name === undefined) throw new Invalid({ name: ['This field is required.'], ...problems })
  const isSignalling = isOperator(writer) && signallingZones(system.config).includes(name)
  const ownProblems = nameProblems(name).filter((text) => !isSignalling || text !== UNDERSCORE)
  const texts = [...ownProblems, ...(await delegationProblems(system, trx, name))]
  if (texts.length > 0) throw new Invalid({ name: texts, ...problems })
  // Sent together. The statements after a lock see the state at the time when the lock is granted.
  const [, present, isFreeNow, past] = await Promise.all([
    lockCreation(trx, registrable(name)),
    store.find(trx, name),
    isFree(system, trx, writer, name),
    spent.past(trx, name),
  ])
  if (present !== undefined) throw new Invalid({ name: [EXISTS], ...problems })
  if (Object.keys(problems).length > 0) throw new Invalid(problems)
  if (!isFreeNow) throw disallowed()
  return { name, past }
}

/** Returns the problems of a name of valid syntax, as a domain of a new account. They can change at any time. */
export async function newcomerProblems(system: System, name: string): Promise<string[]> {
  const problems = await delegationProblems(system, system.db, name)
  if (problems.length > 0) return problems
  if ((await store.find(system.db, name)) !== undefined) return [EXISTS]
  return (await isFree(system, system.db, unrestricted(NIL_UUID), name)) ? [] : [DISALLOWED]
}

/** Returns the damage that a delegation of the name could do to other names of its local public suffix. */
async function delegationProblems({ config, nameserver }: System, db: Db, name: string): Promise<string[]> {
  const suffix = parentAmong(name, config.localPublicSuffixes)
  if (suffix === undefined) return []
  const label = name.slice(0, -suffix.length - 1)
  // Hardly any label can do damage, so the others cost no statement.
  if (nameserver.labelProblem(label, NSEC3) === undefined) return []
  const parent = await store.find(db, suffix)
  const damage = parent && nameserver.labelProblem(label, parent.denial)
  return damage === undefined ? [] : [damage]
}

/** Reports whether policy and the domains of other accounts allow the name. */
async function isFree({ config }: System, db: Db, writer: Writer, name: string): Promise<boolean> {
  const suffixes = config.localPublicSuffixes
  if (!isAllowed(name, suffixes) || (!isOperator(writer) && isReserved(name, config))) return false
  const ancestors = registrableAncestors(name, suffixes).slice(1)
  return !(await conflicts(db, { ownerId: writer.accountId, name, ancestors }, { orSuspended: true }))
}

/** Returns the problems of a name regardless of other domains, in the contract's order (contract §7.3). */
export function nameProblems(name: string): string[] {
  const problems: string[] = []
  if (name !== name.toLowerCase()) problems.push(`Invalid value (not lowercase): ${name}`)
  if (!isDomainName(name)) {
    problems.push(
      'Domain names must be labels separated by dots. Labels may consist of up to 63 letters, digits, hyphens, and ' +
        'underscores. The last label may not contain an underscore.',
    )
  }
  if (name.startsWith('_')) problems.push(UNDERSCORE)
  if (characters(name) > DOMAIN_NAME_LENGTH) {
    problems.push(`Ensure this field has no more than ${DOMAIN_NAME_LENGTH} characters.`)
  }
  return problems
}

/**
 * Finds the public suffix of a name: the longest in the list (publicsuffix.org) or in `local`; default: the last label.
 * @param local suffixes under which every account may register domains (contract §7.6)
 */
function publicSuffix(name: string, local: readonly string[]): string {
  const global = tldts().getPublicSuffix(name, {
    allowPrivateDomains: true,
    validateHostname: false,
    extractHostname: false,
    detectIp: false,
  })
  return withAncestors(name).find((suffix) => suffix === global || local.includes(suffix)) ?? name
}

/** Reports whether policy allows at least the operator to register the name (contract §7.3, points 1 to 3). */
export function isAllowed(name: string, local: readonly string[]): boolean {
  if (name === 'internal' || name.endsWith('.internal') || absolute(name) === SCRATCH_ZONE) return false
  const suffix = publicSuffix(name, local)
  if (name === suffix) return local.includes(name)
  const isDirectChild = !name.slice(0, -suffix.length - 1).includes('.')
  return !(isDirectChild && /^(_|autoconfig\.|autodiscover\.)/.test(name))
}

/**
 * Reports whether only the operator may create the name: a local public suffix, the catalog zone, a host of this
 * service, or an ancestor of one (contract §7.3). Its owner could redirect all delegations.
 */
function isReserved(name: string, config: Config): boolean {
  const { localPublicSuffixes, catalogZone, nameServers, updateHosts, checkIpHosts, publicUrl } = config
  const hosts = [...nameServers.map(relative), ...updateHosts, ...checkIpHosts]
  if (publicUrl !== undefined) hosts.push(new URL(publicUrl).hostname)
  if (catalogZone !== undefined) hosts.push(catalogZone)
  return [...localPublicSuffixes, ...hosts].some((own) => own === name || own.endsWith(`.${name}`))
}

/** Returns the name and its ancestors below the public suffix, longest first. */
export function registrableAncestors(name: string, local: readonly string[]): string[] {
  const suffix = publicSuffix(name, local)
  return withAncestors(name).filter((ancestor) => ancestor.length > suffix.length)
}

/**
 * Finds the name's registrable domain by the public suffix list alone; the name itself if it is a public suffix. Names
 * that can conflict have the same one.
 */
export function registrable(name: string): string {
  return registrableAncestors(name, []).at(-1) ?? name
}
