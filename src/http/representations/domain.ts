import type { Domain, DomainInput, DomainWithKeys, Key } from '../../service/domains.ts'
import { nonBlankText, readFields, text } from './fields.ts'

const shape = {
  name: nonBlankText({ trim: false }),
  // To ignore it would lose records silently.
  zonefile: text({ trim: true }).test('empty', 'Zone files cannot be imported yet.', (value) => !value),
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

function presentKey({ dnskey, ds, flags, keytype }: Key) {
  return { dnskey, ds, flags, keytype, managed: true }
}
