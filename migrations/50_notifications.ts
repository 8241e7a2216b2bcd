import type { Knex } from 'knex'

/** Notifications of parents are work; a trigger moves those of a process of the version before. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create function notifications_are_work() returns trigger language plpgsql as $$ begin
      insert into work (kind, subject, account_id, due, created, attempts)
        select 'notify-parent', name, owner_id, new.due, now(), new.attempts from domains where id = new.domain_id
      on conflict (kind, subject) do update set
        attempts = case when work.claim is null then excluded.attempts else work.attempts end,
        due = case when work.claim is null then excluded.due else work.due end,
        again = case when work.claim is not null then excluded.due end;
      delete from parent_notifications where domain_id = new.domain_id;
      return null;
    end $$;
    create trigger notifications_are_work after insert or update on parent_notifications
      for each row execute function notifications_are_work();
    update parent_notifications set attempts = attempts;
  `)
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`
    drop trigger notifications_are_work on parent_notifications;
    drop function notifications_are_work;
    insert into parent_notifications (domain_id, attempts, due)
      select domains.id, attempts, due from work join domains on name = subject
      where kind = 'notify-parent' and due is not null;
    delete from work where kind = 'notify-parent';
  `)
}
