import type { Knex } from 'knex'

/** Whatever makes a domain plans its first check at the parent, in the next minute; those that have no plan get one. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create function first_check_is_planned() returns trigger language plpgsql as $$ begin
      insert into delegations (domain_id, due, waits)
        values (new.id, new.touched + random() * interval '1 minute', 0) on conflict (domain_id) do nothing;
      return null;
    end $$;
    create trigger first_check_is_planned after insert on domains for each row execute function first_check_is_planned();

    insert into delegations (domain_id, due, waits)
      select id, now() + random() * case when is_young then interval '1 minute' else interval '1 day' end,
        case when is_young then 0 end
      from domains cross join lateral (select created > now() - interval '7 days') as age (is_young)
    on conflict (domain_id) do nothing;

    comment on table delegations is 'the last check of each domain at its parent zone, and the next one';
  `)
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`
    drop trigger first_check_is_planned on domains;
    drop function first_check_is_planned;
    comment on table delegations is 'the last check of each domain at its parent zone, and the next one; no row: it was never planned';
  `)
}
