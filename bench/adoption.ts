import { setTimeout as sleep } from 'node:timers/promises'
import { startOurs } from '../test/support/servers/programs.ts'
import { resident } from '../test/support/servers/resident.ts'
import { environmentFor } from '../test/support/servers/service.ts'
import { compare, state, throughput } from './support/measure.ts'
import type { Setup } from './support/setup.ts'
import { address, rawName, rawRRset, rawZone } from './support/zones.ts'

const ZONES = 10_000
/** Besides NS: ten RRsets in each zone. */
const HOSTS = 9
const ACCOUNT = 'ops@bench.test'
/** As many as the command works on at the same time. */
const WORKERS = 4

/** `zoneplane adopt --all` for zones that are at PowerDNS, compared with reading them there. */
export async function adoption(setup: Setup): Promise<void> {
  const made = await timed(() => throughput(ZONES, 8, (_, i) => make(setup, i)))
  state(`making ${ZONES} zones at PowerDNS`, `${made.toFixed(0)} s`)
  await startOurs(['account', 'create', ACCOUNT], environmentFor(setup.backends)).ended
  const read = await timed(() => throughput(ZONES, WORKERS, (_, i) => setup.raw('GET', `/zones/${rawName(i)}`)))
  const plan = await adopt(setup)
  compare('  the plan, and reading the zones', 's', plan.seconds, read)
  state('  its process takes at most', `${plan.memory} MiB`)
  const applied = await adopt(setup, '--apply')
  compare('  --apply, and making the zones', 's', applied.seconds, made)
  state('  its process takes at most', `${applied.memory} MiB`)
}

async function make(setup: Setup, i: number): Promise<void> {
  const zone = rawZone(i)
  const hosts = Array.from({ length: HOSTS }, (_, host) => rawRRset(`host${host}.${rawName(i)}`, 'A', address(i)))
  await setup.raw('POST', '/zones?rrsets=false', { ...zone, rrsets: [...zone.rrsets, ...hosts] })
}

/** Runs the command. Returns its time, and the most memory that it has had. */
async function adopt({ backends }: Setup, ...options: string[]): Promise<{ seconds: number; memory: number }> {
  const args = ['adopt', '--all', '--account', ACCOUNT, '--json', ...options]
  let memory = 0
  const seconds = await timed(async () => {
    const { child, ended, output } = startOurs(args, environmentFor(backends))
    let code: number | null | undefined
    void ended.then((ending) => (code = ending))
    while (code === undefined) {
      try {
        memory = Math.max(memory, resident(child.pid!, 'VmHWM'))
      } catch {
        // It has ended just now.
      }
      await sleep(100)
    }
    if (code !== 0) throw new Error(output().slice(-2000))
  })
  return { seconds, memory: Math.round(memory / 1024) }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return (performance.now() - start) / 1000
}
