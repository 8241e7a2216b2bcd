import { withoutDot } from '../../src/dns/names.ts'
import { asciiName } from '../rrsets/owner.ts'

/** Which RRsets a token may write: a policy of the API (contract §6.1). Null means any. */
export interface Scope {
  domain: string | null
  /** Empty at the apex. */
  subname: string | null
  /** In place of a subname. */
  subname_pattern?: string | null
  type: string | null
}

export interface Policy extends Scope {
  perm_write: boolean
}

/** Reports whether this is the default policy, which decides where no other matches. */
export function isDefault({ domain, type, ...scope }: Scope): boolean {
  return domain === null && nameIn(scope) === null && type === null
}

/** The subname or the pattern of a policy; null: any. */
export function nameIn({ subname, subname_pattern: pattern = null }: Pick<Scope, 'subname' | 'subname_pattern'>) {
  return subname ?? pattern
}

export function isSameScope(a: Scope, b: Scope): boolean {
  const scopes = [a, b].map(({ domain, subname, subname_pattern: pattern = null, type }) => [
    domain,
    subname,
    pattern,
    type,
  ])
  return JSON.stringify(scopes[0]) === JSON.stringify(scopes[1])
}

/** The policies in the order in which people read them: the exceptions, and then what holds for the rest. */
export function inReadingOrder<P extends Policy>(policies: P[]): P[] {
  return [...policies.filter((policy) => !isDefault(policy)), ...policies.filter(isDefault)]
}

/** What a policy is about: `TXT at _acme-challenge.www.example.org`. @param all what it is about if it names nothing */
export function scopeWords({ domain, subname, subname_pattern: pattern, type }: Scope, all: string): string {
  if (pattern != null)
    return `${type ?? 'any type'} at names like ${pattern}${domain === null ? ' of any domain' : `.${domain}`}`
  if (subname === null && type === null) return domain === null ? all : `${all} in ${domain}`
  const holder = domain ?? 'any domain'
  const name =
    subname === '' ? `${holder} itself` : `${subname ?? 'any name'}${domain && subname ? '.' : ' of '}${holder}`
  return `${type ?? 'any type'} at ${name}`
}

/** A policy as a sentence: `May write TXT at _acme-challenge.www.example.org.` @param isOnly the token has no other */
export function sentenceOf(policy: Policy, isOnly: boolean): string {
  const what = scopeWords(policy, policy.perm_write ? 'everything' : 'anything')
  return `${policy.perm_write ? 'May write' : 'May not write'} ${what}${isDefault(policy) && !isOnly ? ' else' : ''}.`
}

/** The name that policies are for, and its domain, as its programs name them; undefined if they name no domain. */
export function placeOf(policies: Policy[]): { name: string; domain: string } | undefined {
  const { domain, subname } = policies.find((policy) => policy.domain !== null) ?? {}
  return domain ? { name: `${subname ?? ''}.${domain}`.replace(/^(_acme-challenge)?\.+/, ''), domain } : undefined
}

/** The subname of a name in its domain; empty if the name is the domain's own. Both are without a final dot. */
export function subnameOf(name: string, domain: string): string {
  return name === domain ? '' : name.slice(0, -domain.length - 1)
}

/** A name as the API has it, from one that somebody typed: without the final dot, and as `asciiName` has it. */
export function typedName(text: string): string {
  return withoutDot(asciiName(text))
}
