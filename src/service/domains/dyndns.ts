import { inNetwork, type Network } from '../../dns/addresses.ts'
import { lowerCase } from '../../dns/names.ts'
import { decodeRdata, parseRdata } from '../../dns/rdata.ts'
import { Invalid, NotFound } from '../../errors.ts'
import { DYNDNS_TTL } from '../../limits.ts'
import * as accounts from '../../store/accounts/accounts.ts'
import type { Domain } from '../../store/domains/domains.ts'
import type { Access, Visit } from '../actor.ts'
import { writeAddresses } from '../rrsets/rrsets.ts'
import type { Written } from '../zone/changes.ts'
import { enclosing, list } from './domains.ts'

export type AddressType = 'A' | 'AAAA'

/** The update of the addresses of one family at one name (contract §10.4). */
export type AddressAction =
  | { action: 'set'; addresses: string[] }
  | { action: 'preserve' }
  | { action: 'remove' }
  /** Moves the current addresses into another network. */
  | { action: 'prefix'; prefix: Network }

/** A name in lower case, with an action on its addresses. */
export type HostUpdate = AddressAction & { host: string; type: AddressType }

/**
 * Reports whether a client may send this user, with the secret of the actor's token as password: the user is empty, the
 * account's e-mail address, or a list of names in its domains (contract §10.2).
 */
export async function isUser(visit: Visit, user: string): Promise<boolean> {
  if (user === '') return true
  if (user.includes('@')) return user === (await accounts.get(visit.system.db, visit.actor.accountId))?.email
  const domains = await enclosing(visit, hostList(user))
  return !domains.includes(undefined)
}

/** Parses the host names in a comma-separated list (contract §10.3), in lower case, without duplicates. */
export function hostList(text: string): string[] {
  return [...new Set(text.split(',').map((host) => lowerCase(host.trim())))]
}

/** Returns the actor's only domain. @throws NotFound, Invalid */
export async function onlyDomain(visit: Visit): Promise<Domain> {
  const { rows } = await list(visit, {})
  const [domain, ...others] = rows
  if (domain === undefined) throw new NotFound('nohost')
  if (others.length > 0) throw Invalid.object('Request does not properly specify domain for update.')
  return domain
}

/** Returns the actor's domain that contains all these names. @throws NotFound, Invalid */
export async function domainOf(visit: Visit, hosts: string[]): Promise<Domain> {
  const [domain, ...others] = await enclosing(visit, hosts)
  if (domain === undefined || others.includes(undefined)) throw new NotFound('nohost')
  if (others.some((other) => other!.id !== domain.id)) {
    throw Invalid.object('Cannot update subdomains from more than one domain.')
  }
  return domain
}

/** Applies updates of one domain; all or nothing (contract §10.5). @throws Invalid, Denied */
export async function update(access: Access, updates: HostUpdate[]): Promise<Written> {
  const { domain } = access
  const subnames = updates.map(({ host }) => subnameOf(host, domain))
  return writeAddresses(access, subnames, (current) => {
    const recordsByKey = new Map(current.map(({ type, subname, records }) => [`${type} ${subname}`, records]))
    return updates.flatMap((update) => {
      if (update.action === 'preserve') return []
      const { host, type } = update
      const subname = subnameOf(host, domain)
      const records = newRecords(update, recordsByKey.get(`${type} ${subname}`) ?? [])
      return { subname, type, ttl: DYNDNS_TTL, records, problems: {} }
    })
  })
}

function newRecords(update: Exclude<HostUpdate, { action: 'preserve' }>, current: string[]): string[] {
  if (update.action === 'remove') return []
  if (update.action === 'set') return update.addresses
  const { type, prefix } = update
  const moved = current.map((text) => decodeRdata(type, inNetwork(prefix, parseRdata(type, text).wire)).text)
  // Two addresses may have the same host bits.
  return [...new Set(moved)]
}

function subnameOf(host: string, domain: Domain): string {
  return host === domain.name ? '' : host.slice(0, -domain.name.length - 1)
}
