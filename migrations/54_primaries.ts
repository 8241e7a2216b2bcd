import type { Knex } from 'knex'

/** The active one of several PowerDNS. There is no row while there has never been more than one. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table primaries (
      singleton boolean default true constraint primaries_singleton primary key check (singleton),
      term bigint not null,
      name text not null,
      since timestamptz not null default clock_timestamp(),
      heard timestamptz not null default clock_timestamp()
    );
    comment on table primaries is 'the active PowerDNS of a cluster, and the number of the change-over to it';

    create function require_primary_term(wanted bigint) returns void language plpgsql as $$ begin
      if not exists (select from primaries where term = wanted) then
        raise exception 'another PowerDNS is the active one' using errcode = '57Z01';
      end if;
    end $$;
  `)
}

export async function down(db: Knex): Promise<void> {
  await db.raw('drop function require_primary_term; drop table primaries;')
}
