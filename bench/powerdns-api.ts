import { Pool } from 'undici'
import { fill } from './size.ts'
import { alternating, compare, percentile } from './support/measure.ts'
import type { Setup } from './support/setup.ts'
import { address, rawName, zone } from './support/zones.ts'

const CHANGES = 1_500
const RRSETS = 10_000
const READS = 20

/**
 * PowerDNS' API of the service: a change of one RRset, compared with the same by the other API; and a large zone, compared
 * with PowerDNS' own.
 */
export async function powerdnsApi(setup: Setup): Promise<void> {
  const { api, raw, url, secret } = setup
  await using pool = Object.assign(new Pool(url), { [Symbol.asyncDispose]: () => pool.close() })
  const door = async (method: 'GET' | 'PATCH', name: string, body?: unknown) => {
    const path = `/api/v1/servers/localhost/zones/${name}.`
    const headers = { 'x-api-key': secret }
    const answer = await pool.request({ method, path, headers, body: body === undefined ? null : JSON.stringify(body) })
    await answer.body.text()
    if (answer.statusCode >= 300) throw new Error(`${answer.statusCode}`)
  }
  await fill(setup, 10)
  const change = (i: number) => {
    const records = [{ content: address(i + 1), disabled: false }]
    return { name: `host1.${zone(10)}.`, type: 'A', ttl: 3600, changetype: 'REPLACE', records }
  }
  const [ours, other] = await alternating(
    CHANGES,
    (i) => door('PATCH', zone(10), { rrsets: [change(2 * i)] }),
    (i) => api('PATCH', `/domains/${zone(10)}/rrsets/host1/A/`, { records: [address(2 * i + 2)] }),
  )
  compare("one-RRset change by PowerDNS' API and by ours, p50", 'ms', percentile(ours!, 0.5), percentile(other!, 0.5))
  await fill(setup, RRSETS)
  const [read, theirs] = await alternating(
    READS,
    () => door('GET', zone(RRSETS)),
    () => raw('GET', `/zones/${rawName(RRSETS)}`),
  )
  compare(`a zone of ${RRSETS} RRsets by PowerDNS' API, p50`, 'ms', percentile(read!, 0.5), percentile(theirs!, 0.5))
}
