import { Unreadable } from '../malformed.ts'
import { decodeUint, encodeUint, split, take } from '../octets.ts'
import { word } from '../presentation.ts'
import type { Field } from './fields.ts'

/** Angles are in thousandths of a second of arc, north and east positive; `limit` is in degrees. */
const AXES = [
  { limit: 90, positive: 'N', negative: 'S' },
  { limit: 180, positive: 'E', negative: 'W' },
] as const
type Axis = (typeof AXES)[number]

const MINUTE = 60_000
const DEGREE = 60 * MINUTE

/** The wire form of an angle of 0, and of an altitude of 0. */
const ANGLE_ZERO = 2 ** 31
const ALTITUDE_ZERO = 10_000_000

/** Centimetres at most. PowerDNS 4.7 misreads larger ones: it has 31 bits for an altitude, and 32 for a sphere. */
const ALTITUDE_MAX = 2 ** 31 - 1 - ALTITUDE_ZERO
const SPHERE_MAX = 2 ** 32 - 1

/** The defaults of size and precisions (RFC 1876 §3), which are diameters of spheres. */
const USUAL = ['1m', '10000m', '10m']

/** All of LOC (RFC 1876). It calculates in integers: with fractions in doubles, 1.15m would become 1.14m. */
export const location: Field = {
  rest: true,
  read(tokens) {
    const words = tokens.map(word)
    const angles = AXES.map((axis) => takeAngle(words, axis))
    const [altitude, ...spheres] = words
    if (altitude === undefined) throw new Unreadable('expecting an altitude, such as 24.50m')
    if (spheres.length > USUAL.length) throw new Unreadable(`expected end of record, got "${spheres[USUAL.length]}"`)
    const height = readMetres(altitude, 'an altitude', -ALTITUDE_ZERO, ALTITUDE_MAX)
    const sizes = [...spheres, ...USUAL.slice(spheres.length)].map(readSphere)
    return ['\0', ...sizes, ...angles, encodeUint(ALTITUDE_ZERO + height, 4)].join('')
  },
  take: (wire) => take(wire, 16),
  print,
}

/** Removes degrees, minutes, seconds and hemisphere from the beginning of `words`. */
function takeAngle(words: string[], { limit, positive, negative }: Axis): string {
  const end = words.slice(0, 4).findIndex((text) => text === positive || text === negative)
  if (end < 1) throw new Unreadable(`expecting degrees, minutes and seconds, then ${positive} or ${negative}`)
  const [d = 0, m = 0, s = 0] = words.splice(0, end).map((text, i) => readDecimal(text, i < 2 ? 0 : 3))
  if (m >= 60 || s >= MINUTE) throw new Unreadable('minutes and seconds must be less than 60')
  const angle = DEGREE * d + MINUTE * m + s
  if (angle > limit * DEGREE) throw new Unreadable(`${positive} or ${negative} is ${limit} degrees at most`)
  return encodeUint(ANGLE_ZERO + (words.shift() === positive ? angle : -angle), 4)
}

/** Reads a size into one digit of centimetres and a power of ten; lower digits are dropped. */
function readSphere(text: string): string {
  const digits = String(readMetres(text, 'a size or precision', 0, SPHERE_MAX))
  return encodeUint((Number(digits[0]) << 4) + digits.length - 1, 1)
}

/** Reads a length into centimetres. */
function readMetres(text: string, what: string, least: number, most: number): number {
  const [, minus, number = ''] = /^(-?)(.*?)m?$/s.exec(text) ?? []
  const centimetres = readDecimal(number, 2) * (minus ? -1 : 1)
  if (centimetres >= least && centimetres <= most) return centimetres
  throw new Unreadable(`${what} is from ${printMetres(least)} to ${printMetres(most)}`)
}

/** Reads a decimal number with at most `digits` decimals, in units of the last one. */
function readDecimal(text: string, digits: number): number {
  const [, whole, fraction = ''] = /^([0-9]+)(?:\.([0-9]+))?$/.exec(text) ?? []
  if (whole !== undefined && fraction.length <= digits) return Number(whole + fraction.padEnd(digits, '0'))
  const decimals = `expecting a number with at most ${digits} decimals, got "${text}"`
  throw new Unreadable(digits === 0 ? 'expecting an integer' : decimals)
}

function print(octets: string): string {
  const [latitude, longitude, altitude] = split(octets.slice(4), 4).map(decodeUint)
  const spheres = Array.from(octets.slice(1, 4), decodeUint).map((sphere) => (sphere >> 4) * 10 ** (sphere & 15))
  const angles = [latitude!, longitude!].map((angle, i) => printAngle(angle - ANGLE_ZERO, AXES[i]!))
  return [...angles, ...[altitude! - ALTITUDE_ZERO, ...spheres].map(printMetres)].join(' ')
}

function printAngle(angle: number, { positive, negative }: Axis): string {
  const size = Math.abs(angle)
  const parts = [Math.floor(size / DEGREE), Math.floor(size / MINUTE) % 60, ((size % MINUTE) / 1000).toFixed(3)]
  return `${parts.join(' ')} ${angle >= 0 ? positive : negative}`
}

function printMetres(centimetres: number): string {
  return `${(centimetres / 100).toFixed(2)}m`
}
