import type { Knex } from 'knex'

/** Other accounts act for an account: members, with a role (contract §19). */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table members (
      id uuid primary key default gen_random_uuid(),
      created timestamptz not null,
      account_id uuid not null references accounts on delete cascade,
      person_id uuid references accounts on delete cascade,
      email text not null,
      role text not null check (role in ('viewer', 'editor', 'admin')),
      confined boolean not null,
      source text not null check (source in ('invitation', 'operator', 'group')),
      accepted timestamptz,
      last_active timestamptz,
      constraint members_accepted check ((person_id is null) = (accepted is null)),
      constraint members_other check (person_id <> account_id),
      constraint members_admin check (role <> 'admin' or not confined),
      constraint members_person unique (account_id, person_id)
    );
    create unique index members_invited on members (account_id, lower(email)) where person_id is null;
    create index members_of_account on members (account_id, created desc, id desc);
    create index members_of_person on members (person_id, created desc, id desc);

    create table member_domains (
      member_id uuid not null references members on delete cascade,
      domain_id bigint not null references domains on delete cascade,
      primary key (member_id, domain_id)
    );
    create index member_domains_of_domain on member_domains (domain_id);

    alter table tokens
      add column member_id uuid references members on delete cascade,
      add column made_by uuid references members on delete cascade,
      add column maker text,
      add constraint tokens_session check (member_id is null or (mfa is not null and user_override_id is null));
    create index tokens_of_member on tokens (member_id) where member_id is not null;
    create index tokens_made_by on tokens (made_by) where made_by is not null;

    alter table confirmations drop constraint confirmations_action, add constraint confirmations_action check (action in
      ('activate-account', 'change-email', 'reset-password', 'delete-account', 'create-totp', 'create-passkey',
       'accept-invitation'));
    alter table accounts add column require_mfa boolean not null default false;

    comment on table members is 'accounts that may act for another account, or are invited to';
    comment on column members.person_id is 'the account of the member; null: the invitation is not accepted';
    comment on column members.email is 'the address that was invited';
    comment on column members.confined is 'whether the member sees only the domains of member_domains';
    comment on column members.source is 'who added the member; the groups of single sign-on decide about their own';
    comment on column tokens.member_id is 'the membership whose rights a login token has; null: the token acts for its owner, or for user_override_id';
    comment on column tokens.made_by is 'the membership through which somebody made the API token, and with which it ends';
    comment on column tokens.maker is 'the address of who made it through a membership';
    comment on column accounts.require_mfa is 'whether members need a second factor';
  `)
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`
    delete from tokens where member_id is not null;
    alter table accounts drop column require_mfa;
    alter table tokens drop column member_id, drop column made_by, drop column maker;
    drop table member_domains;
    drop table members;
    delete from confirmations where action = 'accept-invitation';
    alter table confirmations drop constraint confirmations_action, add constraint confirmations_action check (action in
      ('activate-account', 'change-email', 'reset-password', 'delete-account', 'create-totp', 'create-passkey'));
  `)
}
