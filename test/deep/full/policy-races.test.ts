import { useService } from '../../support/harness.ts'
import { policyRaces } from '../../support/policy-races.ts'
import { test } from '../../support/serial.ts'

const service = useService()

test('two hundred rounds of twenty simultaneous requests break no rule of policies', async (t) => {
  await policyRaces(t, service(), 200)
})
