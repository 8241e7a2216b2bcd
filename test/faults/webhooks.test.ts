import { begin, query } from '../../src/store/database.ts'
import { newDomain, newRRset, succeeded } from '../support/clients/api.ts'
import { loginOf } from '../support/clients/members.ts'
import { depth } from '../support/depth.ts'
import { eventually, eventuallyIs } from '../support/eventually.ts'
import { type TestProcess, useServers } from '../support/harness.ts'
import { Random } from '../support/random.ts'
import { test } from '../support/serial.ts'
import { type Received, type Receiver, startReceiver } from '../support/webhooks/receivers.ts'

// Processes that die while they tell webhooks something, and services that have forgotten it (contract §22.3).

const servers = useServers()
const SETTINGS = { WEBHOOK_NETWORKS: '127.0.0.1' }
const random = new Random()

let receiver: Receiver
test.beforeEach('a receiver', async () => {
  receiver = await startReceiver()
})
test.afterEach.always('it stops', async () => {
  await servers().killServices()
  await query(db(), 'delete from webhooks')
  await receiver.close()
})

const db = () => servers().system.db

/** A webhook of the services' account, made by a service. Returns the client of a login. */
async function newWebhook({ url }: { url: string }) {
  const { api } = await loginOf({ system: servers().system, url }, servers().owner.id)
  const { id } = succeeded(await api.post('/webhooks/', { url: receiver.url, events: ['rrsets'] }), 201).json as {
    id: string
  }
  return { api, id }
}

/** Waits until everything is delivered. */
async function allDelivered(): Promise<void> {
  const waiting = `select from webhook_events union all select from webhook_deliveries where status <> 'delivered'`
  await eventuallyIs(async () => (await query(db(), waiting)).length, 0)
}

/** The key of the lock at which a statement is held back. */
const KEY = 471_147

/** The steps of a delivery, each with the statement that ends it, which is held back; none: the receiver's answer is. */
const STEPS: [step: string, statement: { before: string; when?: string } | { reads: string } | undefined][] = [
  ['an entry is noted', { before: 'delete on webhook_events' }],
  ['a delivery is made', { before: 'update on work', when: 'new.claim is not null and old.claim is null' }],
  ['it is claimed', { reads: 'webhook_secrets' }],
  ['the request is sent', undefined],
  ['it is answered', { before: 'update on webhook_deliveries', when: `new.status = 'delivered'` }],
  ['it is noted', { before: 'delete on work', when: `old.kind = 'webhook'` }],
]

/** Holds back what ends a step, until it is released. */
async function holdBack(statement: (typeof STEPS)[number][1]) {
  if (statement === undefined) {
    const before = receiver.received.length
    let answer: () => void = () => undefined
    receiver.answer = (response) => {
      answer = () => response.destroy()
    }
    return {
      arrived: () => receiver.received.length > before,
      release: async () => {
        receiver.answer = (response) => response.writeHead(204).end()
        answer()
      },
    }
  }
  const holding = await begin(db())
  if ('reads' in statement) await query(holding.db, `lock table ${statement.reads} in access exclusive mode`)
  else {
    const { before, when } = statement
    await query(
      db(),
      `create or replace function held_back() returns trigger language plpgsql as $$
      begin perform pg_advisory_xact_lock_shared(${KEY}); return coalesce(new, old); end $$`,
    )
    await query(
      db(),
      `create trigger held_back before ${before} for each row ${when === undefined ? '' : `when (${when})`} execute function held_back()`,
    )
    await query(holding.db, `select pg_advisory_xact_lock(${KEY})`)
  }
  const waits = `select from pg_locks where not granted and database = (select oid from pg_database where datname = current_database())
    and (locktype = 'advisory' and objid = ${KEY} or relation = cast('webhook_secrets' as regclass))`
  return {
    arrived: async () => (await query(db(), waits)).length > 0,
    release: async () => {
      await holding[Symbol.asyncDispose]()
      if ('before' in statement) await query(db(), `drop trigger held_back on ${statement.before.split(' on ')[1]}`)
    },
  }
}

