import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { WEBHOOKS_MAX } from '../src/limits.ts'
import { openDatabase, query } from '../src/store/database.ts'
import { alternating, compare, median } from './support/measure.ts'
import type { Setup } from './support/setup.ts'
import { address, rrset, zone } from './support/zones.ts'

const ROUNDS = 20
const RUNS = 60

/** The receivers are on this machine. */
export const webhookSettings = { WEBHOOK_NETWORKS: '127.0.0.1' }

/**
 * A change of one RRset in an account whose webhooks are disabled, and are told of it: as many as it can have, at receivers
 * that never answer. Rounds of both alternate; in each one, all are tried anew.
 */
export async function webhooks({ api, databaseUrl }: Setup): Promise<void> {
  const silent = createServer().listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const db = openDatabase(databaseUrl, 1)
  try {
    // Only logins manage webhooks.
    await query(db, 'update tokens set mfa = false')
    await api('POST', '/domains/', { name: zone(0) })
    await api('POST', `/domains/${zone(0)}/rrsets/`, rrset('host1', 0))
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/`
    const paths: string[] = []
    for (let i = 0; i < WEBHOOKS_MAX; i++) {
      const { id } = (await api('POST', '/webhooks/', { url, events: ['rrsets'] })) as { id: string }
      paths.push(`/webhooks/${id}/`)
    }
    let writes = 0
    const write = () => api('PATCH', `/domains/${zone(0)}/rrsets/host1/A/`, { records: [address(++writes)] })
    const times: Record<'on' | 'off', number[]> = { on: [], off: [] }
    // The first round warms up.
    for (let round = 0; round <= ROUNDS; round++) {
      for (const state of ['off', 'on'] as const) {
        for (const path of paths) await api('PATCH', path, { enabled: state === 'on' })
        const [taken] = await alternating(RUNS, write)
        if (round > 0) times[state].push(...taken!)
      }
    }
    const what = `one-RRset change, ${WEBHOOKS_MAX} dead webhooks, p50`
    compare(what, 'ms', median(times.on), median(times.off))
  } finally {
    await db.end()
    silent.close()
  }
}
