import type { Knex } from 'knex'

/**
 * A zone without a domain is in `spent` by the hash of its name. Domains keep theirs there, so that older processes, which
 * may still run, find the serials of their failed writes.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    update spent set name = encode(sha256(convert_to(name, 'UTF8')), 'hex')
      where name not in (select domains.name from domains);
    comment on column spent.name is 'the name of a domain; otherwise the SHA-256 of the name of the zone, in hex';
  `)
}

export async function down(db: Knex): Promise<void> {
  await db.raw('comment on column spent.name is null')
}
