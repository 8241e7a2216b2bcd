import { Unquoted, Unreadable } from './malformed.ts'

/** One item of a record: a bare word, or the inside of a quoted string; escapes are as written. */
export interface Token {
  raw: string
  quoted: boolean
  /** No blank stands between the item before and this one. */
  joined: boolean
}

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

/** What no record needs: more tokens, signs included, than two for an octet; a token of more than four characters for an octet. */
const MAX_ITEMS = 2 * MAX_RDATA + 100
const MAX_TOKEN = 4 * MAX_RDATA

const WORD_ENDS = ' \t\r\n();"'

/** Takes a text in presentation format apart (RFC 1035 §5.1). Time is linear in the length of the text. */
export class Lexer {
  readonly #text: string
  readonly #isFile: boolean
  #at = 0
  /** Where the last token ended. */
  #ended = -1
  /** The number of the line that it has come to, from 1. */
  line = 1

  /**
   * @param isFile there may be comments, and lines
   * @throws Unreadable
   */
  constructor(text: string, isFile: boolean) {
    if (text.includes('\0')) throw new Unreadable('Null characters are not allowed.')
    // Encoding a lone surrogate as UTF-8 would silently put U+FFFD in its place.
    if (!text.isWellFormed()) throw new Unreadable('Surrogate characters are not allowed.')
    this.#text = text
    this.#isFile = isFile
  }

  /**
   * The next logical line, which may be empty; undefined behind the last one.
   * @throws Unreadable, about what is on `line`
   */
  next(): LogicalLine | undefined {
    if (this.#at > this.#text.length) return undefined
    const line: LogicalLine = { tokens: [], number: this.line, indented: /[ \t]/.test(this.#text.charAt(this.#at)) }
    /** The lines of the parentheses that are open. */
    const open: number[] = []
    for (let items = 0; items < MAX_ITEMS; items++) {
      const item = this.#item()
      if (typeof item !== 'string') line.tokens.push(item)
      else if (item === '(') open.push(this.line)
      else if (item === ')') {
        if (open.pop() === undefined) throw new Unquoted('unbalanced parentheses')
      } else if (open.length === 0) return line
      else if (item === '') {
        this.line = open[0]!
        throw new Unquoted('unbalanced parentheses')
      }
    }
    this.line = line.number
    throw new Unreadable(`the record is longer than ${MAX_RDATA} octets`)
  }

  /** A token, or what stands between them and means something: a parenthesis, a line break; '' at the end. */
  #item(): Token | string {
    this.#skip(/[^ \t\r]/g)
    const text = this.#text
    if (text[this.#at] === ';') {
      if (!this.#isFile) throw new Unquoted('";" must be quoted, comments are not allowed')
      this.#skip(/\n/g)
    }
    const char = text.charAt(this.#at)
    if (char === '\n') {
      if (!this.#isFile) throw new Unquoted('unexpected line break')
      this.line++
    }
    if ('\n()'.includes(char)) {
      this.#at++
      return char
    }
    const quoted = char === '"'
    const start = quoted ? this.#at + 1 : this.#at
    const end = scan(text, start, quoted ? '"\n' : WORD_ENDS)
    if (end - start > MAX_TOKEN) throw new Unreadable(`the record is longer than ${MAX_RDATA} octets`)
    if (quoted && text[end] === '\n') throw new Unquoted('unexpected line break')
    if (quoted && end === text.length) throw new Unreadable('Text input ended unexpectedly.')
    const joined = this.#at === this.#ended
    this.#at = this.#ended = quoted ? end + 1 : end
    const raw = text.slice(start, end)
    // A line break may be escaped.
    this.line += raw.split('\n').length - 1
    return { raw, quoted, joined }
  }

  /** Goes on to what `end` finds, or to the end of the text. */
  #skip(end: RegExp): void {
    end.lastIndex = this.#at
    this.#at = end.test(this.#text) ? end.lastIndex - 1 : this.#text.length
  }
}

/** The tokens of one record. Balanced parentheses count as blanks; comments and line breaks are refused: Unreadable. */
export function lexRecord(text: string): Token[] {
  return new Lexer(text, false).next()!.tokens
}

/** The position of the first unescaped character out of `ends`, or the end of the text, or one too far for a token. */
function scan(text: string, start: number, ends: string): number {
  const last = Math.min(text.length, start + MAX_TOKEN + 1)
  let at = start
  while (at < last && !ends.includes(text.charAt(at))) at += text[at] === '\\' ? 2 : 1
  return Math.min(at, text.length)
}

/** How many characters a well-formed text has: what is no part of the basic plane takes two units, and counts once. */
export function characters(text: string): number {
  let count = text.length
  for (let i = 0; i < text.length; i++) if ((text.charCodeAt(i) & 0xfc00) === 0xdc00) count--
  return count
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

/** Writes octets as a bare word. */
export function bare(octets: string): string {
  return escape(octets, /["();\\]|[^\x21-\x7e]/g)
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
