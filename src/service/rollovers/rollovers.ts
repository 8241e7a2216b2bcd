import { Conflict, Invalid, NameserverFailure, NotFound, orNotFound } from '../../errors.ts'
import type { Db } from '../../store/database.ts'
import type { Domain } from '../../store/domains/domains.ts'
import { former, inherit, keysOf } from '../../store/domains/keys.ts'
import type { Phase, Rollover } from '../../store/domains/rollovers.ts'
import * as store from '../../store/domains/rollovers.ts'
import type { System } from '../../system.ts'
import { type Access, operatorFor, type Writer } from '../actor.ts'
import { checkAnew, type Delegation, lastCheck } from '../delegation/checks.ts'
import { authoriseWhole, findNamed } from '../domains/domains.ts'
import { ALGORITHMS, type KeyAlgorithm, newKey } from '../secrets/new-key.ts'
import { storeKeys } from '../secrets/signing-keys.ts'
import { policiesOn } from '../tokens/policies.ts'
import { openZone } from '../zone/opening.ts'
import type { Publication } from '../zone/publication.ts'
import { delegations, formerIn } from './parent-ds.ts'
import { firstPhase, PHASES, type Sides, visibilityIn, waitsForSigners } from './phases.ts'
import { carryOut, type Step } from './transitions.ts'

export { ALGORITHMS as KEY_ALGORITHMS, PHASES }
export type { KeyAlgorithm }

/** The algorithm of new keys, unless somebody wants another. */
export const DEFAULT_ALGORITHM: KeyAlgorithm = 'ecdsa256'

/** How many former keys come back at once. */
const MOST_RETURNED = 8

/** The replacement of the keys of a domain, as its owner sees it. */
export interface ShownRollover extends Pick<Rollover, 'phase' | 'since' | 'emergency'> {
  waitsFor: 'turn' | 'nameservers' | 'caches' | 'signers' | 'parent'
  canCancel: boolean
  /** The contents of the DS records that the parent shall have, and shall not have. */
  addDs: string[]
  removeDs: string[]
}

/** Returns a rollover as its owner sees it. */
export function shown({ name }: Pick<Domain, 'name'>, rollover: Rollover): ShownRollover {
  const { phase, since, emergency } = rollover
  const { incoming, outgoing } = visibilityIn(phase)
  return {
    ...{ phase, since, emergency },
    waitsFor: awaited(rollover),
    canCancel: phase !== 'unpublish',
    addDs: incoming.announced ? delegations(name, rollover.incoming) : [],
    removeDs: outgoing.announced ? [] : delegations(name, rollover.outgoing),
  }
}

function awaited(rollover: Rollover): ShownRollover['waitsFor'] {
  const { phase, seen } = rollover
  if (phase === 'queued') return 'turn'
  if (phase === 'await-ds') return 'parent'
  if (waitsForSigners(rollover)) return 'signers'
  return seen > 0 ? 'caches' : 'nameservers'
}

/** Returns the rollover of a domain. @throws NotFound; Denied unless the actor may write the whole domain */
export async function get({ system, actor, domain }: Access<Writer>): Promise<ShownRollover> {
  await authoriseWhole(system.db, domain, await policiesOn(system.db, actor, domain.id))
  return shown(domain, orNotFound(await store.rolloverOf(system.db, domain.id)))
}

/** Returns all rollovers by the names of their domains, the oldest first; for the operator. */
export async function list({ db }: System): Promise<[string, ShownRollover][]> {
  return (await store.all(db)).map((rollover) => [rollover.name, shown(rollover, rollover)])
}

/** Returns the access of an operator to a domain. @throws NotFound */
export async function accessOfOperator(system: System, name: string): Promise<Access<Writer>> {
  const domain = await findNamed(system, name)
  return { system, actor: operatorFor(domain.ownerId), domain }
}

/** What somebody wants of a rollover. */
export interface Wish {
  /** Of the new key; default: DEFAULT_ALGORITHM. */
  algorithm?: KeyAlgorithm | undefined
  /** True not to wait for caches. */
  emergency: boolean
  /** True if the former keys shall come back instead of a new one. */
  isReturn?: boolean
}

/**
 * Begins to replace all keys of a domain by a new one, or by its former ones (contract §15.10).
 * @param options.isQueued true if it comes from the queue
 * @throws NotFound, Unauthenticated, Denied, Unavailable; Invalid if former keys shall have an algorithm; Conflict if the
 *   domain is paused, if its keys are being replaced, or if there are no former ones
 */
export async function begin(
  access: Access<Writer>,
  { algorithm, emergency, isReturn = false }: Wish,
  { isQueued } = { isQueued: false },
): Promise<ShownRollover> {
  const { domain } = access
  if (isReturn && algorithm !== undefined) throw Invalid.field('algorithm', 'Cannot be combined with return.')
  // Before the lock: the parent may take its time.
  const servers = isReturn ? await serversOfParent(access) : []
  const begun = await change(access, async ({ system, trx }, former) => {
    if (former !== undefined && former.phase !== 'queued') {
      throw new Conflict('The keys of this domain are being replaced already.')
    }
    if (isQueued && former === undefined) throw new Conflict('The rollover is no longer queued.')
    const old = await keysOf(trx, domain.id)
    if (old.length === 0) throw new Conflict('The keys of this domain are not stored yet. Try again in a few minutes.')
    const incoming = isReturn
      ? await formerKeys(trx, domain, servers)
      : [await storeNewKey(system, trx, domain, algorithm)]
    const sides = { incoming, outgoing: old.map(({ dnskey }) => dnskey) }
    return { ...sides, phase: firstPhase(sides), emergency, action: isReturn ? 'return' : 'begin' }
  })
  return begun!
}

