import type { Field } from './fields.ts'
import { Unreadable } from './malformed.ts'
import { decodeUint, encodeUint, split, take } from './octets.ts'
import { word } from './presentation.ts'

/** Angles in thousandths of a second of arc, north and east positive; their greatest in degrees. */
const AXES = [
  { limit: 90, positive: 'N', negative: 'S' },
  { limit: 180, positive: 'E', negative: 'W' },
] as const
type Axis = (typeof AXES)[number]

const MINUTE = 60_000
const DEGREE = 60 * MINUTE

/** What stands on the wire for an angle of 0, and for an altitude of 0. */
const ANGLE_ZERO = 2 ** 31
const ALTITUDE_ZERO = 10_000_000

/** In centimetres. More PowerDNS 4.7 does not read back: it has 31 bits for an altitude, and 32 for a sphere. */
const ALTITUDE_MAX = 2 ** 31 - 1 - ALTITUDE_ZERO
const SPHERE_MAX = 2 ** 32 - 1

/** Size and precisions where they are not given (RFC 1876 §3): the diameters of spheres. */
const USUAL = ['1m', '10000m', '10m']

/** Latitude, longitude, altitude, size, horizontal and vertical precision. */
type Location = number[]

/** All of LOC (RFC 1876). Numbers are whole at every step: in doubles, 1.15m would become 1.14m. */
export const location: Field = {
  rest: true,
  read(tokens) {
    const words = tokens.map(word)
    const angles = AXES.map((axis) => takeAngle(words, axis))
    const [altitude, ...spheres] = words
    if (altitude === undefined) throw new Unreadable('expecting an altitude, such as 24.50m')
    if (spheres.length > USUAL.length) throw new Unreadable(`expected end of record, got "${spheres[USUAL.length]}"`)
    return encode([...angles, ...[altitude, ...spheres, ...USUAL.slice(spheres.length)].map(readMetres)])
  },
  take(wire) {
    const octets = take(wire, 16)
    if (!octets.startsWith('\0')) throw new Unreadable('the version of the data is not 0')
    if (encode(decode(octets)) !== octets) throw new Unreadable('a size or precision is not a digit and a power of ten')
    return octets
  },
  print: (octets) => print(decode(octets), printAngle),
  printForPowerDNS: (octets) => print(decode(octets), printAngleForPowerDNS),
}

/** Takes degrees, minutes, seconds and hemisphere off the words. */
function takeAngle(words: string[], { positive, negative }: Axis): number {
  const end = words.slice(0, 4).findIndex((text) => text === positive || text === negative)
  if (end < 1) throw new Unreadable(`expecting degrees, minutes and seconds, then ${positive} or ${negative}`)
  const [d = 0, m = 0, s = 0] = words.splice(0, end).map((text, i) => readDecimal(text, i < 2 ? 0 : 3))
  if (m >= 60 || s >= MINUTE) throw new Unreadable('minutes and seconds must be less than 60')
  return (DEGREE * d + MINUTE * m + s) * (words.shift() === positive ? 1 : -1)
}

function readMetres(text: string): number {
  const [, minus, number = ''] = /^(-?)(.*?)m?$/s.exec(text) ?? []
  return readDecimal(number, 2) * (minus === '-' ? -1 : 1)
}

/** A decimal number of so many places, in units of the last. */
function readDecimal(text: string, places: number): number {
  const [, whole, fraction = ''] = /^([0-9]+)(?:\.([0-9]+))?$/.exec(text) ?? []
  if (whole === undefined || fraction.length > places) {
    throw new Unreadable(
      places === 0 ? 'expecting an integer' : `expecting a number with at most ${places} decimals, got "${text}"`,
    )
  }
  return Number(whole + fraction.padEnd(places, '0'))
}

function encode([latitude, longitude, altitude, ...spheres]: Location): string {
  const angles = [latitude!, longitude!].map((angle, i) => {
    const { limit, positive, negative } = AXES[i]!
    if (Math.abs(angle) > limit * DEGREE) throw new Unreadable(`${positive} or ${negative} is ${limit} degrees at most`)
    return encodeUint(angle + ANGLE_ZERO, 4)
  })
  const height = within('an altitude', altitude!, -ALTITUDE_ZERO, ALTITUDE_MAX)
  return ['\0', ...spheres.map(encodeSphere), ...angles, encodeUint(height + ALTITUDE_ZERO, 4)].join('')
}

/** One digit and a power of ten; lower digits are cut. */
function encodeSphere(centimetres: number): string {
  const digits = String(within('a size or precision', centimetres, 0, SPHERE_MAX))
  return String.fromCharCode((Number(digits[0]) << 4) + digits.length - 1)
}

function within(what: string, centimetres: number, least: number, most: number): number {
  if (centimetres >= least && centimetres <= most) return centimetres
  throw new Unreadable(`${what} is from ${printMetres(least)} to ${printMetres(most)}`)
}

function decode(octets: string): Location {
  const [latitude, longitude, altitude] = split(octets.slice(4), 4).map(decodeUint)
  const spheres = Array.from(octets.slice(1, 4), decodeUint).map((sphere) => (sphere >> 4) * 10 ** (sphere & 15))
  return [latitude! - ANGLE_ZERO, longitude! - ANGLE_ZERO, altitude! - ALTITUDE_ZERO, ...spheres]
}

function print([latitude, longitude, ...metres]: Location, angle: (angle: number, axis: Axis) => string): string {
  return [angle(latitude!, AXES[0]), angle(longitude!, AXES[1]), ...metres.map(printMetres)].join(' ')
}

function printAngle(angle: number, { positive, negative }: Axis): string {
  const size = Math.abs(angle)
  const parts = [Math.floor(size / DEGREE), Math.floor(size / MINUTE) % 60, ((size % MINUTE) / 1000).toFixed(3)]
  return `${parts.join(' ')} ${angle >= 0 ? positive : negative}`
}

/**
 * What PowerDNS before 5.0 makes of an angle, and refuses to see written in another way: it calculates in doubles, so
 * that 46' 60.000" may stand for 47', and an angle of 0 is south or west (its issue 10558).
 */
function printAngleForPowerDNS(angle: number, { positive, negative }: Axis): string {
  const degrees = Math.abs(angle / DEGREE)
  const minutes = 60 * (degrees % 1)
  const parts = [Math.trunc(degrees), Math.trunc(minutes), (60 * (minutes % 1)).toFixed(3)]
  return `${parts.join(' ')} ${angle > 0 ? positive : negative}`
}

function printMetres(centimetres: number): string {
  return `${(centimetres / 100).toFixed(2)}m`
}
