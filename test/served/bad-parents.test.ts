import packet, { type Answer } from 'dns-packet'
import { Busy } from '../../src/errors.ts'
import { Parents } from '../../src/nameserver/parents/parents.ts'
import { check, type Delegation } from '../../src/service/delegation/checks.ts'
import { advance } from '../../src/service/rollovers/advancing.ts'
import { query } from '../../src/store/database.ts'
import * as store from '../../src/store/domains/delegations.ts'
import * as domains from '../../src/store/domains/domains.ts'
import * as rollovers from '../../src/store/domains/rollovers.ts'
import { newDomain, succeeded } from '../support/clients/api.ts'
import { type Asked, type Double, reply, startDouble } from '../support/dns/double.ts'
import { useWorld } from '../support/dns/world.ts'
import { eventually } from '../support/eventually.ts'
import { useAccount, useService } from '../support/harness.ts'
import { test } from '../support/serial.ts'
import { isFull } from '../support/state/budgets.ts'
import { udpSockets } from '../support/state/sockets.ts'

// Contract §15.9 and §15.10: nameservers of a parent zone that do not answer as they should. The double stands at the address of one
// of the two, or of both.

const service = useService({ PRIVATE_TRANSFERS: 'on' })
const account = useAccount(service)
const world = useWorld(service)
let doubles: Double[] = []

test.beforeEach(async () => {
  await world().delegate([])
  // The nameservers of the parent are found while they are well: those who ask the resolver ask them, too.
  await eventually(async () => {
    service().system.parents = world().parents()
    return (await service().system.parents.find('any.example'))?.servers.length === 2
  })
})

test.afterEach.always(async () => {
  for (const each of doubles) await each.close()
  doubles = []
})

const NS = ['ns1.zoneplane.test', 'ns2.zoneplane.test']

/** The right answers of a nameserver of the parent zone. */
function right(asked: Asked, ds: string[] = []): Buffer {
  const soa: Answer = {
    ...{ type: 'SOA', name: 'example', ttl: 60 },
    data: { mname: 'a', rname: 'b', serial: 1, refresh: 1, retry: 1, expire: 1, minimum: 1 },
  }
  if (asked.type === 'NS') {
    const authorities = NS.map((host): Answer => ({ type: 'NS', name: asked.name, ttl: 60, data: host }))
    return reply(asked, [], { flags: 0, authorities })
  }
  const answers = ds.map((digest): Answer => {
    const data = { keyTag: 1, algorithm: 13, digestType: 2, digest: Buffer.from(digest.repeat(32), 'hex') }
    return { type: 'DS', name: asked.name, ttl: 60, data }
  })
  return reply(asked, answers, answers.length > 0 ? {} : { authorities: [soa] })
}

/** Puts a double at the address of each of these nameservers. */
async function place(answer: (asked: Asked) => Buffer[], ...which: ('a' | 'b')[]): Promise<void> {
  for (const each of which) {
    await world().kill(each)
    const address = world().addresses[each === 'a' ? 0 : 1]
    doubles.push(await startDouble({ address, port: world().port }, answer))
  }
}

/** Puts a double at the address of each of these nameservers, and checks a new domain. */
async function checkWith(answer: (asked: Asked) => Buffer[], ...which: ('a' | 'b')[]): Promise<Delegation> {
  await place(answer, ...which)
  const domain = (await domains.find(service().system.db, await newDomain(account().api, fresh())))!
  return check(service().system, domain)
}

let names = 0
const fresh = () => `bad${++names}.example`

/** Looks at a rollover that needs one more observation of the new DS, and returns its phase and what was observed. */
async function lookAtRollover(): Promise<{ phase: string; seen: number }> {
  const { db } = service().system
  const name = await newDomain(account().api, fresh())
  succeeded(await account().api.post(`/domains/${name}/rollover/`), 201)
  // Far in the future, so that the service itself does not look.
  await query(
    db,
    `update rollovers set phase = 'await-ds', seen = 1, since = now(), check_at = now() + interval '1 day'
     where domain_id = (select id from domains where name = :name)`,
    { name },
  )
  await advance(
    service().system,
    (await rollovers.all(db)).find((each) => each.name === name)!,
  )
  const { phase, seen } = (await rollovers.all(db)).find((each) => each.name === name)!
  return { phase, seen }
}

