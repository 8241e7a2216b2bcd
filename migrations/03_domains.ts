import type { Knex } from 'knex'

/**
 * Every creation of a domain needs the number of the account's domains, at constant cost. The trigger is deferred to the
 * commit, so that a transaction that waits for the nameserver does not block others of the account.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table domains (
      id bigint generated always as identity primary key,
      name text not null constraint domains_name unique
        constraint domains_name_syntax check (name ~ '^([a-z0-9_-]{1,63}\\.)*[a-z0-9-]{1,63}$' and char_length(name) <= 191),
      owner_id uuid not null references accounts on delete restrict,
      minimum_ttl integer not null constraint domains_minimum_ttl check (minimum_ttl between 1 and 86400),
      version bigint not null constraint domains_version check (version between 1 and 4294967295),
      rectify boolean not null default true,
      size integer not null constraint domains_size check (size >= 0),
      created timestamptz not null,
      published timestamptz not null,
      touched timestamptz not null
    );
    create index domains_owner on domains (owner_id, created, id);
    create index domains_name_reversed on domains (reverse(name) text_pattern_ops);

    comment on column domains.version is 'the SOA serial at the nameserver; it only grows';
    comment on column domains.rectify is 'whether each publication of this zone rectifies it (a setting at the nameserver)';
    comment on column domains.size is 'how many RRsets the domain has';

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

    create table spent (
      name text primary key,
      version bigint not null,
      noted timestamptz not null default now()
    );
    create index spent_noted on spent (noted);
    comment on table spent is 'serials sent for zones, above those of the domains: of deleted domains, and of writes that were not committed';
  `)
}

export async function down(db: Knex): Promise<void> {
  await db.raw('drop table spent; drop table domains; drop function domains_count;')
}
