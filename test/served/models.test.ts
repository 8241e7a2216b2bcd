import test from 'ava'
import { useSite } from '../support/site.ts'
import { compareToModel } from './models.ts'

const site = useSite()

test('whatever is requested, the service does what the contract says, and DNS shows it', async (t) => {
  await compareToModel(t, site(), await site().start(), 15)
})
