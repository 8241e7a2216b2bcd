import type { Policy } from './policies.ts'

/** What a token may do, as far as it decides about what the console offers. */
interface Token {
  perm_create_domain: boolean
  perm_delete_domain: boolean
  perm_manage_tokens: boolean
}

const LIST = new Intl.ListFormat('en')

/** A sentence that says what a token may do; undefined if it may do everything. */
export function limitsOf(token: Token, policies: Policy[]): string | undefined {
  const isFree = policies.every((policy) => policy.perm_write)
  const mayWrite = policies.length === 0 || policies.some((policy) => policy.perm_write)
  const deeds = [
    'read',
    mayWrite && (isFree ? 'write records' : 'write some records'),
    token.perm_create_domain && 'create domains',
    token.perm_delete_domain && 'delete domains',
    token.perm_manage_tokens && 'manage tokens',
  ].filter((deed) => deed !== false)
  return isFree && deeds.length === 5 ? undefined : `This token may only ${LIST.format(deeds)}.`
}
