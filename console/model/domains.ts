import { shortState, SUSPENDED, UNCHECKED } from './dnssec.ts'

/** A domain of the list, as far as it decides about its state (contract §15.13). */
interface Domain {
  suspended?: string
  delegation: { state: string; checked: string | null }
}

/** The state of a domain: that it is suspended, or else that of its delegation at the last check, if there was one. */
export function stateOf({ suspended, delegation }: Domain): string {
  if (suspended !== undefined) return SUSPENDED
  return delegation.checked === null ? UNCHECKED : delegation.state
}

/** The views of the list besides that of all domains, by the word in the page's address. */
export const VIEWS: Record<string, { text: string; has: (domain: Domain) => boolean }> = {
  needs: { text: 'Needs you', has: (domain) => needsYou(stateOf(domain)) },
  'not-delegated': { text: 'Not delegated', has: (domain) => stateOf(domain) === 'not-delegated' },
}

/** Whether the domain stays as it is until its owner does something. A parent that is changing does so by itself. */
function needsYou(state: string): boolean {
  return state !== 'propagating' && ['bad', 'wait'].includes(shortState(state).mood)
}
