import test, { type ExecutionContext } from 'ava'
import { isDeepStrictEqual } from 'node:util'
import { query } from '../../src/store/database.ts'
import { type Account, createAccount } from '../support/clients/accounts.ts'
import { newDomainWithWww, rrset, succeeded } from '../support/clients/api.ts'
import type { Answer, Client } from '../support/clients/client.ts'
import { depth } from '../support/depth.ts'
import { discrepanciesInTheEnd } from '../support/dns/discrepancies.ts'
import { eventually, eventuallyIs } from '../support/eventually.ts'
import { type OwnService, useServers } from '../support/harness.ts'
import { Random } from '../support/random.ts'
import { type PostgresProxy, startPostgresProxy } from '../support/servers/postgres/postgres-proxy.ts'
import { type Blow, FORGETFUL, PostgresServer } from '../support/servers/postgres/postgres-server.ts'
import type { Call, Stopped } from '../support/servers/proxy.ts'
import type { Service } from '../support/servers/service.ts'
import { endDoubt, markedZones, unrepaired } from '../support/state/marks.ts'
import { startWorker, type Worker } from '../support/workers.ts'

// Postgres crashes at each step of a write (crashes.md), and loses what was committed
// without waiting for the disk: the mark of a small write.

let postgres: PostgresServer
const servers = useServers(undefined, async () => (postgres = await PostgresServer.start(FORGETFUL)))
let first: Worker
let second: { service: OwnService; postgres: PostgresProxy }

test.serial.before('two services are started', async () => {
  // The writes that are held back keep as many connections to the proxy, and none to PowerDNS.
  first = await startWorker(servers(), { LOG_LEVEL: 'warn', PDNS_CONNECTIONS: '6' })
  const proxy = await startPostgresProxy(servers().backends.databaseUrl)
  const settings = { PDNS_CONNECTIONS: '4', LOG_LEVEL: 'warn', DATABASE_URL: proxy.url }
  second = { service: await servers().serve(settings), postgres: proxy }
  // An account may write only so much at once.
  for (const { what } of KINDS) accounts.set(what, await createAccount(servers().system, ''))
})

test.afterEach.always(() => {
  // What a failed test left would keep its zone marked.
  for (const { release } of pushes.splice(0)) release('cut')
  for (const { postgres } of [first, second]) {
    postgres.refuse(false)
    postgres.atCommit(() => 'pass')
  }
})

test.after.always(async () => {
  await servers().killServices()
  await Promise.all([first.postgres.close(), second.postgres.close()])
})

/** A kind of write, and how it begins and ends. */
interface Kind {
  what: string
  /** Whether a crash loses its mark. */
  isLost: boolean
  prepare: (api: Client, name: string) => Promise<unknown>
  send: (api: Client, name: string) => Promise<Answer>
  /** What a later write of another process does, which must succeed. */
  overtake: (api: Client, name: string) => Promise<Answer>
  /** The request to PowerDNS at which Postgres crashes. */
  isPush: (call: Call) => boolean
  state: (api: Client, name: string) => Promise<unknown>
  /** The same at PowerDNS, if `discrepancies` does not compare it. */
  served?: (name: string) => Promise<unknown>
}

const ADDRESS = '192.0.2.2'
const records = [ADDRESS]
const www = (api: Client, name: string, address: string) =>
  api.put(`/domains/${name}/rrsets/www/A/`, rrset({ records: [address] }))
const contents = async (api: Client, name: string) => {
  const { status, json } = await api.get(`/domains/${name}/rrsets/?type=A`)
  return status === 200 ? (json as { records: string[] }[]).map((each) => each.records[0]).sort() : status
}
const transfers = (address: string) => ({ addresses: [address], notify: [], tsig: false })

/** A write in a domain that has www A; the database has its mark after a crash. */
const WRITE = {
  isLost: false,
  prepare: newDomainWithWww,
  overtake: (api: Client, name: string) => www(api, name, '192.0.2.3'),
  isPush: ({ method }: Call) => method === 'PATCH',
  state: contents,
}

