import { alternating, compare, percentile } from './support/measure.ts'
import type { Setup } from './support/setup.ts'
import { address, rawName, rawPatch, rawRRset, rawZone, rrset, zone } from './support/zones.ts'

const RUNS = 600
const LIST_RUNS = 500
const RRSETS = 499

/** Reading one RRset, and all RRsets of a zone. */
export async function reads(setup: Setup): Promise<void> {
  const { api, raw } = setup
  await api('POST', '/domains/', { name: zone('list') })
  await raw('POST', '/zones?rrsets=false', rawZone('list'))
  for (let i = 0; i < RRSETS; i++) {
    await api('POST', `/domains/${zone('list')}/rrsets/`, rrset(`host${i}`, i))
    await rawPatch(setup, 'list', [rawRRset(`host${i}.${rawName('list')}`, 'A', address(i))])
  }

  const [ours, theirs] = await alternating(
    RUNS,
    () => api('GET', `/domains/${zone('list')}/rrsets/host1/A/`),
    () => raw('GET', `/zones/${rawName('list')}?rrset_name=host1.${rawName('list')}&rrset_type=A`),
  )
  compare('GET of one RRset, p50', 'ms', percentile(ours!, 0.5), percentile(theirs!, 0.5))

  const [ourList, theirList] = await alternating(
    LIST_RUNS,
    () => api('GET', `/domains/${zone('list')}/rrsets/`),
    () => raw('GET', `/zones/${rawName('list')}`),
  )
  compare('list of 500 RRsets, p50', 'ms', percentile(ourList!, 0.5), percentile(theirList!, 0.5))
}
