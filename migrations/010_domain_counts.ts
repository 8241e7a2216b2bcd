import type { Knex } from 'knex'

/** How many domains an account has is asked with every creation, and may not cost the more the more there are. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    alter table accounts add column domains integer not null default 0;
    update accounts set domains = (select count(*) from domains where owner_id = accounts.id);
    comment on column accounts.domains is 'how many domains the account has; triggers keep it';

    -- Per statement: row by row, adding many domains at once would write the account's row as many times.
    create function domains_count() returns trigger language plpgsql as $$
    begin
      if tg_op = 'INSERT' then
        update accounts set domains = accounts.domains + n
          from (select owner_id, count(*) as n from added group by owner_id) as counted where accounts.id = owner_id;
      else
        update accounts set domains = accounts.domains - n
          from (select owner_id, count(*) as n from gone group by owner_id) as counted where accounts.id = owner_id;
      end if;
      return null;
    end $$;
    create trigger domains_count_added after insert on domains referencing new table as added
      for each statement execute function domains_count();
    create trigger domains_count_gone after delete on domains referencing old table as gone
      for each statement execute function domains_count();

    create function domains_count_moved() returns trigger language plpgsql as $$
    begin
      update accounts set domains = domains - 1 where id = old.owner_id;
      update accounts set domains = domains + 1 where id = new.owner_id;
      return null;
    end $$;
    create trigger domains_count_moved after update of owner_id on domains for each row
      when (old.owner_id <> new.owner_id) execute function domains_count_moved();
  `)
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`
    drop trigger domains_count_added on domains;
    drop trigger domains_count_gone on domains;
    drop trigger domains_count_moved on domains;
    drop function domains_count, domains_count_moved;
    alter table accounts drop column domains;
  `)
}