const KINDS: Kind[] = [
  { ...WRITE, what: 'a small write', isLost: true, send: (api, name) => www(api, name, ADDRESS) },
  {
    ...WRITE,
    what: 'a write of many RRsets',
    send: (api, name) => {
      const many = Array.from({ length: 250 }, (_, i) => rrset({ subname: `n${i}`, records }))
      return api.patch(`/domains/${name}/rrsets/`, many)
    },
  },
  {
    ...WRITE,
    what: 'a creation',
    prepare: () => Promise.resolve(),
    send: (api, name) => api.post('/domains/', { name }),
    overtake: (api, name) => api.post('/domains/', { name }),
    isPush: ({ method, path }) => method === 'POST' && path.startsWith('/zones'),
  },
  {
    ...WRITE,
    what: 'a deletion',
    send: (api, name) => api.delete(`/domains/${name}/`),
    isPush: ({ method }) => method === 'DELETE',
  },
  {
    ...WRITE,
    what: 'a change of transfers',
    send: (api, name) => api.put(`/domains/${name}/transfers/`, transfers(ADDRESS)),
    overtake: (api, name) => api.put(`/domains/${name}/transfers/`, transfers('192.0.2.3')),
    isPush: ({ method, path }) => method === 'PUT' && path.includes('/metadata/'),
    state: async (api, name) => {
      return ((await api.get(`/domains/${name}/transfers/`)).json as { addresses: string[] }).addresses
    },
    served: async (name) => {
      const { json } = await servers().pdns('GET', `/zones/${name}./metadata/ALLOW-AXFR-FROM`)
      return (json as { metadata?: string[] }).metadata ?? []
    },
  },
]

/** A write that is held back on its way to PowerDNS. */
interface Held {
  name: string
  kind: Kind
  before: unknown
  push: Stopped
  call: Call
  /** Undefined if the service was killed. */
  answering: Promise<Answer | undefined>
  /** Ready before the write begins: a second after it repair notices its mark, which writes the log. */
  blow: Blow
}

const pushes: Stopped[] = []

/** Holds back the next request that matches, until the test ends at the latest. */
function holdBack(isPush: Kind['isPush']): Stopped {
  const push = servers().proxy.stop(isPush)
  pushes.push(push)
  return push
}

let crashes = 0

/** Both ways to crash, in turns. */
async function ready(): Promise<Blow> {
  return ++crashes % 2 === 0 ? postgres.readyToShutDown(0) : postgres.readyToKillSession(([pid]) => pid!)
}

/** Lets Postgres crash, out of the services' reach. Returns the zones whose marks are left. */
async function crash({ blow }: { blow: Blow }): Promise<string[]> {
  for (const worker of [first, second]) worker.postgres.refuse(true)
  blow.strike()
  await blow.recovered()
  return markedZones(servers())
}

/** Lets the services reach Postgres again. */
async function reconnect(): Promise<void> {
  for (const worker of [first, second]) worker.postgres.refuse(false)
  await eventuallyIs(async () => (await second.service.api.get('/domains/')).status, 200)
}

/** The accounts whose writes are held back, by what they write. */
const accounts = new Map<string, Account>()

/** The client of a kind's account for a service. */
function clientOf({ service }: { service: Service }, { what }: Kind): Client {
  return service.clientOf(accounts.get(what)!.secret)
}

async function hold(kind: Kind): Promise<Held> {
  return (await holdAll([kind]))[0]!
}

/** One write of each kind. They end with one crash. */
async function holdAll(kinds: Kind[]): Promise<Held[]> {
  await endDoubt(servers())
  await eventuallyIs(async () => (await first.service.api.get('/domains/')).status, 200)
  const writes: { kind: Kind; name: string; before: unknown }[] = []
  for (const kind of kinds) {
    const name = await prepared(kind)
    writes.push({ kind, name, before: await kind.state(clientOf(second, kind), name) })
  }
  const blow = await ready()
  return Promise.all(
    writes.map(async ({ kind, name, before }) => {
      const push = holdBack((call) => kind.isPush(call) && `${call.path} ${call.body}`.includes(`${name}.`))
      const answering = kind.send(clientOf(first, kind), name).catch(() => undefined)
      return { name, kind, before, push, call: await push.arrived, answering, blow }
    }),
  )
}

let names = 0

async function prepared(kind: Kind): Promise<string> {
  const name = `crash-${++names}.example`
  await kind.prepare(clientOf(second, kind), name)
  return name
}

