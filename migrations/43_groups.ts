import type { Knex } from 'knex'

export async function up(db: Knex): Promise<void> {
  await db.raw(`
    alter table sign_ins add column groups text[];
    create index members_of_groups on members (person_id) where source = 'group';
    comment on column sign_ins.groups is 'the groups of OIDC_GROUPS in which the person is';
  `)
}

export async function down(db: Knex): Promise<void> {
  await db.raw('drop index members_of_groups; alter table sign_ins drop column groups;')
}
