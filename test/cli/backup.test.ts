import test from 'ava'
import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findPostgres } from '../../src/installation/postgres-programs.ts'
import { projectFolder } from '../../src/installation/project.ts'
import { createLog } from '../../src/log.ts'
import { createSystem } from '../../src/process/create-system.ts'
import { authenticate } from '../../src/service/tokens/authentication.ts'
import { readConfig } from '../../src/settings/config.ts'
import { query } from '../../src/store/database.ts'
import * as domains from '../../src/store/domains/domains.ts'
import { tables } from '../../src/store/dump.ts'
import type { System } from '../../src/system.ts'
import { createAccount } from '../support/clients/accounts.ts'
import { dsIn, newDomain, succeeded } from '../support/clients/api.ts'
import type { Client } from '../support/clients/client.ts'
import { addMember } from '../support/clients/members.ts'
import { addToken } from '../support/clients/tokens.ts'
import { runWith } from '../support/command-line.ts'
import { discrepancies } from '../support/dns/discrepancies.ts'
import { ask, dataOf } from '../support/dns/dns.ts'
import { validate } from '../support/dns/validators.ts'
import { servedSerial } from '../support/dns/wire.ts'
import { eventuallyIs } from '../support/eventually.ts'
import { useServers } from '../support/harness.ts'
import { newFolder } from '../support/servers/folders.ts'
import { createDatabase, openPatiently } from '../support/servers/postgres/databases.ts'
import { startPair } from '../support/servers/powerdns/pair.ts'
import { runOurs } from '../support/servers/programs.ts'
import { environmentFor, type LocalService, startService } from '../support/servers/service.ts'

// `zoneplane backup` and `zoneplane restore`.

const servers = useServers()
let service: LocalService
let api: Client
let folder: string
let file: string
const ds = new Map<string, string[]>()

/** Runs a command on a database, and resolves to whether it succeeded, and to what it printed. */
const zoneplane = (args: string[], more: Record<string, string> = {}) =>
  runWith(environmentFor(servers().backends, { LOG_LEVEL: 'error', ...more }), ...args)

/** Runs the program, which also tells its progress. */
const program = (args: string[], more: Record<string, string>) =>
  runOurs(args, environmentFor(servers().backends, { LOG_LEVEL: 'error', ...more }))

/** An empty database, and a system on it. */
async function withEmpty(work: (url: string, system: System) => Promise<void>): Promise<void> {
  const { url, drop } = await createDatabase('template0')
  const backends = { ...servers().backends, databaseUrl: url, pdnsApiUrl: servers().powerDns.apiUrl }
  try {
    await using system = createSystem(readConfig(environmentFor(backends)), backends, createLog('error'))
    await work(url, system)
  } finally {
    await drop()
  }
}

async function isEmpty(url: string): Promise<boolean> {
  const db = openPatiently(url, 1)
  return (await tables(db).finally(() => db.end())).length === 0
}

const address = (content: string) => [{ subname: 'www', type: 'A', ttl: 300, records: [content] }]

async function makeDomain(name: string): Promise<void> {
  ds.set(name, dsIn(await api.post('/domains/', { name })))
  await api.put(`/domains/${name}/rrsets/`, address('192.0.2.1'))
}

/** The names of all migrations, the latest first. */
const MIGRATIONS = readdirSync(join(projectFolder(), 'migrations'))
  .map((file) => file.replace(/\.ts$/, ''))
  .sort()
  .reverse()

const isBelieved = async (name: string) =>
  (await validate(servers().powerDns, name, ds.get(name)!, `www.${name}`, 'A')) === 'fully validated'

test.serial.before('there are domains', async () => {
  service = await startService(servers().backends)
  api = service.clientOf(servers().owner.secret)
  folder = newFolder()
  file = join(folder, 'a.dump')
  // The key of a domain that is deleted later is the oldest one.
  for (const name of ['gone.example', 'kept.example']) await makeDomain(name)
})

