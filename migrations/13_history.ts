import type { Knex } from 'knex'

/**
 * History refers to a domain by its id alone, because it outlives the domain, and because a foreign key would cost every
 * write a lock. Triggers delete it instead, and keys likewise.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table deleted_domains (
      id bigint primary key,
      name text not null,
      owner_id uuid not null references accounts on delete cascade,
      minimum_ttl integer not null,
      created timestamptz not null,
      deleted timestamptz not null
    );
    create index deleted_domains_name on deleted_domains (name, deleted);
    create index deleted_domains_owner on deleted_domains (owner_id);
    create index deleted_domains_deleted on deleted_domains (deleted);

    create table history (
      id uuid primary key,
      domain_id bigint not null,
      created timestamptz not null,
      version bigint not null,
      source text not null constraint history_source check (source in
        ('api', 'dyndns', 'import', 'zonefile', 'undo', 'restore', 'creation', 'operator', 'repair')),
      owner_id uuid,
      token_id uuid,
      request_id text,
      count integer not null constraint history_count check (count >= 0),
      changes text not null
    );
    create unique index history_page on history (domain_id, created, id);

    create function domain_forgotten() returns trigger language plpgsql as $$
    begin
      if not exists (select from domains where id = old.id)
        and not exists (select from deleted_domains where id = old.id)
      then
        delete from history where domain_id = old.id;
        delete from keys where domain_id = old.id;
      end if;
      return null;
    end $$;
    create trigger domains_forgotten after delete on domains for each row execute function domain_forgotten();
    create trigger deleted_domains_forgotten after delete on deleted_domains
      for each row execute function domain_forgotten();

    comment on table deleted_domains is 'domains that their accounts can restore, while their history and keys last';
    comment on table history is 'writes that changed something; triggers delete those of a domain that is gone for good';
    comment on column history.id is 'UUIDs of version 7: their order is that of the times';
    comment on column history.domain_id is 'of domains or deleted_domains';
    comment on column history.owner_id is 'the account of the token that wrote, even if it is deleted; or that signed up';
    comment on column history.changes is
      'compact JSON, [[subname, type, before, after], ...]; an RRset is [ttl, record, ...], or null if it does not exist';
  `)
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`
    drop trigger domains_forgotten on domains;
    drop table history, deleted_domains;
    drop function domain_forgotten;
  `)
}
