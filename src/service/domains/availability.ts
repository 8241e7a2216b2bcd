import { getPublicSuffix } from 'tldts'
import { isDomainName, withAncestors } from '../../dns/names.ts'
import { characters } from '../../dns/presentation.ts'
import { DOMAIN_NAME_LENGTH } from '../../limits.ts'

/** What speaks against a name before anyone else's domains are looked at, in the contract's order (§7.3). */
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
 * The public suffix above or at a name: the longest in the list or among the local ones, by default the last label
 * (publicsuffix.org).
 * @param local suffixes under which this service lets every account register (contract §7.6)
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

/** Whether policy allows the name to be anyone's domain: points 1 to 3 of contract §7.3. */
export function isAllowed(name: string, local: readonly string[]): boolean {
  if (name === 'internal' || name.endsWith('.internal')) return false
  const suffix = publicSuffix(name, local)
  if (name === suffix) return local.includes(name)
  const isDirectChild = !name.slice(0, -suffix.length - 1).includes('.')
  return !(isDirectChild && /^(_|autoconfig\.|autodiscover\.)/.test(name))
}

/** The name and its ancestors below the public suffix, the longest first. */
export function registrableAncestors(name: string, local: readonly string[]): string[] {
  const suffix = publicSuffix(name, local)
  return withAncestors(name).filter((ancestor) => ancestor.length > suffix.length)
}

/**
 * The domain registrable in the world at large that a name lies at or below; the name itself if it is a public suffix.
 * Names that can conflict have it in common.
 */
export function registrable(name: string): string {
  return registrableAncestors(name, []).at(-1) ?? name
}
