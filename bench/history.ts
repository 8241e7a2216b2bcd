import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { projectFolder } from '../src/installation/project.ts'
import { openDatabase, query } from '../src/store/database.ts'
import { median, medians, state } from './support/measure.ts'
import type { Service, Setup } from './support/setup.ts'
import { address, rrset, zone } from './support/zones.ts'

const WRITES = 1_500
const ROUNDS = 9
const READS = 100
const ENTRIES = 1_000_000

/** What the history costs a write, compared with the same service without it; and what a long one costs. */
export async function history(setup: Setup): Promise<void> {
  const preload = pathToFileURL(join(projectFolder(), 'build', 'bench', 'support', 'without-history.js')).href
  const without = await setup.another({ NODE_OPTIONS: `--import ${preload}` })
  for (const id of ['with', 'without', 'short']) {
    await setup.api('POST', '/domains/', { name: zone(id) })
    await setup.api('POST', `/domains/${zone(id)}/rrsets/`, rrset('www', 0))
  }
  const change = ({ api }: Service, id: string) => {
    return (i: number) => api('PATCH', `/domains/${zone(id)}/rrsets/www/A/`, { records: [address(i + 1)] })
  }
  const both = [change(setup, 'with'), change(without, 'without')] as const
  await medians(200, ...both)
  told('one-RRset change, p50', await medians(WRITES, ...both))
  for (const size of [1_000, 10_000]) await inBulk(setup, without, size)

  const db = openDatabase(setup.databaseUrl, 1)
  const [domain] = await query<{ id: number }>(db, 'select id from domains where name = :name', { name: zone('with') })
  await addEntries(db, domain!.id)
  await medians(200, change(setup, 'with'), change(setup, 'short'))
  const writes = await medians(WRITES, change(setup, 'with'), change(setup, 'short'))
  told(`one-RRset change after ${ENTRIES} entries, p50`, writes)
  const page = (id: string) => async () => {
    const { status } = await setup.read(`/domains/${zone(id)}/history/?cursor=`)
    if (status !== 200) throw new Error(String(status))
  }
  told(`newest page of ${ENTRIES} entries, p50`, await medians(READS, page('with'), page('short')))
  await db.end()
}

async function inBulk(setup: Setup, without: Service, size: number): Promise<void> {
  const items = (i: number) => Array.from({ length: size }, (_, n) => rrset(`host${n}`, n + i))
  const kinds: Record<string, (service: Service, path: string, i: number) => Promise<unknown>> = {
    creation: ({ api }, path, i) => api('POST', path, items(i)),
    change: ({ api }, path, i) => api('PATCH', path, items(i + 1)),
    deletion: ({ api }, path) =>
      api(
        'PATCH',
        path,
        items(0).map((item) => ({ ...item, records: [] })),
      ),
  }
  const times: Record<string, number[][]> = { creation: [[], []], change: [[], []], deletion: [[], []] }
  for (let round = 0; round <= ROUNDS; round++) {
    // Each comes first in every second round.
    const services = [
      { service: setup, id: 'with', which: 0 },
      { service: without, id: 'without', which: 1 },
    ]
    if (round % 2 === 1) services.reverse()
    for (const [kind, run] of Object.entries(kinds)) {
      for (const { service, id, which } of services) {
        const start = performance.now()
        await run(service, `/domains/${zone(id)}/rrsets/`, round)
        // The first round warms up.
        if (round > 0) times[kind]![which]!.push(performance.now() - start)
      }
    }
  }
  for (const [kind, [ours, theirs]] of Object.entries(times)) {
    told(`${kind} of ${size} RRsets at once, p50`, [median(ours!), median(theirs!)])
  }
}

/** Adds entries to the domain, and a quarter as many to others, which are not there. */
async function addEntries(db: ReturnType<typeof openDatabase>, domainId: number): Promise<void> {
  await query(
    db,
    `insert into history (id, domain_id, created, version, source, count, changes)
     select gen_random_uuid(), case when n % 5 = 0 then -n else :domainId end, now() - interval '7 s' * n, n, 'api', 1,
       '[["www","A",[60,"192.0.2.' || n % 256 || '"],[60,"192.0.2.' || (n + 1) % 256 || '"]]]'
     from generate_series(1, cast(:count as integer)) as n`,
    { domainId, count: (ENTRIES / 4) * 5 },
  )
  await query(db, 'vacuum analyze history')
}

function told(what: string, [ours, theirs]: number[]): void {
  state(what, `${ours!.toFixed(2)} ms`)
  state('  without', `${theirs!.toFixed(2)} ms`)
  state('  ratio', (ours! / theirs!).toFixed(3))
}
