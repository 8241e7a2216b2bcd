import type { Policy } from './policies.ts'

/** What a token may do, as far as it decides about what the console offers. */
interface Token {
  perm_create_domain: boolean
  perm_delete_domain: boolean
  perm_manage_tokens: boolean
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

function listOf(deeds: string[], type: 'conjunction' | 'disjunction'): string {
  return new Intl.ListFormat('en', { type }).format(deeds)
}
