import { ownerLength } from './names.ts'
import { characters } from './presentation.ts'
import type { Rdata } from './rdata.ts'
import { TYPES } from './types.ts'

/** The most records of an RRset: so many A records fit one message (contract §8.5, layer 8). */
export const MAX_RECORDS = 4091

/** The most characters of an RRset's records as compact JSON (contract §8.4). */
const MAX_RECORDS_JSON = 64_000

/** The longest DNS message: over TCP its length must fit 16 bits (RFC 1035 §4.2.2). */
const MAX_MESSAGE = 65_535

/** Octets of a message's header, of a question's type and class, and of an answer up to its rdata with a short name. */
const HEADER = 12
const QUESTION = 4
const ANSWER = 12

/** An RRset with its records read. */
export interface ParsedRRset {
  type: string
  /** Absolute, as the rest of the service writes owner names: lower case, no escapes. */
  name: string
  apex: boolean
  rdata: readonly Rdata[]
}

/** What is wrong with an RRset: texts for its field `records`, or for the RRset as a whole. */
export interface RRsetProblems {
  field?: 'records'
  texts: string[]
}

/** The texts about the size of the field `records` (contract §8.4). */
export function sizeProblems(records: readonly string[]): string[] {
  const texts: string[] = []
  if (records.length > MAX_RECORDS) texts.push(`Ensure this field has no more than ${MAX_RECORDS} elements.`)
  const size = characters(JSON.stringify(records))
  if (size > MAX_RECORDS_JSON) {
    texts.push(
      `Ensure this field has no more than ${MAX_RECORDS_JSON} characters after JSON encoding (it has ${size}).`,
    )
  }
  return texts
}

/** What the first failing of layers 6 to 9 of contract §8.5 says about a whole RRset. */
export function rrsetProblems(rrset: ParsedRRset): RRsetProblems | undefined {
  const { rdata } = rrset
  if (new Set(rdata.map(({ key }) => key)).size < rdata.length) {
    return { texts: ['Duplicate: records must be semantically unique'] }
  }
  const size = sizeProblems(rdata.map(({ text }) => text))
  if (size.length > 0) return { field: 'records', texts: size }
  const excess = messageLength(rrset) - MAX_MESSAGE
  if (excess > 0) return { texts: [`Total length of RRset exceeds limit by ${excess} bytes.`] }
  const rules = ruleProblems(rrset)
  return rules.length > 0 ? { texts: rules } : undefined
}

/** The length of the answer that holds this RRset, unsigned. */
function messageLength({ name, rdata }: ParsedRRset): number {
  return rdata.reduce((sum, { wire }) => sum + ANSWER + wire.length, HEADER + ownerLength(name) + QUESTION)
}

/** The rules of the RRset's type. */
function ruleProblems({ type, apex, rdata }: ParsedRRset): string[] {
  const rules = TYPES.get(type)
  const texts: string[] = []
  if (rules?.single && rdata.length > 1) texts.push(`${type} RRset cannot have multiple records.`)
  if (rules?.apex === 'never' && apex) texts.push(`${type} RRset cannot have empty subname.`)
  if (rules?.apex === 'only' && !apex) texts.push(`${type} RRset must have empty subname.`)
  return texts
}
