import type { StoredKey } from '../../store/domains/keys.ts'
import type { Phase, Rollover } from '../../store/domains/rollovers.ts'
import { algorithmOf } from '../secrets/signing-keys.ts'

// The phases of a rollover (architecture.md, "Rollovers"; RFC 6781 §4.1). In all of them, the keys of both sides sign.

/** What resolvers see of a side of a rollover. */
type Visibility = Pick<StoredKey, 'published' | 'announced'>

const HIDDEN = { published: false, announced: false }
const SEEN = { published: true, announced: false }
const TRUSTED = { published: true, announced: true }

/** What resolvers see of the new keys and of the former ones. */
const VISIBILITY: Record<Phase, { incoming: Visibility; outgoing: Visibility }> = {
  queued: { incoming: HIDDEN, outgoing: TRUSTED },
  sign: { incoming: HIDDEN, outgoing: TRUSTED },
  publish: { incoming: SEEN, outgoing: TRUSTED },
  'await-ds': { incoming: TRUSTED, outgoing: SEEN },
  'await-ds-ttl': { incoming: TRUSTED, outgoing: SEEN },
  unpublish: { incoming: TRUSTED, outgoing: HIDDEN },
}
const DONE = { incoming: TRUSTED, outgoing: HIDDEN }

/** The phases if the algorithm stays: a key is published in advance (RFC 6781 §4.1.3, "double signature"). */
const SAME_ALGORITHM: Phase[] = ['publish', 'await-ds', 'await-ds-ttl']

/** The phases if it changes: an algorithm must sign before and after it is published (RFC 6781 §4.1.4). */
const OTHER_ALGORITHM: Phase[] = ['sign', 'publish', 'await-ds', 'await-ds-ttl', 'unpublish']

export const PHASES: Phase[] = ['queued', ...OTHER_ALGORITHM]

/**
 * Reports whether a rollover must not go on before the owner says that other signers publish the new keys: a resolver
 * that has their DNSKEY would reject our answers.
 */
export function waitsForSigners({
  phase,
  hasOtherSigners,
  confirmed,
}: Pick<Rollover, 'phase' | 'hasOtherSigners' | 'confirmed'>): boolean {
  return phase === 'publish' && hasOtherSigners && !confirmed
}

/** The keys of a rollover, by their public halves. */
export type Sides = Pick<Rollover, 'incoming' | 'outgoing'>

/** @param phase undefined: the rollover is done */
export function visibilityIn(phase: Phase | undefined): { incoming: Visibility; outgoing: Visibility } {
  return phase === undefined ? DONE : VISIBILITY[phase]
}

export function firstPhase(sides: Sides): Phase {
  return phasesOf(sides)[0]!
}

/** Returns the next phase; undefined: the rollover is done. */
export function nextPhase(phase: Phase, sides: Sides): Phase | undefined {
  const phases = phasesOf(sides)
  return phases[phases.indexOf(phase) + 1]
}

function phasesOf({ incoming, outgoing }: Sides): Phase[] {
  const algorithms = new Set([...incoming, ...outgoing].map(algorithmOf))
  return algorithms.size === 1 ? SAME_ALGORITHM : OTHER_ALGORITHM
}
