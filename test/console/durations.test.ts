import test from 'ava'
import fc from 'fast-check'
import { expiryOf, secondsOf, shownDuration, typedDuration } from '../../console/kit/durations.ts'
import { duration } from '../../src/http/fields/durations.ts'

/** A typed duration as the API prints it, when it has read it. */
const answered = (typed: string) => String(duration().validateSync(typedDuration(typed)))

test('durations that people type are those that the service reads', (t) => {
  const printed = {
    '90': '90 00:00:00',
    ' 90 days': '90 00:00:00',
    '1 hour': '01:00:00',
    '25 hours': '1 01:00:00',
    '5minutes': '00:05:00',
    '35 days 16 hours': '35 16:00:00',
    '1 day, 2 hours, 3 minutes, 4 seconds': '1 02:03:04',
    '1 12:30:00': '1 12:30:00',
  }
  for (const [typed, expected] of Object.entries(printed)) t.is(answered(typed), expected)
  t.is(typedDuration(' '), null)
  for (const nothing of ['soon', '3 hours ago', '2026-12-31', 'days'])
    t.throws(() => answered(nothing), { message: /wrong format/ })
})

test('what the console shows of a duration can be typed again', (t) => {
  fc.assert(
    fc.property(fc.nat(1000 * 86_400), (seconds) => {
      const printed = answered(`0 ${seconds}`)
      t.is(secondsOf(printed), seconds)
      t.is(answered(shownDuration(printed)), printed)
    }),
    { numRuns: 1000 },
  )
  t.is(shownDuration('7 00:00:00'), '7 days')
  t.is(shownDuration('01:00:00'), '1 hour')
  t.is(shownDuration('35 16:40:00'), '35 days 16 hours 40 minutes')
  t.is(shownDuration('00:00:00'), '00:00:00')
  t.is(shownDuration('1 00:00:00.500000'), '1 00:00:00.500000')
  t.is(shownDuration(null), '')
})

test('a date is the end of its day here, and shown as such', (t) => {
  const created = '2026-01-01T10:11:12.345678Z'
  const printed = String(duration().validateSync(typedDuration(' 2026-12-31 ', created)))
  const { at } = expiryOf({ created, last_used: null, max_age: printed, max_unused_period: null })!
  t.true(at > new Date(2026, 11, 31, 23, 59, 58, 999))
  t.true(at < new Date(2027, 0, 1))
  t.is(shownDuration(printed, created), '2026-12-31')
  t.is(shownDuration('90 00:00:00', created), '90 days')
  for (const wrong of ['2026-13-45', '2025-12-31'])
    t.throws(() => duration().validateSync(typedDuration(wrong, created)), { message: /wrong format/ })
})

test('the earlier of the two limits of a token decides when it expires', (t) => {
  const token = { created: '2026-01-01T00:00:00.000000Z', last_used: null, max_age: null, max_unused_period: null }
  const at = (day: string) => new Date(`2026-01-${day}T00:00:00Z`)
  t.is(expiryOf(token), undefined)
  t.deepEqual(expiryOf({ ...token, max_age: '9 00:00:00' }), { at: at('10'), isPutOffByUse: false })
  const both = { ...token, max_age: '9 00:00:00', max_unused_period: '2 00:00:00' }
  t.deepEqual(expiryOf(both), { at: at('03'), isPutOffByUse: true })
  t.deepEqual(expiryOf({ ...both, last_used: at('09').toISOString() }), { at: at('10'), isPutOffByUse: false })
})
