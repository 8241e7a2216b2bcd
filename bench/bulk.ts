import { nsec3Label } from '../src/nameserver/powerdns/nsec3.ts'
import { alternating, compare, median } from './support/measure.ts'
import type { Setup } from './support/setup.ts'
import { rawForgotten, rawName, rawPatch, rawRRset, rawZone, rrset, zone } from './support/zones.ts'

/** How many RRsets are created, changed and deleted for the figures of each size. */
const RRSETS = 50_000

/** Creating, changing and deleting many RRsets in one request, compared with one PATCH of PowerDNS. */
export async function bulk(setup: Setup): Promise<void> {
  for (const size of [1_000, 10_000]) await inOneRequest(setup, size)
}

async function inOneRequest(setup: Setup, size: number): Promise<void> {
  const id = `bulk${size}`
  await setup.api('POST', '/domains/', { name: zone(id) })
  await setup.raw('POST', '/zones?rrsets=false', rawZone(id))
  const path = `/domains/${zone(id)}/rrsets/`
  const all = (i: number) => Array.from({ length: size }, (_, n) => rrset(`host${n}`, n + i))
  const ours = {
    creation: (i: number) => setup.api('POST', path, all(i)),
    change: (i: number) => setup.api('PATCH', path, all(i + 1)),
    deletion: () =>
      setup.api(
        'PATCH',
        path,
        all(0).map(({ subname, type }) => ({ subname, type, records: [] })),
      ),
  }
  const put = (i: number) =>
    rawPatch(
      setup,
      id,
      all(i).map(({ subname, records }) => rawRRset(`${subname}.${rawName(id)}`, 'A', ...records)),
    )
  const theirs = {
    creation: put,
    change: (i: number) => put(i + 1),
    deletion: () =>
      rawPatch(
        setup,
        id,
        all(0).flatMap(({ subname }) => {
          const name = `${subname}.${rawName(id)}`
          return [rawRRset(name, 'A'), ...[name, `${nsec3Label(name)}.${rawName(id)}`].map(rawForgotten)]
        }),
      ),
  }
  const times = { creation: [[], []], change: [[], []], deletion: [[], []] } as Record<keyof typeof ours, number[][]>
  const rounds = RRSETS / size
  const warmUp = rounds / 5
  for (let round = 0; round < warmUp + rounds; round++) {
    for (const what of ['creation', 'change', 'deletion'] as const) {
      const [our, their] = await alternating(1, ours[what], theirs[what])
      if (round >= warmUp) times[what].forEach((list, which) => list.push([our![0]!, their![0]!][which]!))
    }
  }
  for (const [what, [our, their]] of Object.entries(times)) {
    compare(`${what} of ${size} RRsets at once, p50`, 'ms', median(our!), median(their!))
  }
}
