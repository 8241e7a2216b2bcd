import { alternating, compare, percentile, type Task, throughput } from './support/measure.ts'
import type { Setup } from './support/setup.ts'
import { address, rawName, rawPatch, rawRRset, rawZone, rrset, zone } from './support/zones.ts'

const RUNS = 600
const ROUNDS = 3
const PARALLEL = 8
const PARALLEL_ROUNDS = 15

/**
 * Changing the content of one RRset, with consecutive and with parallel requests; beside it a change without effect, which
 * costs all but what is stored and published.
 */
export async function oneRRset(setup: Setup): Promise<void> {
  await prepare(setup)
  await oneAtATime(setup)
  await parallel(setup)
}

async function prepare(setup: Setup): Promise<void> {
  const { api, raw } = setup
  for (const worker of Array(PARALLEL).keys()) {
    await api('POST', '/domains/', { name: zone(worker) })
    await raw('POST', '/zones?rrsets=false', rawZone(worker))
    for (let i = 0; i < 9; i++) {
      await api('POST', `/domains/${zone(worker)}/rrsets/`, rrset(`host${i}`, 0))
      await rawPatch(setup, worker, [rawRRset(`host${i}.${rawName(worker)}`, 'A', address(0))])
    }
  }
  // Warms up.
  await alternating(300, change(setup), rawChange(setup))
}

function change({ api }: Setup, worker = 0): Task {
  return (i) => api('PATCH', `/domains/${zone(worker)}/rrsets/host1/A/`, { records: [address(i + 1)] })
}

/** Asks for the contents that the RRset has. */
function noChange({ api }: Setup, worker = 0): Task {
  return () => api('PATCH', `/domains/${zone(worker)}/rrsets/host2/A/`, { records: [address(0)] })
}

function rawChange(setup: Setup, worker = 0): Task {
  return (i) => rawPatch(setup, worker, [rawRRset(`host1.${rawName(worker)}`, 'A', address(i + 1))])
}

async function oneAtATime(setup: Setup): Promise<void> {
  const [ours, theirs, idle] = await alternating(RUNS * ROUNDS, change(setup), rawChange(setup), noChange(setup))
  compare('one-RRset change, p50', 'ms', percentile(ours!, 0.5), percentile(theirs!, 0.5))
  compare('one-RRset change, p99', 'ms', percentile(ours!, 0.99), percentile(theirs!, 0.99))
  compare('one without effect, p50', 'ms', percentile(idle!, 0.5), percentile(theirs!, 0.5))
}

async function parallel(setup: Setup): Promise<void> {
  let ours = 0
  let theirs = 0
  let idle = 0
  // Short alternating rounds, because the speed of a machine varies.
  for (let round = 0; round < PARALLEL_ROUNDS; round++) {
    theirs += await throughput(RUNS / 2, PARALLEL, (worker, i) => rawChange(setup, worker)(i + round))
    ours += await throughput(RUNS / 2, PARALLEL, (worker, i) => change(setup, worker)(i + round))
    idle += await throughput(RUNS / 2, PARALLEL, (worker, i) => noChange(setup, worker)(i))
  }
  compare(`one-RRset change, ${PARALLEL} at a time`, '/s', ours / PARALLEL_ROUNDS, theirs / PARALLEL_ROUNDS)
  compare(`one without effect, ${PARALLEL} at a time`, '/s', idle / PARALLEL_ROUNDS, theirs / PARALLEL_ROUNDS)
}
