import type { Knex } from 'knex'

/** What happens to rollovers waits here until it is in a mail to the owner: no rate of mails makes it disappear. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table rollover_notices (
      id bigint generated always as identity primary key,
      account_id uuid not null references accounts on delete cascade,
      name text not null,
      happened timestamptz not null,
      event text not null,
      token text,
      email text,
      due timestamptz not null
    );
    create index rollover_notices_by_account on rollover_notices (account_id, id);
    create index rollover_notices_due on rollover_notices (due);

    comment on table rollover_notices is 'what happened to rollovers, and is not in a mail to the owner of the domain yet';
    comment on column rollover_notices.token is 'the name of the token that did it; null: the operator, or the service';
    comment on column rollover_notices.email is 'the address of the account of the token, if that is another one';
  `)
}

export async function down(db: Knex): Promise<void> {
  await db.raw('drop table rollover_notices')
}
