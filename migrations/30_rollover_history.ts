import type { Knex } from 'knex'

/** The history shows the replacement of keys. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    alter table history
      drop constraint history_source,
      add constraint history_source check (source in
        ('api', 'dyndns', 'import', 'zonefile', 'undo', 'restore', 'creation', 'operator', 'repair', 'rollover')),
      add column rollover jsonb,
      add constraint history_rollover check ((source = 'rollover') = (rollover is not null));

    comment on column history.rollover is
      'what happened to the rollover, {"action", "phase"}; the phase is null if it ended';
  `)
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`
    delete from history where source = 'rollover';
    alter table history
      drop column rollover,
      drop constraint history_source,
      add constraint history_source check (source in
        ('api', 'dyndns', 'import', 'zonefile', 'undo', 'restore', 'creation', 'operator', 'repair'));
  `)
}
