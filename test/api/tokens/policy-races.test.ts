import { depth } from '../../support/depth.ts'
import { useService } from '../../support/harness.ts'
import { policyRaces } from '../../support/policy-races.ts'
import { test } from '../../support/serial.ts'

const service = useService()

test('twenty simultaneous requests cannot break the rules of policies', async (t) => {
  await policyRaces(t, service(), depth(10, 200))
})
