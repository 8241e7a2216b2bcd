import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Pool } from 'undici'
import { startPowerDns } from '../src/private-servers/powerdns.ts'
import { RECONCILERS } from '../src/service/repair/reconcile.ts'
import { startOurs } from '../test/support/servers/programs.ts'
import { environmentFor } from '../test/support/servers/service.ts'
import { compare, throughput } from './support/measure.ts'
import type { Setup } from './support/setup.ts'
import { address, rawName, rawRRset, rawZone, zone } from './support/zones.ts'

const ZONES = 10_000
const RRSETS = 10

/** `zoneplane rebuild` of an empty PowerDNS, compared with the creation of such zones with new keys. */
export async function rebuild(setup: Setup): Promise<void> {
  const names = Array.from({ length: RRSETS - 1 }, (_, i) => `host${i}`)
  const zonefile = names.map((name, i) => `${name} 60 A ${address(i)}\n`).join('')
  await throughput(ZONES, 8, (_, i) => setup.api('POST', '/domains/', { name: zone(i), zonefile }))

  const folder = mkdtempSync(join(tmpdir(), 'zoneplane-bench-'))
  chmodSync(folder, 0o711)
  const powerDns = await startPowerDns(folder, { dnsPort: 0, progress: () => undefined })
  // The service would repair zones, too, at the PowerDNS that it knows.
  process.kill(setup.pid, 'SIGSTOP')
  try {
    const backends = { databaseUrl: setup.databaseUrl, pdnsApiUrl: powerDns.apiUrl, pdnsApiKey: powerDns.apiKey }
    const start = performance.now()
    const { ended, output } = startOurs(['rebuild'], environmentFor(backends))
    // There is a domain of the demo account, too.
    if ((await ended) !== 0 || !output().includes(`${ZONES + 1} zones are`)) throw new Error(output())
    const ours = performance.now() - start

    const raw = new Pool(powerDns.apiUrl, { connections: RECONCILERS, pipelining: 1 })
    const again = performance.now()
    await throughput(ZONES, RECONCILERS, async (_, i) => {
      const { rrsets, ...settings } = rawZone(i)
      const hosts = names.map((name, n) => rawRRset(`${name}.${rawName(i)}`, 'A', address(n)))
      const answer = await raw.request({
        method: 'POST',
        path: '/api/v1/servers/localhost/zones?rrsets=false',
        headers: { 'content-type': 'application/json', 'x-api-key': powerDns.apiKey },
        body: JSON.stringify({ ...settings, rrsets: [...rrsets, ...hosts] }),
      })
      await answer.body.dump()
      if (answer.statusCode !== 201) throw new Error(String(answer.statusCode))
    })
    compare(`rebuild of ${ZONES} zones of ${RRSETS} RRsets`, 's', ours / 1_000, (performance.now() - again) / 1_000)
    await raw.close()
  } finally {
    process.kill(setup.pid, 'SIGCONT')
    await powerDns.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}