/** Requires, before the lock of the domain, that the caller may write all of it. @throws Denied */
export async function authoriseEarly({ system, actor, domain }: Access<Writer>): Promise<void> {
  await authoriseWhole(system.db, domain, await policiesOn(system.db, actor, domain.id))
}

/** Returns the servers of the parent that answer; if none does, as the last check found them. @throws Denied, Busy */
async function serversOfParent(access: Access<Writer>): Promise<Delegation['servers']> {
  const { system, domain } = access
  await authoriseEarly(access)
  const last = await lastCheck(system.db, domain.id)
  // Of such a domain, the request is refused.
  if (domain.paused || domain.suspended !== null) return []
  const present = await checkAnew(access, domain).catch((error: unknown) => {
    if (error instanceof NameserverFailure) return undefined
    throw error
  })
  const answering = present?.servers.filter(({ problem }) => problem === null) ?? []
  return answering.length > 0 ? answering : last.servers
}

/** Stores a new key, and returns its public half. */
async function storeNewKey(
  system: System,
  trx: Db,
  domain: Domain,
  algorithm: KeyAlgorithm = DEFAULT_ALGORITHM,
): Promise<string> {
  const key = newKey(algorithm)
  await storeKeys(system, trx, domain, [{ ...key, active: true, published: false }], { only: false, announced: false })
  return key.dnskey
}

/**
 * Returns the public halves of the former keys that retired last; but of those of which servers of the parent have a DS,
 * by whatever digest, if there are any: with them, validating resolvers accept the domain at once.
 * @throws Conflict if no former keys are kept
 */
async function formerKeys(trx: Db, domain: Domain, servers: Delegation['servers']): Promise<string[]> {
  const { id, name, ownerId } = domain
  const generations = await former(trx, { id, name, ownerId })
  if (generations.length === 0) throw new Conflict('There are no former keys of this domain.')
  const isAtParent = (keys: string[]) =>
    servers.some(({ ds }) => formerIn(name, { incoming: [], outgoing: keys }, ds).length > 0)
  const generation = generations.find(isAtParent) ?? generations[0]!
  // A domain that is deleted during a rollover has several; again and again, there would be ever more.
  const chosen = generation.filter((key) => isAtParent([key])).concat(generation)
  const few = [...new Set(chosen)].slice(0, MOST_RETURNED)
  await inherit(trx, { id, name, ownerId }, few)
  return few
}

/**
 * Goes back to the former keys, as long as resolvers still have them.
 * @returns undefined if that needs no time
 * @throws as `begin`; NotFound if no keys are being replaced, Conflict if it is too late
 */
export async function cancel(access: Access<Writer>): Promise<ShownRollover | undefined> {
  return change(access, async ({ trx }, former) => {
    if (former === undefined) throw new NotFound()
    const { incoming, outgoing, emergency, phase } = former
    if (phase === 'unpublish') throw new Conflict('It is too late: resolvers may not have the former keys any more.')
    const sides = { incoming: outgoing, outgoing: incoming }
    const next = phaseBack(phase, sides)
    // What goes back to await-ds asks the parent before a key goes.
    if (next !== 'await-ds') await refuseTrusted(trx, access.domain, sides)
    return { ...sides, phase: next, emergency, action: 'cancel' }
  })
}

/** Requires that the last check has found no DS of keys that would go at once: as of former ones, which come back. */
async function refuseTrusted(trx: Db, { id, name }: Domain, sides: Sides): Promise<void> {
  const { parent, servers } = await lastCheck(trx, id)
  const found = servers.flatMap(({ ds }) => formerIn(name, sides, ds))[0]
  if (found === undefined) return
  throw new Conflict(
    `The parent zone ${parent} has a DS of the new keys: "${found}". Without these keys, validating resolvers would reject ` +
      'the domain. Let the replacement end; then you can begin another one.',
  )
}

/** Returns the phase in which the way back begins; undefined: resolvers have seen nothing that could last. */
function phaseBack(phase: Exclude<Phase, 'unpublish'>, sides: Sides): Phase | undefined {
  if (phase === 'await-ds' || phase === 'await-ds-ttl') return 'await-ds'
  if (phase === 'queued') return undefined
  // Resolvers may have the new keys, whose algorithm must sign as long as they do.
  return phase === 'publish' && firstPhase(sides) === 'sign' ? 'unpublish' : undefined
}

/** Plans a step under the lock of the domain, and carries it out. Returns the rollover, unless it has ended. */
async function change(
  access: Access<Writer>,
  plan: (publication: Publication, former: Rollover | undefined) => Promise<Step>,
): Promise<ShownRollover | undefined> {
  const { domain } = access
  await using zone = await openZone(access, [], { use: 'keys' })
  const { publication } = zone
  const { trx } = publication
  await authoriseWhole(trx, zone.domain, zone.policies)
  const step = await plan(publication, await store.rolloverOf(trx, domain.id))
  const rollover = await carryOut(publication, zone.domain, step, zone.author)
  return rollover && shown(domain, rollover)
}
