import type { Knex } from 'knex'

/**
 * What is to be done later is a row of one table, mails first. A trigger moves those that a process of the version before
 * queues or postpones; what it is sending now, it deletes or postpones itself.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table work (
      id bigint generated always as identity primary key,
      kind text not null,
      subject text not null,
      account_id uuid,
      due timestamptz,
      created timestamptz not null,
      attempts integer not null default 0,
      claim uuid,
      claimed_until timestamptz,
      again timestamptz,
      last_error text,
      payload jsonb,
      constraint work_subject unique (kind, subject),
      constraint work_claim check ((claim is null) = (claimed_until is null)),
      constraint work_mail check (kind <> 'mail' or payload is null or
        (payload ->> 'to' !~ '[[:cntrl:]]' and payload ->> 'subject' !~ '[[:cntrl:]]'))
    );
    create index work_due on work (kind, due);

    comment on table work is 'what is to be done later, and what was given up; what is done is deleted';
    comment on column work.due is 'when it is to be done; null: it was given up';
    comment on column work.claim is 'of the process that does it, until claimed_until';
    comment on column work.again is 'when it is to be done again, because it was caused again while it was done';
    comment on column work.payload is 'may contain a secret; null if it was given up';

    create function mails_are_work() returns trigger language plpgsql as $$ begin
      insert into work (kind, subject, due, created, attempts, last_error, payload)
        values ('mail', new.id, new.retry_at, new.created, new.attempts, new.last_error, case when new.retry_at is not null
          then jsonb_build_object('to', new.recipient, 'subject', new.subject, 'text', new.text) end);
      delete from mails where id = new.id;
      return null;
    end $$;
    create trigger mails_are_work after insert or update on mails for each row execute function mails_are_work();
    update mails set attempts = attempts where id in (select id from mails for update skip locked);
  `)
}

/** Mails that were given up are forgotten. */
export async function down(db: Knex): Promise<void> {
  await db.raw(`
    drop trigger mails_are_work on mails;
    drop function mails_are_work;
    insert into mails (id, created, recipient, subject, text, attempts, retry_at, last_error)
      select cast(subject as uuid), created, payload ->> 'to', payload ->> 'subject', payload ->> 'text', attempts, due,
        last_error
      from work where kind = 'mail' and due is not null;
    drop table work;
  `)
}
