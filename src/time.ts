/** A point in time as the API writes it: `2026-01-31T12:00:00.123456Z`, UTC, always six fraction digits. */
export type Timestamp = string

/** The clock of the machine, to the microsecond. */
export function currentTime(): Timestamp {
  const microseconds = Math.floor((performance.timeOrigin + performance.now()) * 1000)
  const second = new Date(Math.floor(microseconds / 1_000_000) * 1000).toISOString().slice(0, 19)
  return `${second}.${String(microseconds % 1_000_000).padStart(6, '0')}Z`
}

/** Whole seconds since the epoch. */
export function unixTime(time: Timestamp): number {
  return Math.floor(Date.parse(time) / 1000)
}
