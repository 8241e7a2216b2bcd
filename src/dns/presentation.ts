import { Unquoted, Unreadable } from './malformed.ts'
import { utf8 } from './octets.ts'

/** One item of a record: a bare word, or the inside of a quoted string; escapes are as written. */
export interface Token {
  raw: string
  quoted: boolean
  /** True if no blank separates it from the item before. */
  joined: boolean
}

/** One line, or several lines that parentheses join. */
export interface LogicalLine {
  tokens: Token[]
  /** The number of its first line, from 1. */
  number: number
  /** True if the line begins with a blank. */
  indented: boolean
}

/**
 * The longest rdata, in octets. Its length has 16 bits (RFC 1035 §3.2.1), but PowerDNS before 5.0 crashes on records of
 * nearly 65,535 octets.
 */
export const MAX_RDATA = 64_000

/** No record needs more items (tokens, parentheses, line breaks) than two for an octet, or characters than four. */
const MAX_ITEMS = 2 * MAX_RDATA + 100
const MAX_TOKEN = 4 * MAX_RDATA

const WORD_ENDS = ' \t\r\n();"'
const NOT_BLANK = /[^ \t\r]/g
const LINE_BREAK = /\n/g

/** Splits a text in presentation format into tokens (RFC 1035 §5.1), in time linear in its length. */
export class Lexer {
  readonly #text: string
  readonly #isFile: boolean
  #at = 0
  /** The position at which the last token ended. */
  #ended = -1
  /** The lines of the open parentheses. */
  #open: number[] = []
  /** The number of the current line, from 1. */
  line = 1
  /** The line that the last error is about, if it is not the current one. */
  blamed: number | undefined

  /**
   * @param isFile comments and several lines are allowed
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
   * Returns the next logical line, which may be empty; undefined after the last one.
   * @throws Unreadable about something on `blamed` or else on `line`; then `recover` can go on
   */
  next(): LogicalLine | undefined {
    if (this.#at > this.#text.length) return undefined
    const line: LogicalLine = { tokens: [], number: this.line, indented: /[ \t]/.test(this.#text.charAt(this.#at)) }
    const open: number[] = []
    this.#open = open
    for (let items = 0; items < MAX_ITEMS; items++) {
      const item = this.#item()
      if (typeof item !== 'string') line.tokens.push(item)
      else if (item === '(') open.push(this.line)
      else if (item === ')') {
        if (open.pop() === undefined) throw new Unquoted('unbalanced parentheses')
      } else if (open.length === 0) return line
      else if (item === '') {
        this.blamed = open[0]!
        throw new Unquoted('unbalanced parentheses')
      }
    }
    this.blamed = line.number
    throw new Unreadable(`the record is longer than ${MAX_RDATA} octets`)
  }

  /** Goes on after an error: with the line after it, or after the parentheses that were open there; else at the end. */
  recover(): void {
    this.blamed = undefined
    this.#endLine()
    for (let items = 0; this.#open.length > 0; items++) {
      try {
        const item = this.#item()
        if (item === '' || items > MAX_ITEMS) this.#at = this.#text.length + 1
        if (item === '(') this.#open.push(this.line)
        else if (item === ')' && this.#open.pop() !== undefined && this.#open.length === 0) this.#endLine()
      } catch {
        this.#at = this.#text.length + 1
      }
      if (this.#at > this.#text.length) return
    }
  }

  #endLine(): void {
    this.#skip(LINE_BREAK)
    this.#at++
    this.line++
  }

  /** Returns the next token, parenthesis or line break; '' at the end. */
  #item(): Token | string {
    this.#skip(NOT_BLANK)
    const text = this.#text
    if (text[this.#at] === ';') {
      if (!this.#isFile) throw new Unquoted('";" must be quoted, comments are not allowed')
      this.#skip(LINE_BREAK)
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
    // A line break can be escaped.
    for (let at = raw.indexOf('\n'); at !== -1; at = raw.indexOf('\n', at + 1)) this.line++
    return { raw, quoted, joined }
  }

  /** Skips to the next match of `end`, or to the end of the text. */
  #skip(end: RegExp): void {
    end.lastIndex = this.#at
    this.#at = end.test(this.#text) ? end.lastIndex - 1 : this.#text.length
  }
}

/** Splits a record into tokens. Balanced parentheses count as blanks. @throws Unreadable, also for comments, lines */
export function lexRecord(text: string): Token[] {
  return new Lexer(text, false).next()!.tokens
}

/** Finds the first unescaped character of `ends`, the end of the text, or a position beyond the longest token. */
function scan(text: string, start: number, ends: string): number {
  const last = Math.min(text.length, start + MAX_TOKEN + 1)
  let at = start
  while (at < last && !ends.includes(text.charAt(at))) at += text[at] === '\\' ? 2 : 1
  return Math.min(at, text.length)
}

/** Returns the number of characters (code points) of a well-formed text. */
export function characters(text: string): number {
  let count = text.length
  for (let i = 0; i < text.length; i++) if ((text.charCodeAt(i) & 0xfc00) === 0xdc00) count--
  return count
}

/** Returns the octets of a token's text, one character each: UTF-8, with `\DDD` and `\X` resolved. */
export function unescape(raw: string): string {
  if (/^[^\\\u0080-\uffff]*$/.test(raw)) return raw
  return utf8(raw).replace(/\\([0-9]{3}|[^0-9])?/g, (_, escaped?: string) => {
    if (escaped?.length === 1) return escaped
    if (escaped === undefined || Number(escaped) > 255) throw new Unreadable('Text input is malformed.')
    return String.fromCharCode(Number(escaped))
  })
}

/** Writes the matches of `pattern` as `\X` if they are printable and not blank, otherwise as `\DDD`. */
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

/** Returns the text of a bare word, escapes as written. */
export function rawWord(token: Token | undefined): string {
  if (!token || token.quoted) throw new Unreadable('expecting an identifier')
  return token.raw
}

/** Returns the octets of a bare word. */
export function word(token: Token | undefined): string {
  return unescape(rawWord(token))
}

/** Returns the octets of a bare word or a quoted string. */
export function string(token: Token | undefined): string {
  if (!token) throw new Unreadable('expecting a string')
  return unescape(token.raw)
}
