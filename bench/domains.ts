import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { projectFolder } from '../src/installation/project.ts'
import { startProgram } from '../test/support/servers/programs.ts'
import { resident } from '../test/support/servers/resident.ts'
import { environmentFor } from '../test/support/servers/service.ts'
import type { Audit } from './support/audits.ts'
import { makeDomains } from './support/many-domains.ts'
import { median, medians, state } from './support/measure.ts'
import { type Service, type Setup, withSetup } from './support/setup.ts'
import { address, rawRRset, soa, zone } from './support/zones.ts'

const FEW = 10
const MANY = Number(process.env['DOMAINS'] ?? 100_000)
const STARTS = 5
const WARM_UP = 200
const WRITES = 500
const READS = 100

type Figures = readonly [many: number, few: number]

const mib = (kib: number) => `${Math.round(kib / 1024)} MiB`
const ms = (time: number) => `${time.toFixed(2)} ms`
const seconds = (time: number) => `${(time / 1_000).toFixed(2)} s`

/** What many domains cost, beside few: a start, the comparisons with PowerDNS, and requests about one domain. */
export async function domains(few: Setup): Promise<void> {
  await makeDomains(few, FEW)
  const began = performance.now()
  await withSetup(
    async (many) => {
      state(`making ${MANY} domains of 10 RRsets`, seconds(performance.now() - began))
      await starts([many, few])
      await memory([many, few])
      await comparisons([many, few])
      await requests([many, few])
    },
    {},
    (setup) => makeDomains(setup, MANY),
  )
}

/** Prints a figure with many domains, with few, and how they relate. */
function beside(what: string, print: (figure: number) => string, [many, few]: Figures): void {
  state(`${what}, ${MANY} domains`, print(many))
  state(`  ${FEW} domains`, print(few))
  state('  ratio', (many / few).toFixed(2))
}

/** Until a process is ready. */
async function starts([many, few]: readonly [Setup, Setup]): Promise<void> {
  const times: [number[], number[]] = [[], []]
  for (let i = 0; i < STARTS; i++) {
    for (const [which, setup] of [many, few].entries()) {
      const began = performance.now()
      const service = await setup.another({})
      while ((await fetch(`${service.url}/readyz`)).status !== 200) await sleep(10)
      times[which]!.push(performance.now() - began)
      // Else its first comparison would take processor time from the next start.
      await isIdle(service)
      await service.stop()
    }
  }
  beside('start until ready, p50', seconds, [median(times[0]), median(times[1])])
}

/** Waits until a process has used hardly any processor time for two seconds. */
async function isIdle({ inside }: Service): Promise<void> {
  for (let before = (await inside()).cpu; ;) {
    await sleep(2_000)
    const { cpu } = await inside()
    if (cpu - before < 100) return
    before = cpu
  }
}

/** Of a process that has compared all serials, because it has found and repaired a zone that others have changed. */
async function memory(setups: readonly [Setup, Setup]): Promise<void> {
  const figures: { repaired: number; resident: number; proportional: number; peak: number }[] = []
  for (const { raw, another } of setups) {
    const name = `${zone(0)}.`
    const stray = rawRRset(`stray.${name}`, 'A', address(0))
    await raw('PATCH', `/zones/${name}`, { rrsets: [soa(name, 1_000), stray] })
    const began = performance.now()
    const service = await another({})
    const isThere = async () => {
      const answer = await raw('GET', `/zones/${name}?rrset_name=${stray.name}&rrset_type=A`)
      return (answer as { rrsets: unknown[] }).rrsets.length > 0
    }
    while (await isThere()) await sleep(50)
    const repaired = performance.now() - began
    await isIdle(service)
    const { pid } = service
    figures.push({
      ...{ repaired, resident: resident(pid, 'VmRSS'), peak: resident(pid, 'VmHWM') },
      proportional: Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))![1]),
    })
    await service.stop()
  }
  const [many, few] = figures as [(typeof figures)[0], (typeof figures)[0]]
  beside('start until a changed zone is repaired', seconds, [many.repaired, few.repaired])
  beside('resident memory after the comparison', mib, [many.resident, few.resident])
  beside('proportional memory after it', mib, [many.proportional, few.proportional])
  beside('most resident memory until then', mib, [many.peak, few.peak])
}

/** In a process that does nothing else. */
async function comparisons(setups: readonly [Setup, Setup]): Promise<void> {
  const audits: Audit[][] = []
  for (const { backends } of setups) {
    const file = join(projectFolder(), 'build', 'bench', 'support', 'audits.js')
    const { ended, output } = startProgram(process.execPath, ['--enable-source-maps', file], environmentFor(backends))
    if ((await ended) !== 0) throw new Error(output())
    const lines = output().trim().split('\n')
    audits.push(lines.map((line) => JSON.parse(line) as Audit))
  }
  const [many, few] = audits as [Audit[], Audit[]]
  const serials = (pick: (audit: Audit) => number): Figures => [
    median(many.slice(0, -1).map(pick)),
    median(few.slice(0, -1).map(pick)),
  ]
  const last = (pick: (audit: Audit) => number): Figures => [pick(many.at(-1)!), pick(few.at(-1)!)]
  beside(
    'comparison of all serials, p50',
    ms,
    serials(({ took }) => took),
  )
  beside(
    '  the event loop is blocked for',
    ms,
    serials(({ blocked }) => blocked),
  )
  beside(
    'comparison of one turn of contents',
    ms,
    last(({ took }) => took),
  )
  beside(
    '  most resident memory of all comparisons',
    mib,
    last(({ peak }) => peak),
  )
}

async function requests([many, few]: readonly [Setup, Setup]): Promise<void> {
  let changed = 0
  const write =
    ({ api }: Setup) =>
    () =>
      api('PATCH', `/domains/${zone(5)}/rrsets/host0/A/`, { records: [address(++changed)] })
  const read =
    ({ read }: Setup, path: string) =>
    async () => {
      const status = await read(path)
      if (status !== 200) throw new Error(`${path}: ${status}`)
    }
  const both = async (what: string, runs: number, task: (setup: Setup) => () => Promise<unknown>) => {
    const tasks = [task(many), task(few)] as const
    await medians(Math.min(runs, WARM_UP), ...tasks)
    const [ofMany, ofFew] = await medians(runs, ...tasks)
    beside(`${what}, p50`, ms, [ofMany!, ofFew!])
  }
  await both('change of an RRset', WRITES, write)
  await both('reading a domain', READS, (setup) => read(setup, `/domains/${zone(5)}/`))
  await both('owner of a name', READS, (setup) => read(setup, `/domains/?owns_qname=www.${zone(5)}`))
  await both('first page of domains (500, and 11)', READS, (setup) => read(setup, '/domains/?cursor='))
}
