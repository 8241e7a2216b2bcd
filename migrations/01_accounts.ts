import type { Knex } from 'knex'

export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table accounts (
      id uuid primary key default gen_random_uuid(),
      created timestamptz not null,
      email text not null,
      password_hash text,
      state text not null constraint accounts_state check (state in ('pending', 'active', 'disabled')),
      limit_domains integer constraint accounts_limit_domains check (limit_domains >= 0),
      daily_rate integer constraint accounts_daily_rate check (daily_rate >= 0),
      outreach_preference boolean not null default true,
      credentials_changed timestamptz not null,
      domains integer not null default 0,
      known_networks text[] not null default '{}'
    );
    create unique index accounts_email on accounts (lower(email));
    create index accounts_pending on accounts (created) where state = 'pending';

    comment on column accounts.domains is 'how many domains the account has; maintained by a trigger';
    comment on column accounts.known_networks is 'from which the user last logged in or set a password, latest first';
  `)
}

export async function down(db: Knex): Promise<void> {
  await db.raw('drop table accounts')
}
