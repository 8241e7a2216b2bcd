import type { Knex } from 'knex'

/**
 * Keys are replaced in phases (architecture.md, "Rollovers"). Like keys, rollovers refer to a domain by its id alone,
 * because they outlive it.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    alter table keys add column retired timestamptz;
    create index keys_retired on keys (domain_id, dnskey) where retired is not null;

    create table rollovers (
      domain_id bigint primary key,
      phase text not null constraint rollovers_phase check (phase in
        ('queued', 'sign', 'publish', 'await-ds', 'await-ds-ttl', 'unpublish')),
      incoming text[] not null,
      outgoing text[] not null,
      emergency boolean not null,
      algorithm text,
      at_most integer,
      confirmed boolean not null default false,
      since timestamptz not null,
      version bigint,
      seen integer not null default 0,
      waited double precision not null default 0,
      counted timestamptz not null,
      ttl integer not null default 0,
      check_at timestamptz not null,
      mailed timestamptz
    );

    comment on column keys.retired is 'since when the nameserver shall not have it';
    comment on table rollovers is 'domains whose keys are being replaced';
    comment on column rollovers.incoming is 'the public halves of the new keys';
    comment on column rollovers.outgoing is 'those of the former keys';
    comment on column rollovers.algorithm is 'of the new key; null: the rollover has begun';
    comment on column rollovers.at_most is 'while how many others are under way it does not begin; null: it has begun';
    comment on column rollovers.since is 'the beginning of the phase';
    comment on column rollovers.version is 'of the domain, with the keys of the phase; null: not published yet';
    comment on column rollovers.seen is 'how often, in succession, what the phase waits for was observed';
    comment on column rollovers.waited is 'the seconds that a process saw pass since it was observed';
    comment on column rollovers.counted is 'until when the time that passes is in waited';
    comment on column rollovers.ttl is 'the seconds that must pass: the largest TTL of what caches may have';
    comment on column rollovers.check_at is 'the time of the next observation';
    comment on column rollovers.mailed is 'when the owner was last asked to change the DS in this phase';

    ${forgotten(['history', 'keys', 'transfers', 'rollovers'])}
  `)
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`
    ${forgotten(['history', 'keys', 'transfers'])}
    drop table rollovers;
    alter table keys drop column retired;
  `)
}

/** The function that deletes what belongs to a domain, when the domain is gone for good. */
function forgotten(tables: string[]): string {
  return `create or replace function domain_forgotten() returns trigger language plpgsql as $$
    begin
      if not exists (select from domains where id = old.id)
        and not exists (select from deleted_domains where id = old.id)
      then
        ${tables.map((table) => `delete from ${table} where domain_id = old.id;`).join('\n        ')}
      end if;
      return null;
    end $$;`
}
