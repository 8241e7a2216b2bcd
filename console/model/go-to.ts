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
  mayChange: (domain: string) => boolean
}

/** How many goals are offered. */
const MOST = 50

/** The goals besides domains. */
function pages({ mayCreate, mayManageTokens }: Rights): Goal[] {
  return [
    { text: 'Domains', to: '' },
    ...(mayCreate
      ? [
          { text: 'Add domain', to: 'new-domain' },
          { text: 'Import zone file', to: 'new-domain?zonefile' },
        ]
      : []),
    { text: 'Search', to: 'search' },
    { text: 'Tokens', to: 'tokens' },
    ...(mayManageTokens ? [{ text: 'Create token', to: 'tokens/new' }] : []),
    { text: 'Account', to: 'account' },
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

/**
 * The goals whose texts have all words that were typed: domains in their order, pages, and what can be done in domains.
 * @param domains the most recently visited first
 */
export function goalsFor(typed: string, domains: string[], rights: Rights): Goal[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean)
  const isMeant = ({ text }: Goal) => words.every((word) => text.toLowerCase().includes(word))
  const found = [...domains.map((text) => ({ text, to: `domains/${text}` })), ...pages(rights)].filter(isMeant)
  // Before anything is typed, what can be done in all domains would hide the pages.
  for (const domain of words.length === 0 ? domains.slice(0, 1) : domains) {
    if (found.length >= MOST) break
    found.push(...within(domain, rights).filter(isMeant))
  }
  return found.slice(0, MOST)
}
