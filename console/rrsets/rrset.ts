/** What an RRset is, besides its place: its TTL in seconds, and its records in presentation format. */
export interface State {
  ttl: number
  records: string[]
}

/** The place of an RRset in a domain. The subname is empty at the apex. */
export interface Place {
  subname: string
  type: string
}

export interface RRset extends Place, State {}

/** An RRset before and after a write; null: there is none (contract §15.3). */
export interface Change extends Place {
  before: State | null
  after: State | null
}

/** A record of a change, and what becomes of it. */
export interface Line {
  record: string
  verb: 'kept' | 'added' | 'removed'
}

/** The records before a change and after it, in their order. */
export function linesOf({ before, after }: Pick<Change, 'before' | 'after'>): Line[] {
  const [former, next] = [new Set(before?.records), new Set(after?.records)]
  return [...new Set([...former, ...next])].map((record) => ({
    record,
    verb: !next.has(record) ? 'removed' : former.has(record) ? 'kept' : 'added',
  }))
}

/** Identifies an RRset in its domain. */
export function rrsetKey({ subname, type }: Place): string {
  return `${subname} ${type}`
}

/** The name as people write it in a zone file: `@` at the apex. */
export function shownName(subname: string): string {
  return subname === '' ? '@' : subname
}

/** What a change does with an RRset. */
export function verbFor({ before, after }: Change): 'created' | 'changed' | 'removed' {
  if (before === null) return 'created'
  return after === null ? 'removed' : 'changed'
}

/** The record with another text where this one stands for itself: not in a longer number, word, name or address. */
export function replaced(record: string, text: string, other: string): string {
  const escaped = text.replace(/\W/g, '\\$&')
  // `ip6:` may stand before an IPv6 address, but not another part of one.
  const longer = text.includes(':') ? '|(?:^|[\\s:])[\\da-f]{0,4}:' : ''
  return record.replace(new RegExp(`(?<![\\w.-]${longer})${escaped}(?![\\w:-]|\\.\\w)`, 'gi'), () => other)
}

/** `1 change`, `5 changes`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`
}
