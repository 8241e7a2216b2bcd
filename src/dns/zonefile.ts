import { Malformed, Refused, Unreadable } from './malformed.ts'
import {
  absolute,
  isSubname,
  lowerCase,
  nameOf,
  parseName,
  printName,
  qualified,
  relative,
  ROOT,
  SUBNAME_RULE,
} from './names.ts'
import { detached } from './octets.ts'
import { Lexer, type LogicalLine, rawWord, type Token, word } from './presentation.ts'
import { parseRdata, readRdata } from './rdata.ts'
import { type RRsetHeader, Tally } from './rrset.ts'
import { AUTOMATIC_TYPES, isType, typeProblems, TYPES } from './types.ts'
import { MAX_ZONE_PROBLEMS, problemsIn, ZoneFileError, type ZoneFileRRset, type ZoneProblem } from './zone-problems.ts'

/** The most records of a zone file: a larger one would need more memory than a request may use. */
const MAX_ZONE_RECORDS = 250_000

/** The longest TTL that can be read, in seconds: it has 32 bits. */
const MAX_TTL = 2 ** 32 - 1

const SECONDS: Record<string, number> = { w: 604_800, d: 86_400, h: 3_600, m: 60, s: 1 }

/** Types of a zone's own keys, which an import ignores and an export omits (contract §7.7, §7.8). */
export const KEY_TYPES: ReadonlySet<string> = new Set(['DNSKEY', 'CDS', 'CDNSKEY'])

/** One array for all RRsets without problems: most have none, and their number may be large. */
const NONE: readonly string[] = []

/**
 * Reads a zone file (RFC 1035 §5, RFC 2308 §4) for a domain, which is its first origin. Omits records outside of the
 * domain, and those that only the service writes. Yields after every line, so that other work can run in between.
 * Returns the RRsets in the order of their first records. Goes on after mistakes, to tell all of them.
 * @param domain without final dot
 * @param options.apexNs true to read the NS RRset at the apex, which otherwise the service writes
 * @throws ZoneFileError
 */
export function* readZoneFile(
  text: string,
  domain: string,
  { apexNs } = { apexNs: false },
): Generator<undefined, ZoneFileRRset[]> {
  const reader = new Reader(domain, apexNs)
  const lexer = lexerOf(text)
  while (reader.reads(lexer)) yield
  return yield* reader.finish()
}

/** @throws ZoneFileError */
function lexerOf(text: string): Lexer {
  try {
    return new Lexer(text.replace(/^\ufeff/, ''), true)
  } catch (error) {
    throw error instanceof Unreadable ? new ZoneFileError(`Could not parse zonefile: ${error.message}`) : error
  }
}

/** The state of reading a zone file from top to bottom. */
class Reader {
  readonly #domain: string
  readonly #apexNs: boolean
  /** The domain's name in wire form. */
  readonly #apex: string
  #origin: string
  /** The subname of the last record; undefined if it is outside of the domain. */
  #owner: string | undefined = ''
  #defaultTtl: number | undefined
  #lastTtl: number | undefined
  #records = 0
  /** What makes the file unreadable. */
  readonly #mistakes: ZoneProblem[] = []
  readonly #rrsets: ZoneFileRRset[] = []
  /** The RRsets by type and subname. */
  readonly #byType = new Map<string, Map<string, ZoneFileRRset>>()
  /** Only for RRsets with several records or a problem: a tally needs more memory than an RRset of one record. */
  readonly #tallies = new Map<ZoneFileRRset, Tally>()

  constructor(domain: string, apexNs: boolean) {
    this.#domain = domain
    this.#apexNs = apexNs
    this.#origin = absolute(domain)
    this.#apex = parseName(this.#origin)
  }

  /** Reads the next logical line, and notes what is wrong with it. @returns whether others may follow */
  reads(lexer: Lexer): boolean {
    let line: LogicalLine | undefined
    try {
      line = lexer.next()
      return line !== undefined && this.#read(line)
    } catch (error) {
      if (!(error instanceof Unreadable || error instanceof Malformed)) throw error
      const number = line?.number ?? lexer.blamed ?? lexer.line
      const text = `Zonefile contains syntax error in line ${number}. Reason: ${error.message}`
      this.#mistakes.push({ line: number, text })
      if (line === undefined) {
        lexer.recover()
        // Who owns the next records is not known.
        this.#owner = undefined
      }
      // What is relative to an origin cannot be told without it.
      return this.#mistakes.length <= MAX_ZONE_PROBLEMS && !isOrigin(line)
    }
  }

