import type { Knex } from 'knex'

export async function up(db: Knex): Promise<void> {
  await db.raw(`
    alter table accounts add column user_handle uuid not null default gen_random_uuid();
    comment on column accounts.user_handle is 'the name of the account for authenticators, which says nothing about it';

    create table passkeys (
      id uuid primary key default gen_random_uuid(),
      account_id uuid not null references accounts on delete cascade,
      created timestamptz not null,
      last_used timestamptz,
      name text not null constraint passkeys_name_length check (char_length(name) <= 64),
      credential_id bytea not null constraint passkeys_credential unique
        constraint passkeys_credential_length check (octet_length(credential_id) between 1 and 1023),
      public_key bytea not null,
      sign_count bigint not null,
      backed_up boolean not null,
      transports text[] not null,
      constraint passkeys_name unique (account_id, name)
    );
    create index passkeys_page on passkeys (account_id, created, id);

    comment on table passkeys is 'WebAuthn credentials; an account that has one has MFA enabled';
    comment on column passkeys.public_key is 'in COSE form (RFC 9052 §7)';
    comment on column passkeys.sign_count is 'the counter of the latest signature; 0 if the authenticator has none';
    comment on column passkeys.transports is 'how browsers can reach the authenticator';

    create table passkey_challenges (
      challenge bytea primary key,
      use text not null constraint passkey_challenges_use check (use in ('creation', 'signature')),
      account_id uuid references accounts on delete cascade,
      token_id uuid references tokens on delete cascade,
      expires timestamptz not null
    );
    create index passkey_challenges_expires on passkey_challenges (expires);
    create index passkey_challenges_account on passkey_challenges (account_id);
    create index passkey_challenges_token on passkey_challenges (token_id);

    comment on table passkey_challenges is 'challenges for passkeys without an answer';
    comment on column passkey_challenges.token_id is 'the login token that asked for it, and whose account is the other; null: nobody signed in';

    alter table confirmations drop constraint confirmations_action, add constraint confirmations_action
      check (action in ('activate-account', 'change-email', 'reset-password', 'delete-account', 'create-totp', 'create-passkey'));
  `)
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`
    delete from confirmations where action = 'create-passkey';
    alter table confirmations drop constraint confirmations_action, add constraint confirmations_action
      check (action in ('activate-account', 'change-email', 'reset-password', 'delete-account', 'create-totp'));
    drop table passkey_challenges;
    drop table passkeys;
    alter table accounts drop column user_handle;
  `)
}
