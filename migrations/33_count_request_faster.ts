import type { Knex } from 'knex'

/** Counts in fewer statements: a token's request has twice as many windows as an account's had (contract §14). */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    -- Returns the requests counted before, and the end of each window. Simultaneous calls wait for each other, because
    -- each statement of a function sees what was committed before it, and all calls lock the rows in one order.
    create or replace function count_request(keys text[], quotas integer[], lengths bigint[], moment bigint)
    returns table (used integer, ends bigint) language plpgsql as $$
    declare
      counts integer[];
      expiries bigint[];
      is_complete boolean;
      is_full boolean;
    begin
      loop
        with locked as materialized (
          select key, points, expire from throttle where key = any (keys) order by key for update
        )
        select array_agg(case when expire > moment then points else 0 end order by place),
          array_agg(case when expire > moment then expire else moment + length end order by place),
          bool_and(key is not null),
          bool_or(case when expire > moment then points else 0 end >= quota)
        into counts, expiries, is_complete, is_full
        from unnest(keys, quotas, lengths) with ordinality as asked (name, quota, length, place)
        left join locked on key = name;
        exit when is_complete;
        -- Rows that have ended, to have some to lock: a refused request begins no window.
        insert into throttle select each, 0, moment from unnest(keys) as each order by each on conflict do nothing;
      end loop;
      if not is_full then
        update throttle set points = count + 1, expire = expiry
        from unnest(keys, counts, expiries) as asked (name, count, expiry) where key = name;
      end if;
      return query select * from unnest(counts, expiries);
    end $$;
  `)
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`
    create or replace function count_request(keys text[], quotas integer[], lengths bigint[], moment bigint)
    returns table (used integer, ends bigint) language plpgsql as $$
    begin
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
