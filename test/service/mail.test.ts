import { randomUUID } from 'node:crypto'
import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { runPeriodically } from '../../src/flow/background.ts'
import { Bell } from '../../src/flow/bell.ts'
import { createLog } from '../../src/log.ts'
import { createSystem, type OpenSystem } from '../../src/process/create-system.ts'
import { RETENTION } from '../../src/service/domains/retention.ts'
import { MAIL, send } from '../../src/service/mails/mails.ts'
import { workOff, workTask } from '../../src/service/work/crew.ts'
import { readConfig } from '../../src/settings/config.ts'
import { type Db, query, transaction } from '../../src/store/database.ts'
import * as work from '../../src/store/work.ts'
import type { Timestamp } from '../../src/time.ts'
import { lettersTo } from '../support/clients/mails.ts'
import { eventuallyIs } from '../support/eventually.ts'
import { test } from '../support/serial.ts'
import { newFolder } from '../support/servers/folders.ts'
import { type MailServer, startMailServer } from '../support/servers/mail-server.ts'
import { createDatabase } from '../support/servers/postgres/databases.ts'

// The mail queue, with a clock that the tests set. Each test begins with an empty queue.

/** The row of a mail. */
interface Row {
  text: string | null
  attempts: number
  retryAt: Timestamp | null
  lastError: string | null
}

const START = '2026-01-31T12:00:00.000000Z'
const TEXT = 'Hello.\n\nhttps://dns.example.net/a-secret-link/\n'

let database: Awaited<ReturnType<typeof createDatabase>>
let server: MailServer
let now = START
/** Two processes that send to the server, and one that writes files. */
let system: OpenSystem
let other: OpenSystem
let withFolder: OpenSystem
let log = ''

test.before(async () => {
  database = await createDatabase()
  server = await startMailServer()
  const smtp = {
    PUBLIC_URL: 'https://dns.example.net',
    MAIL_URL: `smtp://127.0.0.1:${server.port}`,
    MAIL_FROM: 'dns@example.net',
  }
  system = open(smtp)
  other = open(smtp)
  withFolder = open({ ZONEPLANE_DATA: newFolder() })
})

test.after.always(async () => {
  await Promise.all([system, other, withFolder].map((each) => each[Symbol.asyncDispose]()))
  await server.close()
  await database.drop()
})

test.beforeEach(async () => {
  await query(system.db, 'delete from work')
  server.received.length = 0
  Object.assign(server.refuse, { recipient: undefined, data: undefined })
  now = START
  log = ''
})

/** A system without a running service: only `sendDue` sends mails, one at a time. */
function open(environment: Record<string, string>): OpenSystem {
  const stream = new PassThrough().on('data', (line: Buffer) => (log += line.toString()))
  const backends = { databaseUrl: database.url, pdnsApiUrl: 'http://127.0.0.1:1', pdnsApiKey: 'key' }
  return { ...createSystem(readConfig(environment), backends, createLog('info', stream)), now: () => now }
}

const ONE_AT_A_TIME = [{ ...MAIL, all: 1 }]

async function sendDue(by: OpenSystem): Promise<void> {
  await workOff(by, ONE_AT_A_TIME)
}

async function queue(to: string): Promise<void> {
  const payload = { to, subject: 'A subject', text: TEXT }
  await work.add(system.db, [{ kind: 'mail', due: now, payload }], now)
}

/** The rows of the mails that are not sent, the oldest first. */
async function rows(): Promise<Row[]> {
  const sql = `select payload ->> 'text' as text, attempts, due as "retryAt", last_error as "lastError" from work order by id`
  return query(system.db, sql)
}

async function firstRow(): Promise<Row | undefined> {
  return (await rows())[0]
}

function later(seconds: number): Timestamp {
  return new Date(Date.parse(START) + seconds * 1000).toISOString().replace('Z', '000Z')
}

const arrived = () => server.received.map(({ to }) => to[0])

test('a mail that was sent is deleted from the table', async (t) => {
  await queue('one@example.test')
  await sendDue(system)
  t.deepEqual(arrived(), ['one@example.test'])
  t.is(await firstRow(), undefined)
  await sendDue(system)
  t.is(server.received.length, 1)
})

test('mails are sent in the order in which they became due', async (t) => {
  for (const [i, to] of ['a@example.test', 'b@example.test', 'c@example.test'].entries()) {
    now = later(-i)
    await queue(to)
  }
  now = START
  await sendDue(system)
  t.deepEqual(arrived(), ['c@example.test', 'b@example.test', 'a@example.test'])
})

test('several senders in two processes send each mail once', async (t) => {
  const all = Array.from({ length: 40 }, (_, i) => `person-${i}@example.test`)
  for (const to of all) await queue(to)
  await Promise.all([sendDue(system), sendDue(system), sendDue(other), sendDue(other)])
  t.deepEqual(arrived().sort(), all.sort())
  t.deepEqual(await query(system.db, 'select from work'), [])
})

