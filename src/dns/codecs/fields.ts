import { parseIPv4, parseIPv6, printIPv4, printIPv6 } from '../addresses.ts'
import { Refused, Unreadable } from '../malformed.ts'
import { lowerCase, parseName, printName, takeName } from '../names.ts'
import {
  counted, decodeUint, encodeUint, fromBase64, fromHex, split, take, takeCounted, toBase64, toHex,
} from '../octets.ts' // prettier-ignore
import { bare, quote, rawWord, string, type Token, word } from '../presentation.ts'

/** The codec of one field of a record. Wire form is a string with one character per octet. */
export interface Field {
  /** Marks a field that reads all remaining tokens; other fields read one. */
  rest?: true
  /** Marks a name, which may be relative in a zone file. */
  isName?: true
  /** Reads presentation form into wire form. */
  read(tokens: Token[]): string
  /** Returns the octets of this field at the beginning of `wire`; without this method, all of them are the field's. */
  take?(wire: string): string
  /**
   * Prints the canonical presentation form. For octets that `read` never produces, any text will do: the caller reads
   * the text again and compares.
   * @throws Unreadable
   */
  print: (octets: string) => string
  /** Removes differences that do not count when records are compared (RFC 4034 §6.2). */
  fold?(octets: string): string
}

/** Returns the codec of an unsigned decimal number, or of one of `mnemonics` (upper case). It prints numbers. */
export function uint(size: 1 | 2 | 4, mnemonics?: ReadonlyMap<string, number>): Field {
  const bits = 8 * size
  return {
    read([token]) {
      const text = word(token)
      return encodeUint(mnemonics?.get(text.toUpperCase()) ?? decimal(text, bits), size)
    },
    take: (wire) => take(wire, size),
    print: (octets) => String(decodeUint(octets)),
  }
}

/** Numbers of 8, 16 and 32 bits. */
export const [u8, u16, u32] = [uint(1), uint(2), uint(4)]

/** Reads an unsigned decimal number of at most `bits` bits; leading zeros do not matter. */
export function decimal(text: string, bits: number): number {
  if (!/^[0-9]+$/.test(text)) throw new Unreadable('expecting an integer')
  const value = Number(text)
  if (value < 2 ** bits) return value
  throw new Unreadable(`${text.replace(/^0+/, '')} is not an unsigned ${bits}-bit integer`)
}

/** An IPv4 address (RFC 1035 §3.4.1). */
export const ipv4: Field = {
  read: ([token]) => parseIPv4(word(token)),
  take: (wire) => take(wire, 4),
  print: printIPv4,
}

/** An IPv6 address (RFC 3596 §2.2). */
export const ipv6: Field = {
  read: ([token]) => parseIPv6(word(token)),
  take: (wire) => take(wire, 16),
  print: printIPv6,
}

