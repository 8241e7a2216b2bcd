import test from 'ava'
import { compareToModel } from '../served/checks/models.ts'
import { useServers } from '../support/harness.ts'

const servers = useServers()

test('answers to random requests, RRsets and DNS are what a model of the contract expects', async (t) => {
  t.timeout(3_600_000)
  await compareToModel(t, servers(), await servers().start(), 500)
})
