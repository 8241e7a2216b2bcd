import { alternating, compare, percentile } from './support/measure.ts'
import type { Setup } from './support/setup.ts'
import { rawName, rawZone, zone } from './support/zones.ts'

const WARM_UP = 50
const RUNS = 300

/** Creating domains, compared with the same calls to PowerDNS. */
export async function domainCreation(setup: Setup): Promise<void> {
  await run(setup, WARM_UP, 'early')
  const [ours, theirs] = await run(setup, RUNS, 'new')
  compare('domain creation, p50', 'ms', percentile(ours!, 0.5), percentile(theirs!, 0.5))
}

async function run({ api, raw }: Setup, runs: number, name: string): Promise<number[][]> {
  return alternating(
    runs,
    (i) => api('POST', '/domains/', { name: zone(`${name}${i}`) }),
    async (i) => {
      await raw('POST', '/zones?rrsets=false', rawZone(`${name}${i}`))
      await raw('GET', `/zones/${rawName(`${name}${i}`)}/cryptokeys`)
      await raw('PUT', `/cache/flush?domain=${rawName(`${name}${i}`)}`)
    },
  )
}
