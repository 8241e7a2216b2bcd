import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { lowerCase } from '../dns/names.ts'
import { encodeUint } from '../dns/octets.ts'
import {
  CLASSES,
  encodeRecord,
  type Layout,
  readName,
  readRecord,
  skipRecord,
  typeAt,
  wireOf,
} from '../dns/wire/messages.ts'

// Signatures of messages (RFC 8945).

/** The type, and the codes of errors (RFC 8945 §3). */
const TSIG = 250
export const TSIG_ERRORS = { BADSIG: 16, BADKEY: 17, BADTIME: 18 }

/** Seconds by which clocks may differ (RFC 8945 §10), whatever a message allows. */
const FUDGE = 300

/** The hashes by the wire form of the algorithms' names, and the octets of their output (RFC 8945 §6). */
const ALGORITHMS = new Map(
  ([['sha256', 32], ['sha384', 48], ['sha512', 64]] as const).map(([hash, size]) => [wireOf(`hmac-${hash}`), { hash, size }]), // prettier-ignore
)

/** What signs for a key that does not exist. */
const NO_SECRET = randomBytes(32)

/** The TSIG record of a message. */
export interface Tsig {
  /** The names of key and algorithm in wire form, in lower case. */
  key: string
  algorithm: string
  /** Seconds since the epoch. */
  time: number
  fudge: number
  mac: Buffer
  originalId: number
  error: number
  other: string
  /** The offset at which it begins. */
  start: number
}

/** Reads the TSIG record of a message, if it has one. @throws RangeError if it is malformed, or not the only one, at the end */
export function readTsig(message: Buffer, { sections, last }: Layout): Tsig | undefined {
  for (let at = sections[3]; at < message.length; at = skipRecord(message, at))
    if (at !== last && typeAt(message, at) === TSIG) throw new RangeError('The TSIG record is not the last record.')
  if (last === undefined) return undefined
  const record = readRecord(message, last)
  if (record.type !== TSIG) return undefined
  if (record.class !== CLASSES.ANY || record.ttl !== 0) throw new RangeError('The TSIG record has a class or a TTL.')
  const { wire, end: fields } = readName(message, record.data)
  // Else the answer, which repeats them, could be larger.
  if (record.data !== last + record.owner.length + 10 || fields !== record.data + wire.length)
    throw new RangeError('The names of the TSIG record are compressed.')
  const macAt = fields + 10
  const after = macAt + message.readUInt16BE(fields + 8)
  const other = after + 6
  if (other + message.readUInt16BE(after + 4) !== record.end)
    throw new RangeError('The TSIG record has a wrong length.')
  return {
    key: lowerCase(record.owner),
    algorithm: lowerCase(wire),
    time: message.readUIntBE(fields, 6),
    fudge: message.readUInt16BE(fields + 6),
    mac: message.subarray(macAt, after),
    originalId: message.readUInt16BE(after),
    error: message.readUInt16BE(after + 2),
    other: message.toString('latin1', other, record.end),
    start: last,
  }
}

/** Reports whether the algorithm is known. */
export function isKnown({ algorithm }: Tsig): boolean {
  return ALGORITHMS.has(algorithm)
}

/** Reports whether the MAC is as long as its hash, or a part of it that is allowed (RFC 8945 §5.2.2.1). */
export function hasLength({ algorithm, mac }: Tsig): boolean {
  const { size } = ALGORITHMS.get(algorithm)!
  return mac.length <= size && mac.length >= Math.max(10, size / 2)
}

/**
 * Returns the whole MAC of a message if its own is right, or a part of it, of an allowed length; otherwise undefined.
 * Takes the same way, and time, for each secret, and without one.
 */
export function verified(message: Buffer, tsig: Tsig, secret: Buffer = NO_SECRET): Buffer | undefined {
  const { algorithm, mac, originalId, start } = tsig
  const unsigned = Buffer.from(message.subarray(0, start))
  unsigned.writeUInt16BE(originalId, 0)
  unsigned.writeUInt16BE(unsigned.readUInt16BE(10) - 1, 10)
  const own = macOf(algorithm, secret, unsigned, Buffer.from(variablesOf(tsig), 'latin1'))
  return timingSafeEqual(own.subarray(0, mac.length), mac) ? own : undefined
}

