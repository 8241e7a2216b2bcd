import { openDatabase, query } from '../src/store/database.ts'
import { medians, state } from './support/measure.ts'
import type { Setup } from './support/setup.ts'

const RUNS = 60
const MANY = 100_000

/** First, middle and last page of an account with 100,000 domains, and of a zone with as many RRsets. */
export async function paging({ read, api, databaseUrl }: Setup): Promise<void> {
  const db = openDatabase(databaseUrl, 1)
  await api('POST', '/domains/', { name: 'large.test' })
  const [account] = await query<{ id: string }>(db, `select owner_id as id from domains where name = 'large.test'`)
  // Without the trigger, which would update the account a hundred thousand times.
  const addDomains = async (owner: string, prefix: string, count: number) => {
    await query(db, 'alter table domains disable trigger domains_count')
    await query(
      db,
      `insert into domains (name, owner_id, minimum_ttl, version, size, created, published, touched)
       select :prefix || n || '.test', :owner, 60, 1, 0, now() - interval '1 second' * n, now(), now()
       from generate_series(1, cast(:count as integer)) as n`,
      { owner, prefix, count },
    )
    await query(db, 'update accounts set domains = domains + :count where id = :owner', { owner, count })
    await query(db, 'alter table domains enable trigger domains_count')
  }
  const secret = 'small-account-secret'
  const [small] = await query<{ id: string }>(
    db,
    `with account as (
       insert into accounts (created, email, state, credentials_changed)
       values (now(), 'small@bench.test', 'active', now()) returning id
     ) insert into tokens (created, owner_id, secret_hash)
       select now(), id, sha256(convert_to(:secret, 'UTF8')) from account returning owner_id as id`,
    { secret },
  )
  await addDomains(small!.id, 'small', 500)
  await addDomains(account!.id, 'many', MANY)
  await query(
    db,
    `insert into rrsets (domain_id, subname, type, ttl, records, created, touched)
     select id, 'host' || n, 'A', 60, '{192.0.2.1}', now() - interval '1 second' * n, now()
     from domains, generate_series(1, cast(:count as integer)) as n where name = 'large.test'`,
    { count: MANY },
  )
  await query(db, `update domains set size = size + :count where name = 'large.test'`, { count: MANY })
  await query(db, 'analyze')
  await db.end()

  const [few, first] = await medians(
    RUNS,
    () => read('/domains/?cursor=', secret),
    () => read('/domains/?cursor='),
  )
  state('500 of 500 domains, p50', `${few!.toFixed(2)} ms`)
  state(`500 of ${MANY} domains, p50`, `${first!.toFixed(2)} ms`)
  state('  ratio', (first! / few!).toFixed(2))
  for (const path of ['/domains/', '/domains/large.test/rrsets/']) {
    const { middle, last } = await pages(read, path)
    const [refused, ...times] = await medians(
      RUNS,
      () => read(path),
      ...['cursor=', middle, last].map((cursor) => () => read(`${path}?${cursor}`)),
    )
    state(`${path}: refused, with the total`, `${refused!.toFixed(2)} ms`)
    for (const [i, page] of ['first', 'middle', 'last'].entries()) {
      state(`${path}: ${page} page, p50`, `${times[i]!.toFixed(2)} ms`)
    }
  }
}

/** The cursors of the page in the middle and of the last one. */
async function pages(read: Setup['read'], path: string): Promise<{ middle: string; last: string }> {
  const cursors = ['cursor=']
  for (;;) {
    const { link } = await read(`${path}?${cursors.at(-1)!}`)
    const next = /\?(cursor=[^>]*)>; rel="next"/.exec(link)?.[1]
    if (next === undefined) return { middle: cursors[Math.floor(cursors.length / 2)]!, last: cursors.at(-1)! }
    cursors.push(next)
  }
}
