import type { Knex } from 'knex'

/**
 * A trigger per statement checks CNAME exclusivity, not an exclusion constraint: GiST made inserting 10,000 rows
 * fourteen times slower, the join over the added rows only twice. The lock on the domain's row, which every writer holds
 * anyway, prevents that two transactions each add half of a conflict.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table rrsets (
      id bigint generated always as identity,
      domain_id bigint not null references domains on delete cascade,
      subname text not null constraint rrsets_subname
        check (subname ~ '^(|[*]|([*][.]){0,1}([a-z0-9_-]{1,63}[.])*[a-z0-9_-]{1,63})$' and char_length(subname) <= 178),
      type text not null constraint rrsets_type check (type ~ '^[A-Z][A-Z0-9]{0,9}$'),
      ttl integer not null constraint rrsets_ttl check (ttl between 1 and 86400),
      records text[] not null constraint rrsets_records check (cardinality(records) between 1 and 4091),
      created timestamptz not null,
      touched timestamptz not null,
      constraint rrsets_identity primary key (domain_id, subname, type)
    );
    create index rrsets_page on rrsets (domain_id, created, id);

    create function rrsets_cname_alone() returns trigger language plpgsql as $$
    begin
      perform from domains where id in (select domain_id from added) order by id for no key update;
      if exists (
        select from added join rrsets using (domain_id, subname) where (added.type = 'CNAME') <> (rrsets.type = 'CNAME')
      ) then
        raise exception 'nothing may stand beside a CNAME'
          using errcode = 'exclusion_violation', constraint = 'rrsets_cname_alone', table = 'rrsets';
      end if;
      return null;
    end $$;
    create trigger rrsets_cname_alone after insert on rrsets referencing new table as added
      for each statement execute function rrsets_cname_alone();

    create function rrsets_identity_immutable() returns trigger language plpgsql as $$
    begin
      raise exception 'the domain, subname and type of an RRset never change'
        using errcode = 'check_violation', constraint = 'rrsets_identity_immutable', table = 'rrsets';
    end $$;
    create trigger rrsets_identity_immutable before update on rrsets for each row
      when ((old.domain_id, old.subname, old.type) is distinct from (new.domain_id, new.subname, new.type))
      execute function rrsets_identity_immutable();
  `)
}

export async function down(db: Knex): Promise<void> {
  await db.raw('drop table rrsets; drop function rrsets_cname_alone, rrsets_identity_immutable;')
}
