import test, { type ExecutionContext } from 'ava'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, setGlobalDispatcher } from 'undici'
import { Client } from '../../support/clients/client.ts'
import { discrepanciesInTheEnd } from '../../support/dns/discrepancies.ts'
import { eventuallyIs } from '../../support/eventually.ts'
import { type TestProcess, useServers } from '../../support/harness.ts'
import { newFolder } from '../../support/servers/folders.ts'
import { ownNetwork } from '../../support/servers/ports.ts'
import { type Haproxy, startHaproxy } from '../../support/servers/postgres/haproxy.ts'
import { type Loss, PatroniCluster } from '../../support/servers/postgres/patroni.ts'
import { runOurs } from '../../support/servers/programs.ts'
import { environmentFor } from '../../support/servers/service.ts'
import { createWorkload } from '../workload.ts'

// Postgres with Patroni, and two API processes behind HAProxy, as docs/deployment.md describes them.

const network = ownNetwork()
let cluster: PatroniCluster
const servers = useServers(undefined, async () => (cluster = await PatroniCluster.start(network)))
const workload = createWorkload('patroni', 4, 2)
let haproxy: Haproxy
let api: Client
let processes: TestProcess[] = []

test.serial.before('HAProxy is started, and two processes behind it', async (t) => {
  haproxy = await startHaproxy(network)
  setGlobalDispatcher(new Agent({ connect: { ca: haproxy.certificate } }))
  api = new Client(haproxy.url, servers().owner.secret)
  processes = [await start(1), await start(2)]
  await Promise.all([haproxy.sendsTo('api1'), haproxy.sendsTo('api2')])
  for (const process of processes) t.is((await process.api.get('/domains/')).status, 200)
})

test.after.always('HAProxy stops', () => haproxy.stop())

const LOSSES: Loss[] = ['killed', 'killed', 'hanging', 'without Patroni']
for (const [i, how] of LOSSES.entries()) {
  test.serial(`the leader is lost, ${how} (${i + 1}): no acknowledged write is`, async (t) => {
    await whileWriting(t, async () => {
      const former = await cluster.leader()
      const since = clock()
      await cluster.lose(former, how)
      const next = await cluster.leader(former)
      const promoted = since()
      await workload.acknowledged(1)
      t.log(`${next} leads after ${promoted} s; a write is acknowledged after ${since()} s`)
      cluster.bring(former)
      await cluster.healthy()
      t.log(`${former} is a standby after ${since()} s`)
    })
  })
}

test.serial('the command line works, backup included', async (t) => {
  const file = join(newFolder(), 'backup')
  for (const args of [['migrate'], ['account', 'list'], ['reconcile'], ['backup', file]]) {
    const [code, output] = await runOurs(args, environmentFor(servers().backends))
    t.is(code, 0, output)
  }
  t.true(existsSync(file))
})

test.serial('a machine with a standby is lost: writes go on', async (t) => {
  const leader = await cluster.leader()
  for (const standby of cluster.others(leader)) {
    await whileWriting(t, async () => {
      const since = clock()
      await cluster.lose(standby, 'killed')
      await workload.acknowledged(100)
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
    await workload.acknowledged(100)
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
    await workload.acknowledged(1)
    cluster.bring(other)
    await cluster.healthy()
  })
})

/** Runs the workload, during `work` and around it: nothing acknowledged is lost, DNS is right, and no process ends. */
async function whileWriting(t: ExecutionContext, work: () => Promise<void>): Promise<void> {
  let ended = 0
  for (const each of processes) void each.ended.then(() => ended++)
  const running = workload.run(api)
  try {
    await workload.acknowledged(50)
    await work()
    await workload.acknowledged(50)
  } finally {
    workload.stop()
    t.deepEqual(await running, [])
  }
  t.deepEqual(await discrepanciesInTheEnd(servers()), [])
  t.deepEqual(await workload.broken(api), [])
  t.is(ended, 0)
}

/** The seconds since its call. */
function clock(): () => string {
  const begin = performance.now()
  return () => ((performance.now() - begin) / 1000).toFixed(1)
}

function start(number: number): Promise<TestProcess> {
  return servers().start({
    HOST: `${network}${10 + number}`,
    PORT: '8080',
    TRUSTED_PROXIES: '127.0.0.0/8',
    PDNS_CONNECTIONS: '4',
    LOG_LEVEL: 'warn',
  })
}