/** What must be so after each crash, whatever the answer. */
async function allIsWell(t: ExecutionContext, { name, kind, before, answering }: Held): Promise<void> {
  const answer = await answering
  const api = clientOf(second, kind)
  t.deepEqual(await discrepanciesInTheEnd(servers()), [])
  const state = await kind.state(api, name)
  const { served } = kind
  // What no serial tells is found when the time is over in which late requests arrive.
  if (served !== undefined) await eventually(async () => isDeepStrictEqual(await served(name), state))
  if (answer === undefined) return
  if (answer.status >= 300) t.is(answer.status, 503, answer.text)
  if (answer.status < 300) t.notDeepEqual(state, before)
  else if (!answer.text.includes('unknown')) t.deepEqual(state, before)
}

/** The serial that a change brings. */
function serialIn({ body }: Call): number {
  const { rrsets } = JSON.parse(body) as { rrsets: { type: string; records: { content: string }[] }[] }
  return Number(rrsets.find(({ type }) => type === 'SOA')!.records[0]!.content.split(' ')[2])
}

/** Waits until PowerDNS has answered a request. */
async function applied(call: Call): Promise<void> {
  await eventually(() => call.status)
}

let lost = 0

/** A mark that may be lost is saved all the same if any process has waited for the disk since. */
function areMarked(t: ExecutionContext, held: Held[], marked: string[]): void {
  for (const { name, kind } of held) {
    if (!marked.includes(name)) lost++
    t.true(kind.isLost || marked.includes(name), marked.join())
  }
}

// A write that waits for the disk saves the mark of a small one before it.
const GROUPS = [KINDS.slice(0, 1), KINDS.slice(1)]

for (const kinds of GROUPS) {
  const what = kinds.map((kind) => kind.what).join(', ')

  for (const [order, end, answers] of [
    [', which it never does', 'cut', 'later'],
    ['', 'pass', 'later'],
    [', which answers while Postgres is away', 'pass', 'meanwhile'],
  ] as const) {
    test.serial(`${what}: crash before PowerDNS gets it${order}`, async (t) => {
      const held = await holdAll(kinds)
      areMarked(t, held, await crash(held[0]!))
      if (answers === 'later') await reconnect()
      for (const { push } of held) push.release(end)
      if (end === 'pass') for (const { call } of held) await applied(call)
      if (answers === 'meanwhile') await reconnect()
      for (const one of held) await allIsWell(t, one)
    })
  }

  test.serial(`${what}: crash, the service is killed, and PowerDNS gets it after another write`, async (t) => {
    const held = await holdAll(kinds)
    t.teardown(() => first.restart())
    await first.service.kill()
    areMarked(t, held, await crash(held[0]!))
    await reconnect()
    const states: unknown[] = []
    for (const { kind, name } of held) {
      const api = clientOf(second, kind)
      const answer = await kind.overtake(api, name)
      t.true(answer.status < 300, answer.text)
      states.push(await kind.state(api, name))
    }
    for (const { push } of held) push.release('pass')
    for (const { call } of held) await applied(call)
    for (const [i, one] of held.entries()) {
      await allIsWell(t, one)
      t.deepEqual(await one.kind.state(clientOf(second, one.kind), one.name), states[i])
    }
  })

  test.serial(`${what}: crash after PowerDNS has applied it, and the service is killed`, async (t) => {
    const held = await holdAll(kinds)
    for (const { call } of held) {
      const { method, path, body } = call
      const { status } = await servers().pdns(method, path, body === '' ? undefined : JSON.parse(body))
      t.true(status < 300)
    }
    t.teardown(() => first.restart())
    await first.service.kill()
    areMarked(t, held, await crash(held[0]!))
    await reconnect()
    for (const { push } of held) push.release('cut')
    for (const one of held) {
      await allIsWell(t, one)
      t.deepEqual(await one.kind.state(clientOf(second, one.kind), one.name), one.before)
    }
  })
}

