import type { Knex } from 'knex'

/** Writes look for suspended domains below the domain that they change; the index has only those. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    alter table domains
      add column suspended timestamptz,
      add constraint domains_suspended check (suspended is null or not paused);
    create index domains_suspended_reversed on domains (reverse(name) text_pattern_ops) where suspended is not null;

    comment on column domains.suspended is 'since when the operator lets nobody change the domain, and the nameserver has no zone of it; null: it is served';
  `)
}

export async function down(db: Knex): Promise<void> {
  await db.raw('alter table domains drop column suspended')
}
