import { patternLike, patternsFor, shapeOf } from '../../dns/subname-patterns.ts'
import { Denied } from '../../errors.ts'
import { mapInSlices } from '../../flow/slices.ts'
import type { Db } from '../../store/database.ts'
import * as store from '../../store/tokens/policies.ts'
import type { Policy } from '../../store/tokens/tokens.ts'
import type { RRsetKey } from '../../store/zone/rrsets.ts'
import type { Actor } from '../actor.ts'

/** The policies of a member who may only read (contract §19.1). */
const READ_ONLY: Policy[] = [{ domainId: null, subname: null, isPattern: false, type: null, permWrite: false }]

/** The most names and patterns of policies that a write asks for; for more it reads all policies. */
const NAMES_MAX = 256

/**
 * Returns the policies of the actor's token that can match an RRset of the domain. An empty array means that the token
 * may write everything, because a restricted token has a default policy (contract §6.3).
 * @param subnames if given, the policies decide about RRsets with these subnames only
 */
export async function policiesOn(
  db: Db,
  { tokenId, restricted, role }: Pick<Actor, 'tokenId' | 'restricted' | 'role'>,
  domainId: number,
  subnames?: ReadonlySet<string>,
): Promise<Policy[]> {
  if (role === 'viewer') return READ_ONLY
  if (!restricted) return []
  const names = subnames && namesOfPolicies(subnames)
  const policies = await store.matching(db, tokenId, domainId, names)
  if (names !== undefined) known.set(policies, { ...read(policies), subnames })
  return policies
}

/** Returns what the policies that match RRsets with these subnames have as name or pattern; undefined: too many. */
function namesOfPolicies(subnames: ReadonlySet<string>): string[] | undefined {
  const labels = Array.from(subnames, (subname) => subname.split('.').length)
  const count = labels.reduce((sum, each) => sum + each * 2 ** each, 0)
  return count > NAMES_MAX ? undefined : Array.from(subnames, patternsFor).flat()
}

/**
 * Reports whether a token with these policies may write this RRset. The most specific matching policy decides: a domain
 * outweighs the rest, a subname a pattern and a type, and a pattern a type (contract §6.4). It takes as long for thousands
 * of policies as for few.
 */
export function mayWrite(policies: Policy[], domainId: number, key: RRsetKey): boolean {
  if (policies.length === 0) return true
  const { permissions, samples, subnames } = readingOf(policies)
  // The default policy would decide about it.
  if (subnames !== undefined && !subnames.has(key.subname)) throw new Error('the policies for this name were not read')
  const patterns = samples.map((sample) => patternLike(sample, key.subname)).filter((like) => like !== undefined)
  const names = [exact(key.subname), ...patterns.map(anyOf), ANY_NAME]
  for (const domain of [domainId, null]) {
    for (const name of names) {
      for (const type of [key.type, null]) {
        const permission = permissions.get(scope(domain, name, type))
        if (permission !== undefined) return permission
      }
    }
  }
  return false
}

interface Reading {
  /** The permission of each scope. */
  permissions: Map<string, boolean>
  /** A pattern of each shape, the most specific first; at most SHAPES_MAX. */
  samples: string[]
  /** The subnames about which they decide; undefined: all. */
  subnames?: ReadonlySet<string> | undefined
}

/** What was read of lists of policies: they may have thousands, and so may the RRsets of a request. */
const known = new WeakMap<Policy[], Reading>()

function readingOf(policies: Policy[]): Reading {
  const reading = known.get(policies) ?? read(policies)
  known.set(policies, reading)
  return reading
}

function read(policies: Policy[]): Reading {
  const permissions = policies.map((policy): [string, boolean] => [
    scope(policy.domainId, nameIn(policy), policy.type),
    policy.permWrite,
  ])
  return { permissions: new Map(permissions), samples: samplesOf(policies) }
}

/** Returns a pattern of each shape that those of policies have, the most specific first (contract §6.4). */
export function samplesOf(policies: Pick<Policy, 'subname' | 'isPattern'>[]): string[] {
  const samples = new Map<string, string>()
  for (const { subname, isPattern } of policies) {
    // Says the same as the shape, and takes much less time, which counts for a thousand patterns of one shape.
    if (isPattern) samples.set(subname!.replace(/[^.*]+/g, ''), subname!)
  }
  return [...samples.values()].sort((a, b) => (shapeOf(a) < shapeOf(b) ? -1 : 1))
}

const ANY_NAME = ''
const exact = (subname: string) => `=${subname}`
const anyOf = (pattern: string) => `~${pattern}`

function nameIn({ subname, isPattern }: Policy): string {
  if (subname === null) return ANY_NAME
  return isPattern ? anyOf(subname) : exact(subname)
}

function scope(domainId: number | null, name: string, type: string | null): string {
  return `${domainId ?? ''}/${name}/${type ?? ''}`
}

/** @throws Denied unless a token with these policies may write all of these RRsets (contract §6.5) */
export function authoriseWrites(policies: Policy[], domainId: number, keys: Iterable<RRsetKey>): void {
  for (const key of keys) {
    if (!mayWrite(policies, domainId, key)) throw new Denied('Insufficient token permissions.')
  }
}

/** Does this of RRsets of which there may be very many. */
export async function authoriseEach(policies: Policy[], domainId: number, keys: readonly RRsetKey[]): Promise<void> {
  await mapInSlices(keys, (key) => {
    authoriseWrites(policies, domainId, [key])
  })
}
