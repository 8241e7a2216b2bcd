import type { Policy } from './policies.ts'
import { type ProgramName, PROGRAMS } from './snippets.ts'

/** Where a preset's token may write: a name of a domain of the account. */
export interface Place {
  domain: string
  /** Empty at the apex. */
  subname: string
}

/** What a token is for, and so what it may do. */
export interface Preset {
  id: string
  title: string
  /** What the token may do, in a sentence. */
  text: string
  /** What uses such a token, for example. */
  users: string
  /** The name that it asks for; undefined if it needs none. */
  asks?: 'host' | 'domain'
  /** The labels before the name at which the token writes. */
  prefix?: string
  /** Members of the token. */
  members?: { perm_create_domain?: boolean; perm_delete_domain?: boolean }
  /** The default policy first, as the API demands (contract §6.3). Without any, the token may write everything. */
  policies: (place: Place) => Policy[]
  /** The programs that are set up with such a token. */
  programs: ProgramName[]
}

const NOTHING_ELSE: Policy = { domain: null, subname: null, type: null, perm_write: false }

const ACME: ProgramName[] = ['certbot', 'certbot with hooks', 'acme.sh', 'lego 5', 'Caddy']
const ACME_USERS = 'certbot, acme.sh, lego or Caddy'

/** Which challenges of ACME may be written: that of the domain itself, and those of names in it. */
function challenges(domain: string | null): Policy[] {
  const challenge = { domain, subname: '_acme-challenge', type: 'TXT', perm_write: true }
  return [NOTHING_ELSE, challenge, { ...challenge, subname: null, subname_pattern: '_acme-challenge.**' }]
}

/** The presets: those for certificates, and the others, each time the narrowest first. */
export const PRESETS: Preset[] = [
  {
    id: 'acme',
    title: 'Certificates for one name',
    text: 'An ACME client proves with it that you control a name and its wildcard. It may write only TXT at _acme-challenge.',
    users: ACME_USERS,
    asks: 'host',
    prefix: '_acme-challenge.',
    policies: (place) => [NOTHING_ELSE, { ...place, type: 'TXT', perm_write: true }],
    programs: ACME,
  },
  {
    id: 'acme-domain',
    title: 'Certificates for all names of a domain',
    text: 'The same for a domain and every name in it: TXT at _acme-challenge and at names that begin with it.',
    users: `${ACME_USERS} on a proxy for many names`,
    asks: 'domain',
    policies: ({ domain }) => challenges(domain),
    programs: ACME,
  },
  {
    id: 'acme-all',
    title: 'Certificates for all names of all domains',
    text: 'The same for all domains, also those to come.',
    users: `${ACME_USERS} on a proxy for many domains`,
    policies: () => challenges(null),
    programs: ACME,
  },
  {
    id: 'dyndns',
    title: 'Addresses of one host',
    text: 'A router or a dynDNS client keeps a host’s addresses current. It may write only A and AAAA at that name.',
    users: 'a FRITZ!Box, or ddclient on a server at home',
    asks: 'host',
    policies: (place) => [NOTHING_ELSE, ...['A', 'AAAA'].map((type) => ({ ...place, type, perm_write: true }))],
    programs: ['FRITZ!Box', 'ddclient 4', 'ddclient 3.10'],
  },
  {
    id: 'domain',
    title: 'One domain',
    text: 'It may write every record of one domain, and nothing else.',
    users: 'octoDNS, Terraform, or a script that deploys a site',
    asks: 'domain',
    policies: ({ domain }) => [NOTHING_ELSE, { domain, subname: null, type: null, perm_write: true }],
    programs: ['octoDNS', 'Terraform'],
  },
  {
    id: 'read',
    title: 'Read only',
    text: 'It reads all domains and their records, and writes nothing.',
    users: 'monitoring, or a backup',
    policies: () => [NOTHING_ELSE],
    programs: [],
  },
  {
    id: 'all',
    title: 'All domains',
    text: 'It may write every record of every domain, and create and delete domains. You can let it manage tokens, too, on its page afterwards.',
    users: 'octoDNS or Terraform for all that you have',
    members: { perm_create_domain: true, perm_delete_domain: true },
    policies: () => [],
    programs: ['octoDNS', 'Terraform'],
  },
]

/** The programs that can do their work with a token that has these policies. */
export function programsFor(policies: Policy[]): ProgramName[] {
  const types = policies.filter((policy) => policy.perm_write).map(({ type }) => String(type))
  const isOnly = (...some: string[]) => policies.length > 0 && types.every((type) => some.includes(type))
  if (isOnly()) return []
  const id = isOnly('TXT') ? 'acme' : isOnly('A', 'AAAA') ? 'dyndns' : undefined
  return PRESETS.find((preset) => preset.id === id)?.programs ?? (Object.keys(PROGRAMS) as ProgramName[])
}
