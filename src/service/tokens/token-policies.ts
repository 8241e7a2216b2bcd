import { isDomainName, subnameProblems } from '../../dns/names.ts'
import { patternProblems } from '../../dns/subname-patterns.ts'
import { typeSyntaxProblems } from '../../dns/types.ts'
import { Invalid, limitExceeded, orNotFound, type Problems, unlessNotFound } from '../../errors.ts'
import { POLICIES_MAX, SHAPES_MAX } from '../../limits.ts'
import { confirmPrimary, type Db } from '../../store/database.ts'
import * as domains from '../../store/domains/domains.ts'
import * as store from '../../store/tokens/policies.ts'
import { isDefault, type StoredPolicy } from '../../store/tokens/policies.ts'
import type { Policy, Token } from '../../store/tokens/tokens.ts'
import type { System } from '../../system.ts'
import type { Visit, Writer } from '../actor.ts'
import { record } from '../events.ts'
import { isUuid } from '../ids.ts'
import { samplesOf } from './policies.ts'
import { get as getToken, withToken } from './tokens.ts'

export type { StoredPolicy }

/** The policy in a request: null matches anything, undefined means that the member is absent. */
export interface PolicyInput {
  /** The domain's name. */
  domain?: string | null | undefined
  subname?: string | null | undefined
  /** In place of a subname. */
  subnamePattern?: string | null | undefined
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
  const { accountId: account, tokenId: by } = actor
  return withToken(visit, tokenId, async (trx) => {
    const policy = await add(system, trx, actor, tokenId, input())
    record(system, trx, 'policy_created', { account, token: tokenId, policy: policy.id, by })
    return policy
  })
}

/** Adds a policy in the caller's transaction, to a token that the actor may change. @throws like `create` */
export async function add(
  system: System,
  trx: Db,
  actor: Writer,
  tokenId: string,
  input: PolicyInput,
): Promise<StoredPolicy> {
  const policy = await read(trx, actor, input, 'POST', NEW)
  // First, so that a duplicate is rejected as such, also at the limit.
  const added = await store.insert(trx, tokenId, policy, system.now())
  const all = await store.list(trx, tokenId)
  if (all.length > POLICIES_MAX) throw limitExceeded('a token', POLICIES_MAX, 'policies')
  limitShapes(added, all)
  return added
}

/** What a new policy is without its input. */
const NEW: Policy = { domainId: null, subname: null, isPattern: false, type: null, permWrite: false }

/** @throws Denied if a policy that was written is one too many */
function limitShapes(written: StoredPolicy, all: StoredPolicy[]): void {
  if (written.isPattern && samplesOf(all).length > SHAPES_MAX) {
    throw limitExceeded('a token', SHAPES_MAX, 'shapes of patterns')
  }
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
  return withToken(visit, tokenId, async (trx, token) => {
    const all = await store.list(trx, tokenId)
    const before = orNotFound(all.find((policy) => policy.id === id))
    const policy = await read(trx, actor, input(), method, before)
    if (isDefault(before) !== isDefault(policy)) {
      throw Invalid.object('When using policies, there must be exactly one default policy.')
    }
    if (isDefault(policy) && policy.permWrite && token.autoPolicy) {
      throw Invalid.field('perm_write', 'Must be false when auto_policy is in effect for the token.')
    }
    const written = await store.update(trx, id, policy)
    limitShapes(written, [...all.filter((each) => each !== before), written])
    record(system, trx, 'policy_changed', { account: actor.accountId, token: tokenId, policy: id, by: actor.tokenId })
    return written
  })
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
    record(system, trx, 'policy_deleted', { account: actor.accountId, token: tokenId, policy: id, by: actor.tokenId })
    return true
  }).catch(unlessNotFound)
  if (existed !== true) await confirmPrimary(system.db)
}

/** @throws Invalid if the token needs its default policy (contract §6.3) */
function refuseDefaultDeletion(token: Token, all: StoredPolicy[]): void {
  if (all.length > 1) throw Invalid.object("Policy precedence: Can't delete default policy when there exist others.")
  if (token.autoPolicy) throw Invalid.object("Can't delete default policy when auto_policy is in effect for the token.")
}

/** Returns a policy with the members in the input. @throws Invalid with the problems of all fields (contract §6.1) */
async function read(
  trx: Db,
  actor: Writer,
  input: PolicyInput,
  method: 'POST' | 'PUT' | 'PATCH',
  before: Policy,
): Promise<Policy> {
  const { domain, subname, subnamePattern, type, permWrite, problems } = input
  const domainId = domain == null ? domain : await ownDomain(trx, actor, domain)
  const missing = (value: unknown) => (value === undefined && method !== 'PATCH' ? ['This field is required.'] : [])
  const texts: Problems = {
    domain: domain != null && domainId === undefined ? [`Object with name=${domain} does not exist.`] : missing(domain),
    subname: subname == null ? missing(subnamePattern ?? subname) : subnameProblems(subname),
    subname_pattern: subnamePattern == null ? [] : patternProblems(subnamePattern),
    type: type == null ? missing(type) : typeSyntaxProblems(type),
  }
  if (subname != null && subnamePattern != null) {
    texts['subname_pattern'] = ['subname and subname_pattern are mutually exclusive.']
  }
  const wrong = Object.entries({ ...texts, ...problems }).filter(([, list]) => list.length > 0)
  if (wrong.length > 0) throw new Invalid(Object.fromEntries(wrong))
  return {
    ...before,
    ...(domainId !== undefined && { domainId }),
    ...nameAfter(before, input),
    ...(type !== undefined && { type }),
    ...(permWrite !== undefined && { permWrite }),
  }
}

/** Returns the subname or the pattern after a change; a null takes away only what it is about. */
function nameAfter(before: Policy, { subname, subnamePattern }: PolicyInput): Pick<Policy, 'subname' | 'isPattern'> {
  if (subnamePattern != null) return { subname: subnamePattern, isPattern: true }
  if (subname != null) return { subname, isPattern: false }
  const isGone = (before.isPattern ? subnamePattern : subname) === null
  return isGone ? { subname: null, isPattern: false } : { subname: before.subname, isPattern: before.isPattern }
}

async function ownDomain(trx: Db, actor: Writer, name: string): Promise<number | undefined> {
  return isDomainName(name) ? domains.keep(trx, name, actor.accountId) : undefined
}
