import test from 'ava'
import { INQUIRY_TIME, Parents } from '../../src/nameserver/parents/parents.ts'
import type { Endpoint } from '../../src/nameserver/wire/client.ts'
import type { Question, Reply, ReplyRecord } from '../../src/nameserver/wire/messages.ts'
import { observe } from '../../src/service/delegation/observation.ts'
import { SimulatedClock } from '../support/dns/simulated-clock.ts'
import { answer, RESOLVER } from '../support/dns/simulated-parents.ts'

// Contract §15.9: the zone `evil` belongs to somebody who wants its checks to be as large and as slow as possible. Its
// nameservers answer in memory; the clock leaps.

/** None of these zones is ours. */
const AWAY = { nameServers: ['ns1.zoneplane.test'], hosted: () => Promise.resolve(undefined) }

/** The zone has more nameservers than are asked, with more addresses each. */
const MANY = Array.from({ length: 20 }, (_, i) => i)

/** The longest names and texts that are kept. */
const long = (name: string) => `${name}.${'a'.repeat(60)}.${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(40)}.x`
const DIGEST = 'ab'.repeat(115)

interface Evil {
  /** The names to which a server of `evil` delegates. */
  delegate: (server: string) => string[]
  /** DS records of each domain. */
  ds?: number
  /** The nameservers of domains answer only when they are asked again, and late. */
  isSlow?: boolean
}

class EvilParents extends Parents {
  /** The names of the domains, and the addresses of the servers, in the order of the questions. */
  readonly asked: string[] = []
  readonly #clock: SimulatedClock
  readonly #evil: Evil

  constructor(evil: Evil, clock: SimulatedClock, inquiryTime = INQUIRY_TIME) {
    super({ resolvers: [{ address: RESOLVER, port: 53 }], isAllowed: () => true, clock, inquiryTime })
    this.#clock = clock
    this.#evil = evil
  }

  protected override async send(endpoint: Endpoint, question: Question): Promise<Reply | undefined> {
    const { address } = endpoint
    const { name, type } = question
    this.asked.push(`${address} ${name}`)
    const isEvil = /(^|\.)(evil|x)$/.test(name)
    if (!isEvil) return answer(endpoint, question)
    if (address === RESOLVER) return resolved(name, type)
    // The addresses of the zone's servers begin with 198, those of others with 203.
    if (address.startsWith('203')) {
      if (this.#evil.isSlow === true) {
        await this.#clock.sleep(2_000)
        if (this.asked.filter((each) => each === `${address} ${name}`).length % 2 === 1) return undefined
      }
      return reply({ answers: [record('SOA', name, '1')] })
    }
    const { delegate, ds = 0 } = this.#evil
    if (type === 'NS') {
      const hosts = delegate(address)
      const glue = hosts.flatMap((host) =>
        MANY.map((i) => record('AAAA', host, `2001:db8:1111:2222:3333:4444:5555:${i}`)),
      )
      return reply({ authorities: hosts.map((host) => record('NS', name, host)), additionals: glue })
    }
    if (ds === 0) return reply({ authorities: [record('SOA', 'evil', '1')] })
    return reply({ answers: Array.from({ length: ds }, (_, i) => record('DS', name, `${i} 13 2 ${DIGEST}`)) })
  }
}

function resolved(name: string, type: string): Reply {
  if (type === 'SOA') return reply({ answers: [record('SOA', 'evil', '1')] })
  if (type === 'NS') return reply({ answers: MANY.map((i) => record('NS', name, long(`p${i}`))) })
  if (type !== 'A') return reply({})
  const [, kind, number] = /^(\w)(\d+)/.exec(name)!
  const network = kind === 'p' ? 198 : 203
  return reply({ answers: MANY.map((i) => record('A', name, `${network}.0.${number}.${i}`)) })
}

function record(type: string, name: string, content: string): ReplyRecord {
  return { name, type, ttl: 60, content }
}

function reply(more: Partial<Reply>): Reply {
  const empty = { answers: [], authorities: [], additionals: [] }
  return { rcode: 'NOERROR', isAuthoritative: true, isTruncated: false, ...empty, ...more }
}

const hosts = (count: number, suffix = '') => Array.from({ length: count }, (_, i) => `u${i}${suffix}`)
const to = (asked: string[], network: string) => asked.filter((each) => each.startsWith(network)).length

