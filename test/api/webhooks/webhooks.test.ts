import { Webhook as Verifier } from 'standardwebhooks'
import { setState, withEmail } from '../../../src/service/accounts/accounts.ts'
import { handOver } from '../../../src/service/accounts/hand-over.ts'
import { trimHistory } from '../../../src/service/domains/retention.ts'
import { move } from '../../../src/service/operation/moving.ts'
import { WEBHOOK_UPKEEP } from '../../../src/service/webhooks/delivering.ts'
import { DAY, HOUR, later } from '../../../src/time.ts'
import { emailOf } from '../../support/clients/accounts.ts'
import { newDomain, newRRset, succeeded } from '../../support/clients/api.ts'
import type { Client } from '../../support/clients/client.ts'
import { letterTo } from '../../support/clients/mails.ts'
import { addMember, loginOf } from '../../support/clients/members.ts'
import { eventually, eventuallyIs } from '../../support/eventually.ts'
import { useService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'
import { type Received, type Receiver, startReceiver } from '../../support/webhooks/receivers.ts'

// What receivers of webhooks get (contract §22).

const service = useService({ WEBHOOK_NETWORKS: '127.0.0.0/8' })

interface Shown {
  id: string
  secret: string
  enabled: boolean
  reason: string | null
  failing_since: string | null
}

interface Delivery {
  id: string
  type: string
  status: string
  attempts: number
  answer: number | null
  problem: string | null
}

let receiver: Receiver
test.beforeEach('a receiver', async () => {
  receiver = await startReceiver()
})
test.afterEach.always('it stops', () => receiver.close())

/** An account with a login, and a webhook at the receiver. */
async function newWebhook(events = ['rrsets', 'domains'], more: Record<string, unknown> = {}) {
  const { id: accountId, api } = await service().account()
  const { api: login } = await loginOf(service(), accountId)
  const made = succeeded(await login.post('/webhooks/', { url: receiver.url, events, ...more }), 201).json as Shown
  return { accountId, api, login, ...made, path: `/webhooks/${made.id}/` }
}

const show = async (login: Client, path: string) => succeeded(await login.get(path), 200).json as Shown
const deliveriesOf = async (login: Client, path: string) =>
  succeeded(await login.get(`${path}deliveries/`), 200).json as Delivery[]
/** What became of a webhook's deliveries, the newest first, and how often they were tried. */
const outcomes = async (login: Client, path: string) =>
  (await deliveriesOf(login, path)).map(({ status, attempts }) => [status, attempts])
const seen = (received: Received[]) => received.map(({ type, data }) => [type, data?.domain ?? null])

/** Waits until a webhook is disabled; resolves with the reason. */
async function ended(login: Client, path: string): Promise<string | null> {
  await eventuallyIs(async () => (await show(login, path)).enabled, false)
  return (await show(login, path)).reason
}

/** Lets what waits for a webhook be tried now. */
async function hurry(id: string): Promise<void> {
  const { now } = service().system
  await service().sql('update webhooks set retry_at = null where id = :id', { id })
  await service().sql(`update work set due = :now where kind = 'webhook' and subject = :id`, { now: now(), id })
}

/** Lets what happens wait for a webhook, until `release`. */
async function holdBack(id: string): Promise<void> {
  const { now } = service().system
  await service().sql('update webhooks set retry_at = :then where id = :id', { id, then: later(now(), DAY) })
}

/** Lets a webhook be told what waits. */
async function release(login: Client, path: string): Promise<void> {
  succeeded(await login.patch(path, { enabled: true }), 200)
}

/** Does the upkeep as so many seconds later. */
async function upkeep(seconds: number): Promise<void> {
  const { system } = service()
  await WEBHOOK_UPKEEP.run({ ...system, now: () => later(system.now(), seconds) }, new AbortController().signal)
}

/** Waits until a webhook has so many deliveries. */
async function haveCome(login: Client, path: string, number: number): Promise<void> {
  await eventuallyIs(async () => (await deliveriesOf(login, path)).length, number)
}

/** Stores deliveries of tests as if they had been made now. */
async function fill(id: string, number: number, status: string): Promise<void> {
  const { now } = service().system
  await service().sql(
    `insert into webhook_deliveries (webhook_id, created, type, status)
     select :id, :now, 'test', :status from generate_series(1, cast(:number as integer))`,
    { id, now: now(), status, number },
  )
}

test('what happens is told in order, signed, as the activity shows it', async (t) => {
  const { api, login, secret, path } = await newWebhook()
  const domain = await newDomain(api)
  await newRRset(api, domain)
  succeeded(await api.delete(`/domains/${domain}/`), 204)
  await eventually(() => receiver.received.length === 3)
  t.deepEqual(seen(receiver.received), [
    ['domain_created', domain],
    ['rrsets_changed', domain],
    ['domain_deleted', domain],
  ])
  const shown = succeeded(await login.get('/activity/'), 200).json as { id: string }[]
  for (const { headers, body, data } of receiver.received) {
    const message = new Verifier(secret).verify(body, headers as Record<string, string>) as { data: { id: string } }
    t.deepEqual(message.data, shown.find(({ id }) => id === data!.id) as typeof message.data)
    t.throws(() => new Verifier(secret).verify(`${body} `, headers as Record<string, string>))
  }
  await eventuallyIs(
    async () => (await deliveriesOf(login, path)).map(({ status, attempts, answer }) => [status, attempts, answer]),
    Array.from({ length: 3 }, () => ['delivered', 1, 204]),
  )
})

test('only what was asked for is told, and nothing of other accounts', async (t) => {
  const { accountId, api, login } = await newWebhook(['rrsets'])
  const other = await startReceiver()
  t.teardown(() => other.close())
  const [one, two] = [await newDomain(api), await newDomain(api)]
  succeeded(await login.post('/webhooks/', { url: other.url, events: ['rrsets', 'account'], domains: [two] }), 201)
  const stranger = await service().account()
  await newRRset(stranger.api, await newDomain(stranger.api))
  await newRRset(api, one)
  await newRRset(api, two)
  succeeded(await api.post('/auth/tokens/', { name: 'ci' }), 201)
  succeeded(await login.put(`/domains/${two}/transfers/`, { addresses: [], notify: [], tsig: true }), 200)
  succeeded(await api.delete(`/domains/${two}/rrsets/www/A/`), 204)
  await eventually(() => receiver.received.length === 3 && other.received.length === 2)
  t.deepEqual(
    seen(receiver.received),
    [one, two, two].map((name) => ['rrsets_changed', name]),
  )
  t.deepEqual(
    seen(other.received),
    [two, two].map((name) => ['rrsets_changed', name]),
  )
  await eventuallyIs(() => waiting(accountId), 0)
})

async function waiting(accountId: string): Promise<number> {
  const sql = `select from webhook_deliveries join webhooks on webhooks.id = webhook_id
    where account_id = :accountId and status = 'waiting'`
  return (await service().sql(sql, { accountId })).length
}

test('a failure keeps what follows waiting, and the same is told again, with the same id', async (t) => {
  const { id, api, login, path } = await newWebhook()
  receiver.answer = (response) => response.writeHead(500).end('x'.repeat(100_000))
  const domain = await newDomain(api)
  await newRRset(api, domain)
  const failing = await eventually(
    () => show(login, path),
    ({ failing_since }) => failing_since !== null,
  )
  t.true(failing.enabled)
  const [second, first] = await eventually(
    () => deliveriesOf(login, path),
    ({ length }) => length === 2,
  )
  t.like(first, { status: 'waiting', answer: 500, problem: 'The receiver answered 500.' })
  t.like(second, { status: 'waiting', attempts: 0 })
  receiver.answer = (response) => response.writeHead(200).end()
  await hurry(id)
  await eventuallyIs(
    async () => (await deliveriesOf(login, path)).map(({ status }) => status),
    ['delivered', 'delivered'],
  )
  const ids = receiver.received.map((each) => each.id)
  t.is(ids.at(-1), second!.id)
  t.deepEqual(new Set(ids.slice(0, -1)), new Set([first!.id]))
  t.like(await show(login, path), { enabled: true, failing_since: null })
})

for (const [how, answer, problem] of [
  [
    'redirects',
    (response) => response.writeHead(301, { location: 'http://127.0.0.1:1/' }).end(),
    'The receiver redirects, which is not followed.',
  ],
  ['closes', (response) => response.destroy(), 'The connection failed.'],
  [
    'sends a long header',
    (response) => response.writeHead(200, { x: 'x'.repeat(20_000) }).end(),
    'The connection failed.',
  ],
  [
    'answers 101',
    (response) => response.writeHead(101, { upgrade: 'x', connection: 'upgrade' }).end(),
    'The connection failed.',
  ],
] as [string, Receiver['answer'], string][]) {
  test(`a receiver that ${how} has not taken it`, async (t) => {
    const { login, path } = await newWebhook()
    receiver.answer = answer
    succeeded(await login.post(`${path}test/`, {}), 202)
    const [delivery] = await eventually(
      () => deliveriesOf(login, path),
      ([each]) => each!.attempts > 0,
    )
    t.like(delivery, { type: 'test', status: 'waiting', problem })
  })
}

test('a receiver that hangs fails, and delays neither writes nor others', async (t) => {
  const { api, login, path } = await newWebhook()
  const other = await startReceiver()
  t.teardown(() => other.close())
  const events = ['rrsets', 'domains']
  succeeded(await login.post('/webhooks/', { url: other.url, events }), 201)
  receiver.answer = () => undefined
  await newDomain(api)
  await eventually(() => other.received.length === 1 && receiver.received.length === 1)
  const [delivery] = await eventually(
    () => deliveriesOf(login, path),
    ([each]) => each!.attempts === 1,
  )
  t.like(delivery, { status: 'waiting', answer: null, problem: 'There was no answer within 10 seconds.' })
})

test('a receiver that sends a gigabyte has taken it, and is left', async (t) => {
  const { login, path } = await newWebhook()
  const piece = 'x'.repeat(65_536)
  const offered = 1024 ** 3 / piece.length
  let sent = 0
  let isClosed = false
  receiver.answer = (response) => {
    response.writeHead(200)
    const more = () => {
      while (sent++ < offered) if (!response.write(piece)) return
      response.end()
    }
    response.on('drain', more).on('close', () => (isClosed = true))
    more()
  }
  succeeded(await login.post(`${path}test/`, {}), 202)
  await eventually(() => isClosed)
  await eventuallyIs(async () => (await deliveriesOf(login, path))[0]!.status, 'delivered')
  t.true(sent < offered / 10, String(sent))
})

test('410 ends a webhook, and a mail tells it; redelivery needs it enabled', async (t) => {
  const { accountId, api, login, path } = await newWebhook()
  receiver.answer = (response) => response.writeHead(410).end()
  await newDomain(api)
  t.is(await ended(login, path), 'gone')
  const letter = await letterTo(service().system, await emailOf(service().system, accountId), 2)
  t.is(letter.subject, 'A webhook of your account was disabled')
  const [delivery] = await deliveriesOf(login, path)
  t.like(delivery, { status: 'failed', attempts: 1, answer: 410 })
  const again = `${path}deliveries/${delivery!.id}/redeliver/`
  const refused = await login.post(again, {})
  t.deepEqual([refused.status, refused.json], [409, { detail: 'This webhook is disabled. Enable it first.' }])
  await newDomain(api)
  receiver.answer = (response) => response.writeHead(200).end()
  succeeded(await login.patch(path, { enabled: true }), 200)
  succeeded(await login.post(again, {}), 202)
  await eventuallyIs(
    async () => (await deliveriesOf(login, path)).map(({ id, status }) => [id, status]),
    [[delivery!.id, 'delivered']],
  )
  t.deepEqual(
    receiver.received.map(({ id }) => id),
    [delivery!.id, delivery!.id],
  )
})

test('a change that does not say so neither enables nor disables, and does not examine the address again', async (t) => {
  const { id, login, path } = await newWebhook()
  await service().sql(
    `update webhooks set url = 'http://10.0.0.1/', disabled = now(), reason = 'gone' where id = :id`,
    {
      id,
    },
  )
  const before = await show(login, path)
  t.deepEqual(succeeded(await login.patch(path, { events: ['account'] }), 200).json, { ...before, events: ['account'] })
  t.like(succeeded(await login.patch(path, { enabled: true }), 200).json, { enabled: true, reason: null })
  t.like(succeeded(await login.patch(path, { domains: null }), 200).json, { enabled: true, reason: null })
  t.like(succeeded(await login.patch(path, { enabled: false }), 200).json, { enabled: false, reason: 'request' })
})

test('what fails for three days is disabled', async (t) => {
  const { id, login, path } = await newWebhook()
  receiver.answer = (response) => response.writeHead(503).end()
  succeeded(await login.post(`${path}test/`, {}), 202)
  await eventually(
    () => show(login, path),
    ({ failing_since }) => failing_since !== null,
  )
  const { now } = service().system
  const since = later(now(), -3 * DAY)
  await service().sql('update webhooks set failing_since = :since where id = :id', { id, since })
  await hurry(id)
  t.is(await ended(login, path), 'failing')
})

test('after a rotation, both secrets sign', async (t) => {
  const { login, secret, path } = await newWebhook()
  const { secret: next } = succeeded(await login.post(`${path}secret/`, {}), 201).json as Shown
  t.not(next, secret)
  succeeded(await login.post(`${path}test/`, {}), 202)
  const { body, headers } = (await eventually(() => receiver.received[0]))!
  for (const each of [secret, next])
    t.notThrows(() => new Verifier(each).verify(body, headers as Record<string, string>))
  const stored = await service().sql<{ secret: Buffer }>('select secret from webhook_secrets', {})
  const clear = [secret, next].map((each) => Buffer.from(each.slice('whsec_'.length), 'base64'))
  t.false(stored.some((row) => clear.some((each) => row.secret.includes(each))))
  t.false([secret, next].some((each) => service().logged().includes(each)))
})

test('a webhook ends with the membership of whoever chose its address, and with its rights', async (t) => {
  const { accountId, api, login, path } = await newWebhook()
  const admin = await addMember(service(), accountId, 'admin')
  const theirs = await startReceiver()
  t.teardown(() => theirs.close())
  const made = succeeded(await admin.session.post('/webhooks/', { url: theirs.url, events: ['domains'] }), 201)
    .json as Shown
  succeeded(await admin.session.patch(path, { url: theirs.url }), 200)
  await newDomain(api)
  await eventually(() => theirs.received.length === 2)
  await service().sql(`update members set role = 'editor' where id = :id`, { id: admin.memberId })
  await newDomain(api)
  for (const each of [path, `/webhooks/${made.id}/`]) t.is(await ended(login, each), 'rights')
  succeeded(await login.delete(`/auth/members/${admin.memberId}/`), 204)
  t.deepEqual(succeeded(await login.get('/webhooks/'), 200).json, [])
  t.is(theirs.received.length, 2)
})

test('the webhook of a member whose own account is disabled is disabled before it gets anything more, and stays so', async (t) => {
  const { accountId, api, login } = await newWebhook()
  const { session, email } = await addMember(service(), accountId, 'admin')
  const theirs = await startReceiver()
  t.teardown(() => theirs.close())
  const made = succeeded(await session.post('/webhooks/', { url: theirs.url, events: ['domains'] }), 201).json as Shown
  const path = `/webhooks/${made.id}/`
  await setState(service().system, email, 'disabled')
  await newDomain(api)
  t.is(await ended(login, path), 'rights')
  await setState(service().system, email, 'active')
  await newDomain(api)
  await eventually(() => receiver.received.length === 2)
  t.like(await show(login, path), { enabled: false, reason: 'rights' })
  t.deepEqual(await outcomes(login, path), [['failed', 0]])
  t.deepEqual(theirs.received, [])
})

test('a disabled account is told nothing until it is enabled, and then at once what waits', async (t) => {
  const { id, accountId, api, login, path } = await newWebhook()
  await holdBack(id)
  await newDomain(api)
  await haveCome(login, path, 1)
  const { system } = service()
  const email = await emailOf(system, accountId)
  await setState(system, email, 'disabled')
  await hurry(id)
  await upkeep(0)
  const putOff = `select from work where kind = 'webhook' and subject = :id and claim is null and due > :soon`
  const soon = later(system.now(), HOUR / 2)
  await eventually(async () => (await service().sql(putOff, { id, soon })).length)
  t.deepEqual(receiver.received, [])
  await setState(system, email, 'active')
  await eventually(() => receiver.received.length)
  await eventuallyIs(() => outcomes(login, path), [['delivered', 1]])
})

test('if an account is handed over, all its webhooks are disabled, and what waits is not sent later', async (t) => {
  const { id, accountId, api, login, path } = await newWebhook()
  const other = succeeded(await login.post('/webhooks/', { url: receiver.url, events: ['account'] }), 201).json as Shown
  await holdBack(id)
  await newDomain(api)
  await haveCome(login, path, 1)
  const { system } = service()
  await handOver(system, await emailOf(system, accountId), `heir-${accountId}@example.net`)
  t.is((await login.get(path)).status, 401)
  const { api: heir } = await loginOf(service(), accountId)
  for (const each of [path, `/webhooks/${other.id}/`]) {
    t.like(await show(heir, each), { enabled: false, reason: 'handed_over' })
  }
  await newDomain(api)
  await release(heir, path)
  const domain = await newDomain(api)
  await haveCome(heir, path, 2)
  await eventuallyIs(
    () => outcomes(heir, path),
    [
      ['delivered', 1],
      ['failed', 0],
    ],
  )
  const domains = receiver.received.filter(({ type }) => type === 'domain_created')
  t.deepEqual(seen(domains), [['domain_created', domain]])
})

test('10,000 deliveries may wait; if one more does, the webhook is disabled, and a mail tells it', async (t) => {
  const { id, accountId, login, path } = await newWebhook()
  receiver.answer = (response) => response.writeHead(503).end()
  const states = `select status, count(*) as n from webhook_deliveries where webhook_id = :id group by status`
  await fill(id, 9_999, 'waiting')
  succeeded(await login.post(`${path}test/`, {}), 202)
  const tried = await eventually(
    () => show(login, path),
    ({ enabled, failing_since }) => !enabled || failing_since !== null,
  )
  t.is(tried.reason, null)
  t.deepEqual(await service().sql(states, { id }), [{ status: 'waiting', n: 10_000 }])
  succeeded(await login.post(`${path}test/`, {}), 202)
  t.is(await ended(login, path), 'backlog')
  t.deepEqual(await service().sql(states, { id }), [{ status: 'failed', n: 10_001 }])
  const letter = await letterTo(service().system, await emailOf(service().system, accountId), 2)
  t.regex(letter.text, /More than 10000 events waited for it\./)
})

test('what does not wait goes after 7 days, and all but the newest 10,000', async (t) => {
  const { id, login, path } = await newWebhook()
  await holdBack(id)
  await fill(id, 1, 'waiting')
  for (const status of ['delivered', 'failed', 'gone']) await fill(id, 1, status)
  const statuses = async () => (await deliveriesOf(login, path)).map(({ status }) => status).sort()
  await upkeep(7 * DAY - HOUR)
  t.deepEqual(await statuses(), ['delivered', 'failed', 'gone', 'waiting'])
  await upkeep(7 * DAY + HOUR)
  t.deepEqual(await statuses(), ['waiting'])

  await fill(id, 3, 'failed')
  await fill(id, 9_999, 'delivered')
  await upkeep(0)
  const counts =
    'select status, count(*) as n from webhook_deliveries where webhook_id = :id group by status order by 1'
  t.deepEqual(await service().sql(counts, { id }), [
    { status: 'delivered', n: 9_999 },
    { status: 'failed', n: 1 },
    { status: 'waiting', n: 1 },
  ])
})

test('of a deleted domain, what waits is sent; of one that is gone for good, it is not', async (t) => {
  const { id, api, login, path } = await newWebhook()
  const domain = await newDomain(api)
  await eventually(() => receiver.received.length === 1)
  await holdBack(id)
  await newRRset(api, domain)
  succeeded(await api.delete(`/domains/${domain}/`), 204)
  await haveCome(login, path, 3)
  await release(login, path)
  await eventually(() => receiver.received.length === 3)
  t.deepEqual(
    seen(receiver.received),
    ['domain_created', 'rrsets_changed', 'domain_deleted'].map((type) => [type, domain]),
  )

  await holdBack(id)
  const next = await newDomain(api)
  succeeded(await api.delete(`/domains/${next}/`), 204)
  await haveCome(login, path, 5)
  const { system } = service()
  await trimHistory({ ...system, now: () => later(system.now(), 91 * DAY) })
  await release(login, path)
  await eventuallyIs(
    () => outcomes(login, path),
    [
      ['gone', 0],
      ['gone', 0],
      ['delivered', 1],
      ['delivered', 1],
      ['delivered', 1],
    ],
  )
  t.is(receiver.received.length, 3)
})

test('of a domain that is moved, what waits is sent to neither account', async (t) => {
  const { id, api, login, path } = await newWebhook()
  const next = await newWebhook()
  await holdBack(id)
  const domain = await newDomain(api)
  await newRRset(api, domain)
  await haveCome(login, path, 2)
  const { system } = service()
  await move(system, [domain], await withEmail(system, await emailOf(system, next.accountId)))
  await haveCome(login, path, 3)
  await release(login, path)
  await newRRset(next.api, domain, { subname: 'after' })
  const told = async (client: Client, each: string) =>
    (await deliveriesOf(client, each)).map(({ type, status, attempts }) => [type, status, attempts])
  await eventuallyIs(
    () => told(login, path),
    [
      ['domain_moved', 'delivered', 1],
      ['rrsets_changed', 'gone', 0],
      ['domain_created', 'gone', 0],
    ],
  )
  await eventuallyIs(
    () => told(next.login, next.path),
    [
      ['rrsets_changed', 'delivered', 1],
      ['domain_moved', 'delivered', 1],
    ],
  )
  t.deepEqual(seen(receiver.received).sort(), [
    ['domain_moved', domain],
    ['domain_moved', domain],
    ['rrsets_changed', domain],
  ])
})

test('other accounts find nothing', async (t) => {
  const { path, login: own } = await newWebhook()
  const { id } = await service().account()
  const { api: login } = await loginOf(service(), id)
  const [delivery] = [succeeded(await own.post(`${path}test/`, {}), 202).json as Delivery]
  for (const [method, each] of [
    ['GET', path],
    ['PATCH', path],
    ['POST', `${path}secret/`],
    ['POST', `${path}test/`],
    ['GET', `${path}deliveries/`],
    ['POST', `${path}deliveries/${delivery.id}/redeliver/`],
  ] as const) {
    t.is((await login.send(method, each, method === 'GET' ? {} : { json: {} })).status, 404, each)
  }
  t.is((await login.delete(path)).status, 204)
  succeeded(await own.get(path), 200)
})

test('what cannot be a webhook is refused with its field', async (t) => {
  const { login, path } = await newWebhook()
  for (const [input, field] of [
    [{ events: ['rrsets'] }, 'url'],
    [{ url: receiver.url }, 'events'],
    [{ url: receiver.url, events: [] }, 'events'],
    [{ url: receiver.url, events: ['rrsets', 'rrsets'] }, 'events'],
    [{ url: receiver.url, events: ['mails'] }, 'events'],
    [{ url: receiver.url, events: ['rrsets'], domains: ['Example.org.'] }, 'domains'],
    [{ url: 'https://127.0.0.1.@example.org/', events: ['rrsets'] }, 'url'],
  ] as const) {
    const { status, json } = await login.post('/webhooks/', input)
    t.deepEqual([status, Object.keys(json as object)], [400, [field]], JSON.stringify(input))
  }
  t.is((await login.patch(path, { url: 'http://10.0.0.1/' })).status, 400)
  for (let i = 1; i < 20; i++)
    succeeded(await login.post('/webhooks/', { url: receiver.url, events: ['account'] }), 201)
  t.is((await login.post('/webhooks/', { url: receiver.url, events: ['account'] })).status, 403)
})