test.serial('a backup beside a running service is whole, and only its owner can read it', async (t) => {
  t.deepEqual(await zoneplane(['backup', file]), [
    true,
    `${file}: 2 domains, 4 RRsets, 2 keys, 1 accounts, 1 tokens; schema ${MIGRATIONS[0]!}; ` +
      `${Math.ceil(statSync(file).size / 1000)} kB\n` +
      'It was read again: each table has as many rows as in the database.\n' +
      'KEY_ENCRYPTION_KEYS, which fits it, is not in it: keep a copy of the keys apart from it.\n',
  ])
  t.is(statSync(file).mode & 0o777, 0o600)
  t.deepEqual(readdirSync(folder), ['a.dump'])
  t.deepEqual(await zoneplane(['backup', file]), [false, `zoneplane: ${file} exists already; nothing was written\n`])
})

test.serial('it has neither private keys nor links in clear, and no mails', async (t) => {
  const { db } = servers().system
  await query(
    db,
    `insert into work (kind, subject, created, payload, due)
     values ('mail', 'a', now(), '{"to": "someone@example.net", "text": "https://…/secret-code"}', now() + interval '1 day')`,
  )
  const other = join(folder, 'mails.dump')
  t.true((await zoneplane(['backup', other]))[0])
  await query(db, 'delete from work')
  const [{ id }] = (await servers().pdns('GET', '/zones/kept.example./cryptokeys')).json as [{ id: number }]
  const { json } = await servers().pdns('GET', `/zones/kept.example./cryptokeys/${id}`)
  const { dnskey, privatekey } = json as { dnskey: string; privatekey: string }
  const half = /^PrivateKey: (\S+)$/m.exec(privatekey)![1]!
  const { stdout } = await promisify(execFile)(join(findPostgres()!.folder, 'pg_restore'), ['--file=-', other])
  t.true(stdout.includes(dnskey))
  for (const text of [half, Buffer.from(half, 'base64').toString('hex'), 'Private-key-format', 'secret-code']) {
    t.false(stdout.includes(text), text)
  }
})

test.serial('after a restore, zones are served as the backup has them, with higher serials', async (t) => {
  for (const content of ['192.0.2.2', '192.0.2.3', '192.0.2.4']) {
    await api.put('/domains/kept.example/rrsets/', address(content))
  }
  await makeDomain('later.example')
  t.is((await api.delete('/domains/gone.example/')).status, 204)
  await service.stop()
  const serial = await servedSerial(servers().powerDns, 'kept.example')
  await withEmpty(async (url, system) => {
    const [code, output] = await program(['restore', file], { DATABASE_URL: url })
    t.is(code, 0)
    t.true(output.startsWith('zoneplane: restored 2 domains, 4 RRsets, 2 keys, 1 accounts, 1 tokens; schema'), output)
    t.true(
      output.endsWith(
        `The database is as it was when ${file} was made.\n2 zones are as the database says again.\n` +
          'later.example: at PowerDNS, but not in the backup; left alone\n`zoneplane adopt` makes domains of such zones.\n',
      ),
      output,
    )
    t.deepEqual(await discrepancies({ ...servers(), system }, ['later.example']), [])
    t.is(await withoutPlan(system), 0)
    t.true((await servedSerial(servers().powerDns, 'kept.example')) > serial)
    for (const name of ['kept.example', 'gone.example', 'later.example']) t.true(await isBelieved(name), name)
    // What the zone had is in its history, as a repair.
    const [last] = await query<{ source: string; changes: string }>(
      system.db,
      'select source, changes from history order by id desc limit 1',
    )
    t.deepEqual(last, {
      source: 'repair',
      changes: '[["www","A",[300,"192.0.2.4"],[300,"192.0.2.1"]]]',
    })
    t.deepEqual(
      await query(system.db, `select version > 1 as kept from spent where name = :name`, {
        name: createHash('sha256').update('later.example').digest('hex'),
      }),
      [{ kept: true }],
    )
    const [adopted] = await zoneplane(['adopt', 'later.example', '--account', await emailOf(system), '--apply'], {
      DATABASE_URL: url,
    })
    t.true(adopted)
    t.true(await isBelieved('later.example'))
    t.deepEqual(await discrepancies({ ...servers(), system }), [])
  })
})

