import { request } from 'undici'
import { query } from '../../../src/store/database.ts'
import { newDomain, succeeded } from '../../support/clients/api.ts'
import { depth } from '../../support/depth.ts'
import { useService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'
import { statementsOf } from '../../support/statements.ts'

// Much activity of an account (contract §15.15): what a page costs, and the memory of a stream.

const service = useService()

const ENTRIES = depth(30_000, 1_000_000)
const MIB = 1024 * 1024

/** Entries that a page may read: those it shows, the one after them, and, for a filter, those it looks at, for their octets and for the filter. */
const SHOWN = 501
const LOOKED_AT = 2 * 5_001 + SHOWN

/** Entries of the history that the statements of `work` read. */
async function readBy(work: () => Promise<unknown>): Promise<number> {
  const reads = async () => {
    await service().sql('select pg_stat_force_next_flush()')
    await service().sql('select pg_stat_clear_snapshot()')
    const [row] = await service().sql<{ n: number }>(
      `select cast(seq_tup_read + coalesce(idx_tup_fetch, 0) as float8) as n from pg_stat_user_tables where relname = 'history'`,
    )
    return row!.n
  }
  const before = await reads()
  await work()
  // A session tells what it has read when it is idle, or asked.
  await Promise.all(
    Array.from({ length: 30 }, () => service().sql('select pg_stat_force_next_flush(), pg_sleep(0.05)')),
  )
  return (await reads()) - before
}

test('a page reads a part of the entries, whatever the filter; a stream has all, in bounded memory', async (t) => {
  const { system, url } = service()
  const { api, id, secret } = await service().account()
  const domain = await newDomain(api)
  for (let first = 1; first <= ENTRIES; first += 50_000) {
    const last = Math.min(first + 49_999, ENTRIES)
    await query(
      system.db,
      `insert into history (id, domain_id, account_id, created, version, source, count, changes, message)
       select cast(regexp_replace(lpad(to_hex(cast(extract(epoch from at) * 1000 as bigint)), 12, '0'), '^(.{8})(.{4})$', '\\1-\\2') || '-7000-8000-' || lpad(to_hex(n), 12, '0') as uuid), domains.id, :id,
         at, n, 'api', 1, '[["x' || n || '","A",null,[60,"192.0.2.1"]]]', 'entry ' || n
       from domains, generate_series(cast(:first as integer), cast(:last as integer)) as n,
         lateral (select date_trunc('second', now()) - n * interval '1 second' as at) as moment where name = :domain`,
      { id, domain, first, last },
    )
  }
  await query(system.db, 'analyze history')
  const filters = [
    '',
    'type=rrsets',
    'type=login',
    'source=update',
    `domain=${domain}`,
    'person=nobody',
    'token=00000000-0000-4000-8000-000000000000',
    `search=entry+${ENTRIES}`,
    'since=2020-01-01T00:00:00Z&until=2020-01-02T00:00:00Z',
  ]
  const far = `o${BigInt(Date.now() - (ENTRIES / 2) * 1000) * 1000n}-00000000-0000-7000-8000-000000000000`
  const pages = filters.flatMap((filter) => ['', far].map((cursor) => `/activity/?cursor=${cursor}&${filter}`))
  // Together, because sessions tell later what they have read.
  const read = await readBy(async () => {
    for (const page of pages) {
      const statements = await statementsOf(async () => succeeded(await api.get(page), 200))
      // The service's own loops send others meanwhile.
      const own = statements.filter((text) => /from history[^]* account_id = /.test(text))
      t.true(own.length >= 1 && own.length <= 3, statements.join('\n'))
    }
  })
  t.true(read <= pages.length * LOOKED_AT, String(read))
  t.log(`${pages.length} pages have read ${read} entries`)

  const heap = () => {
    const { heapUsed, external } = process.memoryUsage()
    return heapUsed + external
  }
  const before = heap()
  let most = 0
  let lines = 0
  const headers = { authorization: `Token ${secret}`, accept: 'application/x-ndjson' }
  const { statusCode, body } = await request(`${url}/api/v1/activity/?type=rrsets`, { headers })
  t.is(statusCode, 200)
  for await (const piece of body as AsyncIterable<Buffer>) {
    lines += piece.filter((octet) => octet === 10).length
    most = Math.max(most, heap() - before)
  }
  t.is(lines, ENTRIES)
  t.true(most < 200 * MIB, `${Math.round(most / MIB)} MiB`)
  t.log(`${ENTRIES} entries, ${Math.round(most / MIB)} MiB at most`)
  succeeded(await api.get('/activity/?cursor='), 200)
})
