import { resident, state } from './measure.ts'
import { address, rrset, zone } from './zones.ts'
import type { World } from './world.ts'

const BODY = 16 * 1024 * 1024 - 1024

/** What requests as large as may be cost the process, and how long all others have to wait for them. */
export async function memory(world: World): Promise<void> {
  const name = zone('memory')
  await world.api('POST', '/domains/', { name })
  const path = `/domains/${name}/rrsets/`

  for (const what of ['creates', 'changes']) {
    const service = await world.another({})
    // It has done something before.
    await service.api('PUT', path, items(200_000))
    const before = resident(service.pid, 'VmRSS')
    const large = items(BODY, what === 'creates' ? 0 : 1)
    await service.inside()
    const start = performance.now()
    await service.api('PUT', path, large)
    const took = performance.now() - start
    const { blocked } = await service.inside()
    const grown = resident(service.pid, 'VmHWM') - before
    state(`16 MiB: a PUT ${what} ${large.length} RRsets`, `${(took / 1000).toFixed(1)} s`)
    state('  its process grows by', `${Math.round(grown / 1024)} MiB`)
    state('  and is blocked for at most', `${Math.round(blocked)} ms`)
  }
}

/** So many RRsets that their JSON has at most so many characters. */
function items(characters: number, first = 0) {
  const all: ReturnType<typeof rrset>[] = []
  for (let i = 0, length = 2; ; i++) {
    const item = rrset(`host${i}`, i)
    item.records = [address(first + i), address(first + i + 1)]
    length += JSON.stringify(item).length + 1
    if (length > characters) return all
    all.push(item)
  }
}
