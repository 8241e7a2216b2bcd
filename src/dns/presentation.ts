import { BadLine, Malformed, Unquoted, Unreadable } from './malformed.ts'

/** One item of a record: a bare word, or the inside of a quoted string; escapes are as written. */
export interface Token {
  raw: string
  quoted: boolean
  /** No blank stands between the item before and this one. */
  joined: boolean
}

/** What stands between tokens and means something: parentheses, a line break, the beginning of a comment. */
type Sign = '(' | ')' | '\n' | ';'

/** What is written on one line, or on several of them that parentheses make one. */
export interface LogicalLine {
  tokens: Token[]
  /** Where it begins, from 1. */
  number: number
  /** It begins with a blank. */
  indented: boolean
}

/**
 * The longest rdata. 16 bits count its octets (RFC 1035 §3.2.1), but PowerDNS before 5.0 dies of records that come near
 * to what they can count.
 */
export const MAX_RDATA = 64_000

/** What no record needs: more tokens, signs included, than two for an octet; a token longer than four for an octet. */
const MAX_ITEMS = 2 * MAX_RDATA + 100
const MAX_TOKEN = 4 * MAX_RDATA

const BLANKS = ' \t\r'
const SIGNS = '\n();'
const WORD_ENDS = BLANKS + SIGNS + '"'

/** Takes a text in presentation format apart (RFC 1035 §5.1). Time is linear in the length of the text. */
class Scanner {
  readonly #text: string
  #at = 0
  /** Where the last token ended. */
  #ended = -1

  constructor(text: string) {
    if (text.includes('\0')) throw new Unreadable('Null characters are not allowed.')
    // Encoding a lone surrogate as UTF-8 would silently put U+FFFD in its place.
    if (!text.isWellFormed()) throw new Unreadable('Surrogate characters are not allowed.')
    this.#text = text
  }

  /** Whether a blank is next. */
  get isAtBlank(): boolean {
    return this.#at < this.#text.length && ' \t'.includes(this.#text.charAt(this.#at))
  }

  /** The next token or sign; undefined at the end. */
  next(): Token | Sign | undefined {
    const text = this.#text
    while (this.#at < text.length && BLANKS.includes(text.charAt(this.#at))) this.#at++
    if (this.#at === text.length) return undefined
    const char = text.charAt(this.#at)
    if (SIGNS.includes(char)) {
      this.#at++
      return char as Sign
    }
    const quoted = char === '"'
    const start = quoted ? this.#at + 1 : this.#at
    const end = scan(text, start, quoted ? '"\n' : WORD_ENDS)
    if (end - start > MAX_TOKEN) throw new Unreadable(`the record is longer than ${MAX_RDATA} octets`)
    if (quoted && text[end] === '\n') throw new Unquoted('unexpected line break')
    if (quoted && end === text.length) throw new Unreadable('Text input ended unexpectedly.')
    const joined = this.#at === this.#ended
    this.#at = this.#ended = quoted ? end + 1 : end
    return { raw: text.slice(start, end), quoted, joined }
  }

  /** Goes to the end of the line. */
  skipLine(): void {
    const end = this.#text.indexOf('\n', this.#at)
    this.#at = end === -1 ? this.#text.length : end
  }
}

/**
 * The tokens of one record. Balanced parentheses count as blanks; comments and line breaks, which only a zone file has,
 * are refused.
 */
export function lexRecord(text: string): Token[] {
  const scanner = new Scanner(text)
  const tokens: Token[] = []
  let depth = 0
  for (let item = scanner.next(); item !== undefined; item = scanner.next()) {
    if (item === '\n') throw new Unquoted('unexpected line break')
    else if (item === ';') throw new Unquoted('";" must be quoted, comments are not allowed')
    else if (item === '(') depth++
    else if (item === ')') {
      if (--depth < 0) throw new Unquoted('unbalanced parentheses')
    } else tokens.push(item)
  }
  if (depth > 0) throw new Unquoted('unbalanced parentheses')
  return tokens
}

/** The lines of a zone file, one after the other, empty ones included. @throws Unreadable, BadLine */
export function* lexLines(text: string): Generator<LogicalLine, void> {
  const scanner = new Scanner(text)
  for (let number = 1, item: ReturnType<Scanner['next']>; ; number++) {
    const line: LogicalLine = { tokens: [], number, indented: scanner.isAtBlank }
    let items = 0
    let depth = 0
    /** Where the outermost of the open parentheses is. */
    let opened = number
    for (;;) {
      item = inLine(number, () => scanner.next())
      if (item === undefined || (item === '\n' && depth === 0)) break
      if (++items > MAX_ITEMS) throw new BadLine(line.number)
      if (item === ';') scanner.skipLine()
      else if (item === '\n') number++
      else if (item === '(') {
        if (depth++ === 0) opened = number
      } else if (item === ')') {
        if (--depth < 0) throw new BadLine(number)
      } else {
        line.tokens.push(item)
        // A line break may be escaped.
        if (item.raw.includes('\n')) number += item.raw.split('\n').length - 1
      }
    }
    if (depth > 0) throw new BadLine(opened)
    yield line
    if (item === undefined) return
  }
}

/** Runs `work`; what it cannot read is in this line. */
export function inLine<T>(number: number, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (error instanceof Unreadable || error instanceof Malformed) throw new BadLine(number, { cause: error })
    throw error
  }
}

/** The position of the first unescaped character out of `ends`, or the end of the text, or one too far for a token. */
function scan(text: string, start: number, ends: string): number {
  const last = Math.min(text.length, start + MAX_TOKEN + 1)
  let at = start
  while (at < last && !ends.includes(text.charAt(at))) at += text[at] === '\\' ? 2 : 1
  return Math.min(at, text.length)
}

/** The octets, one character each, that a token's text stands for: UTF-8, with `\DDD` and `\X` resolved. */
export function unescape(raw: string): string {
  if (/^[^\\\u0080-\uffff]*$/.test(raw)) return raw
  const octets = Buffer.from(raw, 'utf8').toString('latin1')
  return octets.replace(/\\([0-9]{3}|[^0-9])?/g, (_, escaped?: string) => {
    if (escaped?.length === 1) return escaped
    if (escaped === undefined || Number(escaped) > 255) throw new Unreadable('Text input is malformed.')
    return String.fromCharCode(Number(escaped))
  })
}

/** Writes what `pattern` finds in `octets` as `\X` if it is printable and no blank, else as `\DDD`. */
export function escape(octets: string, pattern: RegExp): string {
  return octets.replace(pattern, (octet) =>
    octet > ' ' && octet < '\x7f' ? `\\${octet}` : `\\${String(octet.charCodeAt(0)).padStart(3, '0')}`,
  )
}

/** Writes octets as a quoted string. */
export function quote(octets: string): string {
  return `"${escape(octets, /["\\]|[^\x20-\x7e]/g)}"`
}

/** The text of a bare word, escapes as written. */
export function rawWord(token: Token | undefined): string {
  if (!token || token.quoted) throw new Unreadable('expecting an identifier')
  return token.raw
}

/** The octets of a bare word. */
export function word(token: Token | undefined): string {
  return unescape(rawWord(token))
}

/** The octets of a bare word or a quoted string. */
export function string(token: Token | undefined): string {
  if (!token) throw new Unreadable('expecting a string')
  return unescape(token.raw)
}
