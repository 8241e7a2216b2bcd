import type { KeyState } from '../../nameserver/nameserver.ts'
import type { Domain } from '../../store/domains/domains.ts'
import { keysOf } from '../../store/domains/keys.ts'
import * as rrsets from '../../store/zone/rrsets.ts'
import type { System } from '../../system.ts'
import { algorithmOf, delegationsOf, isPublic, isSecureEntryPoint } from '../secrets/signing-keys.ts'

/** A key of a domain (contract §7.1): the service signs with it, or the user has added it. */
export interface Key {
  dnskey: string
  /** The contents of its DS records, with digests 2 and 4; none if the parent shall not have one. */
  ds: string[]
  flags: number
  /** null: the user has added it. */
  keytype: 'csk' | 'ksk' | 'zsk' | null
  managed: boolean
}

export type DomainWithKeys = Domain & { keys: Key[] }

/** Adds all published keys: those that sign, then those that the user added (contract §8.9). */
export async function withKeys(system: System, domain: Domain): Promise<DomainWithKeys> {
  const [stored, [added]] = await Promise.all([
    keysOf(system.db, domain.id),
    rrsets.list(system.db, domain.id, { subname: '', type: 'DNSKEY' }),
  ])
  const contents = [...(added?.records ?? [])].sort()
  return { ...domain, keys: [...managedKeys(domain, stored), ...contents.map((content) => addedKey(domain, content))] }
}

/** Returns the published ones of the keys that sign. */
export function managedKeys({ name }: Pick<Domain, 'name'>, keys: (KeyState & { announced?: boolean })[]): Key[] {
  return keys.filter(isPublic).map(({ dnskey, announced = true }) => {
    const ds = announced ? delegationsOf(name, dnskey) : []
    return { dnskey, ds, flags: flagsOf(dnskey), keytype: kindOf(dnskey, keys), managed: true }
  })
}

/** Returns the kind of a key: one that signs alone, or one of a pair of the same algorithm. */
function kindOf(dnskey: string, keys: KeyState[]): 'csk' | 'ksk' | 'zsk' {
  const pair = keys.filter((key) => key.active && algorithmOf(key.dnskey) === algorithmOf(dnskey))
  const isAlone = new Set(pair.map((key) => isSecureEntryPoint(key.dnskey))).size < 2
  if (isAlone) return 'csk'
  return isSecureEntryPoint(dnskey) ? 'ksk' : 'zsk'
}

function addedKey({ name }: Domain, dnskey: string): Key {
  return { dnskey, ds: delegationsOf(name, dnskey), flags: flagsOf(dnskey), keytype: null, managed: false }
}

function flagsOf(dnskey: string): number {
  return Number(dnskey.split(' ', 1))
}
