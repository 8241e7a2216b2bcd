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

    comment on table captchas is 'challenges without an answer';
    comment on column captchas.challenge is 'JSON in the format of ALTCHA';
    comment on column captchas.key is 'the key that signed the challenge';
  `)
}

export async function down(db: Knex): Promise<void> {
  await db.raw('drop table captchas')
}
