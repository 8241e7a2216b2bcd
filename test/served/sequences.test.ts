import test from 'ava'
import { useService } from '../support/harness.ts'
import { isConsistent } from '../support/dns/zone.ts'
import { changeAtRandom } from './checks/sequences.ts'

const service = useService({ THROTTLE: 'off' })

test.serial('a small zone is answered and denied right, and valid, after every change', async (t) => {
  await changeAtRandom(t, service(), { zone: 'small.test', size: 0, steps: 40, validated: 3 })
})

test.serial('so is a large one, although contents alone do not rectify it', async (t) => {
  await changeAtRandom(t, service(), { zone: 'large.test', size: 300, steps: 30, validated: 3 })
})

test.serial('so is one that grows and shrinks over the limit between them', async (t) => {
  await changeAtRandom(t, service(), { zone: 'between.test', size: 190, steps: 30, validated: 2 })
})

test.serial('after all of it no mark is left, and DNS, serials included, equals the database', async (t) => {
  await isConsistent(t, service())
})
