import test from 'ava'
import { useService } from '../support/harness.ts'
import { isConsistent } from '../support/dns/zone.ts'
import { contentsAreServed } from './checks/contents.ts'

const service = useService({ THROTTLE: 'off' })

test.serial('DNS serves, to the octet, what the API says that it has', async (t) => {
  await contentsAreServed(t, service(), 'contents.zz', 200)
})

test.serial('after all of it no mark is left, and DNS, serials included, equals the database', async (t) => {
  await isConsistent(t, service())
})
