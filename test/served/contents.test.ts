import test from 'ava'
import { audit } from '../../src/service/domains/reconcile.ts'
import { useService } from '../support/harness.ts'
import { isConsistent } from '../support/dns/zone.ts'
import { contentsAreServed } from './checks/contents.ts'

const service = useService({ THROTTLE: 'off' })

test.serial('DNS serves, octet for octet, the records that the API shows', async (t) => {
  await contentsAreServed(t, service(), 'contents.no-random-name', 200)
})

test.serial('what PowerDNS shows of these records equals the database', async (t) => {
  t.deepEqual(await audit(service().system, { contents: true }), [])
})

test.serial('at the end no mark remains, and DNS equals the database, serials included', async (t) => {
  await isConsistent(t, service())
})
