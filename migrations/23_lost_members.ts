import type { Knex } from 'knex'

/** Deleted domains leave the catalog zone at once. Domains that are missing for another reason may wait. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    alter table catalog_members add column lost boolean not null default false;

    comment on column catalog_members.lost is 'the domain is missing, though nobody has deleted it';
  `)
}

export async function down(db: Knex): Promise<void> {
  await db.raw('alter table catalog_members drop column lost')
}