/** Reports whether a message was signed in time (RFC 8945 §5.2.3). @param now seconds since the epoch */
export function isInTime({ time, fudge }: Tsig, now: number): boolean {
  return Math.abs(now - time) <= Math.min(fudge, FUDGE)
}

function macOf(algorithm: string, secret: Buffer, ...parts: Buffer[]): Buffer {
  const hmac = createHmac(ALGORITHMS.get(algorithm)!.hash, secret)
  for (const part of parts) hmac.update(part)
  return hmac.digest()
}

/** Returns the variables of a signature (RFC 8945 §4.3.3). */
function variablesOf({ key, algorithm, error, other, ...timers }: Omit<Tsig, 'mac' | 'originalId' | 'start'>): string {
  const fields = encodeUint(CLASSES.ANY, 2) + encodeUint(0, 4) + algorithm + timersOf(timers)
  return key + fields + encodeUint(error, 2) + encodeUint(other.length, 2) + other
}

function timersOf({ time, fudge }: Pick<Tsig, 'time' | 'fudge'>): string {
  return encodeTime(time) + encodeUint(fudge, 2)
}

/** Returns the 48 bits of a time. */
function encodeTime(time: number): string {
  return encodeUint(Math.floor(time / 2 ** 32), 2) + encodeUint(time % 2 ** 32, 4)
}

/** Adds a TSIG record to a message. @param mac empty: it is not signed */
function withTsig(message: Buffer, tsig: Omit<Tsig, 'start'>): Buffer {
  const { key, algorithm, mac, originalId, error, other } = tsig
  const data = [
    algorithm + timersOf(tsig) + encodeUint(mac.length, 2) + mac.toString('latin1') + encodeUint(originalId, 2),
    encodeUint(error, 2) + encodeUint(other.length, 2) + other,
  ].join('')
  const whole = Buffer.concat([
    message,
    Buffer.from(encodeRecord(key, { type: TSIG, class: CLASSES.ANY, ttl: 0 }, data), 'latin1'),
  ])
  whole.writeUInt16BE(whole.readUInt16BE(10) + 1, 10)
  return whole
}

/** Adds the TSIG record of an error for which nothing can be signed (RFC 8945 §5.3.2). */
export function unsigned(message: Buffer, request: Tsig, error: number, now: number): Buffer {
  const originalId = message.readUInt16BE(0)
  const mac = Buffer.alloc(0)
  return withTsig(message, { ...request, time: now, fudge: FUDGE, mac, originalId, error, other: '' })
}

/** Signs the messages of a response, one after the other (RFC 8945 §5.3). */
export class Signer {
  readonly #request: Tsig
  readonly #secret: Buffer
  #prior: Buffer
  #isFirst = true

  constructor(request: Tsig, secret: Buffer) {
    this.#request = request
    this.#secret = secret
    this.#prior = request.mac
  }

  /** The octets of the record that it adds, but those of an error. */
  get size(): number {
    const { key, algorithm } = this.#request
    return key.length + algorithm.length + 26 + ALGORITHMS.get(algorithm)!.size
  }

  /** @param now seconds since the epoch @param isLate whether the request came too late or too early */
  sign(message: Buffer, now: number, { isLate = false } = {}): Buffer {
    const { key, algorithm, time } = this.#request
    const other = isLate ? encodeTime(now) : ''
    const error = isLate ? TSIG_ERRORS.BADTIME : 0
    const fields = { key, algorithm, time: isLate ? time : now, fudge: FUDGE, error, other }
    const prior = [Buffer.from(encodeUint(this.#prior.length, 2), 'latin1'), this.#prior]
    const variables = this.#isFirst ? variablesOf(fields) : timersOf(fields)
    this.#prior = macOf(algorithm, this.#secret, ...prior, message, Buffer.from(variables, 'latin1'))
    this.#isFirst = false
    return withTsig(message, { ...fields, mac: this.#prior, originalId: message.readUInt16BE(0) })
  }
}
