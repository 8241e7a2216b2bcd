import { createHash } from 'node:crypto'
import { keyTag } from '../../dns/dnssec.ts'

/** The hashes of DS records by their digest type. */
const HASHES: Readonly<Record<number, string>> = { 1: 'sha1', 2: 'sha256', 4: 'sha384' }

/**
 * Returns the contents of a key's DS records (RFC 4034 §5.1), with SHA-256 and SHA-384.
 * @param owner the zone's name in wire form, in lower case
 * @param wire the DNSKEY record in wire form
 */
export function delegationDigests(owner: string, wire: string): string[] {
  return [2, 4].map((type) => delegationDigest(type, owner, wire)!)
}

/** Reports whether a DS record, in the form of `delegationDigests`, is one of this key. */
export function isDigestOf(ds: string, owner: string, wire: string): boolean {
  return ds === delegationDigest(Number(ds.split(' ')[2]), owner, wire)
}

/** Returns the content of a key's DS record with this digest type; undefined if the type is unknown. */
function delegationDigest(type: number, owner: string, wire: string): string | undefined {
  const hash = HASHES[type]
  if (hash === undefined) return undefined
  const digest = createHash(hash)
    .update(owner + wire, 'latin1')
    .digest('hex')
  return [keyTag(wire), wire.charCodeAt(3), type, digest].join(' ')
}
