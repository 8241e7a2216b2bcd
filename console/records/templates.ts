import { absolute } from '../../src/dns/names.ts'
import { checked, meant, recordOf, valuesOf } from '../rrsets/fields.ts'
import { ownerOf } from '../rrsets/owner.ts'
import { editOf, type Row, titleOf } from '../rrsets/rows.ts'
import { rrsetKey } from '../rrsets/rrset.ts'
import { quoted } from '../rrsets/text.ts'
import type { Edit } from './draft.ts'

/**
 * What a template asks for. Its kind is `owner` for a name of the domain, `text` for any text, or the type whose record it is;
 * for the name of a host that is CNAME; MX stands for several. One that begins with a text may be left empty.
 */
type Ask = readonly [label: string, kind: 'owner' | 'text' | 'MX' | 'CNAME' | 'A' | 'AAAA' | 'DS', first?: string]

/** A record at a subname. One without text is left out. */
type Line = readonly [subname: string, type: string, record: string]

interface Template {
  asks: (domain: string) => Ask[]
  /** @param values what was typed; subnames for owners */
  lines: (values: string[], domain: string) => Line[]
}

const text = (value: string) => value && quoted(value)
const below = (label: string, subname: string) => (subname === '' ? label : `${label}.${subname}`)
/** The name of a DKIM key (RFC 6376 §3.6.2.1): providers print the selector alone, or the whole name. */
const keyName = (selector: string) =>
  /(^|\.)_domainkey(\.|$)/.test(selector) ? selector : [selector, '_domainkey'].filter(Boolean).join('.')

/** Records that belong together, by what they are for. */
export const TEMPLATES: Readonly<Record<string, Template>> = {
  Mail: {
    asks: (domain) => [
      ['Mail servers', 'MX', `10 mail.${domain}.`],
      ['SPF', 'text', 'v=spf1 mx -all'],
      ['DMARC', 'text', 'v=DMARC1; p=none'],
      ['DKIM selector', 'owner', 'mail'],
      ['DKIM text', 'text', ''],
    ],
    lines: ([servers, spf, dmarc, selector, dkim]) => [
      ...servers!.split(', ').map((record): Line => ['', 'MX', record]),
      ['', 'TXT', text(spf!)],
      ['_dmarc', 'TXT', text(dmarc!)],
      [keyName(selector!), 'TXT', text(dkim!)],
    ],
  },
  'DKIM by CNAME': {
    asks: () => [
      ['Selector', 'owner', 'selector1'],
      ['Target', 'CNAME'],
      ['Second selector', 'owner', 'selector2'],
      ['Second target', 'CNAME', ''],
      ['Third selector', 'owner', 'selector3'],
      ['Third target', 'CNAME', ''],
    ],
    lines: (values) => [0, 2, 4].map((at) => [keyName(values[at]!), 'CNAME', values[at + 1]!]),
  },
  Web: {
    asks: () => [
      ['IPv4 address', 'A', ''],
      ['IPv6 address', 'AAAA', ''],
    ],
    lines: ([ipv4, ipv6], domain) => [
      ['', 'A', ipv4!],
      ['', 'AAAA', ipv6!],
      ['www', 'CNAME', (ipv4! || ipv6!) && absolute(domain)],
    ],
  },
  'Certificate authority': {
    asks: () => [['Domain of the authority', 'text', 'letsencrypt.org']],
    lines: ([authority]) => [['', 'CAA', authority! && recordOf('CAA', ['0', 'issue', authority])]],
  },
  'Delegation of a subdomain': {
    asks: () => [
      ['Name', 'owner'],
      ['Nameserver', 'CNAME'],
      ['Second nameserver', 'CNAME', ''],
      ['DS', 'DS', ''],
    ],
    lines: ([name, first, second, ds]) => [
      [name!, 'NS', first!],
      [name!, 'NS', second!],
      [name!, 'DS', ds!],
    ],
  },
  'Verification text': {
    asks: () => [
      ['Name', 'owner', '@'],
      ['Text', 'text'],
    ],
    lines: ([name, token]) => [[name!, 'TXT', text(token!)]],
  },
  'ACME challenges elsewhere': {
    asks: () => [
      ['Name of the certificate', 'owner', '@'],
      ['Name of the challenges', 'CNAME'],
    ],
    // A name and its wildcard are proven at one place.
    lines: ([name, target]) => [[below('_acme-challenge', name!.replace(/^\*\.?/, '')), 'CNAME', target!]],
  },
}

/** A value of a template, or what is wrong with what was typed. */
export type Answer = { value: string } | { problems: string[] }

/** A mail server as a record: without a number, those that were typed first are tried first. */
function withPriority(server: string, at: number): string {
  return /\s/.test(server) ? server : `${10 * (at + 1)} ${server}`
}

/** Judges what was typed for something that a template asks for. Of a name without final dot, the likeliest meaning is taken. */
export function answerTo([, kind, first]: Ask, typed: string, domain: string): Answer {
  const value = typed.trim()
  if (kind === 'owner') {
    const owner = ownerOf(value, domain)
    return 'subname' in owner ? { value: owner.subname } : owner
  }
  if (value === '') return first === undefined ? { problems: ['Fill this in.'] } : { value }
  if (kind === 'text') return { value }
  const typedRecords = kind === 'MX' ? value.split(/\s*[,;]\s*/).map(withPriority) : [value]
  const found = typedRecords.map((record) => {
    const { text } = meant(kind, record, domain)
    return checked(kind, text, valuesOf(kind, text))
  })
  const problems = found.flatMap((each) => ('problem' in each ? each.problem : []))
  return problems.length > 0
    ? { problems }
    : { value: found.map((each) => ('text' in each ? each.text : '')).join(', ') }
}

/**
 * Merges lines with the rows that there are: adds records, and changes none. Also returns the lines that it left out: a
 * CNAME allows no neighbours, and a name has one TXT of each kind, such as SPF.
 */
export function editsFor(
  lines: Line[],
  rows: ReadonlyMap<string, Row>,
  ttl: number,
): { edits: Edit[]; omitted: string[] } {
  const edits = new Map<string, Edit>()
  const omitted: string[] = []
  for (const [subname, type, record] of lines) {
    const place = { subname, type }
    const row = rows.get(rrsetKey(place))
    const present = edits.get(rrsetKey(place))?.after ?? (row?.edit?.after === null ? undefined : row?.state)
    if (record === '' || present?.records.includes(record) === true) continue
    const kind = /^"v=\w+/.exec(record)?.[0]
    const obstacle =
      [...rows.values()].find(
        (other) =>
          other.subname === subname && other.edit?.after !== null && (type === 'CNAME' || other.type === 'CNAME'),
      ) ?? (kind !== undefined && present?.records.some((each) => each.startsWith(kind)) === true ? place : undefined)
    if (obstacle !== undefined) omitted.push(`${titleOf(obstacle)} stays as it is: ${type} ${record} is left out.`)
    else {
      const base = row === undefined ? null : editOf(row, null).base
      edits.set(rrsetKey(place), {
        ...place,
        base,
        after: { ttl: present?.ttl ?? ttl, records: [...(present?.records ?? []), record] },
      })
    }
  }
  return { edits: [...edits.values()], omitted }
}