/** The rollover waits for the parent, and must observe everything anew. */
const STAYS = { phase: 'await-ds', seen: 0 }

const problems = ({ servers }: Delegation) => servers.map(({ problem }) => problem)

const TRUNCATED = packet.AUTHORITATIVE_ANSWER | packet.TRUNCATED_RESPONSE

const SILENT = 'does not answer'

/** One of each kind. What is no answer: test/nameserver/client.test.ts; which answers do not count: referral.test.ts, beside it. */
const ROWS: [string, (asked: Asked) => Buffer[], string][] = [
  ['do not answer', () => [], SILENT],
  [
    'truncate, and do not answer over TCP',
    (asked) => (asked.over === 'udp' ? [reply(asked, [], { flags: TRUNCATED })] : []),
    SILENT,
  ],
  ['refuse', (asked) => [reply(asked, [], { flags: packet.AUTHORITATIVE_ANSWER | 5 })], 'answers REFUSED'],
]

for (const [what, answer, problem] of ROWS) {
  test(`nameservers of the parent that ${what} leave the state unknown, and no socket open`, async (t) => {
    const before = udpSockets()
    const delegation = await checkWith(answer, 'a', 'b')
    t.is(delegation.state, 'unknown')
    t.deepEqual(problems(delegation), [problem, problem])
    t.is(delegation.problems.length, 2)
    t.deepEqual(await lookAtRollover(), STAYS)
    for (const each of doubles) await each.close()
    doubles = []
    await eventually(() => udpSockets() <= before)
  })
}

test('nameservers of the parent that nobody runs leave the state unknown', async (t) => {
  await world().kill('a')
  await world().kill('b')
  const delegation = await checkWith(() => [])
  t.is(delegation.state, 'unknown')
  t.deepEqual(problems(delegation), [SILENT, SILENT])
  t.deepEqual(await lookAtRollover(), STAYS)
})

test('a slow nameserver of the parent is asked twice, and then does not count', async (t) => {
  const delegation = await checkWith(() => [], 'a')
  t.is(delegation.state, 'not-delegated')
  t.deepEqual(problems(delegation), [SILENT, null])
  t.is(doubles[0]!.asked.filter(({ type }) => type === 'NS').length, 2)
  t.deepEqual(await lookAtRollover(), STAYS)
})

test('nameservers of the parent that a check has not asked in time do not count', async (t) => {
  const { parents } = service().system
  // Less than the time of an answer.
  const hasty = world().parents(undefined, 1_000)
  await hasty.find('any.example')
  service().system.parents = hasty
  try {
    const delegation = await checkWith(() => [], 'a', 'b')
    t.is(delegation.state, 'unknown')
    t.deepEqual(problems(delegation), ['was not asked in time', 'was not asked in time'])
    t.deepEqual(await lookAtRollover(), STAYS)
  } finally {
    service().system.parents = parents
  }
})

test('a check ends when its client is gone, and stores nothing', async (t) => {
  const { system } = service()
  const name = await newDomain(account().api, fresh())
  const domain = (await domains.find(system.db, name))!
  const client = new AbortController()
  const patience = { left: 30_000, gone: client.signal }
  const answer = () => {
    client.abort()
    return []
  }
  await place(answer, 'a', 'b')
  await t.throwsAsync(check({ ...system, patience }, domain), { instanceOf: Busy })
  // Each is asked twice otherwise. Meanwhile the service itself checks domains of other tests, a minute after it has made them.
  const isOurs = (asked: Asked) => asked.type === 'NS' && asked.name.toLowerCase() === name
  t.true(doubles.every(({ asked }) => asked.filter(isOurs).length <= 1))
  t.is((await store.find(system.db, domain.id))?.checked, null)
})

