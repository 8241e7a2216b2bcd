import type { Knex } from 'knex'

export async function up(db: Knex): Promise<void> {
  await db.raw(`
    alter table rollovers add column other_signers boolean not null default false;
    comment on column rollovers.other_signers is 'whether the domain has had DNSKEY records of other signers since the rollover began';
  `)
}

export async function down(db: Knex): Promise<void> {
  await db.raw('alter table rollovers drop column other_signers')
}
