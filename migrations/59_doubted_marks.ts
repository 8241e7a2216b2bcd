import type { Knex } from 'knex'

/** Marks of zones that an active member had as a standby: they may be those of former domains. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    alter table marks add column doubted boolean not null default false;
    comment on column marks.doubted is 'a standby had the zone before it became the active one, perhaps for a former domain: Postgres knows all its keys';
  `)
}

export async function down(db: Knex): Promise<void> {
  await db.raw('alter table marks drop column doubted')
}
