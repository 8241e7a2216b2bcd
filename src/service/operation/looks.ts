import { NotFound } from '../../errors.ts'
import type { Account } from '../../store/accounts/accounts.ts'
import * as accounts from '../../store/accounts/accounts.ts'
import type { Linked } from '../../store/accounts/identities.ts'
import * as identities from '../../store/accounts/identities.ts'
import * as passkeys from '../../store/accounts/passkeys.ts'
import * as secondFactors from '../../store/accounts/second-factors.ts'
import * as delegations from '../../store/domains/delegations.ts'
import type { Domain, OwnedDomain } from '../../store/domains/domains.ts'
import type { Phase } from '../../store/domains/rollovers.ts'
import * as rollovers from '../../store/domains/rollovers.ts'
import type { Token } from '../../store/tokens/tokens.ts'
import { buried } from '../../store/zone/deleted-domains.ts'
import type { Entry, Step } from '../../store/zone/history.ts'
import * as history from '../../store/zone/history.ts'
import type { RRset } from '../../store/zone/rrsets.ts'
import * as rrsets from '../../store/zone/rrsets.ts'
import type { System } from '../../system.ts'
import { withEmail } from '../accounts/accounts.ts'
import { find, findNamed, listAll } from '../domains/domains.ts'
import { type Key, withKeys } from '../domains/keys.ts'
import { type FullWindow, refusalsOf } from '../throttling/refusals.ts'
import * as tokens from '../tokens/tokens.ts'

export type { Entry, Step }

// What the operator sees of a domain and of an account, whoever owns it.

/** A domain, and what belongs to it. */
export interface DomainLook {
  domain: Domain
  owner: Account
  keys: Key[]
  /** The phase of the replacement of its keys, if there is one. */
  rollover: Phase | undefined
  /** The state at the last check at the parent, if there was one. */
  delegation: string | undefined
  /** The newest RRsets: as many as a page has. */
  rrsets: RRset[]
}

/** @throws NotFound */
export async function lookAtDomain(system: System, name: string): Promise<DomainLook> {
  const { db } = system
  const domain = await findNamed(system, name)
  const { id, ownerId } = domain
  const [owner, { keys }, rollover, check, { rows }] = await Promise.all([
    accounts.get(db, ownerId),
    withKeys(system, domain),
    rollovers.rolloverOf(db, id),
    delegations.find(db, id),
    rrsets.page(db, id, {}),
  ])
  return { domain, owner: owner!, keys, rollover: rollover?.phase, delegation: check?.state, rrsets: rows }
}

/** Returns the newest entries of the history of a domain, or of the one of this name that was deleted last. @throws NotFound */
export async function historyOf(system: System, name: string, limit: number): Promise<Entry[]> {
  const { id } = (await find(system, name)) ?? (await buried(system.db, name, null)) ?? {}
  if (id === undefined) throw new NotFound(`There is no domain ${name}, and no deleted one whose history is kept.`)
  return (await history.page(system.db, id, {})).rows.slice(0, limit)
}

/** An account, and what it has. */
export interface AccountLook {
  account: Account
  domains: OwnedDomain[]
  tokens: Token[]
  identities: Linked[]
  /** The number of its second factors that are in effect, and how many of these are passkeys. */
  factors: number
  passkeys: number
  refusals: FullWindow[]
}

/** @throws NotFound */
export async function lookAtAccount(system: System, email: string): Promise<AccountLook> {
  const account = await withEmail(system, email)
  const [domains, all, linked, factors, ofThese] = await Promise.all([
    listAll(system, account.id),
    tokens.listAll(system, account.id),
    identities.ofAccount(system.db, account.id),
    secondFactors.count(system.db, account.id),
    passkeys.count(system.db, account.id),
  ])
  const ids = all.map(({ id }) => id)
  const refusals = await refusalsOf(system, account, ids)
  return { account, domains, tokens: all, identities: linked, factors, passkeys: ofThese, refusals }
}
