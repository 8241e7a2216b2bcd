import { absolute, lowerCase, parseName } from '../../dns/names.ts'
import { parseRdata } from '../../dns/rdata.ts'
import type { KeyState, PublishedZone, SigningKey } from '../../nameserver/nameserver.ts'
import type { Db } from '../../store/database.ts'
import type { Domain } from '../../store/domains/domains.ts'
import type { StoredKey } from '../../store/domains/keys.ts'
import * as store from '../../store/domains/keys.ts'
import type { System } from '../../system.ts'
import { delegationDigests } from './delegation-digests.ts'
import { decrypt, encrypt } from './encryption.ts'

// The keys that sign a zone, in the database with their private halves encrypted (crashes.md, "Keys").

type Named = Pick<Domain, 'id' | 'name'>

/** Stores keys of a domain, encrypted. @param options as those of `put` */
export async function storeKeys(
  system: System,
  db: Db,
  { id, name }: Named,
  keys: SigningKey[],
  options: { only: boolean; announced?: boolean },
): Promise<void> {
  const stored = unique(keys).map(({ privateKey, ...state }) => {
    return { ...state, secret: encrypt(system, Buffer.from(privateKey), { table: 'keys', owner: name }) }
  })
  await store.put(db, id, stored, options)
}

/** Decrypts keys with their private halves. @throws Unavailable if no key of KEY_ENCRYPTION_KEYS fits */
export function openKeys(system: System, name: string, keys: StoredKey[]): SigningKey[] {
  return keys.map(({ secret, dnskey, active, published }) => {
    return { dnskey, active, published, privateKey: decrypt(system, { table: 'keys', owner: name, secret }).toString() }
  })
}

/**
 * Returns the keys that a zone should have: those of `keepKeys`; or, if it is doubted, the stored ones, and the public
 * halves of those that it has and its domain never had: they may be those of a former domain, or were given up.
 * @param db as that of `keepKeys`
 */
export async function keysFor(
  system: System,
  db: Db,
  domain: Named,
  live: Pick<PublishedZone, 'keys' | 'serial'>,
  doubted: boolean,
): Promise<{ keys: StoredKey[]; foreign: string[] }> {
  const stored = doubted ? await store.keysOf(db, domain.id) : []
  if (stored.length === 0) return { keys: await keepKeys(system, db, domain, live), foreign: [] }
  const retired = new Set(await store.retired(db, domain.id))
  return { keys: stored, foreign: othersThan(stored, live).filter((dnskey) => !retired.has(dnskey)) }
}

/** Returns the public halves of the keys that a zone has and that are none of these. */
export function othersThan(own: KeyState[], live: Pick<PublishedZone, 'keys'>): string[] {
  const known = new Set(own.map(({ dnskey }) => dnskey))
  return live.keys.map(({ dnskey }) => dnskey).filter((dnskey) => !known.has(dnskey))
}

/**
 * Returns the keys that a zone should have: the stored ones. Keys that only the nameserver has are stored beside them,
 * because their DS may be at the parent. The keys of a zone that has no SOA, and so is not served, do not count if
 * others are stored.
 * @param db not the transaction of the caller: no key may be lost if that fails
 */
async function keepKeys(
  system: System,
  db: Db,
  domain: Named,
  { keys, serial }: Pick<PublishedZone, 'keys' | 'serial'>,
): Promise<StoredKey[]> {
  const stored = await store.keysOf(db, domain.id)
  if (serial === undefined && stored.length > 0) return stored
  const known = new Set([...stored.map(({ dnskey }) => dnskey), ...(await store.retired(db, domain.id))])
  if (keys.every(({ dnskey }) => known.has(dnskey))) return stored
  const read = await system.nameserver.signingKeys(absolute(domain.name))
  const unknown = read.filter(({ dnskey }) => !known.has(dnskey))
  await storeKeys(system, db, domain, unknown, { only: false })
  if (stored.length > 0) {
    system.log.error('foreign keys at PowerDNS; storing them, too', {
      zone: domain.name,
      keys: unknown.map(({ dnskey }) => dnskey).join(', '),
    })
  }
  return store.keysOf(db, domain.id)
}

/** Reports whether these are the same keys, in the same states. */
export function areSame(some: KeyState[], others: KeyState[]): boolean {
  const texts = (keys: KeyState[]) =>
    unique(keys).map(({ dnskey, active, published }) => `${dnskey} ${active} ${published}`)
  return texts(some).sort().join('\n') === texts(others).sort().join('\n')
}

/** Returns each key once: an import that arrived late may have repeated it. */
function unique<T extends KeyState>(keys: T[]): T[] {
  return [...new Map(keys.map((key) => [key.dnskey, key])).values()]
}

/** Reports whether a key is published and signs, so that its DS may be at the parent. */
export function isPublic({ active, published }: KeyState): boolean {
  return active && published
}

/** Describes the state of a key to the operator. */
export function statesOf({ active, published }: KeyState): string {
  return [active ? 'active' : 'inactive', ...(published ? [] : ['unpublished'])].join(', ')
}

/** Reports whether a DS of this key may be at the parent (RFC 4034 §2.1.1). */
export function isSecureEntryPoint(dnskey: string): boolean {
  return Number(dnskey.split(' ', 1)) % 2 === 1
}

/** Returns the contents of a key's DS records in the parent zone, which are also those of its CDS records. */
export function delegationsOf(name: string, dnskey: string): string[] {
  if (!isSecureEntryPoint(dnskey)) return []
  return delegationDigests(lowerCase(parseName(absolute(name))), parseRdata('DNSKEY', dnskey).wire)
}

/** Returns the key tag and the algorithm of the key of a DS record: parents can use another digest than we do. */
export function keyOfDelegation(ds: string): string {
  return ds.split(' ', 2).join(' ')
}

/** Returns the number of a key's algorithm. */
export function algorithmOf(dnskey: string): string | undefined {
  return dnskey.split(' ')[2]
}