test('of two processes, one dies at each step of a delivery: nothing is lost, the order is kept, and ids stay', async (t) => {
  let present: TestProcess = await servers().start(SETTINGS)
  await newWebhook(present)
  const domains = [await newDomain(present.api), await newDomain(present.api)]
  const write = async ({ api }: TestProcess, name: string) => {
    for (const domain of domains) await newRRset(api, domain, { subname: name })
  }
  await write(present, 'first')
  await allDelivered()
  const steps = [...STEPS]
  while (steps.length > depth(2, STEPS.length)) steps.splice(random.below(steps.length), 1)
  for (const [i, [step, statement]] of steps.entries()) {
    const before = receiver.received.length
    const held = await holdBack(statement)
    await write(present, `a${i}`)
    await eventually(held.arrived)
    const next = await servers().start(SETTINGS)
    await write(next, `b${i}`)
    present.signal('SIGKILL')
    await present.ended
    await held.release()
    await allDelivered()
    const sent = receiver.received.slice(before).map(({ id }) => id)
    const repeated = sent.filter((id, k) => sent.indexOf(id) < k)
    // Only what may have arrived is sent again.
    t.is(repeated.length > 0, ['the request is sent', 'it is answered'].includes(step), step)
    present = next
  }
  for (const domain of domains) {
    const told = receiver.received.filter(({ data }) => data!.domain === domain)
    const inOrder = told.filter(({ id }, k) => id !== told[k - 1]?.id)
    const entries = await query<{ id: string }>(
      db(),
      `select history.id from history join domains on domains.id = domain_id
       where name = :domain and history.created > domains.created order by history.created, history.id`,
      { domain },
    )
    t.deepEqual(
      inOrder.map(({ data }) => data!.id),
      entries.map(({ id }) => id),
    )
    t.is(new Set(told.map(({ id }) => id)).size, entries.length)
  }
})

test('what waits when a backup is made is sent after the restore, which has no work', async (t) => {
  receiver.answer = (response) => response.writeHead(503).end()
  const before = await servers().serve(SETTINGS)
  const { id } = await newWebhook(before)
  await newRRset(before.api, await newDomain(before.api))
  await eventually(() => receiver.received.length)
  await before.stop()
  await query(db(), 'update webhooks set retry_at = null where id = :id', { id })
  // Backups are without this table.
  await query(db(), 'delete from work')
  receiver.answer = (response) => response.writeHead(204).end()
  await servers().serve(SETTINGS)
  await allDelivered()
  t.is(new Set(receiver.received.map((each) => each.id)).size, 1)
})

test('while webhooks are off, their paths do not exist, nothing is sent, and what happens is not sent later', async (t) => {
  receiver.answer = (response) => response.writeHead(503).end()
  const on = await servers().serve(SETTINGS)
  const { id } = await newWebhook(on)
  const domain = await newDomain(on.api)
  await newRRset(on.api, domain, { subname: 'before' })
  await eventually(() => receiver.received.length)
  await on.stop()
  await query(db(), 'update webhooks set retry_at = null where id = :id', { id })
  await query(db(), 'update work set due = :now', { now: servers().system.now() })
  const told = receiver.received.length
  receiver.answer = (response) => response.writeHead(204).end()

  const off = await servers().serve({ ...SETTINGS, WEBHOOKS: 'off' })
  const { api: login } = await loginOf({ system: servers().system, url: off.url }, servers().owner.id)
  for (const path of ['/webhooks/', `/webhooks/${id}/`]) t.is((await login.get(path)).status, 404, path)
  t.is((await login.post('/webhooks/', { url: receiver.url, events: ['rrsets'] })).status, 404)
  await newRRset(off.api, domain, { subname: 'meanwhile' })
  await eventuallyIs(async () => (await query(db(), 'select from webhook_events')).length, 0)
  await off.stop()
  t.is(receiver.received.length, told)

  const again = await servers().serve(SETTINGS)
  await newRRset(again.api, domain, { subname: 'after' })
  await allDelivered()
  const names = (received: Received[]) => [
    ...new Set(received.map(({ body }) => /"(before|meanwhile|after)"/.exec(body)![1])),
  ]
  t.deepEqual(names(receiver.received), ['before', 'after'])
})
