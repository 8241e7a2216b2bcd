import test from 'ava'
import { setTimeout as sleep } from 'node:timers/promises'
import { query } from '../../src/store/database.ts'
import { commandsOn } from '../support/command-line.ts'
import { depth } from '../support/depth.ts'
import { hasMembers, membersOf } from '../support/dns/catalog.ts'
import { eventually } from '../support/eventually.ts'
import { type TestProcess, useServers } from '../support/harness.ts'
import { Random, SEED } from '../support/random.ts'

// Domains are created and deleted at random, while the processes that publish the catalog zone are killed.

const servers = useServers()
const CATALOG = 'catalog.example'
const ROUNDS = depth(1, 20)
const CHANGES = depth(150, 500)
const CLIENTS = 6
const kept = Array.from({ length: 60 }, (_, i) => `kept-${i}.example`)
const randoms = Array.from({ length: CLIENTS }, (_, client) => new Random(SEED + client))
let service: TestProcess

const start = async () => {
  service = await servers().start({ CATALOG_ZONE: CATALOG, LOG_LEVEL: 'error' })
}

test.serial.before('domains that stay', async () => {
  await start()
  for (const name of kept) await service.api.post('/domains/', { name })
  await hasMembers(servers().powerDns, CATALOG, kept)
})

for (let round = 1; round <= ROUNDS; round++) {
  test.serial(`domains that stay are members all the time: changes to ${CHANGES * round}`, async (t) => {
    let changes = 0
    let killed = false
    const change = async (random: Random, client: number) => {
      while (changes < CHANGES || !killed) {
        const name = `random-${client}-${random.below(40)}.example`
        const answer = await (
          random.below(2) === 0 ? service.api.post('/domains/', { name }) : service.api.delete(`/domains/${name}/`)
        ).catch(() => undefined)
        if (answer === undefined) await sleep(100)
        else if (answer.status === 201 || answer.status === 204) changes++
      }
    }
    const kill = async () => {
      const enough = CHANGES / 2 + randoms[0]!.below(CHANGES / 4)
      await eventually(() => changes >= enough)
      await service.kill()
      await start()
      killed = true
    }
    const missing: string[] = []
    const watch = async () => {
      while (changes < CHANGES || !killed) {
        const members = await membersOf(servers().powerDns, CATALOG)
        missing.push(...kept.filter((zone) => !members.has(zone)))
        await sleep(200)
      }
    }
    await Promise.all([kill(), watch(), ...randoms.map(change)])
    t.deepEqual(missing, [])
  })
}

test.serial('in the end the members are the domains', async (t) => {
  const { system, powerDns } = servers()
  const forcing = commandsOn(() => ({ ...system, config: { ...system.config, catalogZone: CATALOG } }))
  t.true((await forcing('catalog', 'publish', '--force'))[0])
  const names = (await query<{ name: string }>(system.db, 'select name from domains')).map(({ name }) => name)
  await hasMembers(powerDns, CATALOG, names)
  t.is((await query(system.db, 'select from catalog_members where gone or not listed')).length, 0)
})
