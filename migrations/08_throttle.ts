import type { Knex } from 'knex'

/** Counted requests, where processes share them (contract §14). Not logged: a crash of Postgres may forget them. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create unlogged table throttle (
      key text not null,
      at bigint not null,
      serial bigint not null,
      expires bigint not null,
      primary key (key, at, serial)
    );
    comment on table throttle is 'a row for each request that was counted under a key; times are milliseconds since 1970';
    comment on column throttle.serial is 'numbers the requests of a key without gaps, so that none need be counted one by one';

    -- Counts a request under all keys, if each of their windows has room for it, or else under none; or only looks.
    -- A window belongs to the key of the number "owners", has room for "quotas" requests, and lasts "lengths"
    -- milliseconds. For each: whether the request is counted; how many others are; when the oldest leaves, and when
    -- there is room. Keys stay locked until the end of the statement, so that processes count one after the other.
    create function throttle_count(
      keys text[], owners integer[], quotas integer[], lengths bigint[], now bigint, look boolean
    ) returns table (counted boolean, used bigint, leaves bigint, opens bigint) language plpgsql as $$
    declare
      count_it boolean := not look;
      last throttle;
      first throttle;
      times bigint[] := '{}';
      serials bigint[] := '{}';
      uses bigint[] := '{}';
      leave bigint[] := '{}';
      open bigint[] := '{}';
    begin
      perform pg_advisory_xact_lock(hash) from (
        select distinct hashtextextended(key, 8) as hash from unnest(keys) as key order by hash
      ) as locks;
      for k in 1 .. cardinality(keys) loop
        select * into last from throttle where throttle.key = keys[k] order by at desc, serial desc limit 1;
        -- The clocks of processes differ a little; for a key, time does not go back.
        times[k] := greatest(now, last.at);
        serials[k] := coalesce(last.serial, 0);
      end loop;
      for w in 1 .. cardinality(owners) loop
        select * into first from throttle
          where throttle.key = keys[owners[w]] and at > times[owners[w]] - lengths[w] order by at, serial limit 1;
        uses[w] := coalesce(serials[owners[w]] - first.serial + 1, 0);
        leave[w] := first.at + lengths[w];
        if uses[w] >= quotas[w] then
          count_it := false;
          if uses[w] > quotas[w] and quotas[w] > 0 then
            -- Counted while the rate was higher.
            select * into first from throttle
              where throttle.key = keys[owners[w]] and at > times[owners[w]] - lengths[w]
                and serial = serials[owners[w]] - quotas[w] + 1;
          end if;
          open[w] := case when quotas[w] = 0 then times[owners[w]] else first.at end + lengths[w];
        end if;
      end loop;
      if count_it then
        insert into throttle
          select keys[k], times[k], serials[k] + 1,
            times[k] + (select max(lengths[w]) from generate_subscripts(owners, 1) as w where owners[w] = k)
          from generate_subscripts(keys, 1) as k;
      end if;
      return query select count_it, uses[w], leave[w], open[w] from generate_subscripts(owners, 1) as w order by w;
    end $$;
  `)
}

export async function down(db: Knex): Promise<void> {
  await db.raw('drop function throttle_count; drop table throttle;')
}
