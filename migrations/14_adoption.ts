import type { Knex } from 'knex'

export async function up(db: Knex): Promise<void> {
  await db.raw(`
    alter table domains
      add column denial text not null default '1 0 0 -',
      add column paused boolean not null default false;

    alter table deleted_domains add column denial text not null default '1 0 0 -';

    comment on column domains.denial is 'how the zone denies names: empty for NSEC, else the contents of NSEC3PARAM, and narrow';
    comment on column domains.paused is 'the operator works on the zone at the nameserver: Zoneplane leaves it alone';
  `)
}

export async function down(db: Knex): Promise<void> {
  await db.raw(
    'alter table domains drop column denial, drop column paused; alter table deleted_domains drop column denial',
  )
}
