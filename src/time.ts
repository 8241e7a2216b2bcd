/** Lengths of time in seconds. */
export const SECOND = 1
export const MINUTE = 60
export const HOUR = 3600
export const DAY = 86_400

/** A point in time as the API writes it: `2026-01-31T12:00:00.123456Z`, UTC, always six fraction digits. */
export type Timestamp = string

/** The second that the clock showed last, since the epoch, and its text: a request reads the clock several times. */
let latest = { second: NaN, text: '' }

/** Reads the clock of the machine, to the microsecond. */
export function currentTime(): Timestamp {
  const microseconds = Math.floor((performance.timeOrigin + performance.now()) * 1000)
  const second = Math.floor(microseconds / 1_000_000)
  if (second !== latest.second) latest = { second, text: new Date(second * 1000).toISOString().slice(0, 19) }
  return `${latest.text}.${String(microseconds % 1_000_000).padStart(6, '0')}Z`
}

/** Reads a time in the form of RFC 3339 §5.6; undefined if it is malformed. */
export function readTime(text: string): Timestamp | undefined {
  const [, time, fraction = '', zone] =
    /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?(Z|[+-]\d\d:\d\d)$/.exec(text) ?? []
  const milliseconds = Date.parse(`${time}${zone}`)
  if (Number.isNaN(milliseconds)) return undefined
  return fromMicroseconds(BigInt(milliseconds) * 1000n + BigInt(fraction.padEnd(6, '0')))
}

/** Returns whole seconds since the epoch. */
export function unixTime(time: Timestamp): number {
  return Math.floor(Date.parse(time) / 1000)
}

/** Returns microseconds since the epoch. */
export function microseconds(time: Timestamp): bigint {
  return BigInt(Date.parse(`${time.slice(0, 19)}Z`)) * 1000n + BigInt(time.slice(20, 26))
}

/** Inverts `microseconds`; undefined outside of the years 1 to 9999. */
export function fromMicroseconds(count: bigint): Timestamp | undefined {
  const fraction = ((count % 1_000_000n) + 1_000_000n) % 1_000_000n
  const second = new Date(Number((count - fraction) / 1000n))
  const year = second.getUTCFullYear()
  if (!(year >= 1 && year <= 9999)) return undefined
  return `${second.toISOString().slice(0, 19)}.${String(fraction).padStart(6, '0')}Z`
}

/** Returns `time`, or the next microsecond after `other` if later: clocks may be set, but states have an order. */
export function after(other: Timestamp, time: Timestamp): Timestamp {
  return time > other ? time : fromMicroseconds(microseconds(other) + 1n)!
}

/** Returns the microsecond before. */
export function before(time: Timestamp): Timestamp {
  return fromMicroseconds(microseconds(time) - 1n)!
}

/** Returns the time this many seconds later; earlier, if negative. @param seconds whole */
export function later(time: Timestamp, seconds: number): Timestamp {
  return fromMicroseconds(microseconds(time) + BigInt(seconds) * 1_000_000n)!
}

/** Returns the seconds from `start` to `end`, to the millisecond. */
export function secondsBetween(start: Timestamp, end: Timestamp): number {
  return (Date.parse(end) - Date.parse(start)) / 1000
}

/** A length of time as the API writes it: `[D ]HH:MM:SS[.ffffff]`. */
export type Duration = string

export function toDuration(microseconds: bigint): Duration {
  const [seconds, fraction] = [microseconds / 1_000_000n, microseconds % 1_000_000n]
  const [days, hours, minutes] = [seconds / 86_400n, (seconds / 3600n) % 24n, (seconds / 60n) % 60n]
  const time = [hours, minutes, seconds % 60n].map((part) => String(part).padStart(2, '0')).join(':')
  return `${days > 0n ? `${days} ` : ''}${time}${fraction > 0n ? `.${String(fraction).padStart(6, '0')}` : ''}`
}
