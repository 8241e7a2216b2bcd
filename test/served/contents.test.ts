import test from 'ava'
import { isConsistent } from '../support/zone.ts'
import { useWorld } from '../support/world.ts'
import { contentsAreServed } from './contents.ts'

const world = useWorld({ THROTTLE: 'off' })

test.serial('DNS serves, to the octet, what the API says that it has', async (t) => {
  await contentsAreServed(t, world(), 'contents.zz', 200)
})

test.serial('after all of it no mark is left, and DNS, serials included, equals the database', async (t) => {
  await isConsistent(t, world())
})
