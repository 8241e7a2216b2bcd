import test from 'ava'
import { COLLECTION_ITEMS } from '../../src/limits.ts'
import { query } from '../../src/store/database.ts'
import { discrepanciesInTheEnd } from '../support/dns/discrepancies.ts'
import { ask } from '../support/dns/dns.ts'
import { eventuallyIs } from '../support/eventually.ts'
import { useServers } from '../support/harness.ts'
import type { Call } from '../support/servers/proxy.ts'

// The service is killed while it creates a zone in batches: nothing is left, whatever PowerDNS had got by then.

const servers = useServers()
const RRSETS = COLLECTION_ITEMS + 500
const names: string[] = []
const ZONE_FILE = Array.from({ length: RRSETS }, (_, i) => `h${i} 300 A 192.0.2.1\n`).join('')

/** The requests that make a zone in batches, after the first one, in their order. */
const STEPS: [what: string, isIt: (call: Call, zone: string, earlier: number) => boolean][] = [
  ['the zone is configured', ({ method, path }, zone) => method === 'PUT' && path === zone],
  ['the first batch is sent', ({ method, path }, zone) => method === 'PATCH' && path === zone],
  ['the last batch is sent', ({ method, path }, zone, earlier) => method === 'PATCH' && path === zone && earlier === 1],
  ['the caches are flushed', ({ path }, zone) => path === `/cache/flush?domain=${zone.slice('/zones/'.length)}`],
]

for (const [step, [what, isIt]] of STEPS.entries()) {
  test.serial(`killed when ${what}`, async (t) => {
    const name = `killed-${step}.example`
    const service = await servers().start()
    let patches = 0
    const stopped = servers().proxy.stop((call) => {
      const isStep = isIt(call, `/zones/${name}.`, patches)
      if (call.method === 'PATCH') patches++
      return isStep
    })
    const answering = service.api.post('/domains/', { name, zonefile: ZONE_FILE }).catch((error: unknown) => error)
    await stopped.arrived
    await service.kill()
    // What was under way is carried out when nobody waits for it any more.
    stopped.release('swallow')
    t.true((await answering) instanceof Error)
    names.push(name)
  })
}

test.serial('another process leaves nothing of them', async (t) => {
  const { db } = servers().system
  await eventuallyIs(() => servers().proxy.open(), 0)
  // Nothing is under way any more, so no process need wait for late requests.
  await query(db, 'update marks set grace = 0, watch_until = now()')
  await servers().start()
  await eventuallyIs(() => query(db, 'select zone from marks'), [])
  t.deepEqual(await discrepanciesInTheEnd(servers()), [])
  t.is(names.length, STEPS.length)
  for (const name of names) t.is((await ask(servers().powerDns, `h0.${name}`, 'A')).rcode, 'REFUSED', name)
})
