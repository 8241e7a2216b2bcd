import { Unreadable } from './malformed.ts'

/** DNSSEC algorithm mnemonics: IANA's, and the spellings without hyphens that dnspython knows. */
export const ALGORITHMS: ReadonlyMap<string, number> = new Map([
  ['RSAMD5', 1],
  ['DH', 2],
  ['DSA', 3],
  ['ECC', 4],
  ['RSASHA1', 5],
  ['DSA-NSEC3-SHA1', 6],
  ['DSANSEC3SHA1', 6],
  ['RSASHA1-NSEC3-SHA1', 7],
  ['RSASHA1NSEC3SHA1', 7],
  ['RSASHA256', 8],
  ['RSASHA512', 10],
  ['ECC-GOST', 12],
  ['ECCGOST', 12],
  ['ECDSAP256SHA256', 13],
  ['ECDSAP384SHA384', 14],
  ['ED25519', 15],
  ['ED448', 16],
  ['INDIRECT', 252],
  ['PRIVATEDNS', 253],
  ['PRIVATEOID', 254],
])

/** Octets of a digest by digest type (RFC 4034, 4509, 5933, 6605). */
const DIGEST_LENGTHS: ReadonlyMap<number, number> = new Map([
  [1, 20],
  [2, 32],
  [3, 32],
  [4, 48],
])

/** The rule over a DS record: digest type 0 is reserved, and a digest has its type's length. */
export function checkDigest([, , digestType = '', digest = '']: string[]): void {
  const type = digestType.charCodeAt(0)
  if (type === 0) throw new Unreadable('digest type 0 is reserved')
  const length = DIGEST_LENGTHS.get(type)
  if (length !== undefined && length !== digest.length) {
    throw new Unreadable('digest length inconsistent with digest type')
  }
}
