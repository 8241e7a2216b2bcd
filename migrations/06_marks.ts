import type { Knex } from 'knex'

export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table marks (
      zone text primary key,
      claim bigint not null generated always as identity,
      since timestamptz not null,
      version bigint,
      first bigint,
      grace integer not null constraint marks_grace check (grace >= 0),
      time_limit integer not null constraint marks_time_limit check (time_limit >= 0),
      settled boolean not null default false,
      watch_until timestamptz,
      attempts integer not null default 0,
      retry_at timestamptz not null,
      last_error text
    );
    create index marks_retry_at on marks (retry_at);

    comment on table marks is 'zones whose published state may differ from the database';
    comment on column marks.claim is 'a new number for each worker on the zone; only the last one may delete the mark';
    comment on column marks.version is 'the SOA serial that was being published; null for a deletion or an audit';
    comment on column marks.first is 'the lowest SOA serial that was sent since the zone is marked';
    comment on column marks.grace is 'milliseconds in which PowerDNS may still apply a request that it has not answered; 0: none is open';
    comment on column marks.time_limit is 'the longest time limit of a request under this claim, in milliseconds';
    comment on column marks.settled is 'the zone was equal when its last worker ended; the mark only watches for late requests';
    comment on column marks.watch_until is 'until then, a request that was sent under an earlier claim may still arrive';
  `)
}

export async function down(db: Knex): Promise<void> {
  await db.raw('drop table marks')
}
