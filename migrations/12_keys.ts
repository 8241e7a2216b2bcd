import type { Knex } from 'knex'

/** Keys refer to a domain by its id alone, because they outlive the domain. The next migration's triggers delete them. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table keys (
      domain_id bigint not null,
      dnskey text not null,
      active boolean not null,
      published boolean not null,
      secret bytea not null,
      primary key (domain_id, dnskey)
    );

    comment on table keys is 'the keys that sign the zones, as PowerDNS has them';
    comment on column keys.domain_id is 'of domains or deleted_domains';
    comment on column keys.dnskey is 'the public half: the content of the DNSKEY record';
    comment on column keys.secret is 'the private half, encrypted with a key of KEY_ENCRYPTION_KEYS, and bound to the name of the domain';
  `)
}

export async function down(db: Knex): Promise<void> {
  await db.raw('drop table keys')
}
