import type { Knex } from 'knex'

/** Keys that were replaced are kept, and can come back. Of those that retired before, nobody knows whether they were. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    alter table keys add column former boolean not null default false;
    update keys set former = true from rollovers
      where rollovers.domain_id = keys.domain_id and dnskey = any (outgoing)
        and phase in ('await-ds', 'await-ds-ttl', 'unpublish');
    update keys set former = true where retired is not null;

    comment on column keys.former is 'whether the parent should have its DS at some time, and then no longer';
  `)
}

export async function down(db: Knex): Promise<void> {
  await db.raw('alter table keys drop column former')
}
