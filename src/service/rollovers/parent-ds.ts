import { delegationsOf, keyOfDelegation } from '../secrets/signing-keys.ts'
import type { Sides } from './phases.ts'

// What the DS at the parent say about a rollover. Parents can use another digest than we do, so keys are compared.

/** Returns those of these DS that belong to the former keys. */
export function formerIn(name: string, { incoming, outgoing }: Sides, ds: string[]): string[] {
  const wanted = new Set(delegations(name, incoming))
  const former = new Set(delegations(name, outgoing).map(keyOfDelegation))
  // A new key can have the key tag of a former one.
  return ds.filter((content) => !wanted.has(content) && former.has(keyOfDelegation(content)))
}

/** Reports whether a DS set has a new key and none of the former. */
export function isReplaced(name: string, sides: Sides, ds: string[]): boolean {
  const wanted = new Set(delegations(name, sides.incoming))
  return ds.some((content) => wanted.has(content)) && formerIn(name, sides, ds).length === 0
}

/** Returns the contents of the DS records of these keys. */
export function delegations(name: string, dnskeys: string[]): string[] {
  return dnskeys.flatMap((dnskey) => delegationsOf(name, dnskey))
}
