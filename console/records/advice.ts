import { absolute, lowerCase, nameOf, withoutDot } from '../../src/dns/names.ts'
import { TYPES } from '../../src/dns/types.ts'
import { valuesOf } from '../rrsets/fields.ts'
import { ownerOf } from '../rrsets/owner.ts'
import { titleOf } from '../rrsets/rows.ts'
import { type Change, type Place, type RRset, rrsetKey } from '../rrsets/rrset.ts'
import { applied } from '../rrsets/state.ts'
import { MAX_TTL } from '../rrsets/ttl.ts'
import { targetsOf, ZoneTree } from '../rrsets/zone-tree.ts'
import { byPlace, type Edits, isSame, type RRsets } from './draft.ts'

/** What the service takes, but is seldom meant, in one sentence; and where it is. */
export interface Advice extends Place {
  text: string
  /** A record at this name would mend it; undefined if that is not the mend. */
  lacking?: Place | undefined
}

/** A sentence of advice. */
type Hint = Omit<Advice, keyof Place>

/** The most RRsets that are looked at: more take too long at every change. */
const MOST_RRSETS = 20_000

/** The most DNS look-ups that an SPF text may cause (RFC 7208 §4.6.4). */
const MAX_LOOK_UPS = 10

/** Addresses that the internet does not reach. Loopback is none of them: localhost and blocklists answer with it. */
const PRIVATE: Partial<Record<string, RegExp>> = {
  // RFC 1918 §3, RFC 3927 §2.1, RFC 6598 §7
  A: /^(10|192\.168|169\.254|172\.(1[6-9]|2\d|3[01])|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7]))\./,
  // RFC 4193 §3.1, RFC 4291 §2.5.6
  AAAA: /^f([cd][0-9a-f]|e[89ab])[0-9a-f]:/,
}

/** The types by which a host is reached. */
const ADDRESSES = ['A', 'AAAA', 'CNAME']

/** Returns hints about the RRsets of a domain, in the order of the RRsets; none if there are too many RRsets. */
export function adviceOn(rrsets: RRset[], domain: string): Advice[] {
  if (rrsets.length > MOST_RRSETS) return []
  const tree = new ZoneTree(rrsets, domain)
  const twice = `.${domain}.${domain}.`
  return rrsets.flatMap(({ subname, type, records }) => {
    const name = nameOf({ name: domain }, subname)
    const hasNames = TYPES.get(type)?.fields.some(({ isName }) => isName) === true
    const words = [name, ...(hasNames ? records.join(' ').split(' ') : [])]
    const hints: Hint[] = [
      ...words
        .filter((each) => `.${lowerCase(each)}`.endsWith(twice))
        .map((each) => ({ text: `${each} ends in ${domain} twice.` })),
      ...targetsOf({ type, records }).flatMap((target) => targetHint(tree, type, target, domain)),
      ...records.filter((each) => PRIVATE[type]?.test(each)).map((each) => ({ text: `${each} is a private address.` })),
      ...(type === 'TXT' ? mailHint(tree, name, records).map((text) => ({ text })) : []),
    ]
    return [...new Map(hints.map((hint) => [hint.text, { subname, type, ...hint }])).values()]
  })
}

/** Returns the hints that edits bring, in the order of the RRsets, but for what `lossesBy` says. */
export function adviceBy(edits: Edits, rrsets: RRsets, domain: string): Advice[] {
  const present = [...rrsets.values()]
  const idOf = (advice: Advice) => `${rrsetKey(advice)} ${advice.text}`
  const before = new Set(adviceOn(present, domain).map(idOf))
  const after = adviceOn(applied(present, edits.values()), domain)
  const isLoss = ({ lacking }: Advice) => lacking !== undefined && edits.get(rrsetKey(lacking))?.after === null
  return after.filter((advice) => !before.has(idOf(advice)) && !isLoss(advice))
}

/** Changes that were made a while ago. */
export interface Past {
  /** In seconds. */
  age: number
  changes: Change[]
}

/** For how many seconds caches keep the records that edits change or remove, and those that only get a lower TTL. */
export interface Cached {
  changed: number
  lowered: number
}

/**
 * Returns for how long caches keep what edits replace; 0: they replace none.
 * @param past the changes within the greatest TTL: caches keep what was there before them for its TTL, from then on; undefined if
 *   they are not known
 */
