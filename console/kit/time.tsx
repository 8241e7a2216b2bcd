const FORMAT = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' })
const RELATIVE = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })

/** Seconds of each unit, the longest first. */
const UNITS = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const

/** A moment of the API, in the user's language and time zone. */
export function Time({ at }: { at: string }) {
  return <time dateTime={at}>{FORMAT.format(new Date(at))}</time>
}

const CLOCK = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' })

/** The time of day of a moment; the moment itself is its title. */
export function Clock({ at }: { at: string }) {
  const moment = new Date(at)
  return (
    <time dateTime={at} title={FORMAT.format(moment)}>
      {CLOCK.format(moment)}
    </time>
  )
}

/** How long ago a moment was; the moment itself is its title. */
export function Ago({ at }: { at: string }) {
  const moment = new Date(at)
  const seconds = (Date.now() - moment.getTime()) / 1000
  const [unit, length] = UNITS.find(([, each]) => Math.abs(seconds) >= each) ?? []
  return (
    <time dateTime={at} title={FORMAT.format(moment)}>
      {unit === undefined ? 'just now' : RELATIVE.format(-Math.floor(seconds / length), unit)}
    </time>
  )
}
