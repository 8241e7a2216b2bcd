import { delegationDigests } from '../../dns/dnssec.ts'
import { lowerCase, parseName } from '../../dns/names.ts'
import { parseRdata } from '../../dns/rdata.ts'
import type * as nameserver from '../../nameserver/nameserver.ts'
import type { Domain } from '../../store/domains.ts'
import * as rrsets from '../../store/rrsets.ts'
import type { System } from '../../system.ts'

/** A key of a domain (contract §7.1): one that the nameserver signs with, or one that the user has added. */
export type Key = Omit<nameserver.Key, 'keytype'> &
  ({ keytype: string; managed: true } | { keytype: null; managed: false })

/** The keys that the nameserver signs with. @throws NameserverFailure */
export async function managedKeys(system: System, domain: Pick<Domain, 'name'>): Promise<Key[]> {
  const keys = await system.nameserver.keys(`${domain.name}.`)
  return keys.map((key) => ({ ...key, managed: true }))
}

/** All keys that are served: first those of the nameserver, then those that the user has added (contract §8.9). */
export async function keysOf(system: System, domain: Domain): Promise<Key[]> {
  const [managed, [added]] = await Promise.all([
    managedKeys(system, domain),
    rrsets.list(system.db, domain.id, { subname: '', type: 'DNSKEY' }),
  ])
  const contents = [...(added?.records ?? [])].sort()
  return [...managed, ...contents.map((content) => addedKey(domain, content))]
}

function addedKey({ name }: Domain, dnskey: string): Key {
  const { wire } = parseRdata('DNSKEY', dnskey)
  const flags = Number(dnskey.split(' ', 1))
  // Only keys that are entry points (RFC 4034 §2.1.1) are of interest to the parent.
  const ds = flags % 2 === 1 ? delegationDigests(lowerCase(parseName(`${name}.`)), wire) : []
  return { dnskey, ds, flags, keytype: null, managed: false }
}
