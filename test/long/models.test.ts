import test from 'ava'
import { compareToModel } from '../served/checks/models.ts'
import { useServers } from '../support/harness.ts'

const servers = useServers()

test('whatever is requested, the service does what the contract says, and DNS shows it', async (t) => {
  t.timeout(3_600_000)
  await compareToModel(t, servers(), await servers().start(), 500)
})