export function cachedFor(edits: Edits, past: Past[] | undefined): Cached {
  const cached = { changed: 0, lowered: 0 }
  const left = new Map<string, number>()
  for (const { age, changes } of past ?? [])
    for (const change of changes) {
      const key = rrsetKey(change)
      if (change.before !== null) left.set(key, Math.max(left.get(key) ?? 0, change.before.ttl - age))
    }
  for (const [key, { base, after }] of edits) {
    if (base === null) continue
    const isKept = after !== null && isSame({ ...base, ttl: after.ttl }, after)
    const seconds = past === undefined ? MAX_TTL : Math.max(base.ttl, left.get(key) ?? 0)
    if (!isKept) cached.changed = Math.max(cached.changed, seconds)
    else if (after.ttl < base.ttl) cached.lowered = Math.max(cached.lowered, seconds)
  }
  return cached
}

function targetHint(tree: ZoneTree, type: string, target: string, domain: string): Hint[] {
  const node = tree.at(target)
  if (node === undefined || type === 'SRV') return []
  // RFC 2181 §10.3
  if (type !== 'CNAME' && node['CNAME']) return [{ text: `${target} is a CNAME, which no ${type} may point to.` }]
  const owner = ownerOf(target, domain)
  const lacking = 'subname' in owner ? { subname: owner.subname, type: 'A' } : undefined
  if (type === 'CNAME')
    return Object.keys(node).length === 0 ? [{ text: `There are no records at ${target}`, lacking }] : []
  return node['A'] || node['AAAA'] ? [] : [{ text: `${withoutDot(target)} has no address.`, lacking }]
}

function mailHint(tree: ZoneTree, name: string, records: string[]): string[] {
  const count = spfs(records).length
  if (count > 1) return [`There are ${count} SPF texts, but a name may have one.`]
  if (count === 1 && lookUps(tree, name) > MAX_LOOK_UPS)
    return [`SPF fails after ${MAX_LOOK_UPS} look-ups: this has more.`]
  const sender = name.startsWith('_dmarc.') && textsOf(records, /^v=DMARC1\b/).length > 0 && tree.at(name.slice(7))
  const lacksSpf = sender && !sender['CNAME'] && spfs(sender['TXT']).length === 0
  return lacksSpf ? [`DMARC is set, but ${name.slice(7)} has no SPF text.`] : []
}

function textsOf(records: string[] = [], pattern: RegExp): string[] {
  // Most texts need not be read.
  return records.flatMap((record) => (pattern.test(record.slice(1)) ? (valuesOf('TXT', record) ?? []) : []))
}

function spfs(records: string[] | undefined): string[] {
  return textsOf(records, /^v=spf1[ "]/i)
}

/** Counts the look-ups that the SPF text at a name causes, as far as the zone shows, until there are too many. */
function lookUps(tree: ZoneTree, name: string, sum = 0): number {
  const [text = ''] = spfs(tree.at(name)?.['TXT'])
  // What follows `all` is not looked at; with it, nor is `redirect` (RFC 7208 §5.1, §6.1).
  const [before, ...rest] = text.split(/ [-+~?]?all(?= |$)/i)
  for (const term of before!.split(' ')) {
    const [found, mechanism, target] =
      /^(?:[-+~?]?(include|a|mx|ptr|exists)(?![^:/])|redirect=):?([^/]*)/i.exec(term) ?? []
    if (sum > MAX_LOOK_UPS || found === undefined || (mechanism === undefined && rest.length > 0)) continue
    sum++
    if (/^(include|undefined)$/i.test(String(mechanism))) sum = lookUps(tree, absolute(withoutDot(target!)), sum)
  }
  return sum
}

/** Says which names lose by edits what mail, a delegation or other records need. */
export function lossesBy(edits: Edits, rrsets: RRsets, domain: string): string[] {
  const after = applied([...rrsets.values()], edits.values())
  const left = byPlace(after)
  const tree = new ZoneTree(after, domain)
  const pointing = new Map(after.flatMap((rrset) => targetsOf(rrset).map((target) => [lowerCase(target), rrset])))
  const texts = [...edits.values()].flatMap(({ subname, type, base, after: next }) => {
    if (base === null || next !== null) return []
    const name = nameOf({ name: domain }, subname)
    if (type === 'MX' || (type === 'NS' && subname !== '')) {
      return [`This removes ${base.records.length === 1 ? 'the only' : 'every'} ${type} record of ${name}`]
    }
    const from = ADDRESSES.includes(type) && pointing.get(name)
    const node = tree.at(name)
    const isLeft = ADDRESSES.some((each) => node?.[each] ?? left.has(rrsetKey({ subname, type: each })))
    return from && !isLeft
      ? [`This removes the last address of ${withoutDot(name)}, to which ${titleOf(from)} points.`]
      : []
  })
  return [...new Set(texts)]
}
