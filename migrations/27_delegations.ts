import type { Knex } from 'knex'

/** Rows come and go behind the domains, so that checks at the parent cost no write anything. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table delegations (
      domain_id bigint primary key references domains on delete cascade,
      state text not null default 'unknown' constraint delegations_state check (state in
        ('unknown', 'not-delegated', 'elsewhere', 'partial', 'insecure', 'secure', 'stale', 'mismatch', 'propagating')),
      checked timestamptz,
      observation text not null default '{"parent":null,"servers":[],"nameservers":[]}',
      problems text[] not null default '{}',
      due timestamptz not null,
      waits integer,
      settled text,
      trouble text constraint delegations_trouble check (trouble in ('mismatch', 'insecure')),
      since timestamptz,
      told boolean not null default false,
      mailed timestamptz
    );
    create index delegations_due on delegations ((waits is null), due);
    create index delegations_by_state on delegations (state);

    comment on table delegations is 'the last check of each domain at its parent zone, and the next one; no row: it was never planned';
    comment on column delegations.observation is 'JSON: what the servers of the parent zone have';
    comment on column delegations.waits is 'the checks since the domain began to wait for its delegation; null: it does not wait';
    comment on column delegations.settled is 'the last state that was neither unknown nor propagating';
    comment on column delegations.trouble is 'the state that the owner is told by mail once it is confirmed';
    comment on column delegations.since is 'when the trouble was first seen';
    comment on column delegations.told is 'the owner has a mail about this trouble';
    comment on column delegations.mailed is 'when the last mail about a trouble was queued';
  `)
}

export async function down(db: Knex): Promise<void> {
  await db.raw('drop table delegations')
}
