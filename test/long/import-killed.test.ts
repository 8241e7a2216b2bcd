import test from 'ava'
import { setTimeout as sleep } from 'node:timers/promises'
import { COLLECTION_ITEMS } from '../../src/limits.ts'
import { discrepanciesInTheEnd } from '../support/dns/discrepancies.ts'
import { ask } from '../support/dns/dns.ts'
import { useServers } from '../support/harness.ts'

// The service is killed while it creates a zone in batches: nothing is left, whatever PowerDNS had got by then.

const servers = useServers()
const RRSETS = COLLECTION_ITEMS + 500
const ZONE_FILE = Array.from({ length: RRSETS }, (_, i) => `h${i} 300 A 192.0.2.1\n`).join('')

for (const batches of [0, 1, 2, 3]) {
  test.serial(`killed after ${batches} PATCH requests`, async (t) => {
    const name = `killed-${batches}.example`
    const service = await servers().start()
    let patches = 0
    const stopped = servers().proxy.stop(
      ({ method, path }) => method === 'PATCH' && path === `/zones/${name}.` && patches++ === batches,
    )
    const answering = service.api.post('/domains/', { name, zonefile: ZONE_FILE }).catch((error: unknown) => error)
    await stopped.arrived
    await service.kill()
    // What was under way is carried out when nobody waits for it any more.
    stopped.release('swallow')
    t.true((await answering) instanceof Error)
    await servers().start()
    await sleep(30_000)
    t.deepEqual(await discrepanciesInTheEnd(servers()), [])
    t.is((await ask(servers().powerDns, `h0.${name}`, 'A')).rcode, 'REFUSED')
    await servers().killServices()
  })
}
