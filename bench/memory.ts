import { resident, state } from './measure.ts'
import { address, rrset, zone } from './zones.ts'
import type { Setup } from './setup.ts'

const BODY = 16 * 1024 * 1024 - 1024

/** The items of bodies of the maximum size. */
const ITEMS: Record<string, (i: number) => string> = {
  'of numbers': () => '0',
  'of empty objects': () => '{}',
  'of one type': () => '{"type":"A"}',
  'of blank types': () => '{"type":" "}',
  'of invalid types': (i) => `{"type":"${i.toString(36)}"}`,
  'of invalid TTLs': (i) => `{"ttl":"x${i.toString(36)}"}`,
  'of invalid records': () => '{"type":"A","records":[1]}',
  'of subnames only': (i) => `{"type":"A","subname":"${i.toString(36)}"}`,
  'that creates RRsets': (i) => JSON.stringify(host(i, i)),
  'that changes them': (i) => JSON.stringify(host(i, i + 1)),
}

/** The memory that requests of the maximum size need, and how long they block others. */
export async function memory(setup: Setup): Promise<void> {
  const name = zone('memory')
  await setup.api('POST', '/domains/', { name })
  const path = `/domains/${name}/rrsets/`

  for (const [what, item] of Object.entries(ITEMS)) {
    const service = await setup.another({})
    // Warms up.
    await service.api(
      'PUT',
      path,
      Array.from({ length: 1800 }, (_, i) => host(i, i)),
    )
    const before = resident(service.pid, 'VmRSS')
    const body = list(item)
    await service.inside()
    const start = performance.now()
    const status = await service.send('PUT', path, body)
    const took = performance.now() - start
    const { blocked } = await service.inside()
    const grown = resident(service.pid, 'VmHWM') - before
    state(`16 MiB: a PUT ${what}: ${status}`, `${(took / 1000).toFixed(1)} s`)
    state('  its process grows by', `${Math.round(grown / 1024)} MiB`)
    state('  and is blocked for at most', `${Math.round(blocked)} ms`)
  }
}

function host(i: number, first: number) {
  return { ...rrset(`host${i}`, i), records: [address(first), address(first + 1)] }
}

/** The JSON of as many items as fit into a body. */
function list(item: (i: number) => string): string {
  const items: string[] = []
  for (let i = 0, length = 2; ; i++) {
    const text = item(i)
    length += text.length + 1
    if (length > BODY) return `[${items.join()}]`
    items.push(text)
  }
}
