import test from 'ava'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, setGlobalDispatcher } from 'undici'
import { rrset, succeeded } from '../../support/clients/api.ts'
import { Client } from '../../support/clients/client.ts'
import { discrepanciesInTheEnd } from '../../support/dns/discrepancies.ts'
import { type TestProcess, useServers } from '../../support/harness.ts'
import { ownNetwork } from '../../support/servers/ports.ts'
import { type Haproxy, startHaproxy } from '../../support/servers/postgres/haproxy.ts'

// Two API processes behind HAProxy, as docs/deployment.md describes them.

const RESTARTS = 20
const AT_ONCE = 4
const domains = Array.from({ length: 6 }, (_, i) => `rolling-${i}.example`)

const servers = useServers()
const network = ownNetwork()
let haproxy: Haproxy
let processes: TestProcess[]

test.serial.before('HAProxy and two processes are started', async () => {
  haproxy = await startHaproxy(network)
  setGlobalDispatcher(new Agent({ connect: { ca: haproxy.certificate } }))
  processes = [await start(1), await start(2)]
  await Promise.all([haproxy.sendsTo('api1'), haproxy.sendsTo('api2')])
  const api = new Client(haproxy.url, servers().owner.secret)
  for (const name of domains) {
    succeeded(await api.post('/domains/', { name }), 201)
    succeeded(await api.post(`/domains/${name}/rrsets/`, rrset()), 201)
  }
})

test.after.always('HAProxy stops', () => haproxy.stop())

function start(number: number): Promise<TestProcess> {
  return servers().start({
    HOST: `${network}${10 + number}`,
    PORT: '8080',
    TRUSTED_PROXIES: '127.0.0.0/8',
    SHUTDOWN_DELAY: '8',
    PDNS_CONNECTIONS: '4',
    LOG_LEVEL: 'warn',
  })
}

/** Reads and writes in turn, one request after the other, in a domain of its own; adds what fails to `failed`. */
async function work(api: Client, domain: string, failed: string[], goesOn: () => boolean): Promise<number> {
  const path = `/domains/${domain}/rrsets/`
  const numbered = (i: number) => rrset({ records: [`192.0.2.${i % 256}`] })
  const requests = [
    () => api.get(`${path}www/A/`),
    (i: number) => api.put(`${path}www/A/`, numbered(i)),
    () => api.get('/domains/'),
    (i: number) => api.patch(path, [{ ...numbered(i), subname: `r${i % 10}` }]),
  ]
  let count = 0
  while (goesOn()) {
    for (const request of requests) {
      const outcome = await request(count).then(
        ({ status, text }) => (status === 200 ? undefined : `${status} ${text}`),
        (error: unknown) => String(error),
      )
      if (outcome !== undefined) failed.push(`${new Date().toISOString()} ${outcome}`)
      count++
    }
    await sleep(5)
  }
  return count
}

for (let round = 1; round <= RESTARTS / AT_ONCE; round++) {
  const which = `restarts ${(round - 1) * AT_ONCE + 1} to ${round * AT_ONCE}`
  test.serial(`while two processes are restarted in turn, no request fails: ${which}`, async (t) => {
    const api = new Client(haproxy.url, servers().owner.secret)
    const failed: string[] = []
    let goesOn = true
    const working = Promise.all(domains.map((domain) => work(api, domain, failed, () => goesOn)))
    for (let i = 0; i < AT_ONCE; i++) {
      const number = (i % 2) + 1
      const old = processes[number - 1]!
      old.signal('SIGTERM')
      t.is(await old.ended, 0)
      processes[number - 1] = await start(number)
      await haproxy.sendsTo(`api${number}`)
    }
    goesOn = false
    const counts = await working
    t.log(`${counts.reduce((sum, each) => sum + each, 0)} requests`)
    t.deepEqual(failed, [])
    t.deepEqual(await discrepanciesInTheEnd(servers()), [])
  })
}
