import { openDatabase, query } from '../src/store/database.ts'
import { medians, state } from './support/measure.ts'
import type { Setup } from './support/setup.ts'

const RUNS = 20
const DOMAINS = 100_000
const RRSETS = 250_000

/** The domains and RRsets of an account that searches for records: together half of what it may have. */
const SITE = { domains: 1_000, rrsets: 500 }

/**
 * Searches for names among 100,000 domains, and 250,000 RRsets of a zone; and for records among 500,000 RRsets of 1,000
 * domains.
 */
export async function search({ read, api, databaseUrl }: Setup): Promise<void> {
  await api('POST', '/domains/', { name: 'large.test' })
  const db = openDatabase(databaseUrl, 1)
  await query(db, 'alter table domains disable trigger domains_count')
  await query(
    db,
    `insert into domains (name, owner_id, minimum_ttl, version, size, created, published, touched)
     select 'many' || n || '.test', owner_id, 60, 1, case when n <= :few then :each else 0 end,
       now() - interval '1 second' * n, now(), now()
     from domains, generate_series(1, cast(:count as integer)) as n where name = 'large.test'`,
    { count: DOMAINS, few: SITE.domains, each: SITE.rrsets },
  )
  await query(db, 'alter table domains enable trigger domains_count')
  const rrsets = (domains: string, count: number) =>
    query(
      db,
      `insert into rrsets (domain_id, subname, type, ttl, records, created, touched)
       select id, 'host' || n, 'A', 60, array['192.0.2.' || n % 250, '198.51.100.' || id % 250],
         now() - interval '1 millisecond' * (1000 * n + id % 1000), now()
       from generate_series(1, cast(:count as integer)) as n, domains where ${domains}`,
      { count },
    )
  await rrsets(`name = 'large.test'`, RRSETS)
  await rrsets('size > 1', SITE.rrsets)
  await query(db, 'vacuum analyze domains')
  await query(db, 'vacuum analyze rrsets')
  await db.end()

  const searches: [what: string, path: string][] = [
    [`nothing among ${DOMAINS} domains`, '/domains/?search=absent'],
    [`all of ${DOMAINS} domains, first page`, '/domains/?search=many&cursor='],
    [`nothing among ${RRSETS} RRsets of a zone`, '/domains/large.test/rrsets/?search=absent'],
    [`an absent record among ${SITE.domains * SITE.rrsets + RRSETS} RRsets`, '/rrsets/?content=192.0.2.255'],
    ['a record that many have, first page', '/rrsets/?content=192.0.2.7&cursor='],
    ['a name', '/rrsets/?name=host7.many7.test'],
  ]
  const times = await medians(
    RUNS,
    ...searches.map(
      ([, path]) =>
        () =>
          read(path),
    ),
  )
  for (const [i, [what]] of searches.entries()) state(`${what}, p50`, `${times[i]!.toFixed(1)} ms`)
}
