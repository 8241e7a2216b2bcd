import test from 'ava'
import { useAccount, useService } from '../support/harness.ts'
import { KINDS, replaceKeys } from '../support/rollovers/kinds.ts'
import { SETTINGS, useStage, WAITS } from '../support/rollovers/stage.ts'

// Replacement of keys (contract §15.10): from the beginning to the end, resolvers believe all answers. The tests run
// beside each other, because they wait most of the time.

const service = useService(SETTINGS, undefined, WAITS)

const stage = useStage(
  service,
  KINDS.map(({ name }) => name),
)
const account = useAccount(service)

for (const kind of KINDS) {
  test(`resolvers believe all answers: ${kind.title}`, async (t) => {
    await replaceKeys(t, { ...service(), api: account().api, stage: stage() }, kind)
  })
}
