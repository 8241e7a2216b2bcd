import type { Mood } from '../dnssec/dnssec.ts'
import { WORDS } from '../history/activity.ts'
import { domainWords } from '../tokens/rights.ts'

/** What the console says of a webhook (contract §22.1). */
interface Webhook {
  events: Group[]
  domains: string[] | null
  disabled: string | null
  reason: Reason | null
  failing_since: string | null
}

/** What the console says of a delivery (contract §22.3). */
interface Delivery {
  status: 'waiting' | 'delivered' | 'failed' | 'gone'
  attempted: string | null
  answer: number | null
  problem: string | null
}

/** What a webhook can hear of, in the order of the form. */
export const GROUPS = {
  rrsets: { title: 'Records', text: 'Each change of records, and what it changed.' },
  domains: { title: 'Domains', text: 'Domains come, go, or are suspended; their keys or their transfers change.' },
  delegation: { title: 'Delegations', text: 'A check finds that a parent zone delegates a domain in another way.' },
  account: { title: 'Account', text: 'Sign-ins, tokens, policies, members, webhooks and the account itself.' },
} as const

export type Group = keyof typeof GROUPS

/** Why a webhook is told nothing. */
const REASONS = {
  request: 'Somebody turned it off.',
  gone: 'Its receiver has answered that it is gone for good (410).',
  failing: 'It has failed for three days.',
  backlog: 'More than 10,000 messages waited for it.',
  rights: 'Whoever chose its URL is not an admin of this account any more.',
  handed_over: 'The account was given to another person.',
} as const

type Reason = keyof typeof REASONS

interface State {
  mood: Mood
  words: string
}

/** How a webhook is. */
export function webhookState({ disabled, reason, failing_since: failing }: Webhook): State {
  if (disabled !== null) return { mood: reason === 'request' ? 'none' : 'bad', words: 'Off' }
  return failing === null ? { mood: 'good', words: 'On' } : { mood: 'bad', words: 'Failing' }
}

/** Why a webhook is told nothing, in a sentence. */
export function reasonWords({ reason }: Webhook): string {
  return reason === null ? '' : REASONS[reason]
}

/** What a webhook hears of: `Records and domains of all domains`. */
export function topicWords({ events, domains }: Webhook): string {
  const titles = Object.entries(GROUPS).filter(([group]) => events.includes(group as Group))
  const list = new Intl.ListFormat('en').format(titles.map(([, { title }]) => title.toLowerCase()))
  return `${list[0]!.toUpperCase()}${list.slice(1)}: ${domainWords(domains)}`
}

const DELIVERY_STATES: Record<Delivery['status'], State> = {
  waiting: { mood: 'none', words: 'Waiting' },
  delivered: { mood: 'good', words: 'Delivered' },
  failed: { mood: 'bad', words: 'Failed' },
  gone: { mood: 'none', words: 'Not sent' },
}

/** How a delivery is. */
export function deliveryState({ status, problem }: Delivery): State {
  return status === 'waiting' && problem !== null ? { mood: 'wait', words: 'Failing' } : DELIVERY_STATES[status]
}

/** What happened, where the activity says more than its type, or nothing. */
const TYPES: Record<string, string> = {
  test: 'Test',
  rrsets_changed: 'Records changed',
  domain_created: 'Domain created',
  domain_deleted: 'Domain deleted',
  domain_returned: 'Domain restored',
  rollover: 'Key rollover',
  delegation_changed: 'Delegation changed',
}

/** What happened, in words. */
export function typeWords(type: string): string {
  return TYPES[type] ?? WORDS[type] ?? type
}

/** What came of a delivery so far, in a sentence; empty: nothing yet. */
export function answerWords({ status, answer, problem }: Delivery): string {
  if (status === 'gone') return 'What it was about went before it was sent.'
  return problem ?? (status === 'delivered' ? `The receiver answered ${answer}.` : '')
}

/** The last delivery that was received; undefined: there is none. */
export function lastReceived<D extends Delivery>(deliveries: D[]): D | undefined {
  return lastTried(deliveries.filter(({ status }) => status === 'delivered'))
}

/** Why a webhook fails, as far as its deliveries tell; empty: they do not. */
export function failureOf(deliveries: Delivery[]): string {
  return lastTried(deliveries.filter(({ status, problem }) => status === 'waiting' && problem !== null))?.problem ?? ''
}

function lastTried<D extends Delivery>(deliveries: D[]): D | undefined {
  return deliveries.reduce<D | undefined>(
    (last, each) => ((last?.attempted ?? '') > (each.attempted ?? '') ? last : each),
    undefined,
  )
}

/** What came of a delivery that was just asked for, in sentences. @param deliveries the newest ones of its webhook */
export function outcomeWords(id: string, deliveries: (Delivery & { id: string })[]): string {
  const delivery = deliveries.find((each) => each.id === id)
  if (delivery === undefined) return 'It is sent again.'
  if (delivery.status !== 'waiting') return `${deliveryState(delivery).words}. ${answerWords(delivery)}`
  return `Not delivered yet. ${delivery.problem ?? failureOf(deliveries)} It is tried again later.`
}
