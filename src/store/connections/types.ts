import pg from 'pg'
import { type Duration, type Timestamp, toDuration } from '../../time.ts'

/** The OID of the type text[]. */
const TEXT_ARRAY = 1009

/** Timestamps keep their microseconds, which a Date would drop. All our bigints fit into a number. */
export const types = new pg.TypeOverrides()
types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, parseTimestamp)
types.setTypeParser(TEXT_ARRAY, parseTextArray)
types.setTypeParser(pg.types.builtins.INTERVAL, parseInterval)
types.setTypeParser(pg.types.builtins.INT8, Number)

/** Converts `2026-01-31 12:00:00.12+00`, the form of Postgres in UTC, to `2026-01-31T12:00:00.120000Z`. */
function parseTimestamp(text: string): Timestamp {
  const fraction = text.slice(20, -3)
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${fraction.padEnd(6, '0')}Z`
}

const getTypeParser = pg.types.getTypeParser as (type: number) => (text: string) => string[]
const parseAnyTextArray = getTypeParser(TEXT_ARRAY)

/**
 * Parses an array of texts. The driver's parser is slow because it reads character by character, so it gets only rare
 * arrays. Most quote no element or all. Of quoted ones, Postgres escapes `"` and `\`, as JSON does.
 */
function parseTextArray(text: string): string[] {
  if (text === '{}') return []
  if (!/["\\]|\bNULL\b/.test(text)) return text.slice(1, -1).split(',')
  const strings = text.startsWith('{"') ? quotedElements(text) : undefined
  return strings ?? parseAnyTextArray(text)
}

/** Returns the elements, if all are quoted and have no characters that JSON escapes. */
function quotedElements(text: string): string[] | undefined {
  try {
    const elements = JSON.parse(`[${text.slice(1, -1)}]`) as unknown[]
    return elements.every((element) => typeof element === 'string') ? elements : undefined
  } catch {
    return undefined
  }
}

/** Converts `1 year 2 mons 3 days 04:05:06.7`, the form of Postgres, to `428 04:05:06.700000`; a month has 30 days. */
function parseInterval(text: string): Duration {
  const [, years = 0, months = 0, days = 0, hours = 0, minutes = 0, seconds = 0, fraction = ''] =
    /^(?:(\d+) years? ?)?(?:(\d+) mons? ?)?(?:(\d+) days? ?)?(?:(\d+):(\d+):(\d+)(?:\.(\d+))?)?$/.exec(text) ?? []
  const wholeDays = 365 * Number(years) + 30 * Number(months) + Number(days)
  const wholeSeconds = ((24 * wholeDays + Number(hours)) * 60 + Number(minutes)) * 60 + Number(seconds)
  return toDuration(BigInt(wholeSeconds) * 1_000_000n + BigInt(fraction.padEnd(6, '0')))
}
