/** Durations of the API, such as `7 00:00:00` (contract §5.3), and when tokens expire by them. */

const DAY = 86_400
const UNITS: Record<string, number> = { day: DAY, hour: 3600, minute: 60, second: 1 }

/** Seconds of a duration as the API prints it. */
export function secondsOf(duration: string): number {
  const [time = '', days = '0'] = duration.split(' ').reverse()
  const [hours = 0, minutes = 0, seconds = 0] = time.split(':').map(Number)
  return Number(days) * DAY + hours * 3600 + minutes * 60 + seconds
}

/**
 * A duration as people type it, `90 days` or `1 day 12 hours`; if it is not of whole seconds, as the API prints it.
 * @param since as for `typedDuration`
 */
export function shownDuration(duration: string | null, since = ''): string {
  if (duration === null) return ''
  let left = secondsOf(duration)
  if (!Number.isInteger(left)) return duration
  // Swedes write dates and times as in ISO 8601.
  const [date, time] = new Date(Date.parse(since) + 1000 * left).toLocaleString('sv').split(' ')
  if (time === '23:59:59') return date!
  const parts = Object.entries(UNITS).flatMap(([unit, length]) => {
    const count = Math.floor(left / length)
    left %= length
    return count === 0 ? [] : [`${count} ${unit}${count === 1 ? '' : 's'}`]
  })
  return parts.join(' ') || duration
}

/**
 * The API's duration for what somebody typed: `90`, `90 days`, `1 day 12 hours`; null if it is empty. The API judges all
 * else.
 * @param since the moment at which the duration begins; a date, `2026-12-31`, is its end in the present time zone
 */
export function typedDuration(text: string, since?: string): string | null {
  const typed = text.trim().replace(/^\d+$/, '$& days')
  if (typed === '') return null
  let seconds = 0
  if (since !== undefined && /^\d{4}-\d\d-\d\d$/.test(typed)) {
    // Durations of whole seconds can be shown: it expires within the last second of the day.
    seconds = Math.ceil((Date.parse(`${typed}T23:59:59`) - Date.parse(since)) / 1000)
    return `0:00:${seconds}`
  }
  const rest = typed.replace(/(\d+) *(day|hour|minute|second)s?\b/g, (_, count: string, unit: string) => {
    seconds += Number(count) * UNITS[unit]!
    return ''
  })
  return rest !== typed && /^[ ,]*$/.test(rest) ? `0:00:${seconds}` : typed
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
