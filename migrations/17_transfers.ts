import type { Knex } from 'knex'

/** As keys do, they refer to a domain by its id alone: it may come back. The triggers of 13_history delete both. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table transfers (
      domain_id bigint primary key,
      addresses text[] not null,
      notify text[] not null,
      secret bytea
    );
    ${forgetting(['history', 'keys', 'transfers'])}

    comment on table transfers is 'who may transfer a zone besides those whom the operator allows; no row: its account has never said';
    comment on column transfers.domain_id is 'of domains or deleted_domains';
    comment on column transfers.addresses is 'addresses and networks that need no key';
    comment on column transfers.notify is 'addresses that are told of changes';
    comment on column transfers.secret is 'of the TSIG key of the zone, if it has one of its own; encrypted with a key of KEY_ENCRYPTION_KEYS, and bound to the name of the domain';
  `)
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`drop table transfers; ${forgetting(['history', 'keys'])}`)
}

function forgetting(tables: string[]): string {
  return `create or replace function domain_forgotten() returns trigger language plpgsql as $$
    begin
      if not exists (select from domains where id = old.id)
        and not exists (select from deleted_domains where id = old.id)
      then
        ${tables.map((table) => `delete from ${table} where domain_id = old.id;`).join('\n        ')}
      end if;
      return null;
    end $$;`
}
