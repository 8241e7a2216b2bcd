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

/** Certificate type mnemonics (RFC 4398 §2.1). */
export const CERTIFICATE_TYPES: ReadonlyMap<string, number> = new Map([
  ['PKIX', 1],
  ['SPKI', 2],
  ['PGP', 3],
  ['IPKIX', 4],
  ['ISPKI', 5],
  ['IPGP', 6],
  ['ACPKIX', 7],
  ['IACPKIX', 8],
  ['URI', 253],
  ['OID', 254],
])

/** Octets of a digest by digest type (RFC 4034, 4509, 5933, 6605; RFC 8078 §4 for 0, which asks to delete). */
const DIGEST_LENGTHS: ReadonlyMap<number, number> = new Map([
  [0, 1],
  [1, 20],
  [2, 32],
  [3, 32],
  [4, 48],
])

/** The rule over a CDS record: a digest has its type's length. */
export function checkDigestLength([, , digestType = '', digest = '']: string[]): void {
  const length = DIGEST_LENGTHS.get(digestType.charCodeAt(0))
  if (length !== undefined && length !== digest.length) {
    throw new Unreadable('digest length inconsistent with digest type')
  }
}

/** The rule over a DS record: as for CDS, and digest type 0 is reserved. */
export function checkDigest(fields: string[]): void {
  if (fields[2] === '\0') throw new Unreadable('digest type 0 is reserved')
  checkDigestLength(fields)
}

/** The rule over a CERT record: certificate type 0 is reserved. */
export function checkCertificate([type]: string[]): void {
  if (type === '\0\0') throw new Unreadable('certificate type 0 is reserved')
}
