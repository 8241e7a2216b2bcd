import { parseIPv4, parseIPv6, printIPv4, printIPv6 } from './addresses.ts'
import { Refused, Unreadable } from './malformed.ts'
import { lowerCase, parseName, printName, printNameForPowerDNS, takeName } from './names.ts'
import { escape, rawWord, string, word, type Token } from './presentation.ts'

/** A kind of field: how it reads and prints. Wire form is a string with one character per octet. */
export interface Field {
  /** It reads all tokens that are left; other fields read one. */
  rest?: true
  /** Reads presentation form into wire form. */
  read(tokens: Token[]): string
  /** Takes the field off the beginning of the wire form of what is left of the record. */
  take(wire: string): string
  /** Prints the canonical presentation form; `read` of it gives the same octets. */
  print(octets: string): string
  /** Prints what PowerDNS before 5.0 insists on, where that is another text. */
  printForPowerDNS?(octets: string): string
  /** Undoes differences that do not count when records are compared (RFC 4034 §6.2). */
  fold?(octets: string): string
}

/** An unsigned decimal number, or one of `mnemonics` (upper case). Prints as a number. */
export function uint(size: 1 | 2 | 4, mnemonics?: ReadonlyMap<string, number>): Field {
  const bits = 8 * size
  return {
    read([token]) {
      const text = word(token)
      const value = mnemonics?.get(text.toUpperCase()) ?? decimal(text, bits)
      return Array.from({ length: size }, (_, i) => String.fromCharCode((value >>> (bits - 8 - 8 * i)) & 255)).join('')
    },
    take: (wire) => take(wire, size),
    print: (octets) => String(parseInt(toHex(octets), 16)),
  }
}

/** A number of one octet. */
export const u8 = uint(1)
/** A number of two octets. */
export const u16 = uint(2)

/** Reads an unsigned decimal number of at most `bits` bits; leading zeros do not matter. */
export function decimal(text: string, bits: number): number {
  if (!/^[0-9]+$/.test(text)) throw new Unreadable('expecting an integer')
  const value = Number(text)
  if (value >= 2 ** bits) {
    throw new Unreadable(`${text.replace(/^0+/, '')} is not an unsigned ${bits}-bit integer`)
  }
  return value
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

/** A name that `alphabet` finds good in its printed form. The field's role is for the error text. */
function nameField(alphabet = /^/, role = 'name'): Field {
  function checked(wire: string): string {
    const text = printName(wire)
    if (!alphabet.test(text)) throw new Refused(`Cannot parse record contents: invalid ${role}: ${text}`)
    return wire
  }
  return {
    read: ([token]) => checked(parseName(rawWord(token))),
    take: (wire) => checked(takeName(wire)),
    print: printName,
    printForPowerDNS: printNameForPowerDNS,
    fold: lowerCase,
  }
}

/** A name of any octets (RFC 2181 §11). */
export const name = nameField()

/** A name of letters, digits, `_`, `-` and `*`, or the root (contract §9.4): what CNAME points to. */
export const alias = nameField(/^\.$|^([A-Za-z0-9_*-]+\.)+$/, 'target')

/** A host name (RFC 1123 §2.1). */
export const host = nameField(HOST, 'target')

/** A host name, or the root, which says that there is none (RFC 2782, 7505). */
export function hostOrRoot(role: string): Field {
  return nameField(HOST_OR_ROOT, role)
}

/** One or more character-strings (RFC 1035 §3.3.14); longer ones are cut into pieces of 255 octets. */
export const strings: Field = {
  rest: true,
  read(tokens) {
    if (tokens.length === 0) throw new Unreadable('expecting a string')
    return tokens
      .flatMap((token) => string(token).match(/[^]{1,255}/g) ?? [''])
      .map(counted)
      .join('')
  },
  take(wire) {
    splitStrings(wire)
    return wire
  },
  print: (octets) => splitStrings(octets).map(quote).join(' '),
}

function splitStrings(wire: string): string[] {
  const pieces: string[] = []
  let at = 0
  do {
    const piece = takeCounted(wire.slice(at))
    pieces.push(piece.slice(1))
    at += piece.length
  } while (at < wire.length)
  return pieces
}

/** All of the rest as one string, without a length octet. It is never empty: PowerDNS 4.7 crashes on that in CAA. */
export const text: Field = {
  read([token]) {
    const octets = string(token)
    if (octets === '') throw new Unreadable('the value is empty')
    return octets
  },
  take: some,
  print: quote,
}

/** The property tag of CAA (RFC 8659 §4.1); its case is kept. */
export const caaTag: Field = {
  read: ([token]) => caaTagged(counted(string(token))),
  take: (wire) => caaTagged(takeCounted(wire)),
  print: (octets) => octets.slice(1),
}

function caaTagged(octets: string): string {
  if (!/^[A-Za-z0-9]{1,255}$/.test(octets.slice(1))) {
    throw new Unreadable('the tag is not 1 to 255 letters and digits')
  }
  return octets
}

/** All of the rest, in hex. */
export const hex: Field = {
  rest: true,
  read(tokens) {
    if (tokens.length === 0) throw new Unreadable('expecting another identifier')
    return fromHex(tokens.map(word).join(''))
  },
  take: some,
  print: toHex,
}

/** The octets that an even number of hex digits stands for. */
export function fromHex(digits: string): string {
  if (digits.length % 2 > 0) throw new Unreadable('Odd-length string')
  if (!/^[0-9a-f]*$/i.test(digits)) throw new Unreadable('Non-hexadecimal digit found')
  return Buffer.from(digits, 'hex').toString('latin1')
}

function toHex(octets: string): string {
  return Buffer.from(octets, 'latin1').toString('hex')
}

function quote(octets: string): string {
  return `"${escape(octets, /["\\]|[^\x20-\x7e]/g)}"`
}

/** Puts the octet in front that counts the others. */
function counted(octets: string): string {
  return String.fromCharCode(octets.length) + octets
}

function takeCounted(wire: string): string {
  return take(wire, 1 + take(wire, 1).charCodeAt(0))
}

function take(wire: string, size: number): string {
  if (wire.length < size) throw new Unreadable('the data ends too early')
  return wire.slice(0, size)
}

function some(wire: string): string {
  take(wire, 1)
  return wire
}
