import type { ExecutionContext } from 'ava'
import { audit } from '../../src/service/repair/audit.ts'
import { domainOf, newDomain, newRRset } from '../support/clients/api.ts'
import { depth } from '../support/depth.ts'
import { discrepanciesOf } from '../support/dns/discrepancies.ts'
import { validate } from '../support/dns/validators.ts'
import { eventually, eventuallyIs } from '../support/eventually.ts'
import { useServers, type TestProcess } from '../support/harness.ts'
import { Random } from '../support/random.ts'
import { keysOf, passTime, phaseOf, published } from '../support/rollovers/steps.ts'
import type { Call, Fate } from '../support/servers/proxy.ts'
import { test } from '../support/serial.ts'

// A service that is killed anywhere in a rollover: PowerDNS then gets the keys of one phase, and the rollover goes on.
// The waits are those of earnest; the tests say in the database that they are over.

const servers = useServers()
const random = new Random()
let service: TestProcess

test.before('a service is started', async () => {
  service = await servers().start()
})

/** A step of a rollover from algorithm 13 to 15, and the phase after it. */
interface Step {
  phase: string
  take: (name: string) => Promise<unknown>
}

const path = (name: string) => `/domains/${name}/rollover/`
const begins: Step = {
  phase: 'sign',
  take: (name) => service.api.post(path(name), { algorithm: 'ed25519' }),
}
const goesOn = (phase: string): Step => ({ phase, take: (name) => passTime(servers(), name) })
const FORWARD = [begins, ...['publish', 'await-ds', 'await-ds-ttl', 'unpublish', 'done'].map(goesOn)]
const goesBack = (phase: string): Step => ({ phase, take: (name) => service.api.delete(path(name)) })
/** The ways back, after so many steps forward. */
const WAYS: Step[][] = [
  FORWARD,
  [...FORWARD.slice(0, 1), goesBack('done')],
  [...FORWARD.slice(0, 2), goesBack('back: unpublish'), goesOn('done')],
  [...FORWARD.slice(0, 3), goesBack('back: await-ds'), ...['back: await-ds-ttl', 'back: unpublish', 'done'].map(goesOn)],
  [...FORWARD.slice(0, 4), goesBack('back: await-ds'), ...['back: await-ds-ttl', 'back: unpublish', 'done'].map(goesOn)],
] // prettier-ignore

/** Resolves when PowerDNS has what the database says, and nothing is left to do or to come. */
async function isSettled(t: ExecutionContext, name: string): Promise<void> {
  await eventually(() => servers().proxy.open() === 0)
  await published(servers(), name)
  t.deepEqual(await audit(servers().system, () => true), [])
  const { served, stored } = await keysOf(servers(), name)
  t.deepEqual(served, stored)
}

const concerns = (call: Call, name: string) => call.path.includes(name) || call.body.includes(`"${name}."`)
const isQuestion = ({ method }: Call) => method === 'GET'
const isOfKey = (call: Call) => call.path.includes('/cryptokeys') && !isQuestion(call)

/** What can happen to a call whose caller is killed. A key call can also arrive when the next service has repaired. */
function fatesOf(call: Call): Fate[] {
  if (isQuestion(call)) return ['cut']
  return isOfKey(call) ? ['cut', 'swallow', { late: 8_000 }] : ['cut', 'swallow']
}

interface Moment {
  call: number
  what: string
  fate: Fate
}

/** Takes a step without a fault, and returns when it can be killed. */
async function momentsOf(t: ExecutionContext, name: string, step: Step): Promise<Moment[]> {
  const before = servers().proxy.calls.length
  await step.take(name)
  await eventuallyIs(() => phaseOf(servers(), name), step.phase)
  await isSettled(t, name)
  const calls = servers().proxy.calls.slice(before).filter((call) => concerns(call, name))
  return calls.flatMap((call, i) => fatesOf(call).map((fate) => ({ call: i, what: `${call.method} ${call.path}`, fate })))
} // prettier-ignore

/** Takes a step, and kills the service at a moment; then the step is done or not, and is done in the end. */
async function takeKilled(t: ExecutionContext, name: string, step: Step, { call, fate }: Moment): Promise<void> {
  const former = await phaseOf(servers(), name)
  let n = 0
  const stopped = servers().proxy.stop((each) => concerns(each, name) && n++ === call)
  const taking = step.take(name).catch(() => undefined)
  await stopped.arrived
  await service.kill()
  stopped.release(fate)
  await taking
  service = await servers().start()
  await isSettled(t, name)
  const phase = await phaseOf(servers(), name)
  t.true([former, step.phase].includes(phase), phase)
  if (phase === step.phase) return
  await step.take(name)
  await eventuallyIs(() => phaseOf(servers(), name), step.phase)
  await isSettled(t, name)
}

for (const [i, way] of WAYS.entries()) {
  const title = i === 0 ? 'to its end' : `and cancelled in ${way[i - 1]!.phase}`
  test(`a service that is killed at any call of a rollover ${title} leaves the keys of one phase`, async (t) => {
    const model = await newDomain(service.api, `model-${i}.example`)
    const moments: Moment[][] = []
    for (const step of way) moments.push(await momentsOf(t, model, step))
    const walks = Math.max(...moments.map(({ length }) => length))
    t.true(walks > 5)
    const first = random.below(walks)
    for (let walk = 0; walk < depth(1, walks); walk++) {
      const name = await newDomain(service.api, `walk-${i}-${walk}.example`)
      await newRRset(service.api, name, { subname: 'www', type: 'A', ttl: 3600, records: ['192.0.2.1'] })
      const old = (await domainOf(service.api, name)).keys
      for (const [s, step] of way.entries()) {
        const some = moments[s]!
        const moment = some[(first + walk) % some.length]!
        await takeKilled(t, name, step, moment)
      }
      const { keys } = await domainOf(service.api, name)
      t.is(keys.length, 1)
      t.deepEqual(await discrepanciesOf(servers(), name), [])
      if (i === 0) t.not(keys[0]!.dnskey, old[0]!.dnskey)
      else t.deepEqual(keys, old)
      t.is(await validate(servers().powerDns, name, keys[0]!.ds, `www.${name}`, 'A'), 'fully validated')
    }
  })
}
