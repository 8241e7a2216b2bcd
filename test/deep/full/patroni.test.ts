import test, { type ExecutionContext } from 'ava'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, setGlobalDispatcher } from 'undici'
import { EXPLORE_PAUSE } from '../../../src/limits.ts'
import { Client } from '../../support/client.ts'
import { discrepanciesInTheEnd } from '../../support/dns/discrepancies.ts'
import { eventually, eventuallyIs } from '../../support/eventually.ts'
import { useServers, type TestProcess } from '../../support/harness.ts'
import { newFolder } from '../../support/servers/folders.ts'
import { startHaproxy, startPostgresHaproxy, type Balancer, type Haproxy } from '../../support/servers/haproxy.ts'
import { PatroniCluster, type Loss } from '../../support/servers/patroni.ts'
import { ownNetwork } from '../../support/servers/ports.ts'
import { startOurs } from '../../support/servers/programs.ts'
import { environmentFor } from '../../support/servers/service.ts'
import { createWorkload } from '../workload.ts'

// Postgres with Patroni, and two API processes behind HAProxy, as docs/deployment.md describes them.

const network = ownNetwork()
let cluster: PatroniCluster
const servers = useServers(undefined, async () => (cluster = await PatroniCluster.start(network)))
const workload = createWorkload('patroni', 4, 2)
const { counts } = workload
let haproxy: Haproxy
let ofPostgres: Balancer
let api: Client
let processes: TestProcess[] = []

test.serial.before('HAProxy is started, in front of the processes and of Postgres', async () => {
  haproxy = await startHaproxy(network)
  ofPostgres = await startPostgresHaproxy(network)
  setGlobalDispatcher(new Agent({ connect: { ca: haproxy.certificate } }))
  api = new Client(haproxy.url, servers().owner.secret)
})

test.after.always('HAProxy stops', () => Promise.all([haproxy.stop(), ofPostgres.stop()]))

const LOSSES: Loss[] = ['killed', 'killed', 'hanging', 'without Patroni']
const PLACES: [place: string, url: () => string][] = [
  ['HAProxy', () => cluster.urlAt(`${network}20`)],
  ['all members', () => cluster.url],
]

for (const [place, url] of PLACES) {
  test.serial(`two processes start, with ${place} in DATABASE_URL`, async (t) => {
    await servers().killServices()
    await ofPostgres.sendsTo(await cluster.leader())
    processes = [await start(1, url()), await start(2, url())]
    await Promise.all([haproxy.sendsTo('api1'), haproxy.sendsTo('api2')])
    for (const process of processes) t.is((await process.api.get('/domains/')).status, 200)
  })

  for (const [i, how] of LOSSES.entries()) {
    test.serial(`with ${place}: the leader is lost, ${how} (${i + 1})`, async (t) => {
      const losing = async () => {
        const former = await cluster.leader()
        const since = clock()
        await cluster.lose(former, how)
        const next = await cluster.leader(former)
        const promoted = since()
        await acknowledged(1)
        t.log(`${next} leads after ${promoted} s; a write is acknowledged after ${since()} s`)
        cluster.bring(former)
        await cluster.healthy()
        t.log(`${former} is a standby after ${since()} s`)
      }
      // Without Patroni, the former leader's Postgres goes on, until all processes have noticed (docs/deployment.md).
      await whileWriting(t, losing, how === 'without Patroni' ? 2 * EXPLORE_PAUSE : 0)
    })
  }

  test.serial(`with ${place}: the command line works, backup included`, async (t) => {
    const environment = environmentFor(servers().backends, { DATABASE_URL: url() })
    const file = join(newFolder(), 'backup')
    for (const args of [['migrate'], ['account', 'list'], ['reconcile'], ['backup', file]]) {
      const { ended, output } = startOurs(args, environment)
      t.is(await ended, 0, output())
    }
    t.true(existsSync(file))
  })
}

test.serial('a machine with a standby is lost: writes go on', async (t) => {
  const leader = await cluster.leader()
  for (const standby of cluster.others(leader)) {
    await whileWriting(t, async () => {
      const since = clock()
      await cluster.lose(standby, 'killed')
      await acknowledged(100)
      t.log(`100 writes are acknowledged ${since()} s after the loss of ${standby}`)
      cluster.bring(standby)
      await cluster.healthy()
    })
  }
  t.is(await cluster.leader(), leader)
})

test.serial('etcd is lost everywhere: writes go on', async (t) => {
  const leader = await cluster.leader()
  await whileWriting(t, async () => {
    await cluster.loseEtcd()
    // Longer than Patroni's ttl.
    await sleep(45_000)
    await acknowledged(100)
    for (const name of [leader, ...cluster.others(leader)]) cluster.bring(name)
    await cluster.healthy()
  })
  t.is(await cluster.leader(), leader)
})

test.serial('two of three machines are lost: writes are 503 until one of them is back', async (t) => {
  const leader = await cluster.leader()
  const [one, other] = cluster.others(leader) as [string, string]
  await whileWriting(t, async () => {
    await cluster.lose(one, 'killed')
    await cluster.lose(other, 'killed')
    const since = clock()
    await eventuallyIs(async () => (await api.get('/domains/')).status, 503)
    t.log(`reads are 503 after ${since()} s`)
    cluster.bring(one)
    await acknowledged(1)
    cluster.bring(other)
    await cluster.healthy()
  })
})

/**
 * Runs the workload, during `work` and around it: nothing acknowledged is lost, DNS is right, and no process ends.
 * @param staleness for how many milliseconds a process may use a former primary, and so refuse what needs what is new
 */
async function whileWriting(t: ExecutionContext, work: () => Promise<void>, staleness = 0): Promise<void> {
  let ended = 0
  for (const each of processes) void each.ended.then(() => ended++)
  const running = workload.run(api, staleness)
  try {
    await acknowledged(50)
    await work()
    await acknowledged(50)
  } finally {
    workload.stop()
    const isAllowed = (line: string) => staleness > 0 && / (400|404) to /.test(line)
    t.deepEqual(
      (await running).filter((line) => !isAllowed(line)),
      [],
    )
  }
  t.deepEqual(await discrepanciesInTheEnd(servers()), [])
  t.deepEqual(await workload.broken(api), [])
  t.is(ended, 0)
}

/** Waits until so many more writes are acknowledged. */
async function acknowledged(count: number): Promise<void> {
  const enough = counts.acknowledged + count
  await eventually(() => counts.acknowledged >= enough)
}

/** The seconds since its call. */
function clock(): () => string {
  const begin = performance.now()
  return () => ((performance.now() - begin) / 1000).toFixed(1)
}

function start(number: number, url: string): Promise<TestProcess> {
  return servers().start({
    DATABASE_URL: url,
    HOST: `${network}${10 + number}`,
    PORT: '8080',
    TRUSTED_PROXIES: '127.0.0.0/8',
    PDNS_CONNECTIONS: '4',
    LOG_LEVEL: 'warn',
  })
}
