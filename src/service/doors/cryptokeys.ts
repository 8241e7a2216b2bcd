import { ALGORITHMS, keyTag } from '../../dns/dnssec.ts'
import { parseRdata } from '../../dns/rdata.ts'
import type { System } from '../../system.ts'
import { type Domain, type Key } from '../domains/domains.ts'
import { withKeys } from '../domains/keys.ts'

/** A key that signs a domain, without its private half. */
export interface Cryptokey extends Pick<Key, 'dnskey' | 'ds' | 'flags' | 'keytype'> {
  /** Its key tag. */
  id: number
  algorithm: string
}

/** Returns the keys with which the service signs a domain. */
export async function cryptokeysOf(system: System, domain: Domain): Promise<Cryptokey[]> {
  const { keys } = await withKeys(system, domain)
  return keys
    .filter(({ managed }) => managed)
    .map(({ dnskey, ds, flags, keytype }) => {
      const id = keyTag(parseRdata('DNSKEY', dnskey).wire)
      const number = Number(dnskey.split(' ')[2])
      const [algorithm] = [...ALGORITHMS].find(([, each]) => each === number) ?? [String(number)]
      return { id, dnskey, ds, flags, keytype, algorithm }
    })
}
