import type { Knex } from 'knex'

export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table tokens (
      id uuid primary key default gen_random_uuid(),
      created timestamptz not null,
      last_used timestamptz,
      secret_hash bytea not null constraint tokens_secret_hash unique,
      owner_id uuid not null references accounts on delete cascade,
      user_override_id uuid references accounts on delete cascade,
      mfa boolean,
      max_age interval constraint tokens_max_age check (max_age >= interval '0'),
      max_unused_period interval constraint tokens_max_unused_period check (max_unused_period >= interval '0'),
      name text not null default '' constraint tokens_name check (char_length(name) <= 178),
      perm_create_domain boolean not null default false,
      perm_delete_domain boolean not null default false,
      perm_manage_tokens boolean not null default false,
      allowed_subnets cidr[] not null default '{0.0.0.0/0,::/0}',
      auto_policy boolean not null default false,
      constraint tokens_override_not_owner check (user_override_id <> owner_id),
      constraint tokens_override_no_management check (user_override_id is null or not perm_manage_tokens),
      constraint tokens_override_no_mfa check (user_override_id is null or mfa is null)
    );
    create index tokens_owner on tokens (owner_id, created, id);
    create index tokens_user_override on tokens (user_override_id, created, id) where user_override_id is not null;

    create function tokens_override_immutable() returns trigger language plpgsql as $$
    begin
      raise exception 'the bound account of a token never changes'
        using errcode = 'check_violation', constraint = 'tokens_override_immutable', table = 'tokens';
    end $$;
    create trigger tokens_override_immutable before update on tokens for each row
      when (old.user_override_id is not null and old.user_override_id is distinct from new.user_override_id)
      execute function tokens_override_immutable();
  `)
}

export async function down(db: Knex): Promise<void> {
  await db.raw('drop table tokens; drop function tokens_override_immutable;')
}
