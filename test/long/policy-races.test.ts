import { useService } from '../support/harness.ts'
import { policyRaces } from '../support/policy-races.ts'
import { test } from '../support/serial.ts'

const service = useService()

test('two hundred rounds of twenty requests that would break a rule of policies break none', async (t) => {
  await policyRaces(t, service(), 200)
})
