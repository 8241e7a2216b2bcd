import { Unquoted, Unreadable } from './malformed.ts'

/** One item of a record: a bare word, or the inside of a quoted string; escapes are as written. */
export interface Token {
  raw: string
  quoted: boolean
  /** No blank stands between the item before and this one. */
  joined: boolean
}

const BLANKS = ' \t\r'
const WORD_ENDS = BLANKS + '\n"();'

/**
 * The tokens of one record (RFC 1035 §5.1). Balanced parentheses count as blanks; comments and line breaks, which
 * only a zone file has, are refused. Time is linear in the length of the text.
 */
export function lexRecord(text: string): Token[] {
  if (text.includes('\0')) throw new Unreadable('Null characters are not allowed.')
  // Encoding a lone surrogate as UTF-8 would silently put U+FFFD in its place.
  if (!text.isWellFormed()) throw new Unreadable('Surrogate characters are not allowed.')
  const tokens: Token[] = []
  let depth = 0
  let at = 0
  let ended = -1
  while (at < text.length) {
    const char = text.charAt(at)
    if (BLANKS.includes(char)) at++
    else if (char === '\n') throw new Unquoted('unexpected line break')
    else if (char === ';') throw new Unquoted('";" must be quoted, comments are not allowed')
    else if (char === '(') {
      depth++
      at++
    } else if (char === ')') {
      if (--depth < 0) throw new Unquoted('unbalanced parentheses')
      at++
    } else {
      const quoted = char === '"'
      const start = quoted ? at + 1 : at
      const end = scan(text, start, quoted ? '"\n' : WORD_ENDS)
      if (quoted && text[end] === '\n') throw new Unquoted('unexpected line break')
      if (quoted && end === text.length) throw new Unreadable('Text input ended unexpectedly.')
      tokens.push({ raw: text.slice(start, end), quoted, joined: at === ended })
      at = ended = quoted ? end + 1 : end
    }
  }
  if (depth > 0) throw new Unquoted('unbalanced parentheses')
  return tokens
}

/** The position of the first unescaped character out of `ends`, or the end of the text. */
function scan(text: string, at: number, ends: string): number {
  while (at < text.length && !ends.includes(text.charAt(at))) at += text[at] === '\\' ? 2 : 1
  return Math.min(at, text.length)
}

/** The octets, one character each, that a token's text stands for: UTF-8, with `\DDD` and `\X` resolved. */
export function unescape(raw: string): string {
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
