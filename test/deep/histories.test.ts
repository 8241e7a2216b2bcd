import test from 'ava'
import { newDomain, rrset } from '../support/clients/api.ts'
import { depth } from '../support/depth.ts'
import { discrepanciesInTheEnd } from '../support/dns/discrepancies.ts'
import { useServers } from '../support/harness.ts'
import { SEED } from '../support/random.ts'
import { type MailServer, startMailServer } from '../support/servers/mail-server.ts'
import { PostgresPair } from '../support/servers/postgres/postgres-pair.ts'
import { FORGETFUL } from '../support/servers/postgres/postgres-server.ts'
import { endDoubt } from '../support/state/marks.ts'
import { startOpenWorker, type Worker } from '../support/workers.ts'
import { drawFaults } from './faults.ts'
import { addTo, type Batch, type Counts, noCounts, runBatch } from './histories.ts'
import { violationsDespiteLoss } from './history.ts'
import { type CrashCounts, crashesOf, drawCrashes, failoversOf } from './postgres-crashes.ts'

// Clients write to a domain, have its keys replaced or not, and sign up at the same time, through two services, while
// these, PowerDNS, Postgres and the connections between them are killed, stopped and cut. Each history is judged by what its
// clients and an observer were told, and by the mails that arrived (history.ts). The histories of a batch share the faults;
// the seed of each batch is one more than that of the batch before.

let pair: PostgresPair
const servers = useServers(undefined, async () => (pair = await PostgresPair.alone(FORGETFUL)))
let workers: Worker[]
let mails: MailServer

test.serial.before('two services are started', async () => {
  mails = await startMailServer()
  const start = () => startOpenWorker(servers(), mails, { DATABASE_URL: pair.urls.primary })
  workers = [await start(), await start()]
})

test.after.always(async () => {
  await servers().killServices()
  for (const { postgres } of workers) await postgres.close()
  await mails.close()
})

/** How many histories a batch has. */
const BATCH = 20

/** How many histories a kind has; HISTORIES chooses another number, and PROMOTIONS how often a standby is promoted. */
const histories = (full: number) => Number(process.env['HISTORIES'] ?? depth(BATCH, full))
const promotions = (full: number) => BATCH * Number(process.env['PROMOTIONS'] ?? depth(1, full))

/** What a kind chooses of its batches. */
type Choices = Pick<Batch, 'draw' | 'ready' | 'judge' | 'loses'>

/** What differs between histories. */
interface Kind {
  fault: string
  /** What holds whatever fails. */
  promise: string
  count: number
  /** Comes before each batch. */
  before?: () => Promise<void>
  /** Of the batch with this seed. */
  options: (seed: number, crashes: CrashCounts) => Choices
  /** Whether the histories had what makes them worth running, if their number makes it certain. */
  hadAll: (counts: Counts, crashes: CrashCounts, count: number) => boolean
}

const PROMISE = 'API and DNS show what was acknowledged, and nothing that was refused'

/** Postgres loses what it had not yet written: marks of changes that are under way to PowerDNS, which gets them late. */
const KINDS: Kind[] = [
  {
    fault: 'something fails',
    promise: PROMISE,
    count: histories(1_000),
    options: () => ({ draw: (random, scene) => drawFaults(random, scene, servers()) }),
    hadAll: ({ failed, unknown, late }, _, count) => count < 500 || (failed > 100 && unknown > 10 && late > 0),
  },
  {
    fault: 'Postgres crashes',
    promise: PROMISE,
    count: histories(320),
    options: (seed, crashes) => ({
      draw(random, scene) {
        const number = random.of([1, 1, 2])
        const drawn = Array.from({ length: number }, () => random.of(crashesOf(pair.primary, random)))
        const others = random.of([[], drawFaults(random, scene, servers())])
        return [...others, drawCrashes(random, scene, servers(), drawn, crashes)]
      },
      // Also crashes just after a crash.
      ready: () => (seed % 4 === 3 ? Promise.resolve() : endDoubt(servers())),
    }),
    hadAll: ({ failed, unknown }, { lost }, count) =>
      count < 200 || (failed > count / 4 && unknown > count / 10 && lost > 0),
  },
  {
    // It may lack acknowledged changes, and the marks of those that are under way to PowerDNS.
    fault: 'an asynchronous standby is promoted',
    promise: 'no zone stays different, and nothing that was refused is shown',
    count: promotions(6),
    before: () => pair.addStandby(false),
    options: (seed, crashes) => ({
      ...promotion(crashes),
      ready: async () => {
        // The domains are not lost.
        await pair.awaitStandby()
        if (seed % 2 === 0) await pair.holdUpStandby()
        else await endDoubt(servers())
      },
      judge: violationsDespiteLoss,
      loses: true,
    }),
    hadAll: (_, { held, lost }, count) => count < 2 * BATCH || (held > 0 && lost > 0),
  },
  {
    // It has all that was acknowledged, and all marks.
    fault: 'a synchronous standby is promoted',
    promise: PROMISE,
    count: promotions(10),
    before: () => pair.addStandby(true),
    options: (seed, crashes) => ({
      ...promotion(crashes),
      ready: () => (seed % 4 === 3 ? Promise.resolve() : endDoubt(servers())),
    }),
    hadAll: (_, { held, lost }, count) => lost === 0 && (count < 2 * BATCH || held > 0),
  },
]

function promotion(crashes: CrashCounts): Choices {
  return {
    draw: (random, scene) => [
      drawCrashes(random, scene, servers(), [random.of(failoversOf(pair, random, workers))], crashes),
    ],
  }
}

for (const [kind, { fault, promise, count, before, options, hadAll }] of KINDS.entries()) {
  const total = noCounts()
  const crashes: CrashCounts = { crashes: 0, held: 0, lost: 0 }

  for (let first = 0; first < count; first += BATCH) {
    const seed = SEED + first / BATCH
    const size = Math.min(BATCH, count - first)
    const which = `histories ${first + 1} to ${first + size}`
    test.serial(`whatever happens while ${fault}, ${promise}: ${which}`, async (t) => {
      await before?.()
      const batch = { seed, size, prefix: `batch-${kind}-${first}`, ...options(seed, crashes) }
      const { failures, counts } = await runBatch(servers(), [servers()], workers, mails, batch)
      addTo(total, counts)
      t.is(failures.length, 0, failures.slice(0, 3).join('\n\n'))
    })
  }

  test.serial(`after the histories in which ${fault}, database and DNS are equal`, async (t) => {
    t.deepEqual(await discrepanciesInTheEnd(servers()), [])
  })

  test.serial(`the histories in which ${fault} had writes that succeeded, and others`, (t) => {
    t.log(total, crashes)
    t.true(total.done > count && total.refused > count / 2 && total.looks > 3 * count)
    t.true(total.rollovers > count / 4 && total.mails > count / 4)
    t.true(hadAll(total, crashes, count))
  })
}

test.serial('what no standby confirms does not reach PowerDNS', async (t) => {
  await pair.addStandby(true)
  const { api } = workers[0]!.service
  const name = await newDomain(api, 'unconfirmed.example')
  await pair.holdUpStandby()
  servers().proxy.calls.length = 0
  let isAnswered = false
  const answering = api.post(`/domains/${name}/rrsets/`, rrset()).finally(() => (isAnswered = true))
  answering.catch(() => undefined)
  await pair.awaitUnconfirmed()
  t.is((await api.get(`/domains/${name}/rrsets/`)).status, 200)
  t.false(isAnswered)
  t.deepEqual(
    servers().proxy.calls.filter(({ method }) => method === 'PATCH'),
    [],
  )
})
