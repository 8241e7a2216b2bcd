import test from 'ava'
import { hasBackend } from '../../src/installation/programs.ts'
import { commandsOn } from '../support/command-line.ts'
import { depth } from '../support/depth.ts'
import { discrepanciesInTheEnd } from '../support/dns/discrepancies.ts'
import { startTestPair, type TestPair } from '../support/harness.ts'
import { needs } from '../support/needs.ts'
import { SEED } from '../support/random.ts'
import { makeSharedPostgres } from '../support/servers/backends.ts'
import { type MailServer, startMailServer } from '../support/servers/mail-server.ts'
import { ownNetwork } from '../support/servers/ports.ts'
import { startWorker, type Worker } from '../support/workers.ts'
import { type ChangeOvers, drawChangeOvers, keyOf } from './change-overs.ts'
import { addTo, noCounts, runBatch } from './histories.ts'

// As histories.test.ts, with two PowerDNS, which are killed, stopped and cut off, from all processes or from one. So the
// other one takes over, by itself or by command.

/** How many histories a batch of the deep suite has. */
const BATCH = 20

/** Two PowerDNS for the services. */
interface Way {
  what: string
  missing: string | undefined
  count: number
  /** Whether both have each change at the same time: then both are asked all the time, otherwise in the end. */
  isShared: boolean
  start: () => Promise<TestPair>
}

const WAYS: Way[] = [
  {
    what: 'share a Postgres',
    missing: hasBackend('gpgsql') ? undefined : "PowerDNS' PostgreSQL backend is not installed",
    count: Number(process.env['HISTORIES'] ?? depth(4, 400)),
    isShared: true,
    start: async () => {
      const { settings, drop } = await makeSharedPostgres()
      const pair = await startTestPair(settings)
      return { ...pair, close: () => pair.close().finally(drop) }
    },
  },
  {
    what: 'have an LMDB each',
    missing: undefined,
    count: Number(process.env['HISTORIES'] ?? depth(0, 400)),
    isShared: false,
    start: async () => {
      const pair = await startTestPair()
      const [, standby] = pair.primaries
      const [isDone, output] = await commandsOn(() => pair.system)('primary', 'sync', standby.name)
      if (!isDone) throw new Error(output)
      return pair
    },
  },
]

for (const [kind, { what, missing, count, isShared, start }] of WAYS.entries()) {
  if (count === 0) continue
  const where = needs(missing, test.serial)
  const total = noCounts()
  const changeOvers: ChangeOvers = { byCommand: 0, byItself: 0 }
  let pair: TestPair
  let workers: Worker[]
  let mails: MailServer

  async function startOne(i: number): Promise<Worker> {
    const host = `${ownNetwork()}1`
    return startWorker(pair, {
      ...{ PDNS_API_KEY: keyOf(i), PDNS_FAILOVER: '1', PDNS_CONNECTIONS: '3' },
      ...{ HOST: host, PORT: '8080', PUBLIC_URL: `http://${host}:8080` },
      ...{ MAIL_URL: `smtp://127.0.0.1:${mails.port}`, MAIL_FROM: 'dns@example.net', REGISTRATION: 'open' },
    })
  }

  where(`two services are started on two PowerDNS that ${what}`, async (t) => {
    pair = await start()
    mails = await startMailServer()
    workers = [await startOne(0), await startOne(1)]
    t.is(pair.system.primaries.members.length, 2)
  })

  for (let first = 0; first < count; first += BATCH) {
    const seed = SEED + first / BATCH
    const size = Math.min(BATCH, count - first)
    const which = `histories ${first + 1} to ${first + size}`
    where(
      `whatever happens to two PowerDNS that ${what}, API and DNS show what was acknowledged, and nothing that was refused: ${which}`,
      async (t) => {
        const { failures, counts } = await runBatch(pair, pair.primaries, workers, mails, {
          ...{ seed, size, prefix: `batch-${kind}-${first}` },
          ...(isShared ? {} : { observed: [] }),
          draw: (random, scene) => drawChangeOvers(random, scene, pair, changeOvers),
        })
        addTo(total, counts)
        t.is(failures.length, 0, failures.slice(0, 3).join('\n\n'))
      },
    )
  }

  where(`after the histories with two PowerDNS that ${what}, database and DNS are equal`, async (t) => {
    for (const primary of pair.primaries) t.deepEqual(await discrepanciesInTheEnd({ ...pair, ...primary }), [])
  })

  where(`the histories with two PowerDNS that ${what} had writes that succeeded, and others, and change-overs`, (t) => {
    t.log(total, changeOvers)
    t.true(total.done > 0 && total.looks > 3 * count)
    // In fewer, chance decides.
    if (count < 100) return
    t.true(total.done > count && total.refused > count / 2 && total.rollovers > count / 4)
    t.true(changeOvers.byCommand > count / 100 && changeOvers.byItself > count / 100)
  })

  test.after.always(`the services on two PowerDNS that ${what} stop`, async () => {
    await (pair as TestPair | undefined)?.killServices()
    for (const { postgres } of (workers as Worker[] | undefined) ?? []) await postgres.close()
    await (mails as MailServer | undefined)?.close()
    await (pair as TestPair | undefined)?.close()
  })
}
