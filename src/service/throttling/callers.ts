import ipaddr from 'ipaddr.js'
import { isIP } from 'node:net'
import type { Config } from '../../settings/config.ts'
import type { System } from '../../system.ts'
import { type Actor, hasToken, type Visit, type Writer } from '../actor.ts'

/** Whom a request counts for (contract §14). */
export interface Parties {
  /** The caller: an API token, the logins of an account or of a member, or a stranger's network. */
  own: string
  /** The account, whose API tokens and members share some counts; undefined: the caller is none of these. */
  shared: string | undefined
}

/**
 * Returns whom the requests of a caller count for. A login before its second factor counts on its own: whoever has only
 * the password does not use up the owner's requests.
 * @param caller the token's actor, or the client's IP address if there is no token
 */
export function partiesOf(caller: Actor | string): Parties {
  if (typeof caller === 'string') return { own: networkOf(caller), shared: undefined }
  const { tokenId, accountId, mfa, mfaPending, role, memberId } = caller
  if (mfa === null) return { own: tokenId, shared: accountId }
  // Members count like API tokens, so that they do not use up the requests of the account's own logins.
  if (role !== null) return { own: mfaPending ? tokenId : memberId!, shared: accountId }
  return { own: mfaPending ? tokenId : `logins of ${accountId}`, shared: undefined }
}

/**
 * Returns the queues in which a writer waits for something, one after the other: first for its own earlier requests,
 * then for those of its group, then for all. So it waits for one of each other group, whatever that has sent.
 */
export function linesTo(what: string, writer: Writer): string[] {
  const own = hasToken(writer) ? partiesOf(writer).own : writer.accountId
  return [...new Set([own, groupOf(writer)])].map((party) => `${party} in ${what}`).concat(what)
}

/** Runs `work` when it is the writer's turn (`linesTo`). @throws Busy */
export async function inTurn<T>(system: System, what: string, writer: Writer, work: () => Promise<T>): Promise<T> {
  const leave = await system.bounds.queues.takeInTurn(linesTo(what, writer), system.patience)
  try {
    return await work()
  } finally {
    leave()
  }
}

/** Searches for an account one at a time, and for few accounts at once: each may keep a core of Postgres busy. @throws Busy */
export async function inSearchTurn<T>({ system, actor }: Visit, work: () => Promise<T>): Promise<T> {
  return system.bounds.searches.run(`searches of ${groupOf(actor)}`, system.patience, work)
}

/** Returns what writers share as a group: an account's API tokens, or its logins. */
export function groupOf(writer: Writer): string {
  if (!hasToken(writer)) return writer.accountId
  const { own, shared } = partiesOf(writer)
  return shared ?? own
}

/** Returns the IPv4 address, or the IPv6 /64 network, which belongs to one subscriber. */
export function networkOf(address: string): string {
  const parsed = ipaddr.process(address)
  const network = 'parts' in parsed ? new ipaddr.IPv6([...parsed.parts.slice(0, 4), 0, 0, 0, 0]) : parsed
  return network.toString()
}

export type Address = ipaddr.IPv4 | ipaddr.IPv6

/** Reads an address, perhaps with a zone. An IPv4 address that is mapped to IPv6 becomes IPv4. */
export function parseAddress(text: string): Address | undefined {
  const bare = text.replace(/%.*$/, '')
  return isIP(bare) === 0 ? undefined : ipaddr.process(bare)
}

/** Reports whether an address is that of a proxy which says for whom it speaks (contract §3.1). */
export function isTrusted({ trustedProxies }: Pick<Config, 'trustedProxies'>, address: Address): boolean {
  return trustedProxies.some(([network, bits]) => network.kind() === address.kind() && address.match(network, bits))
}

/** Returns a client's address as the log shows it: in full, its IPv4 /24 or IPv6 /48 network, or null. */
export function shownAddress({ logAddresses }: Pick<Config, 'logAddresses'>, address: string): string | null {
  if (logAddresses !== 'prefix') return logAddresses === 'full' ? address : null
  return address.includes(':')
    ? `${ipaddr.IPv6.networkAddressFromCIDR(`${address}/48`).toString()}/48`
    : `${ipaddr.IPv4.networkAddressFromCIDR(`${address}/24`).toString()}/24`
}
