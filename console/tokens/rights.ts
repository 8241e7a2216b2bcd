import { counted } from '../rrsets/rrset.ts'
import { isDefault, nameIn, type Policy, scopeWords } from './policies.ts'

/** What a token may do, as far as it decides about what the console offers. */
interface Token {
  perm_create_domain: boolean
  perm_delete_domain: boolean
  perm_manage_tokens: boolean
}

/** What members may do (contract §19.1), in the order of what they may. */
export const ROLES = {
  viewer: { title: 'Viewer', text: 'May read domains, records and their history, and change nothing.' },
  editor: { title: 'Editor', text: 'May also write records: one by one, by zone files, and back from the history.' },
  admin: {
    title: 'Admin',
    text: 'May also create and delete domains, replace keys, and manage transfers, tokens and members.',
  },
} as const

export type Role = keyof typeof ROLES

/** A policy that permits no write, with all members that policies have in the API. */
const NO_WRITES = { id: '', domain: null, subname: null, subname_pattern: null, type: null, perm_write: false }

/** The policies of a token, with that of its role: viewers write nothing. What one may write is decided by these alone. */
export function policiesFor<P extends Policy>({
  policies,
  membership,
}: {
  policies: P[]
  membership: { role: Role } | null
}) {
  return membership?.role === 'viewer' ? [NO_WRITES] : policies
}

/** Which domains a member sees: `all domains`, `only a.example and b.example`. */
export function domainWords(domains: string[] | null): string {
  if (domains === null) return 'all domains'
  if (domains.length === 0) return 'no domain any more'
  return `only ${domains.length > MOST_DOMAINS ? counted(domains.length, 'domain') : listOf(domains, 'conjunction')}`
}

/** How many domains of a member are named. */
const MOST_DOMAINS = 5

/** What a member may do for an account, in a sentence; undefined for admins: nearly everything. */
export function roleLimits({ role, domains }: { role: Role; domains: string[] | null }): string | undefined {
  if (role === 'admin') return undefined
  const deeds = role === 'viewer' ? 'may only read' : 'may read, and write records'
  return `As ${role}, you ${deeds}${domains === null ? '' : `: ${domainWords(domains)}`}.`
}

/** A sentence that says what a token may do, or what it may not, if that is shorter; undefined if it may do everything. */
export function limitsOf(token: Token, policies: Policy[]): string | undefined {
  const isFree = policies.every((policy) => policy.perm_write)
  const mayWrite = policies.length === 0 || policies.some((policy) => policy.perm_write)
  const may = ['read']
  const mayNot: string[] = []
  if (mayWrite) may.push(isFree ? 'write records' : 'write some records')
  if (!isFree) mayNot.push(mayWrite ? 'write all records' : 'write records')
  ;(token.perm_create_domain ? may : mayNot).push('create domains')
  ;(token.perm_delete_domain ? may : mayNot).push('delete domains')
  ;(token.perm_manage_tokens ? may : mayNot).push('manage tokens')
  if (mayNot.length === 0) return undefined
  const only = `This token may only ${listOf(may, 'conjunction')}.`
  const not = `This token may not ${listOf(mayNot, 'disjunction')}.`
  return not.length < only.length ? not : only
}

/** How many places of a token's policies its sentence names. */
const MOST_NAMED = 2

/**
 * What a token may do, in a sentence: `May write A and AAAA at www.example.org.`
 * @param policies those of the token (contract §6.1)
 */
export function deedsOf(token: Token & { auto_policy: boolean }, policies: Policy[]): string {
  const isFree = policies.every((policy) => policy.perm_write)
  // Domains can be deleted by who may write all of them.
  const isWholeSomewhere = policies.some(
    ({ type, perm_write: may, ...scope }) => may && nameIn(scope) === null && type === null,
  )
  const deeds = [
    ...writesOf(policies),
    ...(token.perm_create_domain ? [`create domains${token.auto_policy ? ' and write those' : ''}`] : []),
    ...(token.perm_delete_domain && isFree ? ['delete domains'] : []),
    ...(token.perm_delete_domain && !isFree && isWholeSomewhere ? ['delete domains of which it may write all'] : []),
    ...(token.perm_manage_tokens ? ['manage tokens'] : []),
  ]
  return deeds.length === 0 ? 'May only read.' : `May ${listOf(deeds, 'conjunction')}.`
}

/** What policies permit to write; empty if they permit nothing. */
function writesOf(policies: Policy[]): string[] {
  if (policies.every((policy) => policy.perm_write)) return ['write all records']
  const rest = policies.filter((policy) => !isDefault(policy))
  const [allowed, denied] = [true, false].map((may) => placesOf(rest.filter(({ perm_write: is }) => is === may)))
  const isNamed = (these: string[], others: string[]) => these.length <= MOST_NAMED && others.length === 0
  if (policies.some((policy) => isDefault(policy) && policy.perm_write)) {
    const named = isNamed(denied!, allowed!) ? `but ${listOf(denied!, 'conjunction')}` : 'with exceptions'
    return [`write all records ${named}`]
  }
  if (allowed!.length === 0) return []
  const named = isNamed(allowed!, denied!) ? listOf(allowed!, 'conjunction') : `what ${policies.length} policies allow`
  return [`write ${named}`]
}

/** What policies are about, with all types of a name together. */
function placesOf(policies: Policy[]): string[] {
  const types = new Map<string, string[]>()
  for (const { domain, subname, subname_pattern: pattern = null, type } of policies) {
    const key = JSON.stringify([domain, subname, pattern, type === null])
    types.set(key, [...(types.get(key) ?? []), ...(type === null ? [] : [type])])
  }
  return [...types].map(([key, list]) => {
    const [domain, subname, pattern, isAny] = JSON.parse(key) as [string | null, string | null, string | null, boolean]
    return scopeWords(
      { domain, subname, subname_pattern: pattern, type: isAny ? null : listOf(list, 'conjunction') },
      'everything',
    )
  })
}

function listOf(deeds: string[], type: 'conjunction' | 'disjunction'): string {
  return new Intl.ListFormat('en', { type }).format(deeds)
}
