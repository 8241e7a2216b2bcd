import type { Knex } from 'knex'

export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table totp_factors (
      id uuid primary key,
      account_id uuid not null references accounts on delete cascade,
      created timestamptz not null,
      last_used timestamptz,
      name text not null constraint totp_factors_name_length check (char_length(name) <= 64),
      secret bytea not null,
      last_step bigint,
      constraint totp_factors_name unique (account_id, name)
    );
    create index totp_factors_page on totp_factors (account_id, created, id);

    comment on column totp_factors.secret is 'encrypted with a key of KEY_ENCRYPTION_KEYS, and bound to the id';
    comment on column totp_factors.last_used is 'null until the first use, which enables MFA';
    comment on column totp_factors.last_step is 'the latest time step whose code was accepted; codes of this and earlier steps are refused';
  `)
}

export async function down(db: Knex): Promise<void> {
  await db.raw('drop table totp_factors')
}