/** Servers that disagree about the names, servers that agree on too many, and both at great length. */
const ROWS: [string, Evil, servers: number, nameservers: number][] = [
  ['other names at each server', { delegate: (server) => hosts(24, `-${server.replaceAll('.', '-')}.x`) }, 32, 0],
  ['too many names', { delegate: () => hosts(100, '.x') }, 32, 24],
  ['long names', { delegate: () => hosts(100).map((host) => long(host)), ds: 20 }, 32, 24],
]

for (const [what, evil, servers, nameservers] of ROWS) {
  test(`a parent zone with ${what} causes a bounded number of questions and a small observation`, async (t) => {
    const clock = new SimulatedClock()
    const parents = new EvilParents(evil, clock)
    const observation = await clock.during(observe(parents, 'shop.evil', AWAY, parents.begin()))
    const { length } = JSON.stringify(observation)
    t.log(`${parents.asked.length} questions, ${length} characters`)
    t.is(observation.servers.length, servers)
    t.is(observation.nameservers.length, nameservers)
    t.is(to(parents.asked, '198'), 2 * servers)
    t.is(to(parents.asked, '203'), 8 * nameservers)
    t.true(length < 80_000)
  })
}

test('a server whose answer is not kept has a problem', async (t) => {
  const clock = new SimulatedClock()
  const parents = new EvilParents({ delegate: () => hosts(100).map((host) => long(host)) }, clock)
  const { servers } = await clock.during(observe(parents, 'shop.evil', AWAY, parents.begin()))
  t.is(servers[0]!.problem, null)
  t.like(servers.at(-1), { problem: 'answers with too many records', ns: [], ds: [], glue: {} })
})

test('the check of another domain waits for few questions of a check that has very many', async (t) => {
  const clock = new SimulatedClock()
  const parents = new EvilParents({ delegate: () => hosts(24, '.x') }, clock)
  const evil = observe(parents, 'shop.evil', AWAY, parents.begin())
  await clock.during(parents.find('shop.evil'))
  const before = parents.asked.length
  const { servers } = await clock.during(observe(parents, 'shop.example', AWAY, parents.begin()))
  const meanwhile = parents.asked.slice(before)
  const own = meanwhile.filter((each) => !/(evil|x)$/.test(each)).length
  t.log(`${own} questions of ${meanwhile.length}`)
  t.deepEqual(servers.map(({ problem }) => problem), [null, null]) // prettier-ignore
  t.true(own > 0 && meanwhile.length <= 5 * own + 4)
  await clock.during(evil)
})

test('a check ends after two minutes, and leaves out the nameservers that it has not asked', async (t) => {
  const clock = new SimulatedClock()
  const parents = new EvilParents({ delegate: () => hosts(24, '.x'), isSlow: true }, clock)
  await clock.during(parents.find('shop.evil'))
  const start = clock.now()
  const { nameservers } = await clock.during(observe(parents, 'shop.evil', AWAY, parents.begin()))
  // The last answer comes two seconds later.
  t.true(clock.now() - start <= 122_000)
  t.true(nameservers.length > 0 && nameservers.length < 24)
  t.true(nameservers.every(({ addresses, problem }) => addresses.length === 8 && problem === null))
})

test('the servers of a parent zone that a check has not asked in time have a problem', async (t) => {
  const clock = new SimulatedClock()
  const parents = new EvilParents({ delegate: () => hosts(2, '.x') }, clock, 4_000)
  await clock.during(parents.find('shop.evil'))
  const { parent, servers } = await clock.during(observe(parents, 'shop.evil', AWAY, parents.begin()))
  t.is(parent, 'evil')
  t.is(servers[0]!.problem, null)
  t.is(servers.at(-1)!.problem, 'was not asked in time')
})

test('a check asks nothing more once its client is gone', async (t) => {
  const clock = new SimulatedClock()
  const parents = new EvilParents({ delegate: () => hosts(24, '.x') }, clock)
  await clock.during(parents.find('shop.evil'))
  const client = new AbortController()
  const check = observe(parents, 'shop.evil', AWAY, parents.begin(client.signal))
  clock.leap()
  client.abort()
  const before = parents.asked.length
  await clock.during(check)
  t.is(parents.asked.length, before)
})
