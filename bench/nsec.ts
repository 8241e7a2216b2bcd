import { alternating, compare, percentile } from './support/measure.ts'
import { address, rawName, rawPatch, rawRRset, rrset, zone } from './support/zones.ts'
import type { Setup } from './support/setup.ts'
import { fill } from './size.ts'

const SIZES = [10, 100_000]
const NAMES = 20

export const nsecSettings = { DENIAL: 'nsec' }

/** Names that appear and disappear in zones with NSEC, beside PowerDNS, which rectifies its zones with NSEC3. */
export async function nsec(setup: Setup): Promise<void> {
  for (const rrsets of SIZES) await fill(setup, rrsets)
  for (const rrsets of SIZES) {
    const path = `/domains/${zone(rrsets)}/rrsets/`
    const [ours, theirs] = await alternating(
      NAMES,
      (i) => setup.api('POST', path, rrset(`new${i}`, i)),
      (i) => rawPatch(setup, rrsets, [rawRRset(`new${i}.${rawName(rrsets)}`, 'A', address(i))]),
    )
    compare(
      `new name in a zone of ${rrsets} RRsets with NSEC, p50`,
      'ms',
      percentile(ours!, 0.5),
      percentile(theirs!, 0.5),
    )
    const [removed, theirsRemoved] = await alternating(
      NAMES,
      (i) => setup.api('DELETE', `${path}new${i}/A/`),
      (i) => rawPatch(setup, rrsets, [{ ...rawRRset(`new${i}.${rawName(rrsets)}`, 'A', address(i)), records: [] }]),
    )
    compare(
      `removed name in a zone of ${rrsets} RRsets with NSEC, p50`,
      'ms',
      percentile(removed!, 0.5),
      percentile(theirsRemoved!, 0.5),
    )
  }
}