test('a mail that cannot be sent is retried with doubling pauses of at most an hour, and given up after two days', async (t) => {
  server.refuse.recipient = '451 4.3.0 Come back later'
  await queue('one@example.test')
  const delays: number[] = []
  let row = await firstRow()
  while (row!.retryAt !== null) {
    t.is(row!.text, TEXT)
    now = row!.retryAt
    await sendDue(system)
    row = await firstRow()
    t.is(row!.lastError, 'EENVELOPE: RCPT TO: 451 4.3.0 Come back later')
    if (row!.retryAt !== null) delays.push((Date.parse(row!.retryAt) - Date.parse(now)) / 1000)
  }
  t.deepEqual(delays.slice(0, 13), [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 3600])
  t.deepEqual([...new Set(delays.slice(12))], [3600])
  t.true(Date.parse(now) - Date.parse(START) > 2 * 86_400_000)
  t.true(Date.parse(now) - Date.parse(START) <= 2 * 86_400_000 + 3_600_000)
  // The row keeps the error, but not the text.
  t.deepEqual(row, { ...row!, text: null, retryAt: null, attempts: delays.length + 1 })
  t.is(log.split('"message":"work failed"').length - 1, delays.length)
  t.is(log.split('"message":"work failed; giving up"').length - 1, 1)
  t.false(log.includes('a-secret-link'))
  now = later(10 * 86_400)
  server.refuse.recipient = undefined
  await sendDue(system)
  t.deepEqual(arrived(), [])
})

test('a mail that was given up is deleted after 30 days, one that waits is not', async (t) => {
  server.refuse.recipient = '550 5.1.1 No such user'
  await queue('one@example.test')
  await sendDue(system)
  await queue('two@example.test')
  const waiting = { text: TEXT, attempts: 0, retryAt: START, lastError: null }
  now = later(30 * 86_400)
  await RETENTION.run(system, new AbortController().signal)
  t.is((await rows()).length, 2)
  now = later(30 * 86_400 + 1)
  await RETENTION.run(system, new AbortController().signal)
  t.deepEqual(await rows(), [waiting])
})

test('a mail that is not due yet waits, and does not delay others', async (t) => {
  server.refuse.recipient = '451 4.3.0 Come back later'
  await queue('one@example.test')
  await sendDue(system)
  server.refuse.recipient = undefined
  await queue('two@example.test')
  await sendDue(system)
  t.deepEqual(arrived(), ['two@example.test'])
  now = later(0.999)
  await sendDue(system)
  t.is(server.received.length, 1)
  now = later(1)
  await sendDue(system)
  t.deepEqual(arrived(), ['two@example.test', 'one@example.test'])
})

/** A pause that no test survives. */
const ENDLESS = 2 ** 31 - 1

test('the commit that queues a mail has it sent at once, however long the pause; a rollback does not', async (t) => {
  let looks = 0
  const running = workTask({ ...system, now: () => (looks++, now) }, [MAIL], { pause: ENDLESS })
  const queueOnce = (trx: Db, to: string) =>
    send(system, trx, { to, accountId: randomUUID(), kind: 'test' }, { subject: 'A subject', text: TEXT })
  try {
    // One at the start, and one when it hears of work.
    await eventuallyIs(() => looks, 2)
    const error = new Error('changed my mind')
    const failed = transaction(system.db, async (trx) => {
      await queueOnce(trx, 'one@example.test')
      throw error
    })
    t.is(await t.throwsAsync(failed), error)
    await transaction(system.db, async () => undefined)
    t.is(looks, 2)
    await transaction(system.db, (trx) => queueOnce(trx, 'two@example.test'))
    await eventuallyIs(arrived, ['two@example.test'])
  } finally {
    await running.stop()
  }
})

test('what rings the bell while a loop is at work ends its next pause', async (t) => {
  const bell = new Bell()
  const stopping = new AbortController()
  let runs = 0
  const work = async () => {
    if (++runs === 2) stopping.abort()
    bell.ring()
  }
  await runPeriodically(system.log, 'work', work, ENDLESS, stopping.signal, bell)
  t.is(runs, 2)
})

for (const [reply, isFinal] of [
  ['550 5.1.1 No such user', true],
  ['553 5.1.3 Bad address', true],
  ['554 5.7.1 Relay access denied', false],
  ['550 No such user', false],
  ['450 4.1.1 No such user now', false],
] as const) {
  test(`a recipient refused with ${reply} is ${isFinal ? 'given up at once' : 'tried again'}`, async (t) => {
    server.refuse.recipient = reply
    await queue('one@example.test')
    await sendDue(system)
    const row = await firstRow()
    t.deepEqual(row, {
      text: isFinal ? null : TEXT,
      attempts: 1,
      retryAt: isFinal ? null : later(1),
      lastError: `EENVELOPE: RCPT TO: ${reply}`,
    })
    t.true(log.includes(isFinal ? '"work failed; giving up"' : '"work failed"'))
  })
}

test('without a mail server a mail is written to a file that other users cannot read', async (t) => {
  const folder = join(withFolder.config.dataFolder, 'mails')
  await queue('one@example.test')
  await sendDue(withFolder)
  t.deepEqual(lettersTo(withFolder, 'one@example.test'), [
    { date: START, from: 'zoneplane@zoneplane.test', to: 'one@example.test', subject: 'A subject', text: TEXT },
  ])
  t.is(await firstRow(), undefined)
  const names = readdirSync(folder)
  t.is(names.length, 1)
  t.is(statSync(folder).mode & 0o777, 0o700)
  t.is(statSync(join(folder, names[0]!)).mode & 0o777, 0o600)
})

test('if the folder cannot be written, the mail is tried again', async (t) => {
  const folder = join(withFolder.config.dataFolder, 'mails')
  rmSync(folder, { recursive: true, force: true })
  writeFileSync(folder, '')
  await queue('one@example.test')
  await sendDue(withFolder)
  t.regex((await firstRow())!.lastError!, /^EEXIST/)
  rmSync(folder)
  now = later(1)
  await sendDue(withFolder)
  t.is(lettersTo(withFolder, 'one@example.test').length, 1)
})
