import type { Knex } from 'knex'

/**
 * The sum would take a write longer with every RRset of its domain. There is no constraint, because processes of an older
 * version still write during an upgrade, and do not count.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    alter table domains add column record_octets bigint not null default 0;
    update domains set record_octets = counted.octets
      from (select domain_id, sum(octet_length(array_to_string(records, ''))) as octets from rrsets group by domain_id)
        as counted
      where id = domain_id;

    comment on column domains.record_octets is 'how many octets the records of the domain have';
  `)
}

export async function down(db: Knex): Promise<void> {
  await db.raw('alter table domains drop column record_octets')
}
