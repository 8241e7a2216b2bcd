import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { fill } from './size.ts'
import { compare, type Task } from './support/measure.ts'
import type { Setup } from './support/setup.ts'
import { address, rawName, rawPatch, rawRRset, zone } from './support/zones.ts'

const RRSETS = 480
const REQUESTS = 2_000

/** Milliseconds after which a start is over, and seconds for which an idle service is watched. */
const SETTLING = 5_000
const IDLE = 10

export const cpuSettings = { THROTTLE: 'off' }

/**
 * The processor time of the service's process for each kind of request, beside that of PowerDNS' process for a change of one
 * RRset in a zone of the same size; and that of a second in which nobody asks.
 */
export async function cpu(setup: Setup): Promise<void> {
  const { api, pid, primary, read } = setup
  // Before there are domains, whose parents it would ask.
  await sleep(SETTLING)
  const before = processorTime(pid)
  await sleep(IDLE * 1_000)
  const idle = processorTime(pid) - before
  await fill(setup, RRSETS)
  const path = `/domains/${zone(RRSETS)}`
  const kinds: [what: string, requests: number, task: Task][] = [
    ['the index', REQUESTS, () => read('/')],
    ['GET of one RRset', REQUESTS, () => read(`${path}/rrsets/host1/A/`)],
    ['PATCH of one RRset', REQUESTS, (i) => api('PATCH', `${path}/rrsets/host1/A/`, { records: [address(i)] })],
    [`list of ${RRSETS} RRsets`, REQUESTS / 4, () => read(`${path}/rrsets/`)],
    [`export of ${RRSETS} RRsets`, REQUESTS / 4, () => read(`${path}/zonefile/`)],
    ['creation of a domain', REQUESTS / 8, (i) => api('POST', '/domains/', { name: zone(`new${i}`) })],
  ]
  const change: Task = (i) => rawPatch(setup, RRSETS, [rawRRset(`host1.${rawName(RRSETS)}`, 'A', address(i))])
  const theirs = await perRun(REQUESTS, change, primary.pid)
  for (const [what, requests, task] of kinds) {
    const ours = await perRun(requests, task, pid)
    compare(`CPU of ${what}`, 'ms', ours, theirs)
  }
  compare('CPU of an idle second', 'ms', idle / IDLE, theirs)
}

/** The milliseconds that a run costs a process, after as many that warm up. */
async function perRun(runs: number, task: Task, pid: number): Promise<number> {
  for (let i = 1; i <= runs; i++) await task(i)
  const before = processorTime(pid)
  for (let i = runs + 1; i <= 2 * runs; i++) await task(i)
  return (processorTime(pid) - before) / runs
}

/** The milliseconds of processor time that a process has used. */
export function processorTime(pid: number): number {
  const [user, system] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ').slice(11, 13)
  // The kernel counts in hundredths of a second.
  return (Number(user) + Number(system)) * 10
}
