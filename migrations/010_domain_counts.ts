import type { Knex } from 'knex'

/**
 * How many domains an account has is asked with every creation, and may not cost the more the more there are. It is
 * counted at the commit: a transaction that waits for the nameserver may not keep others of the account waiting.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    alter table accounts add column domains integer not null default 0;
    update accounts set domains = (select count(*) from domains where owner_id = accounts.id);
    comment on column accounts.domains is 'how many domains the account has; a trigger keeps it';

    create function domains_count() returns trigger language plpgsql as $$
    begin
      if tg_op <> 'INSERT' then
        update accounts set domains = domains - 1 where id = old.owner_id;
      end if;
      if tg_op <> 'DELETE' then
        update accounts set domains = domains + 1 where id = new.owner_id;
      end if;
      return null;
    end $$;
    create constraint trigger domains_count after insert or delete or update of owner_id on domains
      deferrable initially deferred for each row execute function domains_count();
  `)
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`
    drop trigger domains_count on domains;
    drop function domains_count;
    alter table accounts drop column domains;
  `)
}
