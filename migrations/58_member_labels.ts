import type { Knex } from 'knex'

/** Labels of members that nobody can guess: otherwise everybody could ask for them one by one. Listed members keep theirs. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    alter table catalog_members add column label text;
    update catalog_members set label = cast(domain_id as text);
    alter table catalog_members
      alter column label set default replace(cast(gen_random_uuid() as text), '-', ''),
      alter column label set not null;

    comment on column catalog_members.label is 'the label of the member in the catalog zone; random, but of members of old the id';
    comment on column catalog_members.domain_id is 'the id of the domain, which may be deleted';
  `)
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`
    alter table catalog_members drop column label;
    comment on column catalog_members.domain_id is 'the id of the member, too: of domains, or of one that is deleted';
  `)
}