test('a nameserver that truncates every answer is asked over TCP', async (t) => {
  const answer = (asked: Asked) => [asked.over === 'udp' ? reply(asked, [], { flags: TRUNCATED }) : right(asked)]
  const delegation = await checkWith(answer, 'a', 'b')
  t.is(delegation.state, 'insecure')
  // The resolver asks for the SOA, whenever its cache has none.
  const asked = doubles[0]!.asked.filter(({ type }) => type !== 'SOA')
  t.deepEqual(
    asked.map(({ type, over }) => `${type} ${over}`),
    ['NS udp', 'NS tcp', 'DS udp', 'DS tcp'],
  )
})

test('a nameserver that alone has a DS makes the state propagating', async (t) => {
  const delegation = await checkWith((asked) => [right(asked, ['ab'])], 'a')
  t.is(delegation.state, 'propagating')
  t.deepEqual(problems(delegation), [null, null])
  t.deepEqual(await lookAtRollover(), STAYS)
})

test('one that answers now so, now so, is propagating at most, if the other one stays as it is', async (t) => {
  let hasDs = false
  const changing = (asked: Asked) => [right(asked, hasDs ? ['ab'] : [])]
  await world().kill('a')
  doubles.push(await startDouble({ address: world().addresses[0], port: world().port }, changing))
  const name = await newDomain(account().api, fresh())
  await world().kill('b')
  doubles.push(await startDouble({ address: world().addresses[1], port: world().port }, (asked) => [right(asked)]))
  const domain = (await domains.find(service().system.db, name))!
  const states = []
  for (let left = 4; left > 0; left--) {
    hasDs = !hasDs
    states.push((await check(service().system, domain)).state)
  }
  t.deepEqual(states, ['propagating', 'insecure', 'propagating', 'insecure'])
})

test('a rollover goes on if all nameservers say so', async (t) => {
  await place((asked) => [right(asked)], 'a', 'b')
  t.is((await lookAtRollover()).phase, 'await-ds-ttl')
})

test('resolvers that do not answer leave the state unknown', async (t) => {
  const { parents } = service().system
  service().system.parents = new Parents({ resolvers: [{ address: '127.0.0.1', port: 9 }], isAllowed: () => true })
  try {
    const delegation = await checkWith(() => [])
    t.is(delegation.state, 'unknown')
    t.is(delegation.parent, null)
    t.deepEqual(delegation.problems, ['The resolvers of this service do not tell which zone delegates the domain.'])
    t.deepEqual(await lookAtRollover(), STAYS)
  } finally {
    service().system.parents = parents
  }
})

test('while others wait for a check, one of silent parents ends, and stores nothing', async (t) => {
  const { checks } = service().system.bounds
  const other = await service().account()
  const releases = Array.from({ length: 9 }, (_, i) => checks.tryTake(`busy ${i}`)!)
  const attempt = async () => {
    // Both answer the first question when they are asked again, and the next one never: that takes 6 s, unless an answer
    // gets lost.
    let missed = 0
    const late = (asked: Asked) => (asked.type === 'NS' && missed++ >= 2 ? [right(asked)] : [])
    await place((asked) => (asked.name.startsWith('bad') ? late(asked) : [right(asked)]), 'a', 'b')
    const silent = await newDomain(account().api, fresh())
    const others = await newDomain(other.api, `good${fresh()}`)
    const asked = account().api.post(`/domains/${silent}/delegation/`)
    await eventually(() => isFull(checks))
    t.is((await other.api.post(`/domains/${others}/delegation/`)).status, 200)
    return { silent, ...(await asked) }
  }
  let last = await attempt()
  for (let attempts = 1; last.status === 200 && attempts < 5; attempts++) last = await attempt()
  t.deepEqual(
    [last.status, last.text],
    [503, '{"detail":"The request waited too long for its turn. Nothing was changed; please retry."}'],
  )
  const { json } = await account().api.get(`/domains/${last.silent}/delegation/`)
  t.is((json as { checked: string | null }).checked, null)
  for (const release of releases) release()
})
