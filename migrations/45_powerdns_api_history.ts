import type { Knex } from 'knex'

/** Changes by PowerDNS' API (contract §20.4). */
export async function up(db: Knex): Promise<void> {
  await setSources(db, ['api', 'dyndns', 'powerdns-api'])
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`delete from history where source = 'powerdns-api'`)
  await setSources(db, ['api', 'dyndns'])
}

async function setSources(db: Knex, doors: string[]): Promise<void> {
  const others = ['import', 'zonefile', 'undo', 'restore', 'creation', 'operator', 'repair', 'rollover']
  const sources = [...doors, ...others].map((source) => `'${source}'`).join(', ')
  await db.raw(`
    alter table history
      drop constraint history_source,
      add constraint history_source check (source in (${sources}));
  `)
}
