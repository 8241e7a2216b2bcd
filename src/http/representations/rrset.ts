import { nameOf, type RRsetInput } from '../../service/changes.ts'
import type { Domain } from '../../service/domains.ts'
import type { RRset } from '../../service/rrsets.ts'
import { integer, nonBlankText, readFields, text, texts } from './fields.ts'

const shape = {
  subname: text({ trim: true }),
  type: nonBlankText({ trim: true }),
  ttl: integer(),
  records: texts(),
}

/** What a body says about one RRset (contract §8.1). */
export function readRRset(body: unknown): RRsetInput {
  return readFields(body, shape)
}

export function presentRRset(domain: Domain, { created, subname, records, ttl, type, touched }: RRset) {
  return { created, domain: domain.name, subname, name: nameOf(domain, subname), records, ttl, type, touched }
}
