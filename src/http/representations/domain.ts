import type { Domain, DomainInput, DomainWithKeys } from '../../service/domains/domains.ts'
import { boolean, nonBlankText, readFields, text } from './fields.ts'

const shape = {
  name: nonBlankText({ trim: false }),
  // Not trimmed: a leading blank stands for the previous owner name, and errors name line numbers.
  zonefile: text({ trim: false }),
  restore: boolean(),
}

/** Reads a new domain (contract §7.2). */
export function readDomain(body: unknown): DomainInput {
  return readFields(body, shape)
}

/** A domain as in lists (contract §7.1). */
export function presentDomain({ created, published, name, minimumTtl, touched }: Domain) {
  return { created, published, name, minimum_ttl: minimumTtl, touched }
}

export function presentDomainWithKeys({ created, published, name, keys, minimumTtl, touched }: DomainWithKeys) {
  const presented = keys.map(({ dnskey, ds, flags, keytype, managed }) => ({ dnskey, ds, flags, keytype, managed }))
  return { created, published, name, keys: presented, minimum_ttl: minimumTtl, touched }
}
