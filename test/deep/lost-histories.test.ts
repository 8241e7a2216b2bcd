import test from 'ava'
import { endDoubt } from '../support/marks.ts'
import { violationsDespiteLoss } from './history.ts'
import { usePromotions } from './promotions.ts'

// The histories of histories.test.ts, in which an asynchronous standby is promoted. It may lack acknowledged changes, and
// the marks of those that are under way to PowerDNS. Whatever it has, DNS is in the end what it says, and nothing that was
// refused is shown.

const PROMOTIONS = 6

const { servers, pair, total, ofCrashes, run, testTheEnd } = usePromotions({ isSynchronous: false })

for (let round = 0; round < PROMOTIONS; round++) {
  test.serial(`no zone stays different, and nothing that was refused is shown: promotion ${round + 1}`, async (t) => {
    const ready = async () => {
      // The domains are not lost.
      await pair().awaitStandby()
      if (round % 2 === 0) await pair().holdUpStandby()
      else await endDoubt(servers())
    }
    await run(t, round, { ready, judge: violationsDespiteLoss })
  })
}

testTheEnd()

test.serial('the histories had writes of all outcomes, and promotions that lost marks', (t) => {
  t.log(total, ofCrashes)
  const { done = 0, refused = 0, failed = 0, unknown = 0 } = total
  t.true(done > 0 && refused > 0 && failed + unknown > 0 && ofCrashes.lost > 0)
})
