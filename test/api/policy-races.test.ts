import { policyRaces } from '../support/policy-races.ts'
import { test } from '../support/serial.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()

test('twenty requests at once that would break a rule of policies break none', async (t) => {
  await policyRaces(t, world(), 10)
})
