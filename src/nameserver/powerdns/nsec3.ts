import { createHash } from 'node:crypto'
import type { Name } from '../../dns/names.ts'
import { wireOf } from '../../dns/wire/messages.ts'
import { type Denial, NSEC3 } from '../nameserver.ts'

/** The error text about names that may equal an NSEC3 hash (contract §8.5, layer 10). */
export const NSEC3_LABEL =
  'A label of 32 characters 0-9 and a-v, directly below the name of a zone, can be chosen as the NSEC3 hash of another ' +
  'name. The nameserver would then give wrong proofs about that name.'

/** The end of a narrow denial. */
export const NARROW = / narrow$/

/** Reads the denial of a zone from its settings at PowerDNS. */
export function denialOf({ nsec3param, nsec3narrow }: { nsec3param: string; nsec3narrow: boolean }): Denial {
  return nsec3param !== '' && nsec3narrow ? `${nsec3param} narrow` : nsec3param
}

/** Returns the NSEC3 owner label of a name (RFC 5155 §5). @param denial one with NSEC3 */
export function nsec3Label(name: string, denial: Denial = NSEC3): string {
  const [, , iterations, salt = '-'] = denial.split(' ')
  const octets = Buffer.from(salt === '-' ? '' : salt, 'hex')
  let hash = Buffer.from(wireOf(name.toLowerCase()), 'latin1')
  for (let left = Number(iterations); left >= 0; left--) {
    hash = createHash('sha1').update(hash).update(octets).digest()
  }
  // JavaScript's digits of base 32 are those of base32hex (RFC 4648 §7), and 160 bits are 32 of them.
  const number = BigInt(`0x${hash.toString('hex')}`)
  return number.toString(32).padStart(32, '0')
}

/** Reports whether a label could be the NSEC3 owner label of some name. */
export function isNsec3Label(label: string): boolean {
  return /^[0-9a-v]{32}$/.test(label)
}

/**
 * Returns the deletions of stale NSEC3 entries. LMDB before 5.0 keeps two entries (by name and by hash) of a name that
 * disappears, and of the empty non-terminals above it; in a zone with NSEC that pdnsutil has made, the one by name.
 * They make negative answers contradict themselves. Rectifying recreates the entries of names that stay.
 * @param removed the names that lose an RRset
 */
export function staleNsec3(zone: Name, denial: Denial, removed: string[]): object[] {
  const names = new Set<string>()
  for (const name of removed) {
    for (let rest = name; rest.endsWith(`.${zone}`) && !names.has(rest); rest = rest.slice(rest.indexOf('.') + 1)) {
      names.add(rest)
    }
  }
  return [...names].flatMap((name) =>
    (denial === '' ? [name] : [name, `${nsec3Label(name, denial)}.${zone}`]).map((entry) => ({
      name: entry,
      type: 'NSEC3',
      changetype: 'DELETE',
    })),
  )
}
