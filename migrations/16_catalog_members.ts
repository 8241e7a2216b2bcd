import type { Knex } from 'knex'

/** The publisher looks for waiting rows several times a second. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table catalog_members (
      domain_id bigint primary key,
      zone text not null,
      catalog text,
      listed boolean not null default false,
      gone boolean not null default false
    );
    create index catalog_members_waiting on catalog_members (gone) where gone or not listed;

    comment on table catalog_members is 'the members of the catalog zones; written with the domains, and published afterwards';
    comment on column catalog_members.domain_id is 'the id of the member, too: of domains, or of one that is deleted';
    comment on column catalog_members.catalog is 'the catalog zone of the member for ever; null until it is first listed';
    comment on column catalog_members.listed is 'the catalog zone has the member';
    comment on column catalog_members.gone is 'the domain is deleted: the catalog zone shall lose the member';
  `)
}

export async function down(db: Knex): Promise<void> {
  await db.raw('drop table catalog_members')
}
