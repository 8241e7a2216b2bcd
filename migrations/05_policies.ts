import type { Knex } from 'knex'

/** The database enforces the rules of contract §§3.3, 5.7 and 6.3. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table policies (
      id uuid primary key default gen_random_uuid(),
      created timestamptz not null,
      token_id uuid not null references tokens on delete cascade,
      domain_id bigint references domains on delete cascade,
      subname text,
      type text,
      perm_write boolean not null default false,
      constraint policies_scope unique nulls not distinct (token_id, domain_id, subname, type)
    );
    create index policies_domain on policies (domain_id);

    -- A token with policies has a default policy, and with auto_policy a restrictive one. The lock on the token's row
    -- prevents that two transactions each break half of a rule.
    create function policies_check_token(checked uuid) returns void language plpgsql as $$
    declare
      token record;
      fallback record;
    begin
      select auto_policy into token from tokens where id = checked for no key update;
      if not found then
        return;
      end if;
      select perm_write into fallback from policies
        where token_id = checked and domain_id is null and subname is null and type is null;
      if not found and exists (select from policies where token_id = checked) then
        raise exception 'a token with policies needs a default policy'
          using errcode = 'check_violation', constraint = 'policies_default_first', table = 'policies';
      end if;
      if token.auto_policy and fallback.perm_write is distinct from false then
        raise exception 'auto_policy needs a restrictive default policy'
          using errcode = 'check_violation', constraint = 'policies_auto_policy', table = 'policies';
      end if;
    end $$;

    -- Only changes of the default policy lock the token. A specific policy only locks the default policy against
    -- deletion. Otherwise creating a domain with its policy, or deleting a domain with its policies, would keep the token
    -- from authenticating until the nameserver has answered.
    create function policies_check() returns trigger language plpgsql as $$
    begin
      if tg_op <> 'INSERT' and old.domain_id is null and old.subname is null and old.type is null then
        perform policies_check_token(old.token_id);
      end if;
      if tg_op <> 'DELETE' then
        if new.domain_id is null and new.subname is null and new.type is null then
          perform policies_check_token(new.token_id);
        else
          perform from policies where token_id = new.token_id and domain_id is null and subname is null and type is null
            for key share;
          if not found then
            raise exception 'a token with policies needs a default policy'
              using errcode = 'check_violation', constraint = 'policies_default_first', table = 'policies';
          end if;
        end if;
      end if;
      return null;
    end $$;
    create constraint trigger policies_check after insert or update or delete on policies
      deferrable initially immediate for each row execute function policies_check();

    create function tokens_check_policies() returns trigger language plpgsql as $$
    begin
      perform policies_check_token(new.id);
      return null;
    end $$;
    create constraint trigger tokens_check_policies after insert or update of auto_policy on tokens
      deferrable initially deferred for each row when (new.auto_policy) execute function tokens_check_policies();

    -- A policy names only domains of the account that the token acts as.
    create function policies_own_domain() returns trigger language plpgsql as $$
    begin
      if new.domain_id is not null and not exists (
        select from tokens join domains on domains.owner_id = coalesce(tokens.user_override_id, tokens.owner_id)
        where tokens.id = new.token_id and domains.id = new.domain_id
      ) then
        raise exception 'a policy may only name a domain of the account that its token acts as'
          using errcode = 'check_violation', constraint = 'policies_own_domain', table = 'policies';
      end if;
      return null;
    end $$;
    create constraint trigger policies_own_domain after insert or update on policies
      for each row execute function policies_own_domain();

    create function tokens_bind_without_domains() returns trigger language plpgsql as $$
    begin
      if exists (select from policies where token_id = new.id and domain_id is not null) then
        raise exception 'a token whose policies name domains cannot be bound to another account'
          using errcode = 'check_violation', constraint = 'tokens_bind_without_domains', table = 'tokens';
      end if;
      return null;
    end $$;
    create constraint trigger tokens_bind_without_domains after update on tokens for each row
      when (old.user_override_id is null and new.user_override_id is not null)
      execute function tokens_bind_without_domains();
  `)
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`
    drop table policies;
    drop trigger tokens_check_policies on tokens;
    drop trigger tokens_bind_without_domains on tokens;
    drop function policies_check, tokens_check_policies, policies_own_domain, tokens_bind_without_domains;
    drop function policies_check_token;
  `)
}