test.serial('standbys get all zones of the backup again; those that PDNS_API_URL lacks are forgotten', async (t) => {
  const pair = await startPair()
  t.teardown(() => pair.close())
  const settings = { PDNS_FAILOVER: '0', CATALOG_ZONE: 'catalog.backup.test', PDNS_API_KEY: pair.backends.pdnsApiKey }
  const on = (url: string, primaries = pair.backends.pdnsApiUrl) => ({
    ...{ ...settings, DATABASE_URL: url, PDNS_API_URL: primaries },
  })
  const [first, second] = pair.primaries
  const copied = join(folder, 'standbys.dump')
  const former = await startService(pair.backends, settings)
  const owner = await createAccount(former.system, former.url)
  const [kept, deleted, same] = [await newDomain(owner.api), await newDomain(owner.api), await newDomain(owner.api)]
  const www = async () => dataOf(await ask(second.powerDns, `www.${kept}`, 'A'), 'A')
  await owner.api.put(`/domains/${kept}/rrsets/`, address('192.0.2.1'))
  const ours = on(pair.backends.databaseUrl)
  t.regex((await zoneplane(['primary', 'sync', second.name], ours))[1], /has all \d zones/)
  t.true((await zoneplane(['backup', copied], ours))[0])
  await owner.api.put(`/domains/${kept}/rrsets/`, address('192.0.2.2'))
  succeeded(await owner.api.delete(`/domains/${deleted}/`), 204)
  await eventuallyIs(www, ['192.0.2.2'])
  await former.stop()
  // This does not change the serial, so no comparison finds it.
  const foreign = {
    name: `${same}.`,
    type: 'TXT',
    ttl: 300,
    changetype: 'REPLACE',
    records: [{ content: '"foreign"' }],
  }
  t.is((await second.pdns('PATCH', `/zones/${same}.`, { rrsets: [foreign] })).status, 204)
  await withEmpty(async (url) => {
    const [isDone, output] = await zoneplane(['restore', copied], on(url))
    t.true(isDone, output)
    t.regex((await zoneplane(['primary', 'list'], on(url)))[1], /standby +yes +[1-9]\d*$/m)
    const restored = await startService({ ...pair.backends, databaseUrl: url }, settings)
    try {
      await eventuallyIs(() => query(restored.system.db, 'select zone from standby_zones'), [])
      t.deepEqual(await www(), ['192.0.2.1'])
      t.deepEqual(dataOf(await ask(second.powerDns, same, 'TXT'), 'TXT'), [])
      for (const path of [`/zones/${kept}.`, `/zones/${deleted}.`, `/zones/${same}.`]) {
        const [one, other] = [(await first.pdns('GET', path)).json, (await second.pdns('GET', path)).json]
        t.is((other as { serial: number }).serial, (one as { serial: number }).serial)
      }
    } finally {
      await restored.stop()
    }
  })
  await withEmpty(async (url, system) => {
    t.true((await zoneplane(['restore', copied], on(url, first.proxy.url)))[0])
    t.deepEqual(await query(system.db, 'select name from standbys'), [])
  })
})

/** Counts the domains that nobody would check at the parent. */
async function withoutPlan({ db }: System): Promise<number> {
  const sql = 'select from domains where not exists (select from delegations where domain_id = id)'
  return (await query(db, sql)).length
}

async function emailOf({ db }: System): Promise<string> {
  return (await query<{ email: string }>(db, 'select email from accounts'))[0]!.email
}

test.serial('with PowerDNS lost, too, keys, tokens and history come back, and serials only grow', async (t) => {
  const { powerDns } = servers()
  // As after an adoption, far ahead of UNIX time; and then it was written for two hours.
  const ahead = 3_000_000_000
  const { db } = servers().system
  await query(
    db,
    `update domains set version = :ahead, published = now() - interval '2 hours' where name = 'kept.example'`,
    { ahead },
  )
  const late = join(folder, 'ahead.dump')
  t.true((await zoneplane(['backup', late]))[0])
  await powerDns.stop()
  await servers().restartPowerDns({ empty: true })
  await withEmpty(async (url, system) => {
    const [succeeded, printed] = await zoneplane(['restore', late], { DATABASE_URL: url })
    t.true(succeeded, printed)
    t.deepEqual(await discrepancies({ ...servers(), system }), [])
    for (const name of ['kept.example', 'later.example']) t.true(await isBelieved(name), name)
    const [kept] = await query<{ version: number }>(
      system.db,
      `select version from domains where name = 'kept.example'`,
    )
    t.true(kept!.version > ahead + 7200 && kept!.version < ahead + 14_400)
    const restored = await startService({ ...servers().backends, databaseUrl: url })
    try {
      const api = restored.clientOf(servers().owner.secret)
      const { json } = await api.get('/domains/kept.example/history/')
      const sources = (json as { source: string }[]).map(({ source }) => source)
      t.deepEqual(sources, ['api', 'api', 'api', 'api', 'creation'])
      t.is((await api.put('/domains/kept.example/rrsets/', address('192.0.2.9'))).status, 200)
    } finally {
      await restored.stop()
    }
    t.deepEqual(await discrepancies({ ...servers(), system }), [])
  })
})

