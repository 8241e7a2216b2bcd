import ipaddr from 'ipaddr.js'
import { type Actor, hasToken, type Writer } from '../actor.ts'

/** Whom a request counts for (contract §14). */
export interface Parties {
  /** The caller: an API token, the logins of an account, or a stranger's network. */
  own: string
  /** The account, whose API tokens share some counts; undefined: the caller is none. */
  shared: string | undefined
}

/**
 * Returns whom the requests of a caller count for. A login before its second factor counts on its own: whoever has only
 * the password does not use up the owner's requests.
 * @param caller the token's actor, or the client's IP address if there is no token
 */
export function partiesOf(caller: Actor | string): Parties {
  if (typeof caller === 'string') return { own: networkOf(caller), shared: undefined }
  const { tokenId, accountId, mfa, mfaPending } = caller
  if (mfa === null) return { own: tokenId, shared: accountId }
  return { own: mfaPending ? tokenId : `logins of ${accountId}`, shared: undefined }
}

/** Returns the party of a writer that waits for its own earlier writes, and takes turns with the others. */
export function lineOf(writer: Writer): string {
  return hasToken(writer) ? partiesOf(writer).own : writer.accountId
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
