import { ownerLength } from './names.ts'
import { characters } from './presentation.ts'
import type { Rdata } from './rdata.ts'
import { TYPES } from './types.ts'

/** The most records of an RRset: a message has room for this number of A records (contract §8.5, layer 8). */
export const MAX_RECORDS = 4091

/** The most characters of an RRset's records as compact JSON (contract §8.4). */
export const MAX_RECORDS_JSON = 64_000

/** The longest DNS message: over TCP its length must fit 16 bits (RFC 1035 §4.2.2). */
const MAX_MESSAGE = 65_535

/** Octets of a message's header, of a question's type and class, and of an answer up to its rdata with a short name. */
const HEADER = 12
const QUESTION = 4
const ANSWER = 12

/** An RRset without its records. */
export interface RRsetHeader {
  type: string
  /** Absolute, in lower case, without escapes. */
  name: string
  apex: boolean
}

/** The problems of an RRset: texts about its field `records`, or about the RRset as a whole. */
export interface RRsetProblems {
  field?: 'records'
  texts: string[]
}

/** Returns the error texts about the size of the field `records` (contract §8.4). */
export function sizeProblems(records: readonly string[]): string[] {
  return sizeTexts(records.length, characters(JSON.stringify(records)))
}

function sizeTexts(count: number, size: number): string[] {
  const texts: string[] = []
  if (count > MAX_RECORDS) texts.push(`Ensure this field has no more than ${MAX_RECORDS} elements.`)
  if (size > MAX_RECORDS_JSON) {
    texts.push(
      `Ensure this field has no more than ${MAX_RECORDS_JSON} characters after JSON encoding (it has ${size}).`,
    )
  }
  return texts
}

/** Returns the problems that the first failing one of layers 6 to 9 of contract §8.5 finds. */
export function rrsetProblems({
  rdata,
  ...header
}: RRsetHeader & { rdata: readonly Rdata[] }): RRsetProblems | undefined {
  const tally = new Tally()
  const isUnique = rdata.every((record) => tally.add(record))
  return isUnique ? tally.problems(header) : { texts: ['Duplicate: records must be semantically unique'] }
}

/** Counts the records of an RRset one by one, for the rules about the whole RRset. */
export class Tally {
  readonly #keys = new Set<string>()
  /** The characters of the records as compact JSON: a bracket, and each record with a comma or the last bracket. */
  #size = 1
  /** The octets of the records on the wire. */
  #octets = 0

  constructor(rdata: readonly Rdata[] = []) {
    for (const record of rdata) this.add(record)
  }

  /** Counts a record. Returns false for a duplicate, which it does not count. */
  add({ key, text, wire }: Rdata): boolean {
    if (this.#keys.size === this.#keys.add(key).size) return false
    this.#size += characters(JSON.stringify(text)) + 1
    this.#octets += wire.length
    return true
  }

  /** Returns the problems that the first failing one of layers 7 to 9 of contract §8.5 finds. */
  problems({ type, name, apex }: RRsetHeader): RRsetProblems | undefined {
    const count = this.#keys.size
    const size = sizeTexts(count, this.#size)
    if (size.length > 0) return { field: 'records', texts: size }
    // An answer with this RRset, without signatures.
    const message = HEADER + ownerLength(name) + QUESTION + count * ANSWER + this.#octets
    if (message > MAX_MESSAGE) {
      return { texts: [`Total length of RRset exceeds limit by ${message - MAX_MESSAGE} bytes.`] }
    }
    const rules = TYPES.get(type)
    const texts: string[] = []
    if (rules?.single && count > 1) texts.push(`${type} RRset cannot have multiple records.`)
    if (rules?.apex === 'never' && apex) texts.push(`${type} RRset cannot have empty subname.`)
    if (rules?.apex === 'only' && !apex) texts.push(`${type} RRset must have empty subname.`)
    return texts.length > 0 ? { texts } : undefined
  }
}
