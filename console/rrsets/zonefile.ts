import {
  MAX_ZONE_PROBLEMS as MOST,
  problemsIn,
  ZoneFileError,
  type ZoneFileRRset,
  type ZoneProblem,
} from '../../src/dns/zone-problems.ts'
import { readZoneFile } from '../../src/dns/zonefile.ts'
import { adviceOn } from '../records/advice.ts'
import type { Item } from '../records/draft.ts'
import { inOrder } from './order.ts'
import { titleOf } from './rows.ts'
import { type Change, counted, rrsetKey, shownName } from './rrset.ts'

/** Something that is wrong with a zone file. */
export interface Mistake {
  /** From 1; undefined if it is about the text as a whole. */
  line: number | undefined
  text: string
}

/** What a zone file would make of an empty domain, as far as the browser can tell. */
export interface Preview {
  changes: Change[]
  mistakes: Mistake[]
  /** What is seldom meant. */
  hints: string[]
}

/** Reads a zone file for a domain that is to be created. SOA, NS at the apex and DNSSEC records are left out, as there. */
export function previewOf(text: string, domain: string): Preview {
  const { rrsets, mistakes } = read(text, domain, false)
  const changes = rrsets.map(({ subname, type, ttl, records }) => ({
    subname,
    type,
    before: null,
    after: { ttl: ttl ?? 0, records },
  }))
  const ordered = inOrder(changes)
  const advice = adviceOn(ordered.map((change) => ({ ...change, ...change.after })), domain) // prettier-ignore
  return { changes: ordered, mistakes, hints: advice.map((each) => `${titleOf(each)}: ${each.text}`) }
}

/** What is wrong with a zone file for a domain that exists, in the order of the lines, and how many RRsets it has. */
export function judged(text: string, domain: string): { mistakes: Mistake[]; count: number } {
  const { rrsets, mistakes } = read(text, domain, true)
  return { mistakes, count: rrsets.length }
}

/**
 * What a zone file adds to a zone, as a bulk PATCH: the record sets that the zone lacks, and for the others the records that
 * they lack; their TTL stays. NS at the apex stay as they are.
 * @param present the zone file of the zone @param ttl of record sets for which the file gives none
 */
export function additionsTo(present: string, text: string, domain: string, ttl: number): Item[] {
  const there = new Map(read(present, domain, true).rrsets.map((rrset) => [rrsetKey(rrset), rrset.records]))
  return read(text, domain, false).rrsets.flatMap(({ subname, type, records, ...rrset }) => {
    const before = there.get(rrsetKey({ subname, type }))
    if (before === undefined) return { subname, type, ttl: rrset.ttl ?? ttl, records }
    const all = [...new Set([...before, ...records])]
    return all.length === before.length ? [] : { subname, type, records: all }
  })
}

/** Problems that only the service finds, at the lines of their record sets. */
export function mistakesOf(problems: string[], text: string, domain: string): Mistake[] {
  if (problems.length === 0) return []
  const { rrsets } = read(text, domain, true)
  const all = problemsIn(rrsets.map((rrset) => ({ ...rrset, problems: [''] })), domain) // prettier-ignore
  const lines = new Map(all.map((found) => [found.text, found.line]))
  return problems.map((problem) => ({ line: lines.get(problem.replace(/: .*$/s, ': ')), text: problem }))
}

function read(text: string, domain: string, apexNs: boolean): { rrsets: ZoneFileRRset[]; mistakes: Mistake[] } {
  try {
    const reading = readZoneFile(text, domain, { apexNs })
    let step = reading.next()
    while (step.done !== true) step = reading.next()
    return { rrsets: step.value, mistakes: shown(problemsIn(step.value, domain)) }
  } catch (error) {
    if (error instanceof ZoneFileError) return { rrsets: [], mistakes: shown(error.problems) }
    throw error
  }
}

function shown(problems: ZoneProblem[]): Mistake[] {
  const mistakes = problems.slice(0, MOST).map(({ line, text, subname }) => ({ line, text: wordsOf(text, subname) }))
  if (problems.length > MOST) mistakes.push({ line: undefined, text: 'There are more: mend these first.' })
  return mistakes
}

/** The text without the line, which stands beside it, but with the name that it is about. */
function wordsOf(text: string, subname: string | undefined): string {
  const reason = text.replace(/^Zonefile contains syntax error in line \d+\. Reason: |^Could not parse zonefile: (line \d+: )?/, '') // prettier-ignore
  const plain = reason.replace(MALFORMED, (whole, type: string) => NEEDED[type] ?? whole)
  return subname === undefined ? plain : `${shownName(subname)}: ${plain}`
}

const MALFORMED = /^Record content for type (\w+) malformed: .*|^unexpected (line break)$/

/** What usual records need, in plain words. */
const NEEDED: Record<string, string> = {
  A: 'An IPv4 address is needed, such as 192.0.2.1.',
  AAAA: 'An IPv6 address is needed, such as 2001:db8::1.',
  CNAME: 'One name is needed, such as www.example.com.',
  MX: 'A preference and a name are needed, such as 10 mail.example.com.',
  undefined: 'A closing quote is missing.',
}

/** `No mistakes: 8 record sets`, `1 mistake`, `more than 100 mistakes`. @param count of RRsets */
export function countOf(mistakes: Mistake[], count: number): string {
  if (mistakes.length === 0) return `No mistakes: ${counted(count, 'record set')}`
  return mistakes.length > MOST ? `more than ${MOST} mistakes` : counted(mistakes.length, 'mistake')
}

/** Where a line of a text begins and ends. @param line from 1 */
export function spanOf(text: string, line: number): [start: number, end: number] {
  let start = 0
  for (let n = 1; n < line; n++) start = text.indexOf('\n', start) + 1
  const end = text.indexOf('\n', start)
  return [start, end === -1 ? text.length : end]
}
