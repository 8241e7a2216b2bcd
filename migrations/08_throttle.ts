import type { Knex } from 'knex'

/**
 * The shared counters of requests (contract §14), in the table that rate-limiter-flexible expects. It is unlogged: a
 * crash of Postgres may lose them.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create unlogged table throttle (key text primary key, points integer not null, expire bigint not null);
    comment on table throttle is 'requests by key, in a window that ends at expire (milliseconds since 1970)';
  `)
}

export async function down(db: Knex): Promise<void> {
  await db.raw('drop table throttle')
}
