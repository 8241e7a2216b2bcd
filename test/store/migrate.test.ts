import test from 'ava'
import { execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg, { type Pool } from 'pg'
import { projectFolder } from '../../src/installation/project.ts'
import { begin, type Db, openDatabase, query } from '../../src/store/database.ts'
import { sent } from '../../src/store/domains/domains.ts'
import { past } from '../../src/store/domains/spent.ts'
import { put, storedTransfers } from '../../src/store/domains/transfers.ts'
import { isMigrated, migrate, unmigrate } from '../../src/store/migrate.ts'
import { count, sum } from '../../src/store/zone/history-octets.ts'
import { eventually } from '../support/eventually.ts'
import { createDatabase, openPatiently } from '../support/servers/postgres/databases.ts'

const run = promisify(execFile)

/** A database without tables, for one test. */
async function withEmptyDatabase(work: (url: string, db: Pool) => Promise<void>): Promise<void> {
  const { url, drop } = await createDatabase('template0')
  const db = openPatiently(url, 1)
  try {
    await work(url, db)
  } finally {
    await db.end()
    await drop()
  }
}

/** Everything that migrations create, as texts that do not depend on the time of the migration. */
async function schema(db: Db): Promise<string[]> {
  const rows = await query<{ line: string }>(
    db,
    `select 'column ' || table_name || ' ' || column_name || ' ' || data_type || ' ' || is_nullable || ' '
         || coalesce(column_default, '') as line
       from information_schema.columns where table_schema = 'public' and table_name not like 'knex%'
     union all select 'constraint ' || conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid)
       from pg_constraint where connamespace = 'public'::regnamespace and conrelid::regclass::text not like 'knex%'
     union all select 'index ' || indexdef from pg_indexes where schemaname = 'public' and tablename not like 'knex%'
     union all select 'trigger ' || pg_get_triggerdef(oid) from pg_trigger where not tgisinternal
     union all select 'function ' || pg_get_functiondef(oid) from pg_proc where pronamespace = 'public'::regnamespace
     order by 1`,
  )
  return rows.map(({ line }) => line)
}

async function everything(db: Db): Promise<unknown> {
  return { schema: await schema(db), applied: await query(db, 'select * from knex_migrations order by id') }
}

test('migrations can be applied, undone without trace, and applied again with the same result', async (t) => {
  await withEmptyDatabase(async (url, db) => {
    await migrate(url)
    const first = await schema(db)
    t.true(first.some((line) => line.startsWith('column domains name text NO')))
    t.true(await isMigrated(db))

    await unmigrate(url)
    t.deepEqual(await schema(db), [])
    t.false(await isMigrated(db))

    await migrate(url)
    t.deepEqual(await schema(db), first)
    t.true(await isMigrated(db))
  })
})

test('migrating a migrated database changes nothing', async (t) => {
  await withEmptyDatabase(async (url, db) => {
    await migrate(url)
    await query(db, `insert into spent (name, version) values ('kept.test', 1)`)
    const before = await schema(db)
    await migrate(url)
    t.deepEqual(await schema(db), before)
    t.is((await query(db, 'select from spent')).length, 1)
  })
})

test('a database that another version made is refused and not changed', async (t) => {
  await withEmptyDatabase(async (url, db) => {
    await migrate(url)
    // The numbering of versions before the first release.
    await query(db, `update knex_migrations set name = '0' || name where id < 10`)
    await query(db, 'drop table captchas')
    const before = await everything(db)
    const error = await t.throwsAsync(migrate(url))
    const text =
      /^another version of Zoneplane made its schema \(migration 001_accounts is unknown\), and nothing was changed\./
    t.regex(error.message, text)
    t.regex(error.message, / npm start -- --fresh$/)
    t.deepEqual(await everything(db), before)
  })
})

test('a database that a newer version made is refused and not changed', async (t) => {
  await withEmptyDatabase(async (url, db) => {
    await migrate(url)
    await query(db, `insert into knex_migrations (name, batch, migration_time) values ('99_future', 2, now())`)
    const before = await everything(db)
    await t.throwsAsync(migrate(url), {
      message: /^a newer version of Zoneplane .* \(migration 99_future is unknown\)/,
    })
    t.deepEqual(await everything(db), before)
  })
})

/** Undoes the newest migration that the database has. */
async function undo(db: Db, name: string): Promise<void> {
  const { down } = (await import(`../../migrations/${name}.js`)) as { down: (db: unknown) => Promise<void> }
  await down({ raw: (sql: string) => db.query(sql) })
  await query(db, 'delete from knex_migrations where name = :name', { name })
}

/** The migrations that databases out there have, in their order, and the SHA-256 of their files. */
const RELEASED: Record<string, string> = {
  '01_accounts': 'd7cc9e87c1016645f25f40dbfa6469c7e9101769f5a52148b43f0df453f59246',
  '02_tokens': '50b32d75e06e60416534d24fc396b4486cdef860de44dd6c6963316fc56aced6',
  '03_domains': '43c4d04f00ebb600976f89d9b9d5b363ac951f72aeb16756fce8a0934d9b78b0',
  '04_rrsets': 'a9506c3b563fc041e241163ba412e71aa768419e4f4f6bbace843ea1895a0775',
  '05_policies': '61c0cd8c4bb81350718968e49282e8744390d595cbee3a7752e258d3009af4fc',
  '06_marks': '3de4a6d759e88e1ca05e8a38e0ed5f1247cbabd64030db19d57d826afe3eb0f3',
  '07_second_factors': 'b4618213a277d6934586ff7699dcb5cf6b0b69ed09eee0d88a8e2708199d1382',
  '08_throttle': 'cfb845fc13cfcec038b4d18e8c2f703d131e99ef340d35c5ec46b669f3c7ef18',
  '09_confirmations': '30c606acd4b02af1b6042f27278ec78f1ebe1cd5b8eac231ea307848db4aaac1',
  '10_mails': 'e6c82c62766a19d1b482d204e107c935a18673daa470892c54c330a2cb520093',
  '11_captchas': '9ae0d8d58d5c2a2435d04f9fa158df6ea21cf6e7de229a678bcd39de8603c3c3',
  '12_keys': 'e1494dff7c38a2a9be4230ff9e4fe73ec0db0586726e383a66df090a54a10b8d',
  '13_history': '1826eb67167fc885cf1b185060e3a780a0ee1a2e689854b2190c9278d8aaaed6',
  '14_adoption': 'cf5c99f948d37afb9444603999824ca40139f1bfe59cac0799c63adaf08941e0',
  '15_names_below': '96547d83fb465f63d09e63b5ef5827b9ee23a96706093ca90550618296e058cd',
  '16_catalog_members': '113222a6fa5f9880b3e975ef193f17101d7e348e050af28ca40d25cc55f35da8',
  '17_transfers': '0032864627ca3114b1656f27b858d5ef76b52a22b96219c7f1975635f94f8e66',
  '18_incarnations': '8e67ef704024f32b93d73f8001d7a8b73c4a0ce4f1d0eb5dd109ddc22bc8f770',
  '19_rrsets_at_once': '197baac8bafa0e4e5b0cf0a916b6e3fd742795f6683e550f29a577c171f2aea2',
  '20_one_catalog': '56bd55453eb5d54f7d71a086a0cb33f207eef8b573241304149d5545d294fd35',
  '21_count_request': '075cabca82c5b50702c050cb0efe743deb5c4ca9c27f76ddbb26e902ec017da9',
  '22_transfer_key_names': '65358d79b06566564acda303b625c47326fc666aa3cc589fb85fd07183892981',
  '23_lost_members': '0b9f0d9beb8f2242475dcffddd1418d49aab32f256e5c637bf783f2f0d0e0e40',
  '24_record_octets': 'e65a54ebc2608edf759e17f522e1450cce8f7aa49b112513ddccbeea018dbec0',
  '25_long_rrsets': 'adf3d39be8469fc9582f57a6d318e47eb8a2438a88ac7f0fd6a6fd2aa3a10326',
  '26_announced_keys': '19725788a7856b4e9a0253c550560318961edaa3abe94621dda30c1b6f4a47ca',
  '27_delegations': 'f1714e3d024cf9d6f97238b9a6faceeb1348f5ffcfe8b806b2c42baf7f127121',
  '28_rollovers': '1321ab724ff852e290615ceb7356f5e63f8019c2f79de99c74d0cc9cb5d386eb',
  '29_parent_notifications': 'ae2bcc2a1acc91d79d1516e19e9e2871c21ba6c5554e46c11888abcf03a11898',
  '30_rollover_history': '906b2ad756dc0628e82b3604a907e1f8ee6facf5ca80c0731aeb5809857be2ec',
}

/** The newest migration of each released schema. */
const SCHEMAS = [
  '11_captchas',
  '14_adoption',
  '15_names_below',
  '16_catalog_members',
  '17_transfers',
  '18_incarnations',
  '19_rrsets_at_once',
  '20_one_catalog',
  '21_count_request',
  '22_transfer_key_names',
  '23_lost_members',
  '24_record_octets',
  '25_long_rrsets',
  '26_announced_keys',
  '27_delegations',
  '28_rollovers',
  '29_parent_notifications',
  '30_rollover_history',
]

/** The names of all migrations, in their order. */
function migrations(): string[] {
  const files = readdirSync(join(projectFolder(), 'migrations'))
  return files.sort().map((file) => file.replace(/\.ts$/, ''))
}

test('a released migration does not change, and new ones come after it', (t) => {
  const released = Object.entries(RELEASED)
  t.deepEqual(migrations().slice(0, released.length), Object.keys(RELEASED))
  for (const [name, hash] of released) {
    const text = readFileSync(join(projectFolder(), 'migrations', `${name}.ts`))
    t.is(createHash('sha256').update(text).digest('hex'), hash, name)
  }
})

for (const newest of SCHEMAS) {
  test(`a database of the released schema ${newest} is brought up to date, with its rows`, async (t) => {
    await withEmptyDatabase(async (url, db) => {
      await migrate(url)
      const now = await schema(db)
      for (const name of migrations().reverse()) {
        if (name <= newest) break
        await undo(db, name)
      }
      await query(
        db,
        `with account as (
           insert into accounts (email, created, credentials_changed, state)
           values ('a@example.test', now(), now(), 'active') returning id
         ), domain as (
           insert into domains (name, owner_id, minimum_ttl, version, size, created, published, touched)
           select 'old.test', id, 60, 1700000000, 1, now(), now(), now() from account returning id
         )
         insert into rrsets (domain_id, subname, type, ttl, records, created, touched)
         select id, 'www', 'A', 300, '{192.0.2.1}', now(), now() from domain`,
      )
      await migrate(url)
      t.deepEqual(await schema(db), now)
      const sql = `select name, version, denial, paused, email, subname, type, records
        from domains join accounts on accounts.id = owner_id join rrsets on domain_id = domains.id`
      const [row, ...others] = await query(db, sql)
      t.deepEqual(others, [])
      t.deepEqual(row, {
        ...{ name: 'old.test', version: 1_700_000_000, denial: '1 0 0 -', paused: false, email: 'a@example.test' },
        ...{ subname: 'www', type: 'A', records: ['192.0.2.1'] },
      })
    })
  })
}

test('mails become work, also those that a process of the version before queues or postpones later', async (t) => {
  await withEmptyDatabase(async (url, db) => {
    await migrate(url)
    for (const name of migrations().reverse()) if (name >= '49_work') await undo(db, name)
    const queue = (id: number, attempts: number, text: string | null) =>
      query(
        db,
        `insert into mails (id, created, recipient, subject, text, attempts, retry_at, last_error)
         values (cast('00000000-0000-0000-0000-00000000000' || :id as uuid), '2026-01-31', 'a@example.test', 'S', :text, :attempts,
           case when cast(:text as text) is not null then timestamptz '2026-02-01' end, 'an error')`,
        { id: String(id), attempts, text },
      )
    await queue(1, 2, 'waits')
    await queue(2, 9, null)
    await queue(3, 0, 'is being sent')
    const other = openDatabase(url, 1)
    const sender = await begin(other)
    await query(sender.db, `select from mails where text = 'is being sent' for update`)
    await migrate(url)
    await queue(4, 0, 'later')
    const rows = () =>
      query(
        db,
        `select right(subject, 1) as id, kind, payload ->> 'text' as text, payload ->> 'to' as to, attempts, due is null as over
         from work order by 1`,
      )
    const of = (id: number, attempts: number, text: string | null) => {
      const to = text === null ? null : 'a@example.test'
      return { id: String(id), kind: 'mail', text, to, attempts, over: text === null }
    }
    t.deepEqual(await rows(), [of(1, 2, 'waits'), of(2, 9, null), of(4, 0, 'later')])
    await query(sender.db, `update mails set attempts = 1 where text = 'is being sent'`)
    await sender.commit()
    await other.end()
    t.deepEqual(await rows(), [of(1, 2, 'waits'), of(2, 9, null), of(3, 1, 'is being sent'), of(4, 0, 'later')])
    t.deepEqual(await query(db, 'select from mails'), [])
  })
})

test('notifications of parents become work, also those of a process of the version before', async (t) => {
  await withEmptyDatabase(async (url, db) => {
    await migrate(url)
    for (const name of migrations().reverse()) if (name >= '50_notifications') await undo(db, name)
    await query(
      db,
      `with account as (
         insert into accounts (email, created, credentials_changed, state)
         values ('a@example.test', now(), now(), 'active') returning id
       )
       insert into domains (name, owner_id, minimum_ttl, version, size, created, published, touched)
       select name, id, 60, 1, 0, now(), now(), now() from account cross join unnest(array['a.test', 'b.test']) as name`,
    )
    const note = (name: string) =>
      query(
        db,
        `insert into parent_notifications (domain_id, attempts, due) select id, 2, '2026-01-31' from domains where name = :name
         on conflict (domain_id) do update set attempts = 0, due = excluded.due`,
        { name },
      )
    await note('a.test')
    await migrate(url)
    await note('b.test')
    await note('b.test')
    const sql = `select kind, subject, attempts, due, account_id = (select id from accounts) as known from work order by 2`
    const of = { kind: 'notify-parent', attempts: 2, due: '2026-01-31T00:00:00.000000Z', known: true }
    t.deepEqual(await query(db, sql), [
      { ...of, subject: 'a.test' },
      { ...of, subject: 'b.test' },
    ])
    t.deepEqual(await query(db, 'select from parent_notifications'), [])
  })
})

test('domains that no process has planned to check get a plan, those of before within a day', async (t) => {
  await withEmptyDatabase(async (url, db) => {
    await migrate(url)
    for (const name of migrations().reverse()) if (name >= '52_first_checks') await undo(db, name)
    const add = (name: string) =>
      query(
        db,
        `with account as (
           insert into accounts (email, created, credentials_changed, state)
           values (:name || '@example.test', now(), now(), 'active') returning id
         )
         insert into domains (name, owner_id, minimum_ttl, version, size, created, published, touched)
         select :name, id, 60, 1, 0, now() - case :name when 'old.test' then interval '8 days' else interval '6 days' end,
           now(), now() from account`,
        { name },
      )
    await add('old.test')
    await add('young.test')
    await migrate(url)
    await add('new.test')
    const sql = `select name, state, waits, due between touched and touched + interval '2 minutes' as soon,
        due < touched + interval '25 hours' as planned
      from delegations join domains on id = domain_id order by domains.id`
    const [old, ...others] = await query(db, sql)
    t.like(old, { name: 'old.test', state: 'unknown', waits: null, planned: true })
    t.deepEqual(others, [
      { name: 'young.test', state: 'unknown', waits: 0, soon: true, planned: true },
      { name: 'new.test', state: 'unknown', waits: 0, soon: true, planned: true },
    ])
  })
})

test('the members of several catalog zones become those of one', async (t) => {
  await withEmptyDatabase(async (url, db) => {
    await migrate(url)
    await undo(db, '20_one_catalog')
    await query(
      db,
      `insert into catalog_members (domain_id, zone, catalog, listed, gone)
       values (1, 'a.test', 'c1.test', true, false), (2, 'b.test', 'c2.test', true, true), (3, 'c.test', null, false, false)`,
    )
    await migrate(url)
    t.deepEqual(await query(db, 'select domain_id as id, zone, listed, gone from catalog_members order by id'), [
      { id: 1, zone: 'a.test', listed: true, gone: false },
      { id: 2, zone: 'b.test', listed: true, gone: true },
      { id: 3, zone: 'c.test', listed: false, gone: false },
    ])
  })
})

test('members keep the labels by which secondaries know them; the next ones get random ones', async (t) => {
  await withEmptyDatabase(async (url, db) => {
    await migrate(url)
    await undo(db, '58_member_labels')
    await query(db, `insert into catalog_members (domain_id, zone) values (12, 'a.test')`)
    await migrate(url)
    await query(db, `insert into catalog_members (domain_id, zone) values (13, 'b.test')`)
    const [old, young] = await query<{ label: string }>(db, 'select label from catalog_members order by domain_id')
    t.is(old!.label, '12')
    t.regex(young!.label, /^[0-9a-f]{32}$/)
  })
})

test('a TSIG key keeps its name; the next one gets a random one', async (t) => {
  await withEmptyDatabase(async (url, db) => {
    await migrate(url)
    await undo(db, '22_transfer_key_names')
    await query(
      db,
      `insert into transfers (domain_id, addresses, notify, secret) values (1, '{}', '{}', '\\x00'), (2, '{}', '{}', null)`,
    )
    await migrate(url)
    const [old, none] = [(await storedTransfers(db, 1))!, (await storedTransfers(db, 2))!]
    t.is(old.keyName, 'domain-1')
    t.regex(none.keyName, /^key-[0-9a-f-]{36}$/)
    await put(db, 1, { ...old, addresses: ['192.0.2.1'] })
    t.is((await storedTransfers(db, 1))!.keyName, 'domain-1')
    await put(db, 1, { ...old, secret: null })
    const { keyName } = (await storedTransfers(db, 1))!
    t.regex(keyName, /^key-[0-9a-f-]{36}$/)
    await put(db, 1, old)
    t.is((await storedTransfers(db, 1))!.keyName, keyName)
  })
})

test('the octets of the records that are there are counted', async (t) => {
  await withEmptyDatabase(async (url, db) => {
    await migrate(url)
    await undo(db, '24_record_octets')
    await query(
      db,
      `with account as (
         insert into accounts (email, created, credentials_changed, state)
         values ('a@example.test', now(), now(), 'active') returning id
       ), made as (
         insert into domains (name, owner_id, minimum_ttl, version, size, created, published, touched)
         select name, account.id, 60, 1, size, now(), now(), now()
         from account, (values ('empty.test', 0), ('full.test', 2)) as domain (name, size) returning domains.id, name
       )
       insert into rrsets (domain_id, subname, type, ttl, records, created, touched)
       select made.id, '', type, 300, cast(records as text[]), now(), now()
       from made, (values ('A', '{192.0.2.1,192.0.2.10}'), ('TXT', '{"\\"x\\""}')) as rrset (type, records)
       where name = 'full.test'`,
    )
    await migrate(url)
    t.deepEqual(await query(db, 'select name, record_octets as octets from domains order by name'), [
      { name: 'empty.test', octets: 0 },
      { name: 'full.test', octets: 9 + 10 + 3 },
    ])
  })
})

test('the histories that are there are counted, some at a time', async (t) => {
  await withEmptyDatabase(async (url, db) => {
    await migrate(url)
    await undo(db, '35_history_octets')
    await query(
      db,
      `with account as (
         insert into accounts (email, created, credentials_changed, state)
         values ('a@example.test', now(), now(), 'active') returning id
       ), gone as (
         insert into deleted_domains (id, name, owner_id, minimum_ttl, denial, created, deleted)
         select 1001, 'gone.test', id, 60, '', now(), now() from account
       )
       insert into domains (id, name, owner_id, minimum_ttl, version, size, created, published, touched)
       overriding system value
       select n, n || '.test', id, 60, 1, 0, now(), now(), now() from account, generate_series(1, 250) as n`,
    )
    await query(
      db,
      `insert into history (id, domain_id, created, version, source, count, changes)
       select gen_random_uuid(), id, now(), 1, 'api', 1, '["ä"]' from generate_series(2, 1001) as id, generate_series(1, 2)`,
    )
    await migrate(url)
    const octets = () =>
      query(
        db,
        `select name, history_octets as octets from domains where id in (1, 2, 250)
         union all select name, history_octets from deleted_domains order by name`,
      )
    t.deepEqual(
      await octets(),
      ['1.test', '2.test', '250.test', 'gone.test'].map((name) => ({ name, octets: null })),
    )
    t.like(await sum(db, 0), { octets: 0, uncounted: 251, above: [] })
    // A write counts once it can.
    const row = { id: 2, octets: 100 }
    await query(db, 'update domains set history_octets = history_octets + :octets where id = :id', row)
    await count(db)
    const each = 2 * ('["ä"]'.length + 1 + 256)
    t.deepEqual(await octets(), [
      { name: '1.test', octets: 0 },
      { name: '2.test', octets: each },
      { name: '250.test', octets: each },
      { name: 'gone.test', octets: each },
    ])
    t.like(await sum(db, 0), { octets: 250 * each, uncounted: 0 })
  })
})

test('serials stay spent; of zones without a domain, only the hash of the name is kept', async (t) => {
  await withEmptyDatabase(async (url, db) => {
    await migrate(url)
    await undo(db, '36_hashed_spent_names')
    await query(
      db,
      `with account as (
         insert into accounts (email, created, credentials_changed, state)
         values ('a@example.test', now(), now(), 'active') returning id
       ), made as (
         insert into domains (name, owner_id, minimum_ttl, version, size, created, published, touched)
         select 'kept.test', id, 60, 1, 0, now(), now(), now() from account
       )
       insert into spent (name, version) values ('kept.test', 5), ('gone.test', 7)`,
    )
    await migrate(url)
    const hash = createHash('sha256').update('gone.test').digest('hex')
    t.deepEqual(await query(db, 'select name, version from spent order by version'), [
      { name: 'kept.test', version: 5 },
      { name: hash, version: 7 },
    ])
    t.is((await past(db, 'gone.test')).sent, 7)
    t.like(await sent(db, ['kept.test']), [{ sent: 5 }])
  })
})

test('four processes may migrate at once', async (t) => {
  await withEmptyDatabase(async (url, db) => {
    const program = `
      import { migrate } from ${JSON.stringify(new URL('../../src/store/migrate.js', import.meta.url).href)}
      await migrate(${JSON.stringify(url)})`
    const start = () => run(process.execPath, ['--input-type=module', '--eval', program])
    await Promise.all([start(), start(), start(), start()])
    t.true(await isMigrated(db))
    const names = await query<{ name: string }>(db, 'select name from knex_migrations')
    t.is(new Set(names.map(({ name }) => name)).size, names.length)
  })
})

test('undoing and applying at once leaves the complete schema or none', async (t) => {
  await withEmptyDatabase(async (url, db) => {
    await migrate(url)
    await Promise.all([unmigrate(url), migrate(url), unmigrate(url), migrate(url)])
    const tables = (await schema(db)).length
    t.is(await isMigrated(db), tables > 0)
  })
})

test('a process that stands still while it migrates does not keep others from it', async (t) => {
  await withEmptyDatabase(async (url, db) => {
    const module = new URL('../../src/store/migrate.js', import.meta.url).href
    const script = `import { migrate } from ${JSON.stringify(module)}; await migrate(${JSON.stringify(url)})`
    // It cannot finish before it is stopped: it waits for this table.
    const other = new pg.Client({ connectionString: url })
    await other.connect()
    await other.query('begin; create table knex_migrations ()')
    const stopped = spawn(process.execPath, ['--input-type=module', '--eval', script], { stdio: 'ignore' })
    t.teardown(() => stopped.kill('SIGKILL'))
    const holders = `select from pg_locks where locktype = 'advisory' and granted
      and database = (select oid from pg_database where datname = current_database())`
    await eventually(async () => (await query(db, holders)).length === 1)
    stopped.kill('SIGSTOP')
    await other.query('rollback')
    await other.end()
    t.is((await query(db, holders)).length, 1)
    await migrate(url)
    t.true(await isMigrated(db))
  })
})

test('while policies have patterns, the service cannot go back to a version without them', async (t) => {
  await withEmptyDatabase(async (url, db) => {
    await migrate(url)
    const [token] = await query<{ id: string }>(
      db,
      `with owner as (
         insert into accounts (created, email, state, credentials_changed)
         values (now(), 'a@example.org', 'active', now()) returning id
       )
       insert into tokens (created, owner_id, secret_hash) select now(), id, 'x' from owner returning id`,
    )
    const id = token!.id
    await query(db, 'insert into policies (created, token_id) values (now(), :id)', { id })
    await query(
      db,
      `insert into policies (created, token_id, subname, is_pattern, perm_write) values (now(), :id, '**', true, true)`,
      { id },
    )
    await t.throwsAsync(unmigrate(url), { message: /delete the policies with patterns first/ })
    await query(db, 'delete from policies where is_pattern')
    await unmigrate(url)
    t.false(await isMigrated(db))
  })
})
