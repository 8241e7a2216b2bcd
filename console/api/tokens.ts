import type { components } from '../../build/api-types.d.ts'
import { api, ask, askAll, askPage, Refused } from './client.ts'

export type Token = components['schemas']['Token']
export type NewToken = components['schemas']['NewToken']
export type StoredPolicy = components['schemas']['Policy']
export type TsigKey = components['schemas']['TokenTsigKey']
export type NewPolicy = components['schemas']['PolicyInput']

/** All tokens of the account, the newest first. */
export async function listTokens(): Promise<Token[]> {
  return askAll((cursor) => askPage(api.GET('/api/v1/auth/tokens/', { params: { query: { cursor } } })))
}

/** The policies of a token, the default policy first. */
export function policiesOf(id: string): Promise<StoredPolicy[]> {
  return ask(api.GET('/api/v1/auth/tokens/{id}/policies/rrsets/', { params: { path: { id } } }))
}

export function addPolicy(id: string, body: NewPolicy): Promise<StoredPolicy> {
  return ask(api.POST('/api/v1/auth/tokens/{id}/policies/rrsets/', { params: { path: { id } }, body }))
}

export async function deleteToken(id: string): Promise<void> {
  await ask(api.DELETE('/api/v1/auth/tokens/{id}/', { params: { path: { id } } }))
}

/** Makes a TSIG key for a token; an earlier one ends. */
export function makeKey(id: string): Promise<TsigKey> {
  return ask(api.POST('/api/v1/auth/tokens/{id}/tsig/', { params: { path: { id } } }))
}

export async function removeKey(id: string): Promise<void> {
  await ask(api.DELETE('/api/v1/auth/tokens/{id}/tsig/', { params: { path: { id } } }))
}

/**
 * The account's domain that holds a name, which need not exist.
 * @param typed the name as somebody typed it, for the message
 * @throws Refused with a problem of the field `host` if no domain does
 */
export async function domainHolding(name: string, typed: string): Promise<string> {
  const [domain] = await ask(api.GET('/api/v1/domains/', { params: { query: { owns_qname: name } } }))
  if (domain === undefined) throw new Refused(400, { host: [`No domain of this account holds “${typed.trim()}”.`] })
  return domain.name
}
