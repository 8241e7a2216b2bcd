import type { Knex } from 'knex'

/** Writes say why (contract §15.14), and an account or a token can require that. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    alter table history
      add column message text constraint history_message check (char_length(message) between 1 and 500);
    alter table accounts add column require_message boolean not null default false;
    alter table tokens add column message_required boolean not null default false;

    comment on column history.message is 'why, in the words of who wrote';
    comment on column accounts.require_message is 'whether writes by logins need a message';
    comment on column tokens.message_required is 'whether writes of the token need a message';
  `)
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`
    alter table tokens drop column message_required;
    alter table accounts drop column require_message;
    alter table history drop column message;
  `)
}
