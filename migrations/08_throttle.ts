import type { Knex } from 'knex'

/**
 * Counted requests, where processes share them (contract §14): the table that rate-limiter-flexible wants. Not logged: a
 * crash of Postgres may forget them.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create unlogged table throttle (key text primary key, points integer not null, expire bigint not null);
    comment on table throttle is 'requests counted under a key, in a window that ends at expire, in milliseconds since 1970';
  `)
}

export async function down(db: Knex): Promise<void> {
  await db.raw('drop table throttle')
}
