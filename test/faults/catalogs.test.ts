import test from 'ava'
import { publishNow } from '../../src/service/secondaries/catalogs.ts'
import { query } from '../../src/store/database.ts'
import { hasMembers, membersOf } from '../support/dns/catalog.ts'
import { eventuallyIs } from '../support/eventually.ts'
import { type OwnService, useServers } from '../support/harness.ts'
import type { Call, Fate } from '../support/servers/proxy.ts'

// The publisher of a catalog zone is killed at every step. Then another one makes its members the domains.

const servers = useServers()
const CATALOG = 'catalog.example'
const SETTINGS = { CATALOG_ZONE: CATALOG, LOG_LEVEL: 'error' }
const isOwn = ({ path }: Call) => path.startsWith(`/zones/${CATALOG}.`)

/** A service that publishes no catalog zone: what it changes waits for the publisher. */
let idle: OwnService

test.serial.before('a service is started', async () => {
  idle = await servers().serve({ ...SETTINGS, CATALOG_ZONE: '' })
})

async function domains(): Promise<string[]> {
  return (await query<{ name: string }>(servers().system.db, 'select name from domains')).map(({ name }) => name)
}

/** A question may be lost or answered: PowerDNS is the same afterwards. */
const QUESTION: Fate[] = ['cut']
const CHANGE: Fate[] = ['cut', 'pass']

const STEPS: [what: string, isStep: (call: Call) => boolean, isNew: boolean, fates: Fate[]][] = [
  ['it reads the catalog zone that is missing', (call) => call.method === 'GET' && isOwn(call), true, QUESTION],
  ['it looks for the zones of the members', ({ path }) => path.startsWith('/zones?dnssec'), true, QUESTION],
  [
    'it makes the catalog zone',
    ({ method, body }) => method === 'POST' && body.includes(`"${CATALOG}."`),
    true,
    CHANGE,
  ],
  ['it empties the cache', ({ path }) => path === `/cache/flush?domain=${CATALOG}.`, true, CHANGE],
  ['it asks for the serial', (call) => call.method === 'GET' && isOwn(call), false, QUESTION],
  ['it publishes the members', (call) => call.method === 'PATCH' && isOwn(call), false, CHANGE],
]

let round = 0

for (const [what, isStep, isNew, fates] of STEPS) {
  for (const fate of fates) {
    test.serial(`killed when ${what}, which is ${fate === 'cut' ? 'lost' : 'carried out'}`, async (t) => {
      const { system, proxy, powerDns } = servers()
      const [kept, gone, added] = ['kept', 'gone', 'added'].map((label) => `${label}-${++round}.example`)
      for (const name of [kept, gone]) t.is((await idle.api.post('/domains/', { name })).status, 201)
      if (isNew) await servers().pdns('DELETE', `/zones/${CATALOG}.`)
      else {
        await publishNow({ ...system, config: { ...system.config, catalogZone: CATALOG } }, true)
        await hasMembers(powerDns, CATALOG, await domains())
      }
      // What waits for the publisher that is killed.
      t.is((await idle.api.delete(`/domains/${gone}/`)).status, 204)

      const stopped = proxy.stop(isStep)
      const victim = await servers().start(SETTINGS)
      if (!isNew) t.is((await idle.api.post('/domains/', { name: added })).status, 201)
      await stopped.arrived
      await victim.kill()
      stopped.release(fate)
      if (!isNew) t.true((await membersOf(powerDns, CATALOG)).has(kept!))

      const next = await servers().serve(SETTINGS)
      await hasMembers(powerDns, CATALOG, await domains())
      // PowerDNS serves them before the publisher has committed.
      const left = 'select from catalog_members where gone or not listed'
      await eventuallyIs(async () => (await query(system.db, left)).length, 0)
      await next.stop()
    })
  }
}

test.serial('a domain that comes or goes has the catalog zone published at once, if there is one', async (t) => {
  const { api, system } = await servers().serve(SETTINGS)
  for (const [one, isRung] of [
    [{ api, system }, true],
    [idle, false],
  ] as const) {
    const name = `waking-${isRung}.example`
    for (const send of [() => one.api.post('/domains/', { name }), () => one.api.delete(`/domains/${name}/`)]) {
      const { next } = one.system.workBell
      t.true((await send()).status < 300)
      t.is(next.aborted, isRung)
    }
  }
})
