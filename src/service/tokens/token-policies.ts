import { isDomainName, subnameProblems } from '../../dns/names.ts'
import { typeSyntaxProblems } from '../../dns/types.ts'
import { Invalid, limitExceeded, orNotFound, type Problems, unlessNotFound } from '../../errors.ts'
import { POLICIES_MAX } from '../../limits.ts'
import { confirmPrimary, type Db } from '../../store/database.ts'
import * as domains from '../../store/domains/domains.ts'
import * as store from '../../store/tokens/policies.ts'
import { isDefault, type StoredPolicy } from '../../store/tokens/policies.ts'
import type { Policy, Token } from '../../store/tokens/tokens.ts'
import type { System } from '../../system.ts'
import type { Visit, Writer } from '../actor.ts'
import { record } from '../events.ts'
import { isUuid } from '../ids.ts'
import { get as getToken, withToken } from './tokens.ts'

export type { StoredPolicy }

/** The policy in a request: null matches anything, undefined means that the member is absent. */
export interface PolicyInput {
  /** The domain's name. */
  domain?: string | null | undefined
  subname?: string | null | undefined
  type?: string | null | undefined
  permWrite?: boolean | undefined
  problems: Problems
}

/** Returns the policies of a token: the default policy, then the others, oldest first. @throws NotFound */
export async function list(visit: Visit, tokenId: string): Promise<StoredPolicy[]> {
  const token = await getToken(visit, tokenId)
  return store.list(visit.system.db, token.id)
}

/** @throws NotFound */
export async function get(visit: Visit, tokenId: string, id: string): Promise<StoredPolicy> {
  return orNotFound((await list(visit, tokenId)).find((policy) => policy.id === id))
}

/**
 * Adds a policy to a token.
 * @param input called only if the actor may change the token (contract §1.2)
 * @throws NotFound, Denied, Invalid, Conflict
 */
export async function create(visit: Visit, tokenId: string, input: () => PolicyInput): Promise<StoredPolicy> {
  const { system, actor } = visit
  const policy = await withToken(visit, tokenId, (trx) => add(system, trx, actor, tokenId, input()))
  record(system, 'policy_created', { account: actor.accountId, token: tokenId, policy: policy.id, by: actor.tokenId })
  return policy
}

/** Adds a policy in the caller's transaction, to a token that the actor may change. @throws like `create` */
export async function add(
  system: System,
  trx: Db,
  actor: Writer,
  tokenId: string,
  input: PolicyInput,
): Promise<StoredPolicy> {
  const given = await read(trx, actor, input, 'POST')
  const policy = { domainId: null, subname: null, type: null, permWrite: false, ...given }
  // First, so that a duplicate is rejected as such, also at the limit.
  const added = await store.insert(trx, tokenId, policy, system.now())
  const { length } = await store.list(trx, tokenId)
  if (length > POLICIES_MAX) throw limitExceeded('a token', POLICIES_MAX, 'policies')
  return added
}

/**
 * Replaces (PUT) or changes (PATCH) a policy. Both keep `permWrite` if the input does not have it.
 * @param input called only if the policy exists and the actor may change the token
 * @throws NotFound, Denied, Invalid, Conflict
 */
export async function change(
  visit: Visit,
  { tokenId, id }: { tokenId: string; id: string },
  method: 'PUT' | 'PATCH',
  input: () => PolicyInput,
): Promise<StoredPolicy> {
  const { system, actor } = visit
  const changed = await withToken(visit, tokenId, async (trx, token) => {
    const all = await store.list(trx, tokenId)
    const before = orNotFound(all.find((policy) => policy.id === id))
    const policy = { ...before, ...(await read(trx, actor, input(), method)) }
    if (isDefault(before) !== isDefault(policy)) {
      throw Invalid.object('When using policies, there must be exactly one default policy.')
    }
    if (isDefault(policy) && policy.permWrite && token.autoPolicy) {
      throw Invalid.field('perm_write', 'Must be false when auto_policy is in effect for the token.')
    }
    return store.update(trx, id, policy)
  })
  record(system, 'policy_changed', { account: actor.accountId, token: tokenId, policy: id, by: actor.tokenId })
  return changed
}

/** Deletes a policy if the token has it. @throws Denied, Invalid */
export async function remove(visit: Visit, tokenId: string, id: string): Promise<void> {
  if (!isUuid(tokenId)) return
  const { system, actor } = visit
  const existed = await withToken(visit, tokenId, async (trx, token) => {
    const all = await store.list(trx, tokenId)
    const policy = all.find((policy) => policy.id === id)
    if (policy === undefined) return false
    if (isDefault(policy)) refuseDefaultDeletion(token, all)
    await store.remove(trx, id)
    return true
  }).catch(unlessNotFound)
  if (existed !== true) return confirmPrimary(system.db)
  record(system, 'policy_deleted', { account: actor.accountId, token: tokenId, policy: id, by: actor.tokenId })
}

/** @throws Invalid if the token needs its default policy (contract §6.3) */
function refuseDefaultDeletion(token: Token, all: StoredPolicy[]): void {
  if (all.length > 1) throw Invalid.object("Policy precedence: Can't delete default policy when there exist others.")
  if (token.autoPolicy) throw Invalid.object("Can't delete default policy when auto_policy is in effect for the token.")
}

/** Reads the members of a policy in the input. @throws Invalid with the problems of all fields (contract §6.1) */
async function read(
  trx: Db,
  actor: Writer,
  { domain, subname, type, permWrite, problems }: PolicyInput,
  method: 'POST' | 'PUT' | 'PATCH',
): Promise<Partial<Policy>> {
  const domainId = domain == null ? domain : await ownDomain(trx, actor, domain)
  const missing = (value: unknown) => (value === undefined && method !== 'PATCH' ? ['This field is required.'] : [])
  const texts: Problems = {
    domain: domain != null && domainId === undefined ? [`Object with name=${domain} does not exist.`] : missing(domain),
    subname: subname == null ? missing(subname) : subnameProblems(subname),
    type: type == null ? missing(type) : typeSyntaxProblems(type),
    ...problems,
  }
  const wrong = Object.entries(texts).filter(([, list]) => list.length > 0)
  if (wrong.length > 0) throw new Invalid(Object.fromEntries(wrong))
  return {
    ...(domainId !== undefined && { domainId }),
    ...(subname !== undefined && { subname }),
    ...(type !== undefined && { type }),
    ...(permWrite !== undefined && { permWrite }),
  }
}

async function ownDomain(trx: Db, actor: Writer, name: string): Promise<number | undefined> {
  return isDomainName(name) ? domains.keep(trx, name, actor.accountId) : undefined
}
