import test from 'ava'
import { useService } from '../support/harness.ts'
import { isConsistent } from '../support/dns/zone.ts'
import { domainsShowAtOnce, writesShowAtOnce } from './checks/visibility.ts'

const service = useService({ THROTTLE: 'off' })

test.serial('a write is visible in DNS when its response arrives, denials included', async (t) => {
  await writesShowAtOnce(t, service(), 'seen.test', 160)
})

test.serial(
  'a domain, and every name below it, is answered or no more answered when the response arrives',
  async (t) => {
    await domainsShowAtOnce(t, service(), 'parent.test', 20)
  },
)

test.serial('after all of it no mark is left, and DNS, serials included, equals the database', async (t) => {
  await isConsistent(t, service())
})
