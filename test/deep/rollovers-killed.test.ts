import type { ExecutionContext } from 'ava'
import { audit } from '../../src/service/repair/audit.ts'
import { domainOf, newDomain, newRRset, type ShownDomain } from '../support/clients/api.ts'
import { depth } from '../support/depth.ts'
import { discrepanciesOf } from '../support/dns/discrepancies.ts'
import { validate } from '../support/dns/validators.ts'
import { eventually, eventuallyIs } from '../support/eventually.ts'
import { type TestProcess, useServers } from '../support/harness.ts'
import { Random } from '../support/random.ts'
import { keysOf, passTime, phaseOf, published } from '../support/rollovers/steps.ts'
import { test } from '../support/serial.ts'
import { type CommitFate, type PostgresProxy, startPostgresProxy } from '../support/servers/postgres/postgres-proxy.ts'
import type { Call, Fate } from '../support/servers/proxy.ts'
import { endDoubt, unrepaired } from '../support/state/marks.ts'

// A service that is killed anywhere in a rollover: PowerDNS then gets the keys of one phase, and the rollover goes on.
// The waits are those of earnest; the tests say in the database that they are over.

const servers = useServers()
const random = new Random()
let postgres: PostgresProxy
let service: TestProcess

const start = async () => {
  service = await servers().start({ DATABASE_URL: postgres.url })
}

test.before('a service is started', async () => {
  postgres = await startPostgresProxy(servers().backends.databaseUrl)
  await start()
})

test.after.always(async () => {
  await servers().killServices()
  await postgres.close()
})

/** A step of a rollover from algorithm 13 to 15, and the phase after it. */
interface Step {
  phase: string
  take: (name: string) => Promise<unknown>
  /** Whether the service takes it by itself, also after a restart. */
  isOwn: boolean
}

const path = (name: string) => `/domains/${name}/rollover/`
const begins: Step = {
  phase: 'sign',
  take: (name) => service.api.post(path(name), { algorithm: 'ed25519' }),
  isOwn: false,
}
const goesOn = (phase: string): Step => ({ phase, take: (name) => passTime(servers(), name), isOwn: true })
const goesBack = (phase: string): Step => ({ phase, take: (name) => service.api.delete(path(name)), isOwn: false })
const FORWARD = [begins, ...['publish', 'await-ds', 'await-ds-ttl', 'unpublish', 'done'].map(goesOn)]
const LAST_BACK = ['back: await-ds-ttl', 'back: unpublish', 'done'].map(goesOn)

/** A way through a rollover. */
interface Way {
  title: string
  steps: Step[]
  /** The steps in which the service is killed: the others are on another way, too. */
  killed: Step[]
}

/** The way back, after so many steps forward. */
function wayBack(forward: number, back: Step[], killed = back): Way {
  const title = `and cancelled in ${FORWARD[forward - 1]!.phase}`
  return { title, steps: [...FORWARD.slice(0, forward), ...back], killed }
}

const TURNED = goesBack('back: await-ds')
const WAYS: Way[] = [
  { title: 'to its end', steps: FORWARD, killed: FORWARD },
  wayBack(1, [goesBack('done')]),
  wayBack(2, [goesBack('back: unpublish'), goesOn('done')]),
  wayBack(3, [TURNED, ...LAST_BACK], [TURNED, ...LAST_BACK.slice(0, 2)]),
  wayBack(4, [TURNED, ...LAST_BACK], [TURNED]),
]

/** Resolves when PowerDNS has what the database says, and nothing is left to do or to come. */
async function areSettled(t: ExecutionContext, names: string[], what: string): Promise<void> {
  for (const name of names) await published(servers(), name)
  t.deepEqual(await audit(servers().system, () => true), [], what)
  for (const name of names) {
    const { served, stored } = await keysOf(servers(), name)
    t.deepEqual(served, stored, what)
  }
}

/** Takes a step without a fault. */
async function take(t: ExecutionContext, names: string[], step: Step): Promise<void> {
  await Promise.all(
    names.map(async (name) => {
      await step.take(name)
      await eventuallyIs(() => phaseOf(servers(), name), step.phase)
    }),
  )
  await areSettled(t, names, step.phase)
}

/**
 * When the service is killed in a step, by the number of the call to PowerDNS or of the COMMIT, and what happens to that:
 * `late`: PowerDNS gets the call when the next service has repaired the zone.
 */
type Moment = { call: number; fate: Extract<Fate, string> | 'late' } | { commit: number; fate: CommitFate }

/** A step has the COMMIT of its phase, and that of the repair. */
const COMMITS: Moment[] = [0, 1].flatMap((commit) => (['cut', 'swallow'] as const).map((fate) => ({ commit, fate })))

const concerns = (call: Call, name: string) => call.path.includes(name) || call.body.includes(`"${name}."`)
const isQuestion = ({ method }: Call) => method === 'GET'
const isOfKey = (call: Call) => call.path.includes('/cryptokeys') && !isQuestion(call)

