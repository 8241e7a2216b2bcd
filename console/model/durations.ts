/** Durations of the API, such as `7 00:00:00` (contract §5.3), and when tokens expire by them. */

const DAY = 86_400
const UNITS: Record<string, number> = { day: DAY, hour: 3600, minute: 60 }

/** Seconds of a duration as the API prints it. */
export function secondsOf(duration: string): number {
  const [time = '', days = '0'] = duration.split(' ').reverse()
  const [hours = 0, minutes = 0, seconds = 0] = time.split(':').map(Number)
  return Number(days) * DAY + hours * 3600 + minutes * 60 + seconds
}

/** A duration for people, `90 days` or `1 hour`; if it is not a whole number of a unit, as the API prints it. */
export function shownDuration(duration: string | null): string {
  if (duration === null) return ''
  const seconds = secondsOf(duration)
  for (const [unit, length] of Object.entries(UNITS)) {
    const count = seconds / length
    if (count >= 1 && Number.isInteger(count)) return `${count} ${unit}${count === 1 ? '' : 's'}`
  }
  return duration
}

/** The API's duration for what somebody typed: `90`, `90 days`, `1 hour`; null if it is empty. The API judges all else. */
export function typedDuration(text: string): string | null {
  const typed = text.trim()
  if (typed === '') return null
  const [, count, unit] = /^(\d+)(?: *(day|hour|minute)s?)?$/.exec(typed) ?? []
  if (count === undefined) return typed
  const seconds = Number(count) * UNITS[unit ?? 'day']!
  return `${Math.floor(seconds / DAY)} ${seconds % DAY}`
}

/** The members of a token that decide when it expires. */
export interface Ageing {
  created: string
  last_used: string | null
  max_age: string | null
  max_unused_period: string | null
}

/** When a token expires (contract §5.5), and whether a use before puts that off; undefined: never. */
export function expiryOf(token: Ageing): { at: Date; isPutOffByUse: boolean } | undefined {
  const [first] = [
    { since: token.created, period: token.max_age, isPutOffByUse: false },
    { since: token.last_used ?? token.created, period: token.max_unused_period, isPutOffByUse: true },
  ]
    .flatMap(({ since, period, isPutOffByUse }) =>
      period === null ? [] : [{ at: new Date(Date.parse(since) + 1000 * secondsOf(period)), isPutOffByUse }],
    )
    .sort((a, b) => a.at.getTime() - b.at.getTime())
  return first
}
