import { readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { query } from '../../src/store/database.ts'
import { dump, tables } from '../../src/store/dump.ts'
import { migrate } from '../../src/store/migrate.ts'
import { eventually, eventuallyIs } from '../support/eventually.ts'
import { useServers } from '../support/harness.ts'
import { test } from '../support/serial.ts'
import { newFolder } from '../support/servers/folders.ts'
import { createDatabase, openPatiently } from '../support/servers/postgres/databases.ts'
import { startOurs } from '../support/servers/programs.ts'
import { environmentFor } from '../support/servers/service.ts'

// Backups and restores that fail or are killed.

const servers = useServers()
let folder: string

test.before('a service made domains', async () => {
  const service = await servers().serve()
  for (const name of ['a.example', 'b.example']) await service.api.post('/domains/', { name })
  await service.stop()
  folder = newFolder()
})

const start = (args: string[], more: Record<string, string> = {}) =>
  startOurs(args, environmentFor(servers().backends, { LOG_LEVEL: 'error', ...more }))

/** The command lines of all processes that mention the text. */
function commandLines(text: string): string[] {
  const lines = readdirSync('/proc').flatMap((pid) => {
    try {
      return /^\d+$/.test(pid) ? [readFileSync(`/proc/${pid}/cmdline`, 'utf8')] : []
    } catch {
      return []
    }
  })
  return lines.filter((line) => line.includes(text))
}

test('a backup that is stopped leaves no file; while it runs, nobody sees the password', async (t) => {
  const url = new URL(servers().backends.databaseUrl)
  url.password = 'the-password'
  // pg_dump waits for this table, whose rows nobody counts.
  const client = await servers().system.db.connect()
  try {
    await client.query('begin; lock table throttle in access exclusive mode')
    const file = join(folder, 'stopped.dump')
    const backup = start(['backup', file], { DATABASE_URL: url.href })
    const isWaiting = `select from pg_stat_activity where application_name = 'pg_dump' and wait_event_type = 'Lock'
      and datname = current_database()`
    await eventually(async () => (await query(servers().system.db, isWaiting)).length)
    t.is(commandLines(url.pathname).filter((line) => line.includes('pg_dump')).length, 1)
    t.deepEqual(commandLines('the-password'), [])
    t.is(readdirSync(folder).length, 1)
    backup.child.kill('SIGTERM')
    t.is(await backup.ended, 1)
    t.is(backup.output(), 'zoneplane: stopped\n')
    t.deepEqual(readdirSync(folder), [])
    t.deepEqual(commandLines(url.pathname), [])
  } finally {
    client.release(true)
  }
})

test('what a killed backup leaves is deleted by the next one, and nothing else', async (t) => {
  const client = await servers().system.db.connect()
  await client.query('begin; lock table throttle in access exclusive mode')
  const killed = start(['backup', join(folder, 'killed.dump')])
  try {
    await eventually(() => readdirSync(folder).length)
    killed.child.kill('SIGKILL')
    await killed.ended
  } finally {
    client.release(true)
  }
  const [part] = readdirSync(folder)
  t.is(part, `killed.dump.${killed.child.pid!}@${hostname()}.part`)
  const kept = [`running.dump.${process.pid}@${hostname()}.part`, 'fresh.dump.9@elsewhere.part', 'others.1.part']
  for (const name of [...kept, 'old.dump.9@elsewhere.part']) writeFileSync(join(folder, name), '')
  for (const name of ['old.dump.9@elsewhere.part', 'others.1.part']) utimesSync(join(folder, name), 0, 0)
  t.is(await start(['backup', join(folder, 'next.dump')]).ended, 0)
  t.deepEqual(readdirSync(folder).sort(), [...kept, 'next.dump'].sort())
})

test('a backup that cannot be written is no backup', async (t) => {
  const backup = start(['backup', join(folder, 'absent', 'a.dump')])
  t.is(await backup.ended, 1)
  t.regex(backup.output(), /^zoneplane: ENOENT: /)
})

test('a restore that is killed in the middle leaves an empty database, and can be repeated while a service starts', async (t) => {
  // Enough that pg_restore is still reading when it is killed.
  await query(
    servers().system.db,
    `insert into history (id, domain_id, created, version, source, count, changes)
     select gen_random_uuid(), (select min(id) from domains), now(), i, 'api', 0,
       (select string_agg(md5(i * 1000 + j || 'x'), '') from generate_series(1, 1000) j)
     from generate_series(1, 300) i`,
  )
  const file = join(folder, 'large.dump')
  t.is(await start(['backup', file]).ended, 0)
  const { url, drop } = await createDatabase('template0')
  const db = openPatiently(url, 1)
  const { pathname } = new URL(url)
  const sessions = 'select from pg_stat_activity where datname = :name and application_name = :program'
  const restoring = async () =>
    (await query(servers().system.db, sessions, { name: pathname.slice(1), program: 'pg_restore' })).length
  try {
    const killed = start(['restore', file], { DATABASE_URL: url })
    while ((await restoring()) === 0) t.is(killed.child.exitCode, null)
    killed.child.kill('SIGKILL')
    t.is(await killed.ended, null)
    await eventuallyIs(restoring, 0)
    t.deepEqual(await tables(db), [])
    await db.end()
    const again = start(['restore', file], { DATABASE_URL: url })
    // A service that starts meanwhile waits.
    while ((await restoring()) === 0) t.is(again.child.exitCode, null)
    await migrate(url)
    t.is(await again.ended, 0, again.output())
    t.regex(again.output(), /^No zone had to be made\.$/m)
  } finally {
    await drop()
  }
})

test('a pg_dump that is older than the server is refused', async (t) => {
  // Of a server that is newer than any.
  const db = {
    query: (_statement: unknown, _values: unknown, callback: (error: null, result: { rows: unknown[] }) => void) => {
      callback(null, { rows: [{ version: '990001' }] })
    },
  } as unknown as Parameters<typeof dump>[0]
  const { signal } = new AbortController()
  await t.throwsAsync(dump(db, '', { file: 0, snapshot: '', leftOut: [], signal }), {
    message: /^pg_dump of PostgreSQL \d+ cannot read the database of a PostgreSQL 99: install postgresql-client-99$/,
  })
})
