import { fill } from './size.ts'
import { compare, medians, state } from './support/measure.ts'
import type { Setup } from './support/setup.ts'
import { address, rawName, rawPatch, rawRRset, rrset, zone } from './support/zones.ts'

const SIZES = [10, 100_000]
const WARM_UP = 50
const NAMES = 200
const RAW_NAMES = 10

export const nsecSettings = { DENIAL: 'nsec' }

/** Names that appear and disappear in zones with NSEC, beside PowerDNS, which rectifies its zones with NSEC3. */
export async function nsec(setup: Setup): Promise<void> {
  for (const rrsets of SIZES) await fill(setup, rrsets)
  const add = (rrsets: number) => (i: number) =>
    setup.api('POST', `/domains/${zone(rrsets)}/rrsets/`, rrset(`new${i}`, i))
  const remove = (rrsets: number) => (i: number) => setup.api('DELETE', `/domains/${zone(rrsets)}/rrsets/new${i}/A/`)
  const rawAdd = (rrsets: number) => (i: number) =>
    rawPatch(setup, rrsets, [rawRRset(`new${i}.${rawName(rrsets)}`, 'A', address(i))])
  const rawRemove = (rrsets: number) => (i: number) =>
    rawPatch(setup, rrsets, [rawRRset(`new${i}.${rawName(rrsets)}`, 'A')])

  // Before PowerDNS rectifies a large zone, which slows down the writes to LMDB that follow, whosever they are.
  for (const task of [add, remove]) await medians(WARM_UP, ...SIZES.map(task))
  const ours = [await medians(NAMES, ...SIZES.map(add)), await medians(NAMES, ...SIZES.map(remove))]
  const theirs = [await medians(RAW_NAMES, ...SIZES.map(rawAdd)), await medians(RAW_NAMES, ...SIZES.map(rawRemove))]
  for (const [which, what] of ['new', 'removed'].entries()) {
    for (const [size, rrsets] of SIZES.entries()) {
      const [our, their] = [ours[which]![size]!, theirs[which]![size]!]
      compare(`${what} name in a zone of ${rrsets} RRsets with NSEC, p50`, 'ms', our, their)
    }
    state(`  ${SIZES[1]} beside ${SIZES[0]} RRsets`, (ours[which]![1]! / ours[which]![0]!).toFixed(2))
  }
}
