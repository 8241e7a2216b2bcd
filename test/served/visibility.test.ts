import test from 'ava'
import { useService } from '../support/harness.ts'
import { isConsistent } from '../support/dns/zone.ts'
import { domainsShowAtOnce, writesShowAtOnce } from './checks/visibility.ts'

const service = useService({ THROTTLE: 'off' })

test.serial('a write is visible in DNS when its response arrives, denials included', async (t) => {
  await writesShowAtOnce(t, service(), 'seen.test', 160)
})

test.serial('a new domain is served, and a deleted one no longer, when the response arrives', async (t) => {
  await domainsShowAtOnce(t, service(), 'parent.test', 20)
})

test.serial('at the end no mark remains, and DNS equals the database, serials included', async (t) => {
  await isConsistent(t, service())
})