for (const kind of [KINDS[0]!, ...new Random().some(KINDS.slice(1), depth(1, KINDS.length))]) {
  const { what } = kind

  test.serial(`${what}: crash instead of the commit`, async (t) => {
    const held = await hold(kind)
    await crashAtCommit(held, () => {
      held.push.release('pass')
    })
    await reconnect()
    await allIsWell(t, held)
    t.deepEqual(await kind.state(clientOf(second, kind), held.name), held.before)
  })

  test.serial(`${what}: crash after the commit, before the answer to it`, async (t) => {
    const held = await hold(kind)
    first.postgres.atCommit(() => {
      for (const worker of [first, second]) worker.postgres.refuse(true)
      return 'swallow'
    })
    held.push.release('pass')
    await eventuallyIs(() => unrepaired(servers(), held.name), [])
    await crash(held)
    // The service commits what it does besides, such as repair.
    first.postgres.atCommit(() => 'pass')
    await reconnect()
    await allIsWell(t, held)
    t.notDeepEqual(await kind.state(clientOf(second, kind), held.name), held.before)
  })
}

test.serial('a lost serial is not used again, although the versions of the zone are ahead of the clock', async (t) => {
  const [small] = KINDS as [Kind]
  const ahead = { ...small, prepare: prepareAhead }
  const held = await hold(ahead)
  t.teardown(() => first.restart())
  await first.service.kill()
  areMarked(t, [held], await crash(held))
  await reconnect()
  const later = holdBack(small.isPush)
  const answering = www(clientOf(second, small), held.name, '192.0.2.3')
  t.true(serialIn(await later.arrived) > serialIn(held.call))
  later.release('pass')
  t.is((await answering).status, 200)
  held.push.release('pass')
  await applied(held.call)
  await allIsWell(t, held)
  t.deepEqual(await contents(clientOf(second, small), held.name), ['192.0.2.3'])
})

test.serial('if Postgres crashes twice, no serial is used twice', async (t) => {
  const [small] = KINDS as [Kind]
  const name = await prepared({ ...small, prepare: prepareAhead })
  const held: { push: Stopped; call: Call }[] = []
  await endDoubt(servers())
  // The second crash follows soon.
  for (const address of ['192.0.2.11', '192.0.2.12']) {
    const blow = await ready()
    const push = holdBack(small.isPush)
    const answering = www(clientOf(first, small), name, address).catch(() => undefined)
    held.push({ push, call: await push.arrived })
    await first.service.kill()
    await crash({ blow })
    await reconnect()
    await answering
    await first.restart()
  }
  const push = holdBack(small.isPush)
  const answering = www(clientOf(second, small), name, '192.0.2.13')
  const serials = [...held.map(({ call }) => serialIn(call)), serialIn(await push.arrived)]
  push.release('pass')
  t.is((await answering).status, 200)
  t.deepEqual(serials, [...new Set(serials)].sort())
  for (const { push, call } of held) {
    push.release('pass')
    await applied(call)
  }
  t.deepEqual(await discrepanciesInTheEnd(servers()), [])
  t.deepEqual(await contents(clientOf(second, small), name), ['192.0.2.13'])
})

/** Makes a domain that has had many writes: its versions are ahead of UNIX time. */
async function prepareAhead(api: Client, name: string): Promise<void> {
  await newDomainWithWww(api, name)
  await query(servers().system.db, 'update domains set version = version + 1000000 where name = :name', { name })
  succeeded(await www(api, name, '192.0.2.1'), 200)
  succeeded(await www(api, name, '192.0.2.10'), 200)
}

test.serial('crashes have lost marks of small writes', (t) => {
  t.true(lost > 0)
})

test.serial('what was lost is not acknowledged, although another transaction has its number', async (t) => {
  const tokens = async () => ((await second.service.api.get('/auth/tokens/')).json as unknown[]).length
  const before = await tokens()
  let answering: Promise<Answer> | undefined
  await crashAtCommit({ blow: await ready() }, () => {
    answering = first.service.api.post('/auth/tokens/', { name: 'lost' })
  })
  for (let i = 0; i < 200; i++) await query(servers().system.db, 'select pg_current_xact_id()')
  await reconnect()
  const answer = await answering!
  t.is(answer.status, 503, answer.text)
  t.is(await tokens(), before)
})

/** Lets Postgres crash when a write of the first service commits, which it does not carry out. */
async function crashAtCommit({ blow }: { blow: Blow }, begin: () => void): Promise<void> {
  const struck = new Promise<void>((resolve) => {
    first.postgres.atCommit(() => {
      for (const worker of [first, second]) worker.postgres.refuse(true)
      blow.strike()
      resolve()
      return 'forget'
    })
  })
  begin()
  await struck
  first.postgres.atCommit(() => 'pass')
  await blow.recovered()
}
