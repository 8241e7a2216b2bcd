import type { Knex } from 'knex'

/**
 * Receivers of what happens in an account. A trigger notes each entry of the history of an account that has any, in the
 * transaction of the change, and without a lock that others could wait for.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table webhooks (
      id uuid primary key default gen_random_uuid(),
      account_id uuid not null references accounts on delete cascade,
      member_id uuid references members on delete cascade,
      created timestamptz not null,
      url text not null,
      events text[] not null,
      domains text[],
      failing_since timestamptz,
      failures integer not null default 0,
      retry_at timestamptz,
      disabled timestamptz,
      reason text,
      constraint webhooks_disabled check ((disabled is null) = (reason is null))
    );
    create index webhooks_of_account on webhooks (account_id, created, id);
    create index webhooks_of_member on webhooks (member_id) where member_id is not null;

    create table webhook_secrets (
      webhook_id uuid not null references webhooks on delete cascade,
      secret bytea not null,
      expires timestamptz
    );
    create index webhook_secrets_of_webhook on webhook_secrets (webhook_id);

    create table webhook_events (
      entry_id uuid primary key
    );

    create table webhook_deliveries (
      id uuid primary key default gen_random_uuid(),
      webhook_id uuid not null references webhooks on delete cascade,
      position bigint generated always as identity,
      created timestamptz not null,
      entry_id uuid,
      type text not null,
      domain text,
      status text not null default 'waiting' constraint webhook_deliveries_status
        check (status in ('waiting', 'delivered', 'failed', 'gone')),
      attempts integer not null default 0,
      attempted timestamptz,
      answer integer,
      problem text
    );
    create index webhook_deliveries_page on webhook_deliveries (webhook_id, created, id);
    create index webhook_deliveries_order on webhook_deliveries (webhook_id, position);
    create index webhook_deliveries_waiting on webhook_deliveries (webhook_id, position) where status = 'waiting';

    create function webhooks_hear() returns trigger language plpgsql as $$
    begin
      if exists (select from webhooks where account_id = new.account_id and disabled is null) then
        insert into webhook_events values (new.id);
      end if;
      return null;
    end $$;
    create trigger webhooks_hear after insert on history for each row when (new.account_id is not null)
      execute function webhooks_hear();

    comment on table webhooks is 'addresses that are told what happens in an account';
    comment on column webhooks.member_id is 'the membership through which somebody chose the address, and with which it ends';
    comment on column webhooks.events is 'groups of types; those of the service';
    comment on column webhooks.domains is 'names of the only domains that it hears of; null: all';
    comment on column webhooks.failing_since is 'the first failure since the last success';
    comment on column webhooks.failures is 'how many there were since then';
    comment on column webhooks.retry_at is 'when it is tried again; null: at once';
    comment on table webhook_secrets is 'what signs the deliveries; encrypted';
    comment on column webhook_secrets.expires is 'null: it is the present one';
    comment on table webhook_events is 'entries of the history whose deliveries are not made yet; their order is that of the ids';
    comment on table webhook_deliveries is 'what a webhook is told, in the order of position';
    comment on column webhook_deliveries.entry_id is 'of history, where it may be gone; null: a test';
    comment on column webhook_deliveries.problem is 'why the last attempt failed, in words of ours';
  `)
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`
    drop trigger webhooks_hear on history;
    drop function webhooks_hear;
    drop table webhook_deliveries, webhook_events, webhook_secrets, webhooks;
    delete from work where kind = 'webhook';
    delete from history where event in ('webhook_created', 'webhook_changed', 'webhook_deleted', 'webhook_disabled');
  `)
}
