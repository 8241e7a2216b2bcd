import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { depth } from '../support/depth.ts'
import { discrepanciesInTheEnd } from '../support/dns/discrepancies.ts'
import { type TestProcess, useServers } from '../support/harness.ts'
import { test } from '../support/serial.ts'
import { newFolder } from '../support/servers/folders.ts'
import { PostgresPair } from '../support/servers/postgres/postgres-pair.ts'
import { runOurs } from '../support/servers/programs.ts'
import { environmentFor } from '../support/servers/service.ts'
import { createWorkload } from './workload.ts'

// A primary with a synchronous standby, which is promoted when the primary is lost. All connections have the
// same URL, whose address then leads to the new primary; those that hang stay open.

let postgres: PostgresPair
const servers = useServers(undefined, async () => (postgres = await PostgresPair.start({ isSynchronous: true })))
const workload = createWorkload('failover', 6, 3)
let service: TestProcess
let ended: number | null | undefined

test.before('a service is started', async () => {
  service = await servers().start({ LOG_LEVEL: 'warn' })
  void service.ended.then((code) => (ended = code))
})

const LOSSES = Array.from({ length: depth(2, 15) }, (_, i) => (i % 3 === 1 ? 'hanging' : 'killed'))

for (const [i, how] of LOSSES.entries()) {
  test(`no acknowledged write is lost, and the same process writes again: failover ${i + 1}, ${how}`, async (t) => {
    const running = workload.run(service.api)
    await workload.acknowledged(50)
    await postgres.lose(how)
    // The service sees that there is no primary.
    t.is((await service.api.get('/domains/')).status, 503)
    await postgres.promote()
    const promoted = performance.now()
    await workload.acknowledged(1)
    const seconds = (performance.now() - promoted) / 1_000
    t.log(`${seconds.toFixed(1)} s after the promotion, a write is acknowledged`)
    await postgres.addStandby()
    await workload.acknowledged(20)
    workload.stop()
    t.deepEqual(await running, [])
    t.deepEqual(await discrepanciesInTheEnd(servers()), [])
    t.deepEqual(await workload.broken(service.api), [])
    t.is(ended, undefined)
  })
}

test('the command line works with the same URL, backup included', async (t) => {
  const environment = environmentFor(servers().backends)
  const file = join(newFolder(), 'backup')
  for (const args of [['migrate'], ['account', 'list'], ['reconcile'], ['backup', file]]) {
    const [code, output] = await runOurs(args, environment)
    t.is(code, 0, output)
  }
  t.true(existsSync(file))
})

test('while the standby confirms nothing, no write is acknowledged, not even one that has nothing to do', async (t) => {
  const absent = 'a0000000-0000-4000-8000-000000000000'
  const [token] = (await service.api.get('/auth/tokens/')).json as { id: string }[]
  for (const path of [
    '/domains/absent.example/',
    `/auth/tokens/${absent}/`,
    `/auth/tokens/${token!.id}/policies/rrsets/${absent}/`,
  ]) {
    await postgres.holdUpStandby()
    let isAnswered = false
    const answering = service.api.delete(path).finally(() => (isAnswered = true))
    await postgres.awaitUnconfirmed()
    t.is((await service.api.get('/domains/')).status, 200)
    t.false(isAnswered, path)
    await postgres.letStandbyGoOn()
    t.is((await answering).status, 204)
  }
})