test.serial(
  'a domain that was suspended is so after a restore, and its names and keys come back with it',
  async (t) => {
    const suspended = join(folder, 'suspended.dump')
    service = await startService(servers().backends)
    api = service.clientOf(servers().owner.secret)
    await makeDomain('bad.example')
    t.true((await zoneplane(['domain', 'suspend', 'bad.example']))[0])
    t.true((await zoneplane(['backup', suspended]))[0])
    t.true((await zoneplane(['domain', 'resume-serving', 'bad.example']))[0])
    await service.stop()
    t.true(await isBelieved('bad.example'))
    await withEmpty(async (url, system) => {
      const [succeeded, printed] = await zoneplane(['restore', suspended], { DATABASE_URL: url })
      t.true(succeeded, printed)
      t.is((await ask(servers().powerDns, 'www.bad.example', 'A')).rcode, 'REFUSED')
      t.deepEqual(await discrepancies({ ...servers(), system }), [])
      t.true((await zoneplane(['domain', 'resume-serving', 'bad.example'], { DATABASE_URL: url }))[0])
      t.true(await isBelieved('bad.example'))
      t.deepEqual(await discrepancies({ ...servers(), system }), [])
      const confirmed = ['domain', 'delete', 'bad.example', '--confirm', 'bad.example']
      t.true((await zoneplane(confirmed, { DATABASE_URL: url }))[0])
    })
  },
)

