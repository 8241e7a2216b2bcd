import type { Knex } from 'knex'

/** The RRsets that a standby lacks, so that a copy need not compare the whole zone. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    alter table standby_zones add column served bigint, add column changed jsonb;
    comment on column standby_zones.served is 'the serial of the standby, if changed is not null';
    comment on column standby_zones.changed is 'the RRsets that differ: subname and type of each; null: anything may';

    drop function require_primary_term(bigint, text[]);
    -- Every commit that has changed zones comes here last. A change-over, and a new standby, take the lock alone.
    create function require_primary_term(wanted bigint, changes json) returns void language plpgsql as $$ begin
      perform pg_advisory_xact_lock_shared(hashtextextended('primaries', 0));
      if not exists (select from primaries where term = wanted) then
        raise exception 'another PowerDNS is the active one' using errcode = '57Z01';
      end if;
      insert into standby_zones (member, zone, served, changed)
        select standbys.name, changes.zone, changes.served, changes.changed
        from standbys, json_to_recordset(changes) as changes (zone text, served bigint, changed jsonb)
        where standbys.name <> (select name from primaries) order by 1, 2
      on conflict (member, zone) do update set change = excluded.change, changed = (
        -- None if either is null, or if they are too many.
        select jsonb_agg(distinct rrset) from jsonb_array_elements(standby_zones.changed || excluded.changed) as rrset
        having count(distinct rrset) <= 100
      );
    end $$;
  `)
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`
    drop function require_primary_term(bigint, json);
    alter table standby_zones drop column served, drop column changed;

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
