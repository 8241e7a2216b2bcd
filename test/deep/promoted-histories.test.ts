import test from 'ava'
import { setTimeout as sleep } from 'node:timers/promises'
import { newDomain, rrset } from '../support/api.ts'
import { endDoubt } from '../support/marks.ts'
import { usePromotions } from './promotions.ts'

// The histories of histories.test.ts, in which a synchronous standby is promoted while changes are under way to PowerDNS. It
// has all that was acknowledged, and all marks.

const PROMOTIONS = Number(process.env['PROMOTIONS'] ?? 10)

const { servers, pair, workers, total, ofCrashes, run, testTheEnd } = usePromotions({ isSynchronous: true })

for (let round = 0; round < PROMOTIONS; round++) {
  test.serial(
    `whatever a standby lacks, API and DNS show what was acknowledged, and nothing that was refused: promotion ${round + 1}`,
    async (t) => {
      const ready = async () => {
        if (round % 4 !== 3) await endDoubt(servers())
      }
      await run(t, round, { ready })
    },
  )
}

testTheEnd()

test.serial('the histories had writes that succeeded, were refused, and failed, and promotions lost no mark', (t) => {
  t.log(total, ofCrashes)
  const { done = 0, refused = 0, failed = 0, unknown = 0 } = total
  t.true(done > 0 && refused > 0 && failed + unknown > 0 && ofCrashes.held > 0)
  t.is(ofCrashes.lost, 0)
})

test.serial('what no standby confirms does not reach PowerDNS', async (t) => {
  const { api } = workers()[0]!.service
  const name = await newDomain(api, 'unconfirmed.example')
  await pair().holdUpStandby()
  servers().proxy.calls.length = 0
  const answering = api.post(`/domains/${name}/rrsets/`, rrset()).catch(() => undefined)
  t.is(await Promise.race([answering, sleep(3_000, 'none')]), 'none')
  t.deepEqual(
    servers().proxy.calls.filter(({ method }) => method === 'PATCH'),
    [],
  )
})
