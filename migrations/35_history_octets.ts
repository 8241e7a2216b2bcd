import type { Knex } from 'knex'

/**
 * The sum would take longer with every entry. The service counts the histories that are there, some at a time: their
 * octets are null until then, so that neither this migration nor a write waits for it. No index has the columns, so that
 * each write updates its row in place.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    alter table domains add column history_octets bigint;
    alter table domains alter column history_octets set default 0;
    alter table deleted_domains add column history_octets bigint;
    alter table history add column trimmed boolean not null default false;
    alter table accounts
      add column limit_history_octets bigint
        constraint accounts_limit_history_octets check (limit_history_octets >= 0);

    comment on column domains.history_octets is 'how many octets its history has (contract §15.5); null: not counted yet';
    comment on column deleted_domains.history_octets is 'as that of domains';
    comment on column history.trimmed is 'whether older ones went because of the limit of octets';
    comment on column accounts.limit_history_octets is 'of the histories of its domains; null: the general limit';
  `)
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`
    alter table accounts drop column limit_history_octets;
    alter table history drop column trimmed;
    alter table deleted_domains drop column history_octets;
    alter table domains drop column history_octets;
  `)
}
