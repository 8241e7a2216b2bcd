/** What a line of the activity says of what happened to the account (contract §15.15). */
interface Event {
  type: string
  source: string
  owner: string | null
  subject: { name: string | null; state: string | null } | null
}

/** What happened to the account, in words; after these, what it is about. */
export const WORDS: Record<string, string> = {
  login_succeeded: 'Signed in',
  login_failed: 'Refused a sign-in',
  code_failed: 'Refused a second factor',
  mfa_passed: 'Second factor given',
  account_created: 'Account created',
  account_activated: 'Account activated',
  account_changed: 'Account settings changed',
  account_handed_over: 'Account given to another person',
  address_changed: 'E-mail address changed',
  password_changed: 'Password changed',
  factor_created: 'Second factor added',
  factor_activated: 'Second factor first used',
  factor_deleted: 'Second factor deleted',
  identity_linked: 'Linked with single sign-on',
  identity_unlinked: 'Link with single sign-on ended',
  member_invited: 'Member invited',
  member_joined: 'Member joined',
  member_changed: 'Member changed',
  member_removed: 'Member removed',
  token_created: 'Token created',
  token_changed: 'Token changed',
  token_bound: 'Token bound',
  token_deleted: 'Token ended',
  policy_created: 'Policy added',
  policy_changed: 'Policy changed',
  policy_deleted: 'Policy deleted',
  transfers_changed: 'Transfers changed',
  note_changed: 'Note changed',
  domain_suspended: 'Suspended by the operator',
  domain_resumed: 'Served again',
  domain_moved: 'Moved to another account',
  delegation_changed: 'Delegation is',
  webhook_created: 'Webhook added',
  webhook_changed: 'Webhook changed',
  webhook_deleted: 'Webhook deleted',
  webhook_disabled: 'Webhook disabled',
}

/** Who did it, if no person: the service found it. */
const AUTHORS: Record<string, string> = { operator: 'the operator', parent: 'a check' }

/** Who did what happened to the account without a token; empty: nobody knows. */
export function authorWithoutToken({ source, owner }: Pick<Event, 'source' | 'owner'>): string {
  return owner ?? AUTHORS[source] ?? ''
}

/** How somebody came without a token. */
const WAYS: Record<string, string> = {
  password: 'by password',
  passkey: 'by passkey',
  'sign-on': 'by single sign-on',
  link: 'by a link in a mail',
}

/** What happened to the account, in words: `Token created: ci`, `Signed in by password`. */
export function eventWords({ type, source, subject }: Omit<Event, 'owner'>): string {
  const words = [WORDS[type] ?? type, subject?.state, WAYS[source]].filter(Boolean).join(' ')
  return subject?.name ? `${words}: ${subject.name}` : words
}

/** What the chips choose: the beginnings of types, and their words. */
export const KINDS = [
  ['', 'All'],
  ['rrsets', 'Records'],
  ['domain', 'Domains'],
  ['delegation', 'Delegation'],
  ['rollover', 'Keys'],
  ['login', 'Sign-ins'],
  ['factor', 'Second factors'],
  ['token', 'Tokens'],
  ['policy', 'Policies'],
  ['member', 'Members'],
  ['account', 'Account'],
] as const