test.serial('a restore with a wrong key, or of a damaged file, writes nothing', async (t) => {
  // Most of the file is rows then, not what describes the tables, of which pg_dump 17 writes a second copy at the end.
  const { db } = servers().system
  await query(db, `insert into spent (name, version) select md5(cast(i as text)), i from generate_series(1, 20000) i`)
  const large = join(folder, 'large.dump')
  t.true((await zoneplane(['backup', large]))[0])
  await query(db, 'delete from spent where version <= 20000')
  const octets = readFileSync(large)
  const half = octets.length >> 1
  const damage = (name: string, change: (copy: Buffer) => Buffer) => {
    writeFileSync(join(folder, name), change(Buffer.from(octets)))
    return join(folder, name)
  }
  const flip = (copy: Buffer) => {
    copy[half]! ^= 0xff
    return copy
  }
  await withEmpty(async (url) => {
    const refuses = async (what: string, text: RegExp, more = {}) => {
      const [succeeded, output] = await zoneplane(['restore', what], { DATABASE_URL: url, ...more })
      t.false(succeeded)
      t.regex(output, text)
      t.true(await isEmpty(url))
    }
    const KEY_ENCRYPTION_KEYS = randomBytes(32).toString('base64')
    const wrongKey =
      /^zoneplane: no key of KEY_ENCRYPTION_KEYS decrypts the secret of zone \w+\.example\. Set the keys /
    await refuses(file, wrongKey, { KEY_ENCRYPTION_KEYS })
    const failed = /^zoneplane: pg_restore has failed: /
    await refuses(
      damage('cut.dump', (copy) => copy.subarray(0, half)),
      failed,
    )
    await refuses(damage('flipped.dump', flip), failed)
    await refuses(
      damage('text.dump', () => Buffer.from('no dump')),
      failed,
    )
    await refuses(join(folder, 'absent.dump'), /^zoneplane: ENOENT: .*absent\.dump'\n$/)
  })
})

test.serial('a restore into a database that has tables, or that is in use, changes nothing', async (t) => {
  const dump = () => promisify(execFile)(join(findPostgres()!.folder, 'pg_dump'), [servers().backends.databaseUrl])
  const [before, [succeeded, output]] = [(await dump()).stdout, await zoneplane(['restore', file])]
  t.false(succeeded)
  t.regex(output, /^zoneplane: the database is not empty: it has the table public\.accounts\. Nothing was changed\. /)
  const rest = (text: string) => text.replace(/^\\(un)?restrict .*$/gm, '')
  t.is(rest((await dump()).stdout), rest(before))
  await withEmpty(async (url, { db }) => {
    await query(db, 'select')
    const [succeeded, output] = await zoneplane(['restore', file], { DATABASE_URL: url })
    t.false(succeeded)
    t.regex(
      output,
      /^zoneplane: others are connected to the database: stop all services first\. Nothing was changed\n$/,
    )
    t.true(await isEmpty(url))
  })
})

test.serial('a backup of an older schema is brought up to date; one of a newer schema is refused', async (t) => {
  const { url, drop } = await createDatabase()
  const db = openPatiently(url, 1)
  const backUp = async (name: string) => {
    const made = join(folder, name)
    t.true((await zoneplane(['backup', made], { DATABASE_URL: url }))[0])
    return made
  }
  try {
    await query(
      db,
      `with account as (
         insert into accounts (email, created, credentials_changed, state) values ('old@example.net', now(), now(), 'active')
         returning id
       ), domain as (
         insert into domains (name, owner_id, minimum_ttl, version, size, created, published, touched)
         select 'old.example', id, 60, 1700000000, 1, now(), now(), now() from account returning id
       )
       insert into rrsets (domain_id, subname, type, ttl, records, created, touched)
       select id, '', 'NS', 300, '{ns1.example.,ns2.example.}', now(), now() from domain`,
    )
    await query(db, `insert into knex_migrations (name, batch, migration_time) values ('99_future', 2, now())`)
    const newer = await backUp('newer.dump')
    for (const name of MIGRATIONS.filter((each) => each > '12')) {
      const { down } = (await import(`../../migrations/${name}.js`)) as { down: (db: unknown) => Promise<void> }
      await down({ raw: (sql: string) => db.query(sql) })
    }
    await query(db, `delete from knex_migrations where name > '12'`)
    const older = await backUp('older.dump')
    await withEmpty(async (url, system) => {
      const [refused, text] = await zoneplane(['restore', newer], { DATABASE_URL: url })
      t.false(refused)
      t.regex(text, /^zoneplane: \S+: a newer version of Zoneplane made its schema \(migration 99_future is unknown\)/)
      t.true(await isEmpty(url))
      const [code, output] = await program(['restore', older], { DATABASE_URL: url })
      t.is(code, 0, output)
      t.regex(output, /^zoneplane: restored 1 domains, 1 RRsets, 0 keys, 1 accounts, 0 tokens; schema 11_captchas$/m)
      t.deepEqual(await discrepancies({ ...servers(), system }, ['kept.example', 'later.example']), [])
      t.is((await query(system.db, 'select from keys')).length, 1)
      t.is(await withoutPlan(system), 0)
    })
  } finally {
    await db.end()
    await drop()
  }
})

test.serial('members and their logins come back with their rights, beside override tokens as they were', async (t) => {
  const { owner, system: before } = servers()
  const member = await addMember({ system: before, url: service.url }, owner.id, 'viewer', {
    domains: ['kept.example'],
  })
  const bound = await addToken({ system: before, url: service.url }, member.personId, { userOverrideId: owner.id })
  const made = join(folder, 'members.dump')
  t.true((await zoneplane(['backup', made]))[0])
  await withEmpty(async (url, system) => {
    const [code, output] = await program(['restore', made], { DATABASE_URL: url })
    t.is(code, 0, output)
    const actor = await authenticate(system, member.secret, '127.0.0.1')
    t.like(actor, { accountId: owner.id, ownerId: member.personId, role: 'viewer', confined: true, restricted: true })
    t.deepEqual(
      (await domains.page(system.db, actor)).rows.map(({ name }) => name),
      ['kept.example'],
    )
    t.like(await authenticate(system, bound.secret, '127.0.0.1'), { accountId: owner.id, override: true, role: null })
  })
})
