import type { Knex } from 'knex'

/** The name of a zone's TSIG key tells nothing about other zones. Keys from before have the id of the domain in it. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    alter table transfers add column key_name text not null default 'key-' || gen_random_uuid();
    update transfers set key_name = 'domain-' || domain_id where secret is not null;

    comment on column transfers.key_name is 'of the TSIG key of the zone, or of its next one';
  `)
}

export async function down(db: Knex): Promise<void> {
  await db.raw('alter table transfers drop column key_name')
}
