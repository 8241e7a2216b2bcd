import { shortState, SUSPENDED, UNCHECKED } from '../dnssec/dnssec.ts'
import { BEFORE_ROLLOVERS } from '../dnssec/outlook.ts'

/** A domain of the list, as far as it decides about its state (contract §15.13). */
interface Domain {
  suspended?: string
  delegation: { state: string; checked: string | null }
  rollover: string | null
}

/** The state of a domain: that it is suspended, or else that of its rollover, or of its delegation at the last check. */
export function stateOf({ suspended, delegation, rollover }: Domain): string {
  if (suspended !== undefined) return SUSPENDED
  // The parent's DS may be one of both keys, so the check does not say more. Before that, what breaks the domain counts.
  if (rollover === 'await-ds') return 'new-ds'
  const isUrgent = delegation.checked !== null && BEFORE_ROLLOVERS.includes(delegation.state)
  if (rollover !== null && rollover !== 'queued' && !isUrgent) return 'rollover'
  return delegation.checked === null ? UNCHECKED : delegation.state
}

/** The views of the list besides that of all domains, by the word in the page's address. */
export const VIEWS: Record<string, { text: string; has: (domain: Domain) => boolean }> = {
  needs: { text: 'Needs you', has: (domain) => needsYou(stateOf(domain)) },
  'not-delegated': { text: 'Not delegated', has: (domain) => stateOf(domain) === 'not-delegated' },
}

/** Whether the domain stays as it is until its owner does something. A parent or a key that is changing does so by itself. */
function needsYou(state: string): boolean {
  return state !== 'propagating' && state !== 'rollover' && ['bad', 'wait'].includes(shortState(state).mood)
}
