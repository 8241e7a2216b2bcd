import type { Knex } from 'knex'

/**
 * Random numbers, a new one with every change of a policy: those of a token, combined, tell whether its policies are
 * still those that a process has seen. A counter would have to be locked by whoever changes a policy, and some of these
 * wait for the nameserver.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create function random_bits() returns bigint language sql volatile as
      'select hashtextextended(gen_random_uuid()::text, 0)';
    alter table policies add bits bigint not null default random_bits();
    create index policies_token on policies (token_id) include (bits);

    create function policies_renew_bits() returns trigger language plpgsql as $$
    begin
      new.bits := random_bits();
      return new;
    end $$;
    create trigger policies_renew_bits before update on policies for each row execute function policies_renew_bits();
  `)
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`
    drop trigger policies_renew_bits on policies;
    drop index policies_token;
    alter table policies drop bits;
    drop function policies_renew_bits, random_bits;
  `)
}
