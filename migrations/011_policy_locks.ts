import type { Knex } from 'knex'

/**
 * Only what concerns the default policy locks the token. A specific policy locks the default one, against deletion: a
 * domain that is created with a policy, or deleted with those that name it, would else keep the token from
 * authenticating until the nameserver has answered.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create or replace function policies_check() returns trigger language plpgsql as $$
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
  `)
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`
    create or replace function policies_check() returns trigger language plpgsql as $$
    begin
      if tg_op <> 'INSERT' then
        perform policies_check_token(old.token_id);
      end if;
      if tg_op <> 'DELETE' and (tg_op = 'INSERT' or new.token_id <> old.token_id) then
        perform policies_check_token(new.token_id);
      end if;
      return null;
    end $$;
  `)
}
