import type { Knex } from 'knex'

/**
 * The history shows the deletion and the return of a domain. The entry of a deletion is marked when the domain comes
 * back: nobody sees it before. So domains that were deleted before this migration need nothing.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    alter table history
      add column event text constraint history_event check (event in ('deletion', 'return'));
    comment on column history.event is 'what happened to the domain itself; null for its creation, which has its time';
  `)
}

export async function down(db: Knex): Promise<void> {
  await db.raw('alter table history drop column event')
}
