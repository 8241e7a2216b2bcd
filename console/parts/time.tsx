const FORMAT = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' })

/** A moment of the API, in the user's language and time zone. */
export function Time({ at }: { at: string }) {
  return <time dateTime={at}>{FORMAT.format(new Date(at))}</time>
}
