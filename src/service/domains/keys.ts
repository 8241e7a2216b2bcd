import { delegationDigests } from '../../dns/dnssec.ts'
import { lowerCase, parseName } from '../../dns/names.ts'
import { parseRdata } from '../../dns/rdata.ts'
import type * as nameserver from '../../nameserver/nameserver.ts'
import type { Domain } from '../../store/domains/domains.ts'
import * as rrsets from '../../store/zone/rrsets.ts'
import type { System } from '../../system.ts'

/** A key of a domain (contract §7.1): the nameserver signs with it, or the user has added it. */
export type Key = Omit<nameserver.Key, 'keytype'> &
  ({ keytype: string; managed: true } | { keytype: null; managed: false })

export type DomainWithKeys = Domain & { keys: Key[] }

/** Adds all served keys: the nameserver's, then those that the user added (contract §8.9). @throws NameserverFailure */
export async function withKeys(system: System, domain: Domain): Promise<DomainWithKeys> {
  const [signing, [added]] = await Promise.all([
    system.nameserver.keys(`${domain.name}.`),
    rrsets.list(system.db, domain.id, { subname: '', type: 'DNSKEY' }),
  ])
  const contents = [...(added?.records ?? [])].sort()
  return { ...domain, keys: [...signing.map(managed), ...contents.map((content) => addedKey(domain, content))] }
}

/** Converts a key with which the nameserver signs. */
export function managed({ dnskey, ds, flags, keytype }: nameserver.Key): Key {
  return { dnskey, ds, flags, keytype, managed: true }
}

function addedKey({ name }: Domain, dnskey: string): Key {
  const { wire } = parseRdata('DNSKEY', dnskey)
  const flags = Number(dnskey.split(' ', 1))
  // Only a secure entry point (RFC 4034 §2.1.1) gets a DS in the parent.
  const ds = flags % 2 === 1 ? delegationDigests(lowerCase(parseName(`${name}.`)), wire) : []
  return { dnskey, ds, flags, keytype: null, managed: false }
}
