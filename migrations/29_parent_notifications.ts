import type { Knex } from 'knex'

/** Parents that want to know it are told when CDS change (RFC 9859). */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table parent_notifications (
      domain_id bigint primary key references domains on delete cascade,
      attempts integer not null default 0,
      due timestamptz not null
    );
    create index parent_notifications_due on parent_notifications (due);

    comment on table parent_notifications is 'domains whose parent is still to be told that their CDS have changed';
  `)
}

export async function down(db: Knex): Promise<void> {
  await db.raw('drop table parent_notifications')
}
