import { typeSyntaxProblems } from '../../dns/types.ts'
import { Conflict, Invalid, NotFound, unlessNotFound, type Problems } from '../../errors.ts'
import { isDomainName, subnameProblems } from '../../dns/names.ts'
import type { Db } from '../../store/database.ts'
import * as domains from '../../store/domains.ts'
import * as store from '../../store/policies.ts'
import { isDefault, type StoredPolicy } from '../../store/policies.ts'
import type { Policy, Token } from '../../store/tokens.ts'
import type { System } from '../../system.ts'
import type { Actor } from './actor.ts'
import { isUuid } from './ids.ts'
import { get as getToken, withToken } from './tokens.ts'

export type { StoredPolicy }

/** What a request says about a policy; null matches anything, undefined is not mentioned. */
export interface PolicyInput {
  /** A name. */
  domain: string | null | undefined
  subname: string | null | undefined
  type: string | null | undefined
  permWrite: boolean | undefined
  problems: Problems
}

/** The policies of a token: the default one, then the others, oldest first. @throws NotFound */
export async function list(system: System, actor: Actor, tokenId: string): Promise<StoredPolicy[]> {
  const token = await getToken(system, actor, tokenId)
  return store.list(system.db, token.id)
}

/** @throws NotFound */
export async function get(system: System, actor: Actor, tokenId: string, id: string): Promise<StoredPolicy> {
  const policy = (await list(system, actor, tokenId)).find((policy) => policy.id === id)
  if (policy === undefined) throw new NotFound()
  return policy
}

/**
 * Adds a policy to a token.
 * @param input is asked for only when the token is known to be the caller's to change (contract §1.2)
 * @throws NotFound, Denied, Invalid, Conflict
 */
export async function create(
  system: System,
  actor: Actor,
  tokenId: string,
  input: () => PolicyInput,
): Promise<StoredPolicy> {
  return withToken(system, actor, tokenId, async (trx) => {
    const given = await read(trx, actor, input(), 'POST')
    const policy = { domainId: null, subname: null, type: null, permWrite: false, ...given }
    const others = await store.list(trx, tokenId)
    if (others.length === 0 && !isDefault(policy)) {
      throw Invalid.object('Policy precedence: The first policy must be the default policy.')
    }
    refuseSecond(policy, others)
    return store.insert(trx, tokenId, policy, system.now())
  })
}

/**
 * Replaces (PUT) or changes (PATCH) a policy; `permWrite` stays in both cases unless it is mentioned.
 * @param input is asked for only when the policy is known to be the caller's to change
 * @throws NotFound, Denied, Invalid, Conflict
 */
export async function change(
  system: System,
  actor: Actor,
  { tokenId, id }: { tokenId: string; id: string },
  method: 'PUT' | 'PATCH',
  input: () => PolicyInput,
): Promise<StoredPolicy> {
  return withToken(system, actor, tokenId, async (trx, token) => {
    const all = await store.list(trx, tokenId)
    const before = all.find((policy) => policy.id === id)
    if (before === undefined) throw new NotFound()
    const policy = { ...before, ...(await read(trx, actor, input(), method)) }
    if (isDefault(before) !== isDefault(policy)) {
      throw Invalid.object('When using policies, there must be exactly one default policy.')
    }
    if (isDefault(policy) && policy.permWrite && token.autoPolicy) {
      throw Invalid.field('perm_write', 'Must be false when auto_policy is in effect for the token.')
    }
    const others = all.filter((other) => other !== before)
    refuseSecond(policy, others)
    return store.update(trx, id, policy)
  })
}

/** Deletes a policy, if the token has it. @throws Denied, Invalid */
export async function remove(system: System, actor: Actor, tokenId: string, id: string): Promise<void> {
  if (!isUuid(tokenId)) return
  await withToken(system, actor, tokenId, async (trx, token) => {
    const all = await store.list(trx, tokenId)
    const policy = all.find((policy) => policy.id === id)
    if (policy === undefined) return
    if (isDefault(policy)) refuseWithoutDefault(token, all)
    await store.remove(trx, id)
  }).catch(unlessNotFound)
}

/** What the default policy is there for (contract §6.3). */
function refuseWithoutDefault(token: Token, all: StoredPolicy[]): void {
  if (all.length > 1) throw Invalid.object("Policy precedence: Can't delete default policy when there exist others.")
  if (token.autoPolicy) throw Invalid.object("Can't delete default policy when auto_policy is in effect for the token.")
}

function refuseSecond({ domainId, subname, type }: Policy, others: Policy[]): void {
  if (others.some((other) => other.domainId === domainId && other.subname === subname && other.type === type)) {
    throw new Conflict('Conflict: a policy for this domain, subname and type already exists for this token.')
  }
}

/** The mentioned members of a policy. @throws Invalid with all that is wrong with the fields (contract §6.1) */
async function read(
  trx: Db,
  actor: Actor,
  { domain, subname, type, permWrite, problems }: PolicyInput,
  method: 'POST' | 'PUT' | 'PATCH',
): Promise<Partial<Policy>> {
  const domainId = domain == null ? domain : await ownDomain(trx, actor, domain)
  const texts: Record<string, string[]> = {
    domain: domain != null && domainId === undefined ? [`Object with name=${domain} does not exist.`] : [],
    subname: subname == null ? [] : subnameProblems(subname),
    type: type == null ? [] : typeSyntaxProblems(type),
    perm_write: [],
  }
  const missing = method === 'PATCH' ? [] : Object.entries({ domain, subname, type })
  for (const [field, value] of missing) if (value === undefined) texts[field] = ['This field is required.']
  const wrong = Object.keys(texts)
    .map((field) => [field, problems[field] ?? texts[field]!] as const)
    .filter(([, list]) => list.length > 0)
  if (wrong.length > 0) throw new Invalid(Object.fromEntries(wrong))
  return {
    ...(domainId !== undefined && { domainId }),
    ...(subname !== undefined && { subname }),
    ...(type !== undefined && { type }),
    ...(permWrite !== undefined && { permWrite }),
  }
}

async function ownDomain(trx: Db, actor: Actor, name: string): Promise<number | undefined> {
  return isDomainName(name) ? domains.keep(trx, name, actor.accountId) : undefined
}
