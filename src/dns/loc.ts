import type { Field } from './fields.ts'
import { Unreadable } from './malformed.ts'
import { decodeUint, encodeUint, take } from './octets.ts'
import { word } from './presentation.ts'

/** A place on Earth: angles in thousandths of a second of arc, north and east positive; lengths in centimetres. */
interface Location {
  latitude: number
  longitude: number
  altitude: number
  /** The diameter of what is there, and how exactly it is known where (RFC 1876 §2). */
  spheres: number[]
}

interface Axis {
  limit: number
  positive: string
  negative: string
}

const LATITUDE: Axis = { limit: 90, positive: 'N', negative: 'S' }
const LONGITUDE: Axis = { limit: 180, positive: 'E', negative: 'W' }

const MINUTE = 60_000
const DEGREE = 60 * MINUTE

/** What stands on the wire for an angle of 0, and for an altitude of 0. */
const ANGLE_ZERO = 2 ** 31
const ALTITUDE_ZERO = 10_000_000

/** More than this PowerDNS 4.7 does not read back: it has 31 bits for an altitude, and 32 for a sphere. */
const ALTITUDE_MAX = 2 ** 31 - 1 - ALTITUDE_ZERO
const SPHERE_MAX = 2 ** 32 - 1

/** Size and precisions where they are not given (RFC 1876 §3). */
const USUAL = ['1m', '10000m', '10m']

/** All of LOC (RFC 1876). Numbers are whole at every step: in doubles, 1.15m would become 1.14m. */
export const location: Field = {
  rest: true,
  read(tokens) {
    const words = tokens.map(word)
    const latitude = takeAngle(words, LATITUDE)
    const longitude = takeAngle(words, LONGITUDE)
    const [altitude, ...spheres] = words
    if (altitude === undefined) throw new Unreadable('expecting an altitude, such as 24.50m')
    if (spheres.length > USUAL.length) throw new Unreadable(`expected end of record, got "${spheres[USUAL.length]}"`)
    return encode({
      latitude,
      longitude,
      altitude: readMetres(altitude),
      spheres: USUAL.map((usual, i) => readMetres(spheres[i] ?? usual)),
    })
  },
  take(wire) {
    const octets = take(wire, 16)
    if (encode(decode(octets)) !== octets) throw new Unreadable('a size or precision is not a digit and a power of ten')
    return octets
  },
  print: (octets) => print(decode(octets), printAngle),
  printForPowerDNS: (octets) => print(decode(octets), printAngleForPowerDNS),
}

/** Takes degrees, minutes, seconds and hemisphere off the words. */
function takeAngle(words: string[], { positive, negative }: Axis): number {
  const end = words.slice(0, 4).findIndex((text) => text === positive || text === negative)
  const [degrees, minutes = '0', seconds = '0'] = words.slice(0, Math.max(end, 0))
  if (degrees === undefined) {
    throw new Unreadable(`expecting degrees, minutes and seconds, then ${positive} or ${negative}`)
  }
  const [d, m, s] = [readDecimal(degrees, 0), readDecimal(minutes, 0), readDecimal(seconds, 3)]
  if (m >= 60 || s >= MINUTE) throw new Unreadable('minutes and seconds must be less than 60')
  const [hemisphere] = words.splice(0, end + 1).slice(-1)
  return (DEGREE * d + MINUTE * m + s) * (hemisphere === positive ? 1 : -1)
}

function readMetres(text: string): number {
  const [, minus, number = ''] = /^(-?)(.*?)m?$/s.exec(text) ?? []
  const centimetres = readDecimal(number, 2)
  return minus === '-' ? -centimetres : centimetres
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

function encode({ latitude, longitude, altitude, spheres }: Location): string {
  if (!(altitude >= -ALTITUDE_ZERO && altitude <= ALTITUDE_MAX)) {
    throw new Unreadable(`an altitude is from ${printMetres(-ALTITUDE_ZERO)} to ${printMetres(ALTITUDE_MAX)}`)
  }
  return (
    '\0' +
    spheres.map(encodeSphere).join('') +
    encodeAngle(latitude, LATITUDE) +
    encodeAngle(longitude, LONGITUDE) +
    encodeUint(altitude + ALTITUDE_ZERO, 4)
  )
}

function encodeAngle(angle: number, { limit, positive, negative }: Axis): string {
  if (Math.abs(angle) > limit * DEGREE) throw new Unreadable(`${positive} or ${negative} is ${limit} degrees at most`)
  return encodeUint(angle + ANGLE_ZERO, 4)
}

/** One digit and a power of ten; lower digits are cut. */
function encodeSphere(centimetres: number): string {
  if (!(centimetres >= 0 && centimetres <= SPHERE_MAX)) {
    throw new Unreadable(`a size or precision is from 0.00m to ${printMetres(SPHERE_MAX)}`)
  }
  const digits = String(centimetres)
  return String.fromCharCode((Number(digits[0]) << 4) + digits.length - 1)
}

function decode(octets: string): Location {
  if (!octets.startsWith('\0')) throw new Unreadable('the version of the data is not 0')
  return {
    latitude: decodeUint(octets.slice(4, 8)) - ANGLE_ZERO,
    longitude: decodeUint(octets.slice(8, 12)) - ANGLE_ZERO,
    altitude: decodeUint(octets.slice(12)) - ALTITUDE_ZERO,
    spheres: Array.from(
      octets.slice(1, 4),
      (sphere) => (sphere.charCodeAt(0) >> 4) * 10 ** (sphere.charCodeAt(0) & 15),
    ),
  }
}

function print(
  { latitude, longitude, altitude, spheres }: Location,
  angle: (angle: number, axis: Axis) => string,
): string {
  return [angle(latitude, LATITUDE), angle(longitude, LONGITUDE), ...[altitude, ...spheres].map(printMetres)].join(' ')
}

function printAngle(angle: number, { positive, negative }: Axis): string {
  const size = Math.abs(angle)
  const seconds = ((size % MINUTE) / 1000).toFixed(3)
  const minutes = Math.floor(size / MINUTE) % 60
  return `${Math.floor(size / DEGREE)} ${minutes} ${seconds} ${angle >= 0 ? positive : negative}`
}

/**
 * What PowerDNS before 5.0 makes of an angle, and refuses to see written in another way: it calculates in doubles, so
 * that 46' 60.000" may stand for 47', and an angle of 0 is south or west (its issue 10558).
 */
function printAngleForPowerDNS(angle: number, { positive, negative }: Axis): string {
  const degrees = angle / DEGREE
  const minutes = 60 * (degrees - Math.trunc(degrees))
  const seconds = 60 * (minutes - Math.trunc(minutes))
  const parts = [Math.trunc(degrees), Math.trunc(minutes)].map(Math.abs)
  return `${parts.join(' ')} ${Math.abs(seconds).toFixed(3)} ${angle > 0 ? positive : negative}`
}

function printMetres(centimetres: number): string {
  return `${(centimetres / 100).toFixed(2)}m`
}
