import type { Knex } from 'knex'

/** Of DNS and the commands, and how somebody came without a token (contract §15.15). */
const DOORS = ['api', 'dyndns', 'powerdns-api', 'update']
const OTHERS = ['import', 'zonefile', 'undo', 'restore', 'creation', 'operator', 'repair', 'rollover']
const WAYS = ['password', 'passkey', 'sign-on', 'link', 'request', 'parent']

/**
 * The history also has what happens to accounts, and finds all entries of an account. Entries of before are not among
 * these: to give them their accounts would take minutes in a large database.
 */
export async function up(db: Knex): Promise<void> {
  await setSources(db, [...DOORS, ...OTHERS, ...WAYS])
  await db.raw(`
    alter table history
      alter column domain_id drop not null,
      add column account_id uuid,
      add column subject text,
      add column address text,
      drop constraint history_event,
      add constraint history_event check (domain_id is null or event in ('deletion', 'return')),
      add constraint history_of check (domain_id is not null or account_id is not null and event is not null);
    create index history_of_account on history (account_id, created, id) where account_id is not null;

    create function account_forgotten() returns trigger language plpgsql as $$
    begin
      delete from history where account_id = old.id and domain_id is null;
      return null;
    end $$;
    create trigger accounts_forgotten after delete on accounts for each row execute function account_forgotten();

    comment on table history is 'writes that changed something, and what happened to accounts; triggers delete those of a domain or an account that is gone for good';
    comment on column history.domain_id is 'of domains or deleted_domains; null: it is about the account alone';
    comment on column history.account_id is 'whose domain it was; null: written before entries had one';
    comment on column history.event is 'what happened to the domain itself, null for its creation, which has its time; or to the account';
    comment on column history.subject is 'JSON of what an event of an account is about: the ids of a token, policy, factor or member, or a name';
    comment on column history.address is 'of the client, as the log shows it';
  `)
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`
    delete from history where domain_id is null;
    drop trigger accounts_forgotten on accounts;
    drop function account_forgotten;
    drop index history_of_account;
    alter table history
      drop constraint history_of,
      drop constraint history_event,
      add constraint history_event check (event in ('deletion', 'return')),
      drop column account_id,
      drop column subject,
      drop column address,
      alter column domain_id set not null;
  `)
  await setSources(db, [...DOORS, ...OTHERS])
}

async function setSources(db: Knex, sources: string[]): Promise<void> {
  await db.raw(`
    alter table history
      drop constraint history_source,
      add constraint history_source check (source in (${sources.map((source) => `'${source}'`).join(', ')}));
  `)
}
