import type { Knex } from 'knex'

/**
 * PowerDNS' LMDB loses a long RRset that it rectifies after the transaction that stored it (powerdns.md §1.3). Earlier
 * versions stored such RRsets without rectifying the zone. Repair stores them again, and rectifies.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    insert into marks (zone, since, grace, time_limit, retry_at)
      select name, now(), 0, 0, now() from domains
      where not rectify and exists (select from rrsets
        where domain_id = domains.id and octet_length(array_to_string(records, '')) + 24 * cardinality(records) > 1000)
    on conflict (zone) do nothing
  `)
}

export async function down(): Promise<void> {
  // Repaired zones stay as they are.
}
