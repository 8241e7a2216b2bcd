/** Where one can go, or what one can do there. */
export interface Goal {
  text: string
  /** A path of the console. */
  to: string
}

/** What the token of the session may do, as far as it decides about goals. */
interface Rights {
  mayCreate: boolean
  mayManageTokens: boolean
  /** Whether a part of the console has something for it. */
  maySee: (part: string) => boolean
  mayChange: (domain: string) => boolean
}

/** How many goals are offered. */
const MOST = 50

/** The goals besides domains. */
function pages({ mayCreate, mayManageTokens, maySee }: Rights): Goal[] {
  return [
    { text: 'Domains', to: '' },
    ...(mayCreate
      ? [
          { text: 'Add domain', to: 'new-domain' },
          { text: 'Import zone file', to: 'new-domain?zonefile' },
        ]
      : []),
    { text: 'Search', to: 'search' },
    { text: 'Activity', to: 'activity' },
    ...(maySee('tokens') ? [{ text: 'Tokens', to: 'tokens' }] : []),
    ...(mayManageTokens ? [{ text: 'Create token', to: 'tokens/new' }] : []),
    ...(maySee('members') ? [{ text: 'Members', to: 'members' }] : []),
    ...(maySee('webhooks') ? [{ text: 'Webhooks', to: 'webhooks' }] : []),
    ...(maySee('account') ? [{ text: 'Account', to: 'account' }] : []),
  ]
}

/** The goals within a domain, besides its records. */
function within(domain: string, { mayChange }: Rights): Goal[] {
  const to = `domains/${domain}`
  return [
    ...(mayChange(domain) ? [{ text: `Add record to ${domain}`, to: `${to}?add` }] : []),
    { text: `History of ${domain}`, to: `${to}/history` },
    { text: `DNSSEC of ${domain}`, to: `${to}/dnssec` },
    { text: `Nameservers of ${domain}`, to: `${to}/nameservers` },
    { text: `Zone file of ${domain}`, to: `${to}/zonefile` },
    { text: `Settings of ${domain}`, to: `${to}/settings` },
  ]
}

/** The words of what was typed. */
const wordsOf = (typed: string) => typed.toLowerCase().split(/\s+/).filter(Boolean)

/** Whether the text of a goal has all words that were typed. */
export function isMeant(typed: string, { text }: Pick<Goal, 'text'>): boolean {
  return wordsOf(typed).every((word) => text.toLowerCase().includes(word))
}

/**
 * The goals whose texts have all words that were typed: domains in their order, pages, and what can be done in domains.
 * @param domains the most recently visited first
 */
export function goalsFor(typed: string, domains: string[], rights: Rights): Goal[] {
  const hasWord = (goal: Goal) => isMeant(typed, goal)
  const found = [...domains.map((text) => ({ text, to: `domains/${text}` })), ...pages(rights)].filter(hasWord)
  // Before anything is typed, what can be done in all domains would hide the pages.
  for (const domain of wordsOf(typed).length === 0 ? domains.slice(0, 1) : domains) {
    if (found.length >= MOST) break
    found.push(...within(domain, rights).filter(hasWord))
  }
  return found.slice(0, MOST)
}
