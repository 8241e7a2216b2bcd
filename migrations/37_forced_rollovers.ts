import type { Knex } from 'knex'

export async function up(db: Knex): Promise<void> {
  await db.raw(`
    alter table rollovers add column forced boolean not null default false;
    comment on column rollovers.forced is 'whether the parent is not asked again, because a login or the operator has confirmed by force';
  `)
}

export async function down(db: Knex): Promise<void> {
  await db.raw('alter table rollovers drop column forced')
}
