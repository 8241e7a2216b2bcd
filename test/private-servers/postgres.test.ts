import { spawn } from 'node:child_process'
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { StartError } from '../../src/errors.ts'
import { type Postgres, startPostgres } from '../../src/private-servers/postgres.ts'
import { identify, remember } from '../../src/private-servers/running.ts'
import { test } from '../support/serial.ts'
import { newFolder } from '../support/servers/folders.ts'
import { isGone, quietly } from './processes.ts'

const options = { durable: false, progress: quietly }

async function ask(postgres: Postgres, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: postgres.url })
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows
  } finally {
    await client.end()
  }
}

/** Where the tests that need no folder of their own work, one after the other. */
const folder = newFolder()

test('data survives a restart', async (t) => {
  const first = await startPostgres(folder, { ...options, durable: true })
  await ask(first, 'create table kept as select 1 as one')
  await first.stop()
  await isGone(first.pid)
  t.deepEqual(readdirSync(folder).sort(), ['data', 'log', 'made-by-zoneplane', 'process'])
  const second = await startPostgres(folder, options)
  t.deepEqual(await ask(second, 'select * from kept'), [{ one: 1 }])
  await second.stop()
})

test('a durable Postgres commits so that a power failure takes nothing; killed, it has its data again', async (t) => {
  const first = await startPostgres(folder, { ...options, durable: true })
  const sql = `select setting from pg_settings where name in ('fsync', 'synchronous_commit', 'full_page_writes')`
  t.deepEqual(await ask(first, sql), [{ setting: 'on' }, { setting: 'on' }, { setting: 'on' }])
  await ask(first, 'create table kept_too as select 2 as two')
  process.kill(first.pid, 'SIGKILL')
  await first.exited
  const second = await startPostgres(folder, options)
  t.deepEqual(await ask(second, 'select * from kept, kept_too'), [{ one: 1, two: 2 }])
  await second.stop()
})

test('the next start ends a Postgres that was left running', async (t) => {
  const first = await startPostgres(folder, options)
  // The second start finds the first one by Postgres' PID file alone, the third finds the second by ours.
  rmSync(join(folder, 'process'))
  const second = await startPostgres(folder, options)
  await first.exited
  const third = await startPostgres(folder, options)
  await second.exited
  t.is((await ask(third, 'select 1')).length, 1)
  await third.stop()
})

test('another process that got the PID of a dead Postgres is not ended', async (t) => {
  const other = spawn('sleep', ['1000'])
  writeFileSync(join(folder, 'data', 'postmaster.pid'), `${other.pid!}\n${join(folder, 'data')}\n`)
  remember(join(folder, 'process'), { pid: other.pid!, started: 'another time' })
  const postgres = await startPostgres(folder, options)
  t.truthy(identify(other.pid!))
  other.kill()
  await postgres.stop()
})

test('a path that is too long for a Unix socket and has special characters works', async (t) => {
  const folder = join(newFolder(), `a, "b" ${'c'.repeat(100)}`)
  const postgres = await startPostgres(folder, options)
  t.deepEqual(await ask(postgres, 'select 1 as one'), [{ one: 1 }])
  await postgres.stop()
})

test('data of a Postgres version that is not installed is refused', async (t) => {
  const folder = newFolder()
  mkdirSync(join(folder, 'data'))
  writeFileSync(join(folder, 'made-by-zoneplane'), '')
  writeFileSync(join(folder, 'data', 'PG_VERSION'), '9\n')
  await t.throwsAsync(startPostgres(folder, options), {
    instanceOf: StartError,
    message: /made by PostgreSQL 9; installed is/,
  })
})

test('a folder with other files in it is refused and left alone', async (t) => {
  const folder = newFolder()
  writeFileSync(join(folder, 'thesis.txt'), '')
  await t.throwsAsync(startPostgres(folder, options), { instanceOf: StartError, message: /not made by Zoneplane/ })
  t.deepEqual(readdirSync(folder), ['thesis.txt'])
})
