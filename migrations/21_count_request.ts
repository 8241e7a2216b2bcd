import type { Knex } from 'knex'

/** Counts a request in all its windows, or in none (contract §14). */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    -- Returns the requests counted before, and the end of each window. Simultaneous calls wait for each other, because
    -- each statement of a function sees what was committed before it, and all calls lock the rows in one order.
    create function count_request(keys text[], quotas integer[], lengths bigint[], moment bigint)
    returns table (used integer, ends bigint) language plpgsql as $$
    begin
      -- A row that has ended, to have one to lock: a refused request begins no window.
      insert into throttle select each, 0, moment from unnest(keys) as each order by each on conflict do nothing;
      perform from throttle where key = any (keys) order by key for update;
      return query
        select case when expire > moment then points else 0 end,
          case when expire > moment then expire else moment + length end
        from unnest(keys, lengths) with ordinality as asked (name, length, place)
        left join throttle on key = name order by place;
      if not exists (
        select from unnest(keys, quotas) as asked (name, quota) left join throttle on key = name
        where case when expire > moment then points else 0 end >= quota
      ) then
        update throttle set points = case when expire > moment then points + 1 else 1 end,
          expire = case when expire > moment then expire else moment + length end
        from unnest(keys, lengths) as asked (name, length) where key = name;
      end if;
    end $$;
  `)
}

export async function down(db: Knex): Promise<void> {
  await db.raw('drop function count_request')
}
