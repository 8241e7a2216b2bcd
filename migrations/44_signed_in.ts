import type { Knex } from 'knex'

/** When the person of a member's login signed in: what needs a new login is not to be had by opening one with an old one. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    alter table tokens add column signed_in timestamptz;
    comment on column tokens.signed_in is 'when the login began from which a login of a member was opened; null: at its creation';
  `)
}

export async function down(db: Knex): Promise<void> {
  await db.raw('alter table tokens drop column signed_in')
}
