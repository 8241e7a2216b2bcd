import test from 'ava'
import fc from 'fast-check'
import { expiryOf, secondsOf, shownDuration, typedDuration } from '../../console/model/durations.ts'
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
    '1 12:30:00': '1 12:30:00',
  }
  for (const [typed, expected] of Object.entries(printed)) t.is(answered(typed), expected)
  t.is(typedDuration(' '), null)
  t.throws(() => answered('soon'), { message: /wrong format/ })
})

test('what the console shows of a duration can be typed again', (t) => {
  fc.assert(
    fc.property(fc.nat(1000 * 86_400), fc.constantFrom(1, 60, 3600, 86_400), (count, unit) => {
      const seconds = Math.floor(count / unit) * unit
      const printed = answered(`0 ${seconds}`)
      t.is(secondsOf(printed), seconds)
      t.is(answered(shownDuration(printed)), printed)
    }),
    { numRuns: 1000 },
  )
  t.is(shownDuration('7 00:00:00'), '7 days')
  t.is(shownDuration('01:00:00'), '1 hour')
  t.is(shownDuration(null), '')
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
