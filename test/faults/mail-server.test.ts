import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generate } from 'selfsigned'
import { query, transaction } from '../../src/store/database.ts'
import * as work from '../../src/store/work.ts'
import { eventually, eventuallyIs } from '../support/eventually.ts'
import { useServers } from '../support/harness.ts'
import { test } from '../support/serial.ts'
import { newFolder } from '../support/servers/folders.ts'
import { type MailServer, startMailServer } from '../support/servers/mail-server.ts'
import { waitingForLocks } from '../support/state/transactions.ts'

// Mail servers and services that stop and start again.

const servers = useServers()

const FROM = 'dns@example.net'
const TEXT = 'A link:\n\nhttps://dns.example.net/a-secret-link/\n'

let people = 0

/** Queues mails to people who get no other mail, and returns their addresses. */
async function queueMails(count: number): Promise<string[]> {
  const { system } = servers()
  const all = Array.from({ length: count }, () => `person-${++people}@example.test`)
  const now = system.now()
  const mails = all.map((to) => ({ kind: 'mail', due: now, payload: { to, subject: 'A subject', text: TEXT } }))
  await work.add(system.db, mails, now)
  return all
}

async function waiting(): Promise<number> {
  const [row] = await query<{ count: number }>(servers().system.db, 'select count(*) as count from work')
  return row!.count
}

async function attempts(): Promise<number> {
  const [row] = await query<{ sum: number }>(servers().system.db, 'select coalesce(sum(attempts), 0) as sum from work')
  return row!.sum
}

/** Makes all waiting mails due now. */
async function makeDue(): Promise<void> {
  await query(servers().system.db, 'update work set due = now()')
}

const recipients = ({ received }: MailServer) => received.map(({ to }) => to[0]).sort()

test('mails queued while the mail server is down arrive later, across restarts of the service; then 50 sign-ups at once have one mail each', async (t) => {
  const down = await startMailServer()
  await down.close()
  const environment = {
    PUBLIC_URL: 'http://dns.example.net',
    MAIL_URL: `smtp://127.0.0.1:${down.port}`,
    MAIL_FROM: FROM,
    REGISTRATION: 'open',
  }
  const first = await servers().start(environment)
  const all = await queueMails(40)
  await eventually(async () => (await attempts()) >= 40)
  t.is(await waiting(), 40)
  first.signal('SIGTERM')
  t.is(await first.ended, 0)
  t.is(await waiting(), 40)

  const back = await startMailServer(down.port)
  await makeDue()
  const other = await servers().start(environment)
  const mine = await servers().serve(environment)
  await eventuallyIs(waiting, 0)
  t.deepEqual(recipients(back), all.sort())
  for (const { mail } of back.received) t.is(mail.text, TEXT)
  for (const output of [first.output(), other.output(), mine.logged()]) {
    t.false(output.includes('a-secret-link'))
    t.true(output.includes(`"destination":"smtp://127.0.0.1:${down.port}"`))
  }

  const newcomers = Array.from({ length: 50 }, (_, i) => `new-${i}@example.test`)
  const signUps = await Promise.all(newcomers.map((email) => mine.anonymous.post('/auth/', { email, password: null })))
  t.deepEqual([...new Set(signUps.map(({ status }) => status))], [202])
  await eventuallyIs(waiting, 0)
  t.deepEqual(recipients(back), [...all, ...newcomers].sort())
  await servers().killServices()
  await back.close()
})

/** The end of the claims of a service that was killed. */
async function endClaims(): Promise<void> {
  await query(
    servers().system.db,
    `update work set claimed_until = now() - interval '1 second' where claim is not null`,
  )
}

test('if services are killed while one sends a mail, and one notes that it failed, another one sends it; a duplicate has the same Message-ID', async (t) => {
  const { db } = servers().system
  const asked: (() => void)[] = []
  const slow = await startMailServer(0, {
    // It accepts a recipient when the test says so.
    onRcptTo: (_address, _session, done) => asked.push(done),
  })
  const environment = {
    PUBLIC_URL: 'http://dns.example.net',
    MAIL_URL: `smtp://127.0.0.1:${slow.port}`,
    MAIL_FROM: FROM,
  }
  const first = await servers().start(environment)
  const all = await queueMails(1)
  await eventuallyIs(() => asked.length, 1)
  await first.kill()
  t.is(await waiting(), 1)
  asked[0]!()

  await endClaims()
  const second = await servers().start(environment)
  await eventuallyIs(() => asked.length, 2)
  slow.refuse.data = '451 4.3.0 Come back later'
  await transaction(db, async (trx) => {
    // The note waits for this, and does not reach Postgres before the service is killed.
    await query(trx, 'select from work for update')
    asked[1]!()
    await eventuallyIs(() => waitingForLocks(db), 1)
    await second.kill()
    await query(
      db,
      `select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`,
    )
  })
  const rows = await query(db, 'select attempts, last_error as error, claim is not null as claimed from work')
  t.deepEqual(rows, [{ attempts: 2, error: null, claimed: true }])

  slow.refuse.data = undefined
  await endClaims()
  await servers().start(environment)
  await eventuallyIs(() => asked.length, 3)
  asked[2]!()
  await eventuallyIs(waiting, 0)
  t.deepEqual([...new Set(recipients(slow))], all)
  t.is(new Set(slow.received.map(({ mail }) => mail.messageId)).size, 1)
  await servers().killServices()
  await slow.close()
})

test('smtps:// sends mail and password over TLS, to a server with a trusted certificate', async (t) => {
  const names = [{ type: 7, ip: '127.0.0.1' } as const]
  const pems = await generate([{ name: 'commonName', value: '127.0.0.1' }], {
    extensions: [
      { name: 'basicConstraints', cA: true },
      { name: 'subjectAltName', altNames: names },
    ],
  })
  const logins: (string | undefined)[] = []
  const server = await startMailServer(0, {
    secure: true,
    key: pems.private,
    cert: pems.cert,
    authOptional: false,
    onAuth({ username, password }, _session, done) {
      logins.push(`${username} ${password}`)
      done(null, { user: username })
    },
  })
  const authorities = join(newFolder(), 'authorities.pem')
  writeFileSync(authorities, pems.cert)
  const service = await servers().start({
    PUBLIC_URL: 'http://dns.example.net',
    MAIL_URL: `smtps://dns%40example.net:pass%3Aword@127.0.0.1:${server.port}`,
    MAIL_FROM: FROM,
    NODE_EXTRA_CA_CERTS: authorities,
  })
  const all = await queueMails(1)
  await eventuallyIs(waiting, 0)
  t.deepEqual(logins, ['dns@example.net pass:word'])
  t.deepEqual(recipients(server), all)
  t.true(server.received[0]!.encrypted)
  t.is(server.received[0]!.user, 'dns@example.net')
  t.notRegex(service.output(), /pass%3Aword|pass:word/)
  await servers().killServices()
  await server.close()
})
