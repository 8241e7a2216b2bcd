import { Unreadable } from './malformed.ts'
import { decodeUint } from './octets.ts'

/** DNSSEC algorithm mnemonics: IANA's, and the spellings without hyphens that dnspython knows. */
export const ALGORITHMS: ReadonlyMap<string, number> = new Map(Object.entries({
  RSAMD5: 1, DH: 2, DSA: 3, ECC: 4, RSASHA1: 5, 'DSA-NSEC3-SHA1': 6, DSANSEC3SHA1: 6, 'RSASHA1-NSEC3-SHA1': 7,
  RSASHA1NSEC3SHA1: 7, RSASHA256: 8, RSASHA512: 10, 'ECC-GOST': 12, ECCGOST: 12, ECDSAP256SHA256: 13,
  ECDSAP384SHA384: 14, ED25519: 15, ED448: 16, INDIRECT: 252, PRIVATEDNS: 253, PRIVATEOID: 254,
})) // prettier-ignore

/** Certificate type mnemonics (RFC 4398 §2.1). */
export const CERTIFICATE_TYPES: ReadonlyMap<string, number> = new Map(Object.entries({
  PKIX: 1, SPKI: 2, PGP: 3, IPKIX: 4, ISPKI: 5, IPGP: 6, ACPKIX: 7, IACPKIX: 8, URI: 253, OID: 254,
})) // prettier-ignore

/** The octets of a digest by digest type (RFC 4034, 4509, 5933, 6605); type 0 asks for deletion (RFC 8078 §4). */
const DIGEST_LENGTHS = [1, 20, 32, 32, 48]

/** Checks a CDS record: a digest has the length of its type. */
export function checkDigestLength([, , digestType = '', digest = '']: string[]): void {
  const length = DIGEST_LENGTHS[digestType.charCodeAt(0)]
  if (length !== undefined && length !== digest.length) {
    throw new Unreadable('digest length inconsistent with digest type')
  }
}

/** Checks a DS record: as for CDS, and digest type 0 is reserved. */
export function checkDigest(fields: string[]): void {
  if (fields[2] === '\0') throw new Unreadable('digest type 0 is reserved')
  checkDigestLength(fields)
}

/** Checks a CERT record: certificate type 0 is reserved. */
export function checkCertificate([type]: string[]): void {
  if (type === '\0\0') throw new Unreadable('certificate type 0 is reserved')
}

/** RSA/MD5, whose key tags are taken from the modulus (RFC 4034, appendix B.1). */
const RSAMD5 = 1

/** Returns the key tag of a DNSKEY record in wire form (RFC 4034, appendix B). */
export function keyTag(wire: string): number {
  if (wire.charCodeAt(3) === RSAMD5) return wire.length < 7 ? 0 : decodeUint(wire.slice(-3, -1))
  let sum = 0
  for (let i = 0; i < wire.length; i++) sum += i % 2 === 0 ? wire.charCodeAt(i) << 8 : wire.charCodeAt(i)
  return (sum + (sum >>> 16)) & 0xffff
}
