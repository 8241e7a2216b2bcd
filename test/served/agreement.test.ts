import test from 'ava'
import { randomInt } from 'node:crypto'
import { apiAndDnsAgree } from './agreement.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()

test('random records of every type are served as they were accepted', async (t) => {
  await apiAndDnsAgree(t, world(), 600, randomInt(2 ** 31))
})
