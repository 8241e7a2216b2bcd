import { Unreadable } from '../dns/malformed.ts'
import { lowerCase, printName } from '../dns/names.ts'
import { toHex } from '../dns/octets.ts'
import { decodeRdata, Malformed } from '../dns/rdata.ts'
import { typeOf } from '../dns/registry.ts'
import { TYPES } from '../dns/types.ts'
import { CLASSES, type Layout, type Rcode, readData, readSection, type WireRecord } from '../dns/wire/messages.ts'
import type { Work } from '../flow/slices.ts'
import type { Content, Prerequisite, Step, Update } from '../service/doors/updates.ts'

/** The message cannot be carried out; its answer has this code. */
export class Refused extends Error {
  readonly rcode: Rcode

  constructor(rcode: Rcode, text: string) {
    super(text)
    this.rcode = rcode
  }
}

/** Types that are none of records, but ANY (RFC 6895 §3.1): IXFR to MAILA, OPT, and those between. */
function isMeta(type: number): boolean {
  return type === 0 || type === 41 || (type >= 128 && type <= 254)
}

/** Reports whether a type is one of questions alone, or of all types. */
export function isOfQuestions(type: number): boolean {
  return isMeta(type) || type === CLASSES.ANY
}

/** Returns a name in wire form as text, in lower case, without final dot. */
export function textOf(wire: string): string {
  return printName(lowerCase(wire)).slice(0, -1)
}

/** Reads an update of a domain (RFC 2136 §2.4, §2.5, §3.4.1). @throws Refused, RangeError */
export function* readUpdate(message: Buffer, { counts, sections }: Layout, domain: string): Work<Update> {
  const update: Update = { prerequisites: [], steps: [] }
  for (const record of readSection(message, sections[1], counts[1])) {
    update.prerequisites.push(prerequisiteOf(message, record, domain))
    yield
  }
  for (const record of readSection(message, sections[2], counts[2])) {
    update.steps.push(stepOf(message, record, domain))
    yield
  }
  return { prerequisites: together(update.prerequisites), steps: update.steps }
}

/** Unites the records of each RRset whose contents are a prerequisite; these come last (RFC 2136 §3.2.3). */
function together(prerequisites: Prerequisite[]): Prerequisite[] {
  const united = new Map<string, Prerequisite>()
  for (const [position, each] of prerequisites.entries()) {
    const key = each.contents === undefined ? String(position) : `${each.type} ${each.subname}`
    const known = united.get(key)
    if (known === undefined) united.set(key, each)
    else for (const content of each.contents!) known.contents!.add(content)
  }
  const all = [...united.values()]
  const haveContents = (wanted: boolean) => all.filter(({ contents }) => (contents !== undefined) === wanted)
  return [...haveContents(false), ...haveContents(true)]
}

function prerequisiteOf(message: Buffer, record: WireRecord, domain: string): Prerequisite {
  const { type, class: kind, ttl, data, end } = record
  if (ttl !== 0) throw new Refused('FORMERR', 'A prerequisite has a TTL.')
  const subname = subnameIn(domain, textOf(record.owner))
  if (kind === CLASSES.IN) {
    if (type === 6) throw new Refused('REFUSED', 'The content of the SOA cannot be a prerequisite.')
    if (isOfQuestions(type)) throw new Refused('FORMERR', 'A prerequisite has a type of questions.')
    return { subname, type: typeOf(type), exists: true, contents: new Set([contentOf(message, record).key]) }
  }
  if ((kind !== CLASSES.ANY && kind !== CLASSES.NONE) || data !== end)
    throw new Refused('FORMERR', 'A prerequisite has a wrong class, or data.')
  return { subname, ...(type !== CLASSES.ANY && { type: typeOf(type) }), exists: kind === CLASSES.ANY }
}

function stepOf(message: Buffer, record: WireRecord, domain: string): Step {
  const { type, class: kind, ttl, data, end } = record
  const subname = subnameIn(domain, textOf(record.owner))
  const isAny = type === CLASSES.ANY
  if (isMeta(type)) throw new Refused('FORMERR', 'An update has a type of questions.')
  if (kind === CLASSES.ANY) {
    if (ttl !== 0 || data !== end) throw new Refused('FORMERR', 'The deletion of an RRset has a TTL or data.')
    return { subname, ...(!isAny && { type: typeOf(type) }) }
  }
  if (isAny || (kind !== CLASSES.IN && kind !== CLASSES.NONE) || (kind === CLASSES.NONE && ttl !== 0))
    throw new Refused('FORMERR', 'An update has a wrong class, type or TTL.')
  // What is said about the SOA is ignored.
  const content = type === 6 ? { key: '', text: '' } : contentOf(message, record)
  return { subname, type: typeOf(type), content, ...(kind === CLASSES.IN && { ttl }) }
}

/** Returns the part of a name before that of the domain. @throws Refused */
export function subnameIn(domain: string, name: string): string {
  if (name === domain) return ''
  const before = name.slice(0, -domain.length)
  // A dot with a backslash is within a label.
  if (name.endsWith(domain) && /(?<!\\)(?:\\\\)*\.$/.test(before)) return before.slice(0, -1)
  throw new Refused('NOTZONE', `${name} is not in the zone ${domain}.`)
}

/** Reads the data of a record. What it may not contain is reported with the others, later. @throws Refused */
function contentOf(message: Buffer, record: WireRecord): Content {
  const type = typeOf(record.type)
  const row = TYPES.get(type)
  let wire: string
  try {
    wire =
      row === undefined ? message.toString('latin1', record.data, record.end) : readData(message, record, type, row)
  } catch (error) {
    if (error instanceof Unreadable || error instanceof Malformed)
      throw new Refused('FORMERR', `The data of a ${type} record is malformed.`)
    throw error
  }
  try {
    if (row !== undefined) return decodeRdata(type, wire)
  } catch (error) {
    if (!(error instanceof Malformed)) throw error
  }
  const text = `\\# ${wire.length} ${toHex(wire)}`
  return { key: text, text }
}
