import type { Knex } from 'knex'

/** PowerDNS with databases of their own, to which the zones are copied; and the zones that may be older there. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table standbys (
      name text constraint standbys_pk primary key,
      since timestamptz not null default clock_timestamp()
    );
    comment on table standbys is 'the PowerDNS of a cluster with databases of their own, the active one included';

    create table standby_zones (
      member text not null,
      zone text not null,
      change uuid not null default gen_random_uuid(),
      since timestamptz not null default clock_timestamp(),
      due timestamptz not null default clock_timestamp(),
      claim uuid,
      attempts integer not null default 0,
      constraint standby_zones_pk primary key (member, zone)
    );
    create index standby_zones_due on standby_zones (due);
    comment on table standby_zones is 'the zones that are not known to be current at a standby';

    drop function require_primary_term(bigint);
    -- Every commit that has changed zones comes here last. A change-over, and a new standby, take the lock alone.
    create function require_primary_term(wanted bigint, changed text[]) returns void language plpgsql as $$ begin
      perform pg_advisory_xact_lock_shared(hashtextextended('primaries', 0));
      if not exists (select from primaries where term = wanted) then
        raise exception 'another PowerDNS is the active one' using errcode = '57Z01';
      end if;
      insert into standby_zones (member, zone)
        select standbys.name, zone from standbys, (select distinct unnest(changed) as zone) as zones
        where standbys.name <> (select name from primaries) order by 1, 2
      on conflict (member, zone) do update set change = excluded.change;
    end $$;
  `)
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`
    drop function require_primary_term(bigint, text[]);
    drop table standby_zones;
    drop table standbys;

    create function require_primary_term(wanted bigint) returns void language plpgsql as $$ begin
      if not exists (select from primaries where term = wanted) then
        raise exception 'another PowerDNS is the active one' using errcode = '57Z01';
      end if;
    end $$;
  `)
}