/** What can happen to a call whose caller is killed. The serial shows a late one, unless it is of a key. */
function fatesOf(call: Call): ('cut' | 'swallow' | 'late')[] {
  if (isQuestion(call)) return ['cut']
  return isOfKey(call) ? ['cut', 'swallow', 'late'] : ['cut', 'swallow']
}

/** Takes a step without a fault, and returns when it can be killed. */
async function momentsOf(t: ExecutionContext, name: string, step: Step): Promise<Moment[]> {
  const before = servers().proxy.calls.length
  let commits = 0
  postgres.atCommit(() => {
    commits++
    return 'pass'
  })
  await take(t, [name], step)
  t.true(commits >= 2, step.phase)
  const calls = servers()
    .proxy.calls.slice(before)
    .filter((call) => concerns(call, name))
  t.true(calls.some(isOfKey) || step.phase.includes('await-ds'), step.phase)
  return [...COMMITS, ...calls.flatMap((call, i) => fatesOf(call).map((fate) => ({ call: i, fate })))]
}

/** Takes a step, and kills the service at a moment. Returns a function that lets a late call arrive. */
async function kill(name: string, step: Step, moment: Moment): Promise<() => void> {
  let arrive: () => void = () => undefined
  let n = 0
  let killing: Promise<void> | undefined
  if ('commit' in moment) {
    postgres.atCommit(() => {
      if (n++ !== moment.commit) return 'pass'
      killing = service.kill()
      return moment.fate
    })
  }
  const stopped = 'call' in moment && servers().proxy.stop((call) => concerns(call, name) && n++ === moment.call)
  const taking = step.take(name).catch(() => undefined)
  if (stopped) {
    await stopped.arrived
    await service.kill()
    const late = new Promise<void>((resolve) => (arrive = resolve))
    stopped.release(moment.fate === 'late' ? { abandoned: late } : moment.fate)
  } else {
    await eventually(() => killing !== undefined)
    await killing
  }
  postgres.atCommit(() => 'pass')
  await taking
  return arrive
}

/** Takes a step, and kills the service meanwhile; then the step is done or not, and is done in the end. */
async function takeKilled(t: ExecutionContext, name: string, step: Step, moment: Moment): Promise<void> {
  const what = `${step.phase} ${JSON.stringify(moment)}`
  const former = await phaseOf(servers(), name)
  const arrive = await kill(name, step, moment)
  await start()
  const phase = await phaseOf(servers(), name)
  t.true([former, step.phase].includes(phase), `${what}: ${phase}`)
  if (moment.fate === 'late') {
    await eventuallyIs(() => unrepaired(servers(), name), [])
    arrive()
    await eventually(() => servers().proxy.open() === 0)
  } else {
    await eventually(() => servers().proxy.open() === 0)
    await eventuallyIs(() => unrepaired(servers(), name), [])
    await endDoubt(servers())
  }
  if (phase === former && !step.isOwn) {
    await areSettled(t, [name], what)
    await step.take(name)
  }
  await eventuallyIs(() => phaseOf(servers(), name), step.phase)
  await areSettled(t, [name], what)
}

/** More than the moments of any step. */
const WALKS = 30

for (const { title, steps, killed } of [WAYS[0]!, ...random.some(WAYS.slice(1), depth(1, WAYS.length))]) {
  test(`a service that is killed anywhere in a rollover ${title} leaves the keys of one phase`, async (t) => {
    const [model, ...names] = await Promise.all(
      Array.from({ length: 1 + depth(2, WALKS) }, () => newDomain(service.api)),
    )
    for (const name of names)
      await newRRset(service.api, name, { subname: 'www', type: 'A', ttl: 3600, records: ['192.0.2.1'] })
    const former = new Map<string, ShownDomain['keys']>()
    for (const name of names) former.set(name, (await domainOf(service.api, name)).keys)
    const dangerous = random.some(killed, depth(2, killed.length))
    for (const step of steps) {
      if (!dangerous.includes(step)) {
        await take(t, [model!, ...names], step)
        continue
      }
      const moments = await momentsOf(t, model!, step)
      t.true(moments.length < WALKS)
      const chosen = random.some(moments, names.length)
      for (const [i, moment] of chosen.entries()) await takeKilled(t, names[i]!, step, moment)
      await take(t, names.slice(chosen.length), step)
    }
    for (const name of names) {
      const { keys } = await domainOf(service.api, name)
      t.is(keys.length, 1)
      t.deepEqual(await discrepanciesOf(servers(), name), [])
      if (title === WAYS[0]!.title) t.not(keys[0]!.dnskey, former.get(name)![0]!.dnskey)
      else t.deepEqual(keys, former.get(name))
      t.is(await validate(servers().powerDns, name, keys[0]!.ds, `www.${name}`, 'A'), 'fully validated')
    }
  })
}
