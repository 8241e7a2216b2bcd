import { nameOf, withoutDot } from './names.ts'

/** An RRset of a zone file, without duplicates. */
export interface ZoneFileRRset {
  subname: string
  type: string
  /** The lowest TTL of its records; undefined if the file specifies none. */
  ttl: number | undefined
  /** The canonical texts. */
  records: string[]
  /** The error texts of the rules of the API that it breaks; then records may be missing. */
  problems: readonly string[]
  /** The line of its first problem, or else of its first record. */
  line: number
}

/** What is wrong with a zone file. */
export interface ZoneProblem {
  /** Undefined if it is about the text as a whole. */
  line: number | undefined
  /** The whole text for the user (contract §7.7). */
  text: string
  /** The name that it is about, if the text does not say it. */
  subname?: string
}

/** The most problems of a zone file that are told (contract §7.7). */
export const MAX_ZONE_PROBLEMS = 100

/** The service cannot import the zone file; the message is the text of one problem. */
export class ZoneFileError extends Error {
  /** All problems that were found, in the order of their lines: more than MAX_ZONE_PROBLEMS if there may be others. */
  readonly problems: ZoneProblem[]

  constructor(message: string, problems: ZoneProblem[] = [{ line: undefined, text: message }]) {
    super(message)
    this.problems = problems
  }
}

/** The problems of the RRsets of a zone file, each in the words of the service (contract §7.7). */
export function problemsIn(rrsets: readonly ZoneFileRRset[], domain: string): ZoneProblem[] {
  return rrsets.flatMap(({ subname, type, line, problems }) => {
    const name = withoutDot(nameOf({ name: domain }, subname))
    return problems.map((problem) => ({ line, text: `${name}/${type}: ${problem}` }))
  })
}
