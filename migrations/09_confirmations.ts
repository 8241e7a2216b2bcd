import type { Knex } from 'knex'

export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table confirmations (
      code_hash bytea primary key,
      account_id uuid not null,
      action text not null constraint confirmations_action
        check (action in ('activate-account', 'change-email', 'reset-password', 'delete-account', 'create-totp')),
      parameters jsonb not null,
      credentials_changed timestamptz not null,
      expires timestamptz not null,
      used boolean not null default false
    );
    create index confirmations_account on confirmations (account_id);
    create index confirmations_expires on confirmations (expires);

    comment on table confirmations is 'the actions that the codes in mails confirm, until the codes expire';
    comment on column confirmations.account_id is 'not a foreign key: a code outlives its account, so that its link can report the deletion';
    comment on column confirmations.credentials_changed is 'the value of the account when the code was created; a change invalidates the code';

    create function accounts_forget_parameters() returns trigger language plpgsql as $$
    begin
      update confirmations set parameters = '{}' where account_id = old.id;
      return null;
    end $$;
    create trigger accounts_forget_parameters after delete on accounts for each row
      execute function accounts_forget_parameters();
  `)
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`
    drop trigger accounts_forget_parameters on accounts;
    drop function accounts_forget_parameters;
    drop table confirmations;
  `)
}