  /** @returns whether others may follow */
  #read({ tokens, indented, number }: LogicalLine): boolean {
    const [first] = tokens
    if (first === undefined) return true
    if (!indented && !first.quoted && first.raw.startsWith('$')) this.#obey(tokens)
    else {
      if (!indented) {
        this.#owner = undefined
        this.#owner = this.#subnameOf(parseName(qualified(rawWord(first), this.#origin)))
      }
      if (this.#owner !== undefined) this.#add(this.#owner, tokens.slice(indented ? 0 : 1), number)
    }
    return this.#mistakes.length <= MAX_ZONE_PROBLEMS && this.#records <= MAX_ZONE_RECORDS
  }

  /** Carries out a directive. */
  #obey([directive, value, surplus]: Token[]): void {
    const name = word(directive).toUpperCase()
    if (!['$TTL', '$ORIGIN'].includes(name)) throw new Unreadable('only the directives $TTL and $ORIGIN are allowed')
    if (surplus !== undefined) throw new Unreadable('expected end of line')
    if (name === '$TTL') this.#defaultTtl = readTtl(word(value))
    else {
      this.#origin = qualified(rawWord(value), this.#origin)
      parseName(this.#origin)
    }
  }

  #add(subname: string, tokens: Token[], line: number): void {
    const { ttl, type, content } = this.#take(tokens)
    if (type === 'SOA') this.#readSoa(subname, content, line)
    if (this.#isOurs(subname, type)) return
    if (++this.#records > MAX_ZONE_RECORDS) {
      const text = `Could not parse zonefile: it has more than ${MAX_ZONE_RECORDS} records`
      this.#mistakes.push({ line: undefined, text })
      return
    }
    if (!isSubname(subname)) {
      this.#mistakes.push({ line, text: `Could not parse zonefile: line ${line}: ${SUBNAME_RULE}` })
      return
    }
    const rrset = this.#rrsetAt(subname, type, line)
    if (ttl !== undefined && ttl < (rrset.ttl ?? Infinity)) rrset.ttl = ttl
    if (TYPES.has(type)) this.#addRecord(rrset, content, line)
  }

  /** Reports whether the import ignores this type at this subname, because the service writes it (contract §7.7). */
  #isOurs(subname: string, type: string): boolean {
    return AUTOMATIC_TYPES.has(type) || KEY_TYPES.has(type) || (type === 'NS' && subname === '' && !this.#apexNs)
  }

