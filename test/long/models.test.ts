import test from 'ava'
import { compareToModel } from '../served/models.ts'
import { useSite } from '../support/site.ts'

const site = useSite()

test('whatever is requested, the service does what the contract says, and DNS shows it', async (t) => {
  t.timeout(3_600_000)
  await compareToModel(t, site(), await site().start(), 500)
})
