import * as yup from 'yup'
import { DURATION_DAYS, DURATION_TEXT_LENGTH } from '../../limits.ts'
import { type Duration, toDuration } from '../../time.ts'
import { type Problem } from './fields.ts'
import { DURATION_TEXT } from './patterns.ts'
import type { Component, JsonSchema } from './schema.ts'

const DAY = 86_400_000_000n
const MAX = BigInt(DURATION_DAYS) * DAY

const ACCEPTED: Component = {
  title: 'DurationInput',
  description:
    'A duration: `[D ]HH:MM:SS[.f]`, `[D ]MM:SS`, `[D ]SS`, `D days, HH:MM:SS`, ISO 8601 such as `P3DT4H5M6S`, or a ' +
    `number of seconds; at most ${DURATION_DAYS} days.`,
  type: ['string', 'number'],
  pattern: DURATION_TEXT,
  maxLength: DURATION_TEXT_LENGTH,
  minimum: 0,
  maximum: DURATION_DAYS * 86_400,
  examples: ['7 00:00:00'],
}

const SHOWN: JsonSchema = { type: 'string', pattern: String.raw`^(\d+ )?\d{2}:\d{2}:\d{2}(\.\d{6})?$` }

/** Returns the field of a duration in any form of contract §5.3, or null. */
export function duration() {
  return yup
    .mixed((value): value is Duration => typeof value === 'string')
    .transform((value: unknown) => (value === null ? null : readDuration(value)))
    .typeError(({ value }: { value: Problem }) => value.problem)
    .nullable()
    .meta({ accepted: ACCEPTED, shown: SHOWN })
}

function readDuration(value: unknown): Duration | Problem {
  const count = microsecondsOf(value)
  if (count === undefined) {
    return { problem: 'Duration has wrong format. Use one of these formats instead: [DD] [HH:[MM:]]ss[.uuuuuu].' }
  }
  if (count < 0n) return { problem: 'Ensure this value is greater than or equal to 0:00:00.' }
  if (count > MAX) return { problem: `Ensure this value is less than or equal to ${DURATION_DAYS} days, 0:00:00.` }
  return toDuration(count)
}

/** `3 04:05:06.7`, `3 days, 04:05:06`, `05:06`, `6`, `3 days`. */
const CLOCK = /^(?:(-?\d+) (?:days?,? )?)?(-?)(?:(?:(\d+):)?(\d+):)?(\d+)(?:[.,](\d+))?$/
const DAYS = /^(-?\d+) days?$/
/** `P3DT4H5M6.7S`: at least one part, and at least one after a T. */
const ISO = /^([-+]?)P(?!$)(?:([\d.,]+)D)?(?:T(?!$)(?:([\d.,]+)H)?(?:([\d.,]+)M)?(?:([\d.,]+)S)?)?$/

/** Reads a duration. A number counts as seconds. */
function microsecondsOf(value: unknown): bigint | undefined {
  if (typeof value === 'number') return Number.isFinite(value * 1e6) ? BigInt(Math.round(value * 1e6)) : undefined
  if (typeof value !== 'string' || value.length > DURATION_TEXT_LENGTH) return undefined
  const text = value.trim()
  const days = DAYS.exec(text)?.[1]
  return days === undefined ? (readClock(text) ?? readIso(text)) : BigInt(days) * DAY
}

function readClock(text: string): bigint | undefined {
  const [whole, days = '0', sign, hours = '0', minutes = '0', seconds = '0', fraction = ''] = CLOCK.exec(text) ?? []
  if (whole === undefined) return undefined
  const time = (BigInt(hours) * 60n + BigInt(minutes)) * 60n + BigInt(seconds)
  const count = time * 1_000_000n + micros(fraction)
  return BigInt(days) * DAY + (sign === '-' ? -count : count)
}

function readIso(text: string): bigint | undefined {
  const [whole, sign, ...parts] = ISO.exec(text) ?? []
  if (whole === undefined) return undefined
  const units = [DAY, DAY / 24n, DAY / 1440n, 1_000_000n]
  const counts = units.map((unit, i) => decimal(parts[i] ?? '0', unit))
  if (counts.includes(undefined)) return undefined
  const count = (counts as bigint[]).reduce((sum, part) => sum + part)
  return sign === '-' ? -count : count
}

/** @param unit microseconds */
function decimal(text: string, unit: bigint): bigint | undefined {
  const [, whole, fraction = ''] = /^(\d+)(?:[.,](\d+))?$/.exec(text) ?? []
  return whole === undefined ? undefined : BigInt(whole) * unit + (micros(fraction) * unit) / 1_000_000n
}

/** Returns the digits after the decimal point as millionths, truncated. */
function micros(fraction: string): bigint {
  return BigInt(fraction.slice(0, 6).padEnd(6, '0'))
}
