import { Unreadable } from './malformed.ts'

// Wire form is a string with one character per octet.

/** A call has room for this number of arguments in all browsers. */
const MAX_ARGUMENTS = 8192

/** Returns octets as a string with one character per octet. */
export function fromBytes(bytes: Uint8Array | number[]): string {
  let octets = ''
  for (let at = 0; at < bytes.length; at += MAX_ARGUMENTS) {
    octets += String.fromCharCode.apply(null, bytes.slice(at, at + MAX_ARGUMENTS) as number[])
  }
  return octets
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** Returns the octets of a text in UTF-8. */
export function utf8(text: string): string {
  return text.replace(/[\u0080-\uffff]+/g, (others) => fromBytes(encoder.encode(others)))
}

/** Returns the octets of an unsigned number, in network byte order. */
export function encodeUint(value: number, size: 1 | 2 | 4): string {
  let octets = ''
  for (let shift = 8 * (size - 1); shift >= 0; shift -= 8) octets += String.fromCharCode((value >>> shift) & 255)
  return octets
}

/** Returns the unsigned number of up to four octets in network byte order. */
export function decodeUint(octets: string): number {
  let value = 0
  for (let i = 0; i < octets.length; i++) value = 256 * value + octets.charCodeAt(i)
  return value
}

/** Returns the first octets of `wire`. */
export function take(wire: string, size: number): string {
  if (wire.length < size) throw new Unreadable('the data ends too early')
  return wire.slice(0, size)
}

/** Copies a text into memory of its own: V8 keeps a whole text in memory for a slice of it. */
export function detached(text: string): string {
  return [text.slice(0, 1), text.slice(1)].join('')
}

/** Puts the length octet (RFC 1035 §3.3) in front of up to 255 octets. */
export function counted(octets: string): string {
  return String.fromCharCode(octets.length) + octets
}

/** Returns the length octet at the beginning of `wire`, and the octets that it counts. */
export function takeCounted(wire: string): string {
  return take(wire, 1 + take(wire, 1).charCodeAt(0))
}

/** The codes of the hex digits, and the values of these codes. */
const HEX = encoder.encode('0123456789abcdef')
const HEX_VALUES = Array.from({ length: 128 }, (_, code) => Math.max(0, HEX.indexOf(code | 0x20)))

/** Returns the octets of an even number of hex digits. */
export function fromHex(digits: string): string {
  if (!/^[0-9a-f]*$/i.test(digits)) throw new Unreadable('Non-hexadecimal digit found')
  if (digits.length % 2 > 0) throw new Unreadable('Odd-length string')
  // A call is faster with an array than with a typed one.
  const bytes = new Array<number>(digits.length / 2)
  for (let i = 0; i < bytes.length; i++) {
    bytes[i] = 16 * HEX_VALUES[digits.charCodeAt(2 * i)]! + HEX_VALUES[digits.charCodeAt(2 * i + 1)]!
  }
  return fromBytes(bytes)
}

/** Octets in hex, lower case. */
export function toHex(octets: string): string {
  const digits = new Uint8Array(2 * octets.length)
  for (let i = 0; i < octets.length; i++) {
    const octet = octets.charCodeAt(i)
    digits[2 * i] = HEX[octet >> 4]!
    digits[2 * i + 1] = HEX[octet & 15]!
  }
  return decoder.decode(digits)
}

/** Returns the octets of base64 (RFC 4648 §4), at least one. Spare bits of the last digit do not matter. */
export function fromBase64(digits: string): string {
  if (/[^A-Za-z0-9+/=]/.test(digits)) throw new Unreadable('Non-base64 digit found')
  if (digits.length % 4 > 0 || !/^[^=]+={0,2}$/.test(digits)) throw new Unreadable('Incorrect padding')
  return atob(digits)
}

/** Octets in base64. A function of ours, because browsers reject a call of theirs as a member of something else. */
export function toBase64(octets: string): string {
  return btoa(octets)
}

/** Splits `wire` into pieces of one size, or into those that `takeOne` finds at the beginning of the rest. */
export function split(wire: string, takeOne: number | ((rest: string) => string)): string[] {
  const pieces: string[] = []
  for (let at = 0; at < wire.length; at += pieces.at(-1)!.length) {
    const rest = wire.slice(at)
    pieces.push(typeof takeOne === 'number' ? take(rest, takeOne) : takeOne(rest))
  }
  return pieces
}
