import { generateKeyPairSync } from 'node:crypto'
import type { SigningKey } from '../../nameserver/nameserver.ts'

/** The algorithms of new keys, by PowerDNS' names: their numbers and mnemonics (RFC 6605, RFC 8080). */
const NUMBERS = {
  ecdsa256: { number: 13, mnemonic: 'ECDSAP256SHA256' },
  ecdsa384: { number: 14, mnemonic: 'ECDSAP384SHA384' },
  ed25519: { number: 15, mnemonic: 'ED25519' },
}

export type KeyAlgorithm = keyof typeof NUMBERS

export const ALGORITHMS = Object.keys(NUMBERS) as KeyAlgorithm[]

/** Makes a key that signs a zone alone (a CSK), with the flags 257 (RFC 4034 §2.1.1). */
export function newKey(algorithm: KeyAlgorithm): Pick<SigningKey, 'dnskey' | 'privateKey'> {
  const { number, mnemonic } = NUMBERS[algorithm]
  const { x, y = '', d } = exported(algorithm)
  // A point without the octet of its form (RFC 6605 §4); Ed25519 has only x (RFC 8080 §3).
  const point = Buffer.concat([x!, y].map((coordinate) => Buffer.from(coordinate, 'base64url')))
  const half = Buffer.from(d!, 'base64url').toString('base64')
  return {
    dnskey: `257 3 ${number} ${point.toString('base64')}`,
    privateKey: `Private-key-format: v1.2\nAlgorithm: ${number} (${mnemonic})\nPrivateKey: ${half}\n`,
  }
}

function exported(algorithm: KeyAlgorithm) {
  const format = { format: 'jwk' } as const
  if (algorithm === 'ed25519') return generateKeyPairSync('ed25519').privateKey.export(format)
  const namedCurve = algorithm === 'ecdsa256' ? 'P-256' : 'P-384'
  return generateKeyPairSync('ec', { namedCurve }).privateKey.export(format)
}
