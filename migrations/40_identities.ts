import type { Knex } from 'knex'

export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table identities (
      issuer text not null,
      sub text not null constraint identities_sub check (char_length(sub) <= 255),
      account_id uuid not null references accounts on delete cascade,
      created timestamptz not null,
      last_used timestamptz not null,
      primary key (issuer, sub),
      constraint identities_account unique (account_id, issuer)
    );
    comment on table identities is 'who an account is at an issuer of single sign-on; an address is never an identity';

    create table sign_ins (
      state_hash bytea primary key,
      expires timestamptz not null,
      code_hash bytea constraint sign_ins_code unique,
      code_expires timestamptz,
      issuer text,
      sub text,
      sid text,
      account_id uuid references accounts on delete cascade,
      mfa boolean
    );
    create index sign_ins_expires on sign_ins (expires);
    create index sign_ins_account on sign_ins (account_id);
    comment on table sign_ins is 'the callbacks that have come, each once, and the codes that they handed out';

    create table sign_on_sessions (
      token_id uuid primary key references tokens on delete cascade,
      issuer text not null,
      sub text not null,
      sid text,
      foreign key (issuer, sub) references identities on delete cascade
    );
    create index sign_on_sessions_identity on sign_on_sessions (issuer, sub);
    comment on table sign_on_sessions is 'the logins that began at an issuer, which can end them';
  `)
}

export async function down(db: Knex): Promise<void> {
  await db.raw('drop table sign_on_sessions; drop table sign_ins; drop table identities;')
}
