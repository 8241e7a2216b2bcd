import { resident, state } from './measure.ts'
import { address, rrset, zone } from './zones.ts'
import type { World } from './world.ts'

const BODY = 16 * 1024 * 1024 - 1024

/** What a request as large as may be costs the process, and how long all others have to wait for it. */
export async function memory(world: World): Promise<void> {
  const name = zone('memory')
  await world.api('POST', '/domains/', { name })
  const path = `/domains/${name}/rrsets/`
  // It has done something before.
  await world.api('PUT', path, items(200_000))
  const before = resident(world.pid, 'VmRSS')

  const large = items(BODY)
  await world.inside()
  const start = performance.now()
  await world.api('PUT', path, large)
  const took = performance.now() - start
  const { blocked } = await world.inside()
  const grown = resident(world.pid, 'VmHWM') - before
  state(`PUT of ${large.length} RRsets, 16 MiB`, `${(took / 1000).toFixed(1)} s`)
  state('its process grows by', `${Math.round(grown / 1024)} MiB`)
  state('and is blocked for at most', `${Math.round(blocked)} ms`)
}

/** So many RRsets that their JSON has at most so many characters. */
function items(characters: number) {
  const all: ReturnType<typeof rrset>[] = []
  for (let i = 0, length = 2; ; i++) {
    const item = rrset(`host${i}`, i)
    item.records = [address(i), address(i + 1)]
    length += JSON.stringify(item).length + 1
    if (length > characters) return all
    all.push(item)
  }
}
