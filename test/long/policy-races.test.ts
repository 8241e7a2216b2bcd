import { policyRaces } from '../support/policy-races.ts'
import { test } from '../support/serial.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()

test('two hundred rounds of twenty requests that would break a rule of policies break none', async (t) => {
  await policyRaces(t, world(), 200)
})
