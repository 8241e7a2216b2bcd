import type { Domain, Key } from '../../service/domains/domains.ts'
import { messageProblem } from '../../service/zone/journal.ts'
import { boolean, nonBlankText, text, time } from '../fields/fields.ts'
import { DOMAIN_NAME, LINE } from '../fields/patterns.ts'
import { arrayOf, BOOLEAN, nullable, oneOf, ref, STRING, TIME } from '../fields/schema.ts'
import { form, representation } from '../fields/table.ts'

/** A key that signs a domain (contract §7.1). */
const KEY = representation<Key>()(['Key'], {
  dnskey: {
    read: STRING,
    text: 'The content of the DNSKEY record.',
    example: '257 3 13 WFRl60HkCMoj9UJw07bhVvK0bjSCQMWWWmHPwZLcnwvUiAv9PqAxUsFLlMzxwQYmYU6Sf5SEkTHYR2KCtXwYHA==',
  },
  ds: {
    read: arrayOf(STRING),
    text: 'The contents of DS records for the registry of the parent zone. Each suffices. Empty for keys without DS.',
    example: ['6454 13 2 8b2a5b1a2d1c4a8d3b7cf6f0d6a9a6e27b1d1c2e3f4a5b6c7d8e9fa0b1c2d3e4'],
  },
  flags: { read: { type: 'integer', deprecated: true }, text: 'The flags in `dnskey`.', example: 257 },
  keytype: {
    read: { ...nullable(oneOf('csk', 'ksk', 'zsk')), deprecated: true },
    text: 'The kind of the key; null if the user has added it.',
    example: 'csk',
  },
  managed: {
    read: BOOLEAN,
    text: 'Whether the service made the key. Other keys are DNSKEY records of the user.',
    example: true,
  },
})

const NOTE = {
  write: text({ trim: true })
    .test('line', (value, { createError }) => {
      const message = typeof value === 'string' ? messageProblem(value) : undefined
      return message === undefined || createError({ message })
    })
    .meta({ accepted: LINE }),
  text: 'What people should know about it, in one line. Absent without; empty in requests: none.',
  example: 'Moved from ns.example.net. Ask Alice before changes.',
}

/** A domain; in full with its keys (contract §7.1). */
export const DOMAIN = representation<Domain & { keys?: Key[] }>()(['Domain', 'DomainWithKeys'], {
  created: { read: TIME, text: 'The time of its creation.' },
  published: { read: TIME, text: 'The time of the last change of its contents in DNS.' },
  name: {
    writeOnce: nonBlankText({ trim: false }).meta({ accepted: DOMAIN_NAME }),
    text: 'In lower case, without final dot; internationalised names in Punycode.',
    example: 'example.com',
  },
  keys: {
    detail: arrayOf(ref(KEY.schema)),
    text: 'The keys that sign it.',
    from: ({ keys = [] }) => keys.map((key) => KEY.present(key)),
  },
  minimum_ttl: {
    read: { type: 'integer' },
    text: 'The smallest TTL of its RRsets, in seconds.',
    example: 60,
  },
  touched: { read: TIME, text: 'The time of the last write to it or its RRsets, even without a change.' },
  suspended: {
    read: TIME,
    isOptional: true,
    text: 'Since when the operator of the service has it suspended: it is not served, and nobody can change it. Absent otherwise.',
  },
  note: { ...NOTE, isOptional: true },
  zonefile: {
    // Not trimmed: a leading blank stands for the previous owner name, and errors name line numbers.
    writeOnly: text({ trim: false }).meta({ accepted: STRING }),
    text: 'A zone file (RFC 1035 §5) to import, without its SOA, its NS at the apex and its DNSSEC records.',
    example: 'www 3600 IN A 192.0.2.1',
  },
  restore: {
    writeOnly: boolean(),
    text: 'Whether to restore a domain of this name that the account has deleted, with its RRsets and keys.',
    example: false,
  },
  at: { writeOnly: time(), text: 'With `restore`: the time whose state comes back, instead of that at the deletion.' },
})

/** A change of a domain itself (contract §7.11). */
export const DOMAIN_CHANGE = form('DomainChange', [], { note: NOTE })
