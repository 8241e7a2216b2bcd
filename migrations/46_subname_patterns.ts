import type { Knex } from 'knex'

/**
 * A pattern is in `subname`: a process of the version before takes it for a subname that at most one RRset of a domain
 * has, and so allows no more than it.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    alter table policies
      add column is_pattern boolean not null default false,
      add constraint policies_pattern check (not is_pattern or subname is not null),
      drop constraint policies_scope,
      add constraint policies_scope unique nulls not distinct (token_id, domain_id, subname, is_pattern, type);
    comment on column policies.is_pattern is 'whether subname is a pattern (contract 6.1)';
  `)
}

/** Fails while there are patterns: without them, tokens could do more or less than they may. */
export async function down(db: Knex): Promise<void> {
  await db.raw(`
    do $$ begin
      if exists (select from policies where is_pattern) then
        raise exception 'delete the policies with patterns first';
      end if;
    end $$;
    alter table policies
      drop constraint policies_scope,
      add constraint policies_scope unique nulls not distinct (token_id, domain_id, subname, type),
      drop column is_pattern;
  `)
}
