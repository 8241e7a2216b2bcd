import test from 'ava'
import { useService } from '../support/harness.ts'
import { isConsistent } from '../support/dns/zone.ts'
import { changeAtRandom } from './checks/sequences.ts'

const service = useService({ THROTTLE: 'off' })

test.serial('answers and denials of a small zone are correct and validate after every change', async (t) => {
  await changeAtRandom(t, service(), { zone: 'small.test', size: 0, steps: 40, validated: 3 })
})

test.serial('the same holds for a large zone, which is not rectified when only contents change', async (t) => {
  await changeAtRandom(t, service(), { zone: 'large.test', size: 300, steps: 30, validated: 3 })
})

test.serial('the same holds for a zone that grows and shrinks across the limit between small and large', async (t) => {
  await changeAtRandom(t, service(), { zone: 'between.test', size: 190, steps: 30, validated: 2 })
})

test.serial('at the end no mark remains, and DNS equals the database, serials included', async (t) => {
  await isConsistent(t, service())
})
