import test from 'ava'
import type { Account } from '../support/clients/accounts.ts'
import { useService } from '../support/harness.ts'
import { KINDS, replaceKeys } from '../support/rollovers/kinds.ts'
import { SETTINGS, type Stage, startStage, WAITS } from '../support/rollovers/stage.ts'

// Replacement of keys (contract §15.10): from the beginning to the end, resolvers believe all answers. The tests run
// beside each other, because they wait most of the time.

const service = useService(SETTINGS, undefined, WAITS)

let stage: Stage
let account: Account

test.before('the stage', async () => {
  stage = await startStage([service().powerDns], KINDS.map(({ name }) => name))
  stage.place(service().system)
  account = await service().account()
}) // prettier-ignore

test.after.always(async () => {
  await (stage as Stage | undefined)?.close()
})

for (const kind of KINDS) {
  test(`resolvers believe all answers: ${kind.title}`, async (t) => {
    await replaceKeys(t, { ...service(), api: account.api, stage }, kind)
  })
}
