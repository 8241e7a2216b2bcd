import { alternating, compare, percentile } from './support/measure.ts'
import type { Setup } from './support/setup.ts'
import { address, rawName, rawPatch, rawRRset, rawZone, rrset, zone } from './support/zones.ts'

const SIZES = [10, 1_000, 10_000, 100_000]
const AT_ONCE = 10_000
const CHANGES = 100
const NEW_NAMES = 10

/** One change in small and large zones: of contents, and of names, which makes PowerDNS rectify the whole zone. */
export async function size(setup: Setup): Promise<void> {
  for (const rrsets of SIZES) await fill(setup, rrsets)
  for (const rrsets of SIZES) {
    const [ours, theirs] = await alternating(
      CHANGES,
      (i) => setup.api('PATCH', `/domains/${zone(rrsets)}/rrsets/host1/A/`, { records: [address(i + 2)] }),
      (i) => rawPatch(setup, rrsets, [rawRRset(`host1.${rawName(rrsets)}`, 'A', address(i + 2))]),
    )
    compare(`change in a zone of ${rrsets} RRsets, p50`, 'ms', percentile(ours!, 0.5), percentile(theirs!, 0.5))
  }
  for (const rrsets of SIZES) {
    const [ours, theirs] = await alternating(
      NEW_NAMES,
      (i) => setup.api('POST', `/domains/${zone(rrsets)}/rrsets/`, rrset(`new${i}`, i)),
      (i) => rawPatch(setup, rrsets, [rawRRset(`new${i}.${rawName(rrsets)}`, 'A', address(i))]),
    )
    compare(`new name in a zone of ${rrsets} RRsets, p50`, 'ms', percentile(ours!, 0.5), percentile(theirs!, 0.5))
  }
}

/** Makes two zones of so many RRsets, ours and one of PowerDNS alone. */
export async function fill(setup: Setup, rrsets: number): Promise<void> {
  await setup.api('POST', '/domains/', { name: zone(rrsets) })
  await setup.raw('POST', '/zones?rrsets=false', rawZone(rrsets))
  // From 1, because the apex NS RRset counts.
  for (let from = 1; from < rrsets; from += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, rrsets - from) }, (_, i) => from + i)
    await setup.api(
      'POST',
      `/domains/${zone(rrsets)}/rrsets/`,
      some.map((i) => rrset(`host${i}`, i)),
    )
    await rawPatch(
      setup,
      rrsets,
      some.map((i) => rawRRset(`host${i}.${rawName(rrsets)}`, 'A', address(i))),
    )
  }
}
