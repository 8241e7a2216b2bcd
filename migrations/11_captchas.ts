import type { Knex } from 'knex'

export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table captchas (
      id uuid primary key default gen_random_uuid(),
      created timestamptz not null,
      challenge text not null,
      key text not null
    );
    create index captchas_created on captchas (created);

    comment on table captchas is 'challenges that nobody has answered yet';
    comment on column captchas.challenge is 'JSON as ALTCHA has it';
    comment on column captchas.key is 'what the challenge is signed with';
  `)
}

export async function down(db: Knex): Promise<void> {
  await db.raw('drop table captchas')
}
