import test from 'ava'
import { isConsistent } from '../support/zone.ts'
import { useWorld } from '../support/world.ts'
import { changeAtRandom } from './sequences.ts'

const world = useWorld({ THROTTLE: 'off' })

test.serial('a small zone is answered and denied right, and valid, after every change', async (t) => {
  await changeAtRandom(t, world(), { zone: 'small.test', size: 0, steps: 40, validated: 3 })
})

test.serial('so is a large one, although contents alone do not rectify it', async (t) => {
  await changeAtRandom(t, world(), { zone: 'large.test', size: 300, steps: 30, validated: 3 })
})

test.serial('so is one that grows and shrinks over the limit between them', async (t) => {
  await changeAtRandom(t, world(), { zone: 'between.test', size: 190, steps: 30, validated: 2 })
})

test.serial('after all of it no mark is left, and DNS, serials included, equals the database', async (t) => {
  await isConsistent(t, world())
})
