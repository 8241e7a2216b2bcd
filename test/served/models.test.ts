import test from 'ava'
import { useServers } from '../support/harness.ts'
import { compareToModel } from './checks/models.ts'

const servers = useServers()

test('whatever is requested, the service does what the contract says, and DNS shows it', async (t) => {
  await compareToModel(t, servers(), await servers().start(), 15)
})