  /** Reads only the last field of a SOA record: it is the default TTL if the file has no $TTL (RFC 2308 §4). */
  #readSoa(subname: string, content: Token[], line: number): void {
    if (subname !== '') {
      const text = `Zonefile includes an SOA record for a name different from ${this.#domain}.`
      this.#mistakes.push({ line, text })
      return
    }
    const minimum = readTtl(word(content[6]))
    this.#defaultTtl ??= minimum
  }

  #rrsetAt(subname: string, type: string, line: number): ZoneFileRRset {
    const ofType = this.#byType.get(type) ?? new Map<string, ZoneFileRRset>()
    this.#byType.set(type, ofType)
    const present = ofType.get(subname)
    if (present !== undefined) return present
    const problems = TYPES.has(type) ? NONE : typeProblems(type)
    const rrset = { subname: detached(subname), type, ttl: undefined, records: [], problems, line }
    ofType.set(rrset.subname, rrset)
    this.#rrsets.push(rrset)
    return rrset
  }

  /** Reads a record into its RRset. */
  #addRecord(rrset: ZoneFileRRset, content: Token[], line: number): void {
    const { type, records, problems } = rrset
    try {
      const rdata = readRdata(type, content, this.#origin)
      if (problems.length > 0) return
      const tally = this.#tallies.get(rrset) ?? new Tally(records.map((text) => parseRdata(type, text)))
      const isNew = tally.add(rdata)
      // An array that has grown has room for many more.
      if (records.length === 0) rrset.records = [detached(rdata.text)]
      else if (isNew) records.push(detached(rdata.text))
      if (records.length > 1 || tally.problems(this.#headerOf(rrset)) !== undefined) this.#tallies.set(rrset, tally)
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      // Only the first problem is reported (contract §8.5, layer 5).
      if (problems.length === 0) Object.assign(rrset, { problems: [error.message], line })
    }
  }

  /** Splits a record into its TTL, type and content. TTL and class may be missing, and have either order. */
  #take(tokens: Token[]): { ttl: number | undefined; type: string; content: Token[] } {
    let explicit: number | undefined
    let hasClass = false
    for (const [i, token] of tokens.entries()) {
      const text = word(token)
      if (explicit === undefined && /^[0-9]/.test(text)) this.#lastTtl = explicit = readTtl(text)
      else if (!hasClass && text.toUpperCase() === 'IN') hasClass = true
      else {
        const type = text.toUpperCase()
        if (!isType(type)) throw new Unreadable(`"${token.raw.slice(0, 20)}" is not a type`)
        return { ttl: explicit ?? this.#defaultTtl ?? this.#lastTtl, type, content: tokens.slice(i + 1) }
      }
    }
    throw new Unreadable('expecting a type')
  }

  /** Returns the subname, in lower case, of an absolute name in wire form; undefined if it is outside of the domain. */
  #subnameOf(wire: string): string | undefined {
    const name = lowerCase(wire)
    for (let at = 0; at < name.length; at += 1 + name.charCodeAt(at)) {
      if (name.slice(at) === this.#apex) return at === 0 ? '' : relative(printName(name.slice(0, at) + ROOT))
    }
    return undefined
  }

  #headerOf({ subname, type }: ZoneFileRRset): RRsetHeader {
    return { type, name: nameOf({ name: this.#domain }, subname), apex: subname === '' }
  }

  /** Checks the rules about whole RRsets and names, and returns all RRsets. @throws ZoneFileError */
  *finish(): Generator<undefined, ZoneFileRRset[]> {
    const aliases = this.#byType.get('CNAME')
    for (const { subname, type, line } of this.#rrsets) {
      // The apex always has SOA and NS.
      if (type === 'CNAME' ? subname === '' : aliases?.has(subname)) {
        const text = 'No other records with the same name are allowed alongside a CNAME record.'
        if (this.#mistakes.length <= MAX_ZONE_PROBLEMS) this.#mistakes.push({ line, text, subname })
      }
      yield
    }
    for (const [rrset, tally] of this.#tallies) {
      if (rrset.problems.length === 0) rrset.problems = tally.problems(this.#headerOf(rrset))?.texts ?? []
      yield
    }
    const [mistake] = this.#mistakes
    if (mistake === undefined) return this.#rrsets
    const problems = this.#mistakes.concat(problemsIn(this.#rrsets, this.#domain))
    problems.sort((a, b) => (a.line ?? 0) - (b.line ?? 0))
    throw new ZoneFileError(mistake.text, problems)
  }
}

function isOrigin(line: LogicalLine | undefined): boolean {
  const [first] = line?.tokens ?? []
  return line?.indented === false && first?.raw.toUpperCase() === '$ORIGIN'
}

/** Prints an RRset as lines of a zone file, one for each record; its name is absolute. */
export function printRRset(rrset: { name: string; ttl: number; type: string; records: string[] }): string {
  const { name, ttl, type, records } = rrset
  return records.map((content) => `${name}\t${ttl}\tIN\t${type}\t${content}\n`).join('')
}

/** Reads a TTL: seconds, or numbers with units such as `1w2d3h4m5s`. */
function readTtl(text: string): number {
  if (!/^([0-9]{1,20}|([0-9]{1,20}[wdhms])+)$/i.test(text)) throw new Unreadable('expecting a TTL')
  let ttl = 0
  for (const [, digits, unit] of text.toLowerCase().matchAll(/([0-9]+)(.?)/g))
    ttl += Number(digits) * SECONDS[unit || 's']!
  if (ttl > MAX_TTL) throw new Unreadable(`the TTL is longer than ${MAX_TTL} seconds`)
  return ttl
}
