import test from 'ava'
import { changeAtRandom } from '../served/checks/sequences.ts'
import { useService } from '../support/harness.ts'
import { isConsistent } from '../support/dns/zone.ts'

const service = useService({ THROTTLE: 'off' })
const LIMIT = 10 * 60_000

test.serial('answers and denials of a small zone are correct and validate after every change', async (t) => {
  t.timeout(LIMIT)
  await changeAtRandom(t, service(), { zone: 'small.test', size: 0, steps: 250, validated: 4 })
})

test.serial('the same holds for 2,000 RRsets, which are not rectified when only contents change', async (t) => {
  t.timeout(LIMIT)
  await changeAtRandom(t, service(), { zone: 'large.test', size: 2000, steps: 150, validated: 4 })
})

test.serial('the same holds for a zone that grows and shrinks across the limit between small and large', async (t) => {
  t.timeout(LIMIT)
  await changeAtRandom(t, service(), { zone: 'between.test', size: 190, steps: 150, validated: 4 })
})

test.serial('at the end no mark remains, and DNS equals the database, serials included', async (t) => {
  await isConsistent(t, service())
})
