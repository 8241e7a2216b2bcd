import { alternating, percentile, throughput, type Task } from './measure.ts'
import { withWorld, type World } from './world.ts'

// What the service costs beside what PowerDNS costs for the same change, in one run on one machine.

const RUNS = 600
const ROUNDS = 3
const PARALLEL = 8
const PARALLEL_ROUNDS = 15

let serial = 2

console.log(['what'.padEnd(34), ...['Zoneplane', 'raw PowerDNS', 'ratio'].map((head) => head.padStart(14))].join(''))

await withWorld(async (world) => {
  await prepare(world)
  await oneAtATime(world)
  await parallel(world)
  await creation(world)
  await reads(world)
})

function zone(worker: number | string): string {
  return `zone${worker}.test`
}

async function prepare(world: World): Promise<void> {
  const { api, raw } = world
  for (const worker of Array(PARALLEL).keys()) {
    await api('POST', '/domains/', { name: zone(worker) })
    await raw('POST', '/zones?rrsets=false', rawZone(`raw${worker}.test.`))
    for (let i = 0; i < 9; i++) {
      await api('POST', `/domains/${zone(worker)}/rrsets/`, rrset(`host${i}`, 0))
      await raw('PATCH', `/zones/raw${worker}.test.`, rawChange(worker, `host${i}`, 0))
    }
  }
  // Both warm up.
  await alternating(300, change(world), rawPatch(world))
}

function rrset(subname: string, i: number) {
  return { subname, type: 'A', ttl: 60, records: [address(i)] }
}

function address(i: number): string {
  return `192.0.${(i >> 8) & 255}.${i & 255}`
}

function rawZone(name: string) {
  return {
    name,
    kind: 'Master',
    dnssec: true,
    nsec3param: '1 0 0 -',
    soa_edit_api: '',
    api_rectify: true,
    nameservers: [],
    rrsets: [
      rawRRset(name, 'SOA', `ns1.bench.test. hostmaster.${name} 1 86400 7200 3600000 3600`),
      rawRRset(name, 'NS', 'ns1.bench.test.', 'ns2.bench.test.'),
    ],
  }
}

function rawRRset(name: string, type: string, ...contents: string[]) {
  const records = contents.map((content) => ({ content, disabled: false }))
  return { name, type, ttl: 60, changetype: 'REPLACE', records }
}

function rawChange(worker: number, subname: string, i: number) {
  const name = `raw${worker}.test.`
  const soa = `ns1.bench.test. hostmaster.${name} ${serial++} 86400 7200 3600000 3600`
  return { rrsets: [rawRRset(name, 'SOA', soa), rawRRset(`${subname}.${name}`, 'A', address(i))] }
}

function change({ api }: World, worker = 0): Task {
  return (i) => api('PATCH', `/domains/${zone(worker)}/rrsets/host1/A/`, { records: [address(i + 1)] })
}

function rawPatch({ raw }: World, worker = 0): Task {
  return (i) => raw('PATCH', `/zones/raw${worker}.test.`, rawChange(worker, 'host1', i + 1))
}

async function oneAtATime(world: World): Promise<void> {
  const [ours, theirs] = await alternating(RUNS * ROUNDS, change(world), rawPatch(world))
  compare('one-RRset change, p50', 'ms', percentile(ours!, 0.5), percentile(theirs!, 0.5))
  compare('one-RRset change, p99', 'ms', percentile(ours!, 0.99), percentile(theirs!, 0.99))
}

async function parallel(world: World): Promise<void> {
  let ours = 0
  let theirs = 0
  // Short rounds in turn, because the speed of a machine wanders.
  for (let round = 0; round < PARALLEL_ROUNDS; round++) {
    theirs += await throughput(RUNS / 2, PARALLEL, (worker, i) => rawPatch(world, worker)(i + round))
    ours += await throughput(RUNS / 2, PARALLEL, (worker, i) => change(world, worker)(i + round))
  }
  compare(`one-RRset change, ${PARALLEL} at a time`, '/s', ours / PARALLEL_ROUNDS, theirs / PARALLEL_ROUNDS)
}

async function creation({ api, raw }: World): Promise<void> {
  const [ours, theirs] = await alternating(
    RUNS / 2,
    (i) => api('POST', '/domains/', { name: `new${i}.test` }),
    async (i) => {
      const name = `rawnew${i}.test.`
      await raw('POST', '/zones?rrsets=false', rawZone(name))
      await raw('GET', `/zones/${name}/cryptokeys`)
      await raw('PUT', `/cache/flush?domain=${name}`)
    },
  )
  compare('domain creation, p50', 'ms', percentile(ours!, 0.5), percentile(theirs!, 0.5))
}

async function reads({ api, raw }: World): Promise<void> {
  const [ours, theirs] = await alternating(
    RUNS,
    () => api('GET', `/domains/${zone(0)}/rrsets/host1/A/`),
    () => raw('GET', '/zones/raw0.test.?rrset_name=host1.raw0.test.&rrset_type=A'),
  )
  compare('GET of one RRset, p50', 'ms', percentile(ours!, 0.5), percentile(theirs!, 0.5))

  await api('POST', '/domains/', { name: zone('list') })
  await raw('POST', '/zones?rrsets=false', rawZone('rawlist.test.'))
  for (let i = 0; i < 499; i++) {
    await api('POST', `/domains/${zone('list')}/rrsets/`, rrset(`host${i}`, i))
    await raw('PATCH', '/zones/rawlist.test.', { rrsets: [rawRRset(`host${i}.rawlist.test.`, 'A', address(i))] })
  }
  const [ourList, theirList] = await alternating(
    100,
    () => api('GET', `/domains/${zone('list')}/rrsets/`),
    () => raw('GET', '/zones/rawlist.test.'),
  )
  compare('list of 500 RRsets, p50', 'ms', percentile(ourList!, 0.5), percentile(theirList!, 0.5))
}

function compare(what: string, unit: string, ours: number, theirs: number): void {
  const figures = [`${ours.toFixed(2)} ${unit}`, `${theirs.toFixed(2)} ${unit}`, (ours / theirs).toFixed(2)]
  console.log([what.padEnd(34), ...figures.map((figure) => figure.padStart(14))].join(''))
}
