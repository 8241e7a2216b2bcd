import { TYPES } from '../../../src/dns/types.ts'
import { EXAMPLES } from '../../dns/examples/index.ts'
import type { Kind } from '../../support/servers/secondaries.ts'

// Contents of zones, and what secondaries make of them. Zones are given by the label before `.example`.

export interface RRset {
  subname: string
  type: string
  ttl: number
  records: string[]
}

/** `key` is subname and type; the apex is written `@`. */
function rrset(key: string, ...records: string[]): RRset {
  const [subname, type] = key.split(' ') as [string, string]
  return { subname: subname.replace('@', ''), type, ttl: 60, records }
}

const numbered = <T>(length: number, make: (i: number) => T) => Array.from({ length }, (_, i) => make(i))
const address = (i: number) => `10.0.${i >> 8}.${i & 255}`
const DS = `1 13 2 ${'ab'.repeat(32)}`

/** Examples that some secondary refuses. REFUSED has one of each kind. */
const REFUSED_EXAMPLES: Partial<Record<string, RegExp>> = {
  DHCID: /^A[AB]==$/,
  NAPTR: /\\1@/,
  SSHFP: /aabbc|a ?b ?c ?d$/i,
}

/** All examples of a type, each at a name of its own; for types that belong to the apex, the first. */
function examplesOf(type: string): RRset[] {
  const texts = EXAMPLES.get(type)!
    .accepted.map((example) => (typeof example === 'string' ? example : example[0]))
    .filter((text) => REFUSED_EXAMPLES[type]?.test(text) !== true)
  return TYPES.get(type)!.apex === 'only'
    ? [rrset(`@ ${type}`, texts[0]!)]
    : texts.map((text, i) => rrset(`r${i} ${type}`, text))
}

/** What all secondaries transfer, and answer as the primary does. */
export const TRANSFERRED: Record<string, RRset[]> = {
  ...Object.fromEntries([...TYPES.keys()].map((type) => [`type-${type.toLowerCase()}`, examplesOf(type)])),
  delegation: [rrset('a NS', 'ns.a.delegation.example.'), rrset('a DS', DS), rrset('ns.a A', '192.0.2.1')],
  'address-below-delegation': [rrset('a NS', 'ns.test.'), rrset('b.c.a A', '192.0.2.1')],
  'text-below-delegation': [rrset('a NS', 'ns.test.'), rrset('b.a TXT', '"t"')],
  'ds-alone': [rrset('a DS', DS), rrset('b.a A', '192.0.2.1')],
  wildcard: [rrset('* A', '192.0.2.1'), rrset('*.a.b TXT', '"t"'), rrset('* MX', '10 a.test.')],
  'wildcard-cname': [rrset('* CNAME', 'x.test.')],
  'wildcard-ds': [rrset('*.a DS', DS)],
  dname: [rrset('d DNAME', 'x.test.'), rrset('d A', '192.0.2.1')],
  'cname-chain': numbered(9, (i) => rrset(`c${i} CNAME`, `c${i + 1}.cname-chain.example.`)),
  'cname-loop': numbered(2, (i) => rrset(`c${i} CNAME`, `c${1 - i}.cname-loop.example.`)),
  'deep-name': [rrset(`${'a.'.repeat(80)}a A`, '192.0.2.1')],
  'long-labels': [rrset(`${'a'.repeat(63)}.${'b'.repeat(63)} A`, '192.0.2.1')],
  underscores: [rrset('_a._b-.-_ TXT', '"t"')],
  apex: [rrset('@ A', '192.0.2.1'), rrset('@ TXT', '"t"'), rrset('@ MX', '0 .'), rrset('@ CAA', '0 issue ";"')],
  'apex-keys': [rrset('@ DNSKEY', '257 3 13 AAEC'), rrset('@ CDS', DS), rrset('@ CDNSKEY', '257 3 13 AAEC')],
  'other-ns': [rrset('@ NS', 'ns.other-ns.example.'), rrset('ns A', '192.0.2.1')],
  'hundred-records': [rrset('a A', ...numbered(100, address))],
  'large-text': [rrset('a TXT', `"${'x'.repeat(20_000)}"`)],
  'many-texts': numbered(150, (i) => rrset(`t${i} TXT`, `"${'x'.repeat(1000)}"`)),
}

/** What the API refuses. */
export const FORBIDDEN: Record<string, RRset[]> = {
  'nested-ns': [rrset('a NS', 'ns.test.'), rrset('b.a NS', 'ns.test.')],
  'nested-ds': [rrset('a NS', 'ns.test.'), rrset('b.a NS', 'ns.test.'), rrset('b.a DS', DS)],
  'below-dname': [rrset('a DNAME', 'x.test.'), rrset('b.a A', '192.0.2.1')],
  'ds-length': [rrset('a DS', '1 13 2 aabb')],
}

/** A secondary of each kind; plain-bind is a BIND without `max-records-per-type`. */
export type Name = Kind | 'plain-bind'

/** What some secondaries refuse. */
export interface Refusal {
  rrsets: RRset[]
  by: Name[]
  /** Others that answer otherwise than the primary does. */
  otherwise?: Name[]
  /** It is so only if this program has one of these versions. */
  only?: [program: Kind, versions: RegExp]
}

const BOTH: Name[] = ['bind', 'plain-bind']

export const REFUSED: Record<string, Refusal> = {
  'wildcard-ns': { rrsets: [rrset('* NS', 'ns.test.')], by: BOTH, otherwise: ['knot'] },
  'deeper-wildcard-ns': { rrsets: [rrset('*.a NS', 'ns.test.')], by: BOTH },
  'many-records': { rrsets: [rrset('a A', ...numbered(101, address))], by: ['plain-bind'] },
  fingerprint: { rrsets: [rrset('a SSHFP', '4 2 aabb')], by: BOTH },
  expression: { rrsets: [rrset('a NAPTR', '1 1 "u" "x" "!a(!b!" .')], by: BOTH },
  backreference: { rrsets: [rrset('a NAPTR', '1 1 "u" "x" "!a!\\\\1!" .')], by: BOTH },
  'private-key-without-name': { rrsets: [rrset('a CDNSKEY', '257 3 253 BWE=')], by: BOTH },
  'apex-dname': { rrsets: [rrset('@ DNAME', 'x.test.')], by: ['knot'], only: ['knot', /^3\.[0-3]\./] },
  'dhcid-of-one-octet': {
    rrsets: [rrset('a DHCID', 'AA==')],
    by: ['nsd'],
    only: ['nsd', /^4\.(1[5-9]|[2-9]\d)\./],
  },
  'four-large-texts': {
    rrsets: numbered(4, (i) => rrset(`t${i} TXT`, `"${'x'.repeat(20_000)}"`)),
    by: [...BOTH, 'knot', 'nsd', 'powerdns'],
    only: ['powerdns', /^4\.7\./],
  },
}

/** What all transfer, and some answer otherwise than the primary does. */
export const OTHERWISE: Record<string, { rrsets: RRset[]; by: Name[] }> = {
  'wildcard-dname': { rrsets: [rrset('*.a DNAME', 'x.test.')], by: ['knot'] },
  // c0 0c, which names the beginning of the message's first name where names may be compressed.
  'private-key-of-pointer': { rrsets: [rrset('a CDNSKEY', '257 3 253 wAxf')], by: BOTH },
}

/** What the API refuses, but older versions accepted. */
export const FORMER: Record<'former-ds' | 'former-dname', RRset[]> = {
  'former-ds': FORBIDDEN['nested-ds']!,
  'former-dname': FORBIDDEN['below-dname']!,
}
