import type { Domain, DomainInput, DomainWithKeys, Key } from '../../service/domains/domains.ts'
import { nonBlankText, readFields, text } from './fields.ts'

const shape = {
  name: nonBlankText({ trim: false }),
  // Blanks at its beginning count: they stand for a name, and lines are numbered.
  zonefile: text({ trim: false }),
}

/** What a body says about a new domain (contract §7.2). */
export function readDomain(body: unknown): DomainInput {
  return readFields(body, shape)
}

/** A domain as lists show it (contract §7.1). */
export function presentDomain(domain: Domain) {
  const { created, published, name, minimumTtl, touched } = domain
  return { created, published, name, minimum_ttl: minimumTtl, touched }
}

export function presentDomainWithKeys(domain: DomainWithKeys) {
  const { created, published, name, keys, minimumTtl, touched } = domain
  return { created, published, name, keys: keys.map(presentKey), minimum_ttl: minimumTtl, touched }
}

function presentKey({ dnskey, ds, flags, keytype, managed }: Key) {
  return { dnskey, ds, flags, keytype, managed }
}
