import test from 'ava'
import { depth } from '../support/depth.ts'
import { useServers } from '../support/harness.ts'
import { compareToModel } from './checks/models.ts'

const servers = useServers()

test('answers to random requests, RRsets and DNS are what a model of the contract expects', async (t) => {
  await compareToModel(t, servers(), await servers().serve(), depth(15, 500))
})
