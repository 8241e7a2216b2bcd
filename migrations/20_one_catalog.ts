import type { Knex } from 'knex'

/** There is one catalog zone at most, so no member is assigned to one. */
export async function up(db: Knex): Promise<void> {
  await db.raw('alter table catalog_members drop column catalog')
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`
    alter table catalog_members add catalog text;
    comment on column catalog_members.catalog is 'the catalog zone of the member for ever; null until it is first listed';
  `)
}
