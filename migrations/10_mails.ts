import type { Knex } from 'knex'

export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table mails (
      id uuid primary key default gen_random_uuid(),
      created timestamptz not null,
      recipient text not null constraint mails_recipient check (recipient !~ '[[:cntrl:]]'),
      subject text not null constraint mails_subject check (subject !~ '[[:cntrl:]]'),
      text text,
      attempts integer not null default 0,
      retry_at timestamptz,
      last_error text,
      constraint mails_given_up check ((text is null) = (retry_at is null))
    );
    create index mails_retry_at on mails (retry_at);

    comment on table mails is 'mails to be sent, and mails that were given up; sent mails are deleted';
    comment on column mails.text is 'may contain a secret; null if the mail was given up';
  `)
}

export async function down(db: Knex): Promise<void> {
  await db.raw('drop table mails')
}