const HOST = /^([A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?\.)+$/
const HOST_OR_ROOT = new RegExp(`^\\.$|${HOST.source}`)

/** Returns the codec of a name whose printed form matches `alphabet`; `role` names the field in the error text. */
function nameField(alphabet = /^/, role = 'name'): Field {
  return {
    isName: true,
    read([token]) {
      const wire = parseName(rawWord(token))
      const text = printName(wire)
      if (!alphabet.test(text)) throw new Refused(`Cannot parse record contents: invalid ${role}: ${text}`)
      return wire
    },
    take: takeName,
    print: printName,
    fold: lowerCase,
  }
}

/** A name of any octets (RFC 2181 §11). */
export const name = nameField()

/**
 * A name in a type newer than RFC 4034, in lower case. Its case counts in signatures (RFC 6840 §5.1), but PowerDNS
 * signs it in lower case and serves it as written. So validators reject any other case.
 */
export const lowerName: Field = { ...name, read: (tokens) => lowerCase(name.read(tokens)) }

/** A name of letters, digits, `_`, `-` and `*`, or the root (contract §9.4): the target of a CNAME. */
export const alias = nameField(/^\.$|^([A-Za-z0-9_*-]+\.)+$/, 'target')

/** A host name (RFC 1123 §2.1). */
export const host = nameField(HOST, 'target')

/** A host name, or the root, which means that no such host exists (RFC 7505, RFC 2782). */
export const exchange = nameField(HOST_OR_ROOT, 'exchange')
export const target = nameField(HOST_OR_ROOT, 'target')

/** One character-string (RFC 1035 §3.3). */
export const characterString: Field = {
  read([token]) {
    const octets = string(token)
    if (octets.length > 255) throw new Unreadable('the string is longer than 255 octets')
    return counted(octets)
  },
  take: takeCounted,
  print: (octets) => quote(octets.slice(1)),
}

/** `delim ere delim repl delim flags`; a backslash makes a delimiter part of `ere` or `repl`. */
const SUBSTITUTION = /^([^0-9i\\])(?:(?!\1)(?:\\[^]|[^\\]))+\1(?:(?!\1)(?:\\[^]|[^\\]))*\1i*$/

/** An empty character-string, or a substitution expression (RFC 3402 §3.2), whose regular expression is not parsed. */
export const substitution: Field = {
  ...characterString,
  read(tokens) {
    const octets = characterString.read(tokens)
    if (octets.length > 1 && !SUBSTITUTION.test(octets.slice(1))) {
      throw new Unreadable('the third string is neither empty nor like "!expression!replacement!"')
    }
    return octets
  },
}

/** One or more character-strings (RFC 1035 §3.3.14); longer ones are split into pieces of 255 octets. */
export const strings: Field = {
  rest: true,
  read(tokens) {
    if (tokens.length === 0) throw new Unreadable('expecting a string')
    const pieces = tokens.flatMap((token) => string(token).match(/[^]{1,255}/g) ?? [''])
    return pieces.map(counted).join('')
  },
  print: (octets) => split(octets, takeCounted).map(characterString.print).join(' '),
}

/** The rest of the record as one string without length octet. PowerDNS 4.7 crashes on an empty CAA value. */
export const text: Field = {
  read([token]) {
    const octets = string(token)
    if (octets === '') throw new Unreadable('the value is empty')
    return octets
  },
  print: quote,
}

/** The property tag of CAA (RFC 8659 §4.1); its case is kept. */
export const caaTag: Field = {
  read([token]) {
    const tag = string(token)
    if (!/^[A-Za-z0-9]{1,255}$/.test(tag)) throw new Unreadable('the tag is not 1 to 255 letters and digits')
    return counted(tag)
  },
  take: takeCounted,
  print: (octets) => bare(octets.slice(1)),
}

/** The rest of the record, in hex. */
export const hex: Field = { rest: true, read: (tokens) => fromHex(digits(tokens)), print: toHex }

/** The rest of the record, in base64. */
export const base64: Field = { rest: true, read: (tokens) => fromBase64(digits(tokens)), print: toBase64 }

/** Joins digits that blanks may separate. */
function digits(tokens: Token[]): string {
  if (tokens.length === 0) throw new Unreadable('expecting another identifier')
  return tokens.map(word).join('')
}

/** Returns the codec of `count` groups of `size` hex digits, with `separator` between them. */
export function groups(count: number, size: 2 | 4, separator: '-' | ':'): Field {
  const group = `[0-9a-f]{${size}}`
  const pattern = new RegExp(`^${group}(${separator}${group}){${count - 1}}$`, 'i')
  return {
    read([token]) {
      const text = word(token)
      if (!pattern.test(text)) {
        throw new Unreadable(`expecting ${count} groups of ${size} hex digits, separated by "${separator}"`)
      }
      return fromHex(text.replaceAll(separator, ''))
    },
    take: (wire) => take(wire, (count * size) / 2),
    print: (octets) => toHex(octets).match(new RegExp(group, 'g'))!.join(separator),
  }
}
