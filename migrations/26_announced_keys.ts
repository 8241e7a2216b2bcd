import type { Knex } from 'knex'

/** A key can sign without an announcement to the parent: one that comes or goes. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    alter table keys add column announced boolean not null default true;

    comment on column keys.announced is 'whether the parent shall have its DS';
  `)
}

export async function down(db: Knex): Promise<void> {
  await db.raw('alter table keys drop column announced')
}
