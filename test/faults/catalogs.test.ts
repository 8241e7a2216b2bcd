import test from 'ava'
import { query } from '../../src/store/database.ts'
import { hasMembers, membersOf } from '../support/dns/catalog.ts'
import { useServers } from '../support/harness.ts'
import type { Call, Fate } from '../support/servers/proxy.ts'

// The publisher of a catalog zone is killed at every step. Then another one makes its members the domains.

const servers = useServers()
const CATALOG = 'catalog.example'
const SETTINGS = { CATALOG_ZONE: CATALOG, LOG_LEVEL: 'error' }
const isOwn = ({ path }: Call) => path.startsWith(`/zones/${CATALOG}.`)

async function domains(): Promise<string[]> {
  return (await query<{ name: string }>(servers().system.db, 'select name from domains')).map(({ name }) => name)
}

const STEPS: [what: string, isStep: (call: Call) => boolean, isNew: boolean][] = [
  ['it reads the catalog zone that is missing', (call) => call.method === 'GET' && isOwn(call), true],
  ['it looks for the zones of the members', ({ path }) => path.startsWith('/zones?dnssec'), true],
  ['it makes the catalog zone', ({ method, body }) => method === 'POST' && body.includes(`"${CATALOG}."`), true],
  ['it empties the cache', ({ path }) => path === `/cache/flush?domain=${CATALOG}.`, true],
  ['it asks for the serial', (call) => call.method === 'GET' && isOwn(call), false],
  ['it publishes the members', (call) => call.method === 'PATCH' && isOwn(call), false],
]

let round = 0

for (const [what, isStep, isNew] of STEPS) {
  for (const fate of ['cut', 'pass'] satisfies Fate[]) {
    test.serial(`killed when ${what}, which is ${fate === 'cut' ? 'lost' : 'carried out'}`, async (t) => {
      const [kept, gone, added] = ['kept', 'gone', 'added'].map((label) => `${label}-${++round}.example`)
      const catalog = isNew ? '' : CATALOG
      const before = await servers().start({ ...SETTINGS, CATALOG_ZONE: catalog })
      for (const name of [kept, gone]) t.is((await before.api.post('/domains/', { name })).status, 201)
      if (isNew) await servers().pdns('DELETE', `/zones/${CATALOG}.`)
      else await hasMembers(servers().powerDns, CATALOG, await domains())
      // What waits for the publisher that is killed.
      await servers().killServices()
      const idle = await servers().start({ ...SETTINGS, CATALOG_ZONE: '' })
      t.is((await idle.api.delete(`/domains/${gone}/`)).status, 204)
      await servers().killServices()

      const stopped = servers().proxy.stop(isStep)
      const victim = await servers().start(SETTINGS)
      if (!isNew) t.is((await victim.api.post('/domains/', { name: added })).status, 201)
      await stopped.arrived
      await victim.kill()
      stopped.release(fate)
      if (!isNew) t.true((await membersOf(servers().powerDns, CATALOG)).has(kept!))

      await servers().start(SETTINGS)
      await hasMembers(servers().powerDns, CATALOG, await domains())
      const left = await query(servers().system.db, 'select from catalog_members where gone or not listed')
      t.is(left.length, 0)
    })
  }
}
