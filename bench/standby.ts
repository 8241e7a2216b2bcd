import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startPowerDns } from '../src/private-servers/powerdns.ts'
import { runOurs } from '../test/support/servers/programs.ts'
import { environmentFor } from '../test/support/servers/service.ts'
import { processorTime } from './cpu.ts'
import { alternating, compare, percentile, type Task } from './support/measure.ts'
import { type Service, type Setup, withSetup } from './support/setup.ts'
import { address, rrset, zone } from './support/zones.ts'

const ZONES = 200
const RRSETS = 10
const WARM_UP = 300
const RUNS = 1_500

/** Milliseconds after which the last change has been copied. */
const SETTLING = 5_000

/**
 * Changes of one RRset with a standby that has a database of its own, to which the service copies each zone, beside those
 * without: all in one zone, and each in another one.
 */
export async function standby(alone: Setup): Promise<void> {
  await withSetup((other) => withStandby(other, (both) => measure(both, alone)))
}

/** Starts a service with one more PowerDNS, and copies all zones there. */
async function withStandby(setup: Setup, work: (service: Service) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'zoneplane-bench-'))
  const { apiKey } = setup.primary
  const second = await startPowerDns(folder, { dnsPort: 0, apiKey, durable: true, progress: () => undefined })
  try {
    // It knows the first one only.
    await setup.stop()
    const settings = { PDNS_API_URL: `${setup.pdnsApiUrl}, ${second.apiUrl}` }
    const command = ['primary', 'sync', new URL(second.apiUrl).host]
    const [code, output] = await runOurs(command, environmentFor(setup.backends, settings))
    if (code !== 0) throw new Error(output)
    await work(await setup.another(settings))
  } finally {
    await second.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function measure(both: Service, alone: Service): Promise<void> {
  for (const { api } of [both, alone]) {
    for (let i = 0; i < ZONES; i++) {
      await api('POST', '/domains/', { name: zone(i) })
      const rrsets = Array.from({ length: RRSETS }, (_, host) => rrset(`host${host}`, 0))
      await api('PUT', `/domains/${zone(i)}/rrsets/`, rrsets)
    }
  }
  const places: [string, (i: number) => string][] = [
    ['one zone', () => zone(0)],
    [`${ZONES} zones`, (i) => zone(i % ZONES)],
  ]
  for (const [where, zoneOf] of places) {
    const change =
      ({ api }: Service): Task =>
      (i) =>
        api('PATCH', `/domains/${zoneOf(i)}/rrsets/host1/A/`, { records: [address(i)] })
    const tasks = [change(both), change(alone)] as const
    await alternating(WARM_UP, ...tasks)
    const before = [processorTime(both.pid), processorTime(alone.pid)] as const
    const [ours, theirs] = await alternating(RUNS, ...tasks)
    // Copies come after the changes.
    await sleep(SETTLING)
    const cpu = [processorTime(both.pid) - before[0], processorTime(alone.pid) - before[1]] as const
    compare(`change in ${where}, with a standby, p50`, 'ms', percentile(ours!, 0.5), percentile(theirs!, 0.5))
    compare('  its CPU', 'ms', cpu[0] / RUNS, cpu[1] / RUNS)
  }
}
