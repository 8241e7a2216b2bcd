import { getPublicSuffix } from 'tldts'
import type { Config } from '../../config.ts'
import { isDomainName, withAncestors } from '../../dns/names.ts'
import { characters } from '../../dns/presentation.ts'
import { DOMAIN_NAME_LENGTH } from '../../limits.ts'

/** The problems of a name regardless of other domains, in the contract's order (contract §7.3). */
export function nameProblems(name: string): string[] {
  const problems: string[] = []
  if (name !== name.toLowerCase()) problems.push(`Invalid value (not lowercase): ${name}`)
  if (!isDomainName(name)) {
    problems.push(
      'Domain names must be labels separated by dots. Labels may consist of up to 63 letters, digits, hyphens, and ' +
        'underscores. The last label may not contain an underscore.',
    )
  }
  if (name.startsWith('_')) problems.push('Domain names may not begin with an underscore.')
  if (characters(name) > DOMAIN_NAME_LENGTH) {
    problems.push(`Ensure this field has no more than ${DOMAIN_NAME_LENGTH} characters.`)
  }
  return problems
}

/**
 * The public suffix of a name: the longest one in the list (publicsuffix.org) or in `local`; by default the last label.
 * @param local suffixes under which every account may register domains (contract §7.6)
 */
function publicSuffix(name: string, local: readonly string[]): string {
  const global = getPublicSuffix(name, {
    allowPrivateDomains: true,
    validateHostname: false,
    extractHostname: false,
    detectIp: false,
  })
  return withAncestors(name).find((suffix) => suffix === global || local.includes(suffix)) ?? name
}

/** Whether policy allows anybody, at least the operator, to register the name (contract §7.3, points 1 to 3). */
export function isAllowed(name: string, local: readonly string[]): boolean {
  if (name === 'internal' || name.endsWith('.internal')) return false
  const suffix = publicSuffix(name, local)
  if (name === suffix) return local.includes(name)
  const isDirectChild = !name.slice(0, -suffix.length - 1).includes('.')
  return !(isDirectChild && /^(_|autoconfig\.|autodiscover\.)/.test(name))
}

/**
 * Whether only the operator may create the name: a local public suffix, the catalog zone, a host of this service, or an
 * ancestor of one
 * (contract §7.3). Whoever owned it could redirect all delegations.
 */
export function isReserved(name: string, config: Config): boolean {
  const { localPublicSuffixes, catalogZone, nameServers, updateHosts, checkIpHosts, publicUrl } = config
  const hosts = [...nameServers.map((host) => host.slice(0, -1)), ...updateHosts, ...checkIpHosts]
  if (publicUrl !== undefined) hosts.push(new URL(publicUrl).hostname)
  if (catalogZone !== undefined) hosts.push(catalogZone)
  return [...localPublicSuffixes, ...hosts].some((own) => own === name || own.endsWith(`.${name}`))
}

/** The name and its ancestors below the public suffix, longest first. */
export function registrableAncestors(name: string, local: readonly string[]): string[] {
  const suffix = publicSuffix(name, local)
  return withAncestors(name).filter((ancestor) => ancestor.length > suffix.length)
}

/**
 * The name's registrable domain according to the public suffix list alone; the name itself if it is a public suffix.
 * Names that can conflict have the same one.
 */
export function registrable(name: string): string {
  return registrableAncestors(name, []).at(-1) ?? name
}
