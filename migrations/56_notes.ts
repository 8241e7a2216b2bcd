import type { Knex } from 'knex'

/** What an account tells people about a domain (contract §7.11). A deleted domain keeps it for its return. */
export async function up(db: Knex): Promise<void> {
  for (const table of ['domains', 'deleted_domains'])
    await db.raw(`
      alter table ${table}
        add column note text constraint ${table}_note check (char_length(note) between 1 and 500);
      comment on column ${table}.note is 'what its account tells people about it; null: nothing';
    `)
}

export async function down(db: Knex): Promise<void> {
  await db.raw('alter table domains drop column note; alter table deleted_domains drop column note')
}
