import test from 'ava'
import { isConsistent } from '../support/zone.ts'
import { useWorld } from '../support/world.ts'
import { domainsShowAtOnce, writesShowAtOnce } from './visibility.ts'

const world = useWorld({ THROTTLE: 'off' })

test.serial('a write is visible in DNS when its response arrives, denials included', async (t) => {
  await writesShowAtOnce(t, world(), 'seen.test', 160)
})

test.serial(
  'a domain, and every name below it, is answered or no more answered when the response arrives',
  async (t) => {
    await domainsShowAtOnce(t, world(), 'parent.test', 20)
  },
)

test.serial('after all of it no mark is left, and DNS, serials included, equals the database', async (t) => {
  await isConsistent(t, world())
})
