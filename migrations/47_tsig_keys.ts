import type { Knex } from 'knex'

/** The TSIG keys of tokens, and changes by DNS UPDATE (contract §21). */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table tsig_keys (
      token_id uuid primary key references tokens on delete cascade,
      secret bytea not null,
      id uuid not null default gen_random_uuid()
    );
    comment on table tsig_keys is 'TSIG keys with which DNS UPDATE has the rights of a token';
    comment on column tsig_keys.id is 'another one whenever the token gets another key';
    comment on column tsig_keys.secret is 'encrypted with a key of KEY_ENCRYPTION_KEYS, and bound to the id of the token';
  `)
  await setSources(db, ['api', 'dyndns', 'powerdns-api', 'update'])
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`drop table tsig_keys; delete from history where source = 'update'`)
  await setSources(db, ['api', 'dyndns', 'powerdns-api'])
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
