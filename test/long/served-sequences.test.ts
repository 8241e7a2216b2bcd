import test from 'ava'
import { changeAtRandom } from '../served/checks/sequences.ts'
import { useService } from '../support/harness.ts'
import { isConsistent } from '../support/dns/zone.ts'

const service = useService({ THROTTLE: 'off' })
const LIMIT = 10 * 60_000

test.serial('a small zone is answered and denied right, and valid, after every change', async (t) => {
  t.timeout(LIMIT)
  await changeAtRandom(t, service(), { zone: 'small.test', size: 0, steps: 250, validated: 4 })
})

test.serial('so is one of 2,000 RRsets, although contents alone do not rectify it', async (t) => {
  t.timeout(LIMIT)
  await changeAtRandom(t, service(), { zone: 'large.test', size: 2000, steps: 150, validated: 4 })
})

test.serial('so is one that grows and shrinks over the limit between them', async (t) => {
  t.timeout(LIMIT)
  await changeAtRandom(t, service(), { zone: 'between.test', size: 190, steps: 150, validated: 4 })
})

test.serial('after all of it no mark is left, and DNS, serials included, equals the database', async (t) => {
  await isConsistent(t, service())
})
