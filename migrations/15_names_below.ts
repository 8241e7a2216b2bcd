import type { Knex } from 'knex'

/** Finds the names below a name: reversed, they begin with it. It adds a fifth to the time of inserting RRsets. */
export async function up(db: Knex): Promise<void> {
  await db.raw('create index rrsets_below on rrsets (domain_id, (reverse(subname) collate "C"))')
}

export async function down(db: Knex): Promise<void> {
  await db.raw('drop index rrsets_below')
}
