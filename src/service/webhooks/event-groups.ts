/** What webhooks can hear of (contract §22.1). */
export const GROUPS = ['rrsets', 'domains', 'delegation', 'account'] as const
export type Group = (typeof GROUPS)[number]

/** The types of each group; all others are of the account. */
const TYPES: Partial<Record<Group, string[]>> = {
  rrsets: ['rrsets_changed'],
  domains: [
    ...['domain_created', 'domain_deleted', 'domain_returned', 'domain_suspended', 'domain_resumed', 'domain_moved'],
    ...['rollover', 'transfers_changed', 'note_changed'],
  ],
  delegation: ['delegation_changed'],
}

const PAIRS = Object.entries(TYPES).flatMap(([group, types]) => types.map((type) => ({ type, group })))

/** The same for the database. */
export const GROUPING = {
  types: PAIRS.map(({ type }) => type),
  groups: PAIRS.map(({ group }) => group),
  other: 'account' satisfies Group as string,
}
