import type { Knex } from 'knex'

/**
 * Postgres empties an unlogged table when it recovers from a crash, and when a standby is promoted: just when commits
 * that were not flushed may be lost, those of marks (docs/design/architecture.md). A sequence may then give the same
 * numbers again, so claims are random, up to 2^53.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create unlogged table incarnations (
      id uuid not null default gen_random_uuid(),
      doubtful_until timestamptz not null
    );
    create unique index incarnations_one on incarnations ((true));
    insert into incarnations (doubtful_until) values (now());

    alter table marks alter column claim drop identity;
    alter table marks alter column claim set default cast(floor(random() * 9007199254740992) as bigint);

    comment on table incarnations is 'the present life of Postgres: empty after a crash, and after the promotion of a standby';
    comment on column incarnations.doubtful_until is 'until then, a request of the former life may still arrive at PowerDNS, whose mark was lost';
    comment on column marks.claim is 'a new number for each worker on the zone, at random; only the last one may delete the mark';
  `)
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`
    drop table incarnations;
    alter table marks alter column claim drop default;
    alter table marks alter column claim add generated always as identity;
    comment on column marks.claim is 'a new number for each worker on the zone; only the last one may delete the mark';
  `)
}
