import type { ExecutionContext } from 'ava'
import { readFileSync } from 'node:fs'
import { hasBackend } from '../../../src/installation/programs.ts'
import { query } from '../../../src/store/database.ts'
import { newDomain, newRRset, succeeded } from '../../support/clients/api.ts'
import { commandsOn } from '../../support/command-line.ts'
import { eventually, eventuallyIs } from '../../support/eventually.ts'
import { startTestPair, type TestPair, type TestProcess } from '../../support/harness.ts'
import { needs } from '../../support/needs.ts'
import { test } from '../../support/serial.ts'
import { makeSharedPostgres } from '../../support/servers/backends.ts'
import { askPostgres } from '../../support/servers/postgres/postgres-server.ts'

// Figures of two PowerDNS on one Postgres: how long clients wait for another one to take over, and what a write costs. Only
// prints them.

const missing = hasBackend('gpgsql') ? undefined : "PowerDNS' PostgreSQL backend is not installed"
const where = needs(missing, test)

let pair: TestPair
let zones: string
let drop: () => Promise<void>

if (missing === undefined) {
  test.before('the servers start', async () => {
    const shared = await makeSharedPostgres()
    ;({ url: zones, drop } = shared)
    pair = await startTestPair(shared.settings)
  })

  test.after.always('the servers stop', async () => {
    await pair.close()
    await drop()
  })
}

/** Adds zones to both databases, which differ in nothing that a change-over compares. */
async function fillUp(count: number): Promise<void> {
  const ours = pair.backends.databaseUrl
  const [{ number }] = (await askPostgres(ours, 'select count(*)::integer as number from domains')) as [
    { number: number },
  ]
  const names = `select 'zone' || n || '.example' as name from generate_series(${number + 1}, ${count}) n`
  await askPostgres(
    ours,
    // Without triggers, whose work for each row grows with the rows of the statement.
    `set session_replication_role = replica;
     insert into domains (name, owner_id, minimum_ttl, version, denial, size, record_octets, created, published, touched)
     select name, '${pair.owner.id}', 60, 1, '1 0 0 -', 0, 0, now(), now(), now() from (${names}) names`,
  )
  await askPostgres(
    zones,
    `with added as (insert into domains (name, type) select name, 'NATIVE' from (${names}) names returning id, name)
     insert into records (domain_id, name, type, content, ttl)
     select id, name, 'SOA', 'ns.example hostmaster.example 1 3600 600 1209600 60', 60 from added`,
  )
  await askPostgres(zones, 'analyze domains, records')
}

/** The domain of the writes. */
let rrset: string
let writes = 0
const address = () => `192.0.${(++writes >> 8) & 255}.${writes & 255}`
const write = ({ api }: TestProcess) => api.put(rrset, { subname: 'www', type: 'A', ttl: 60, records: [address()] })

async function newZone({ api }: TestProcess): Promise<void> {
  const domain = await newDomain(api)
  await newRRset(api, domain, { subname: 'www', type: 'A', ttl: 60, records: [address()] })
  rrset = `/domains/${domain}/rrsets/www/A/`
}

const active = async () => {
  const [{ name }] = (await query<{ name: string }>(pair.system.db, 'select name from primaries')) as [{ name: string }]
  return pair.primaries.find((primary) => primary.name === name)!
}

for (const count of [10, 10_000, 100_000]) {
  where(`a change-over with ${count} zones`, async (t) => {
    const service = await pair.start({ PDNS_FAILOVER: '1', LOG_LEVEL: 'error' })
    await newZone(service)
    await fillUp(count)
    for (const signal of ['SIGKILL', 'SIGSTOP'] as const) {
      const former = await active()
      await eventuallyIs(async () => (await write(service)).status, 200)
      const start = performance.now()
      process.kill(former.powerDns.pid, signal)
      await eventually(async () => (await write(service)).status === 200)
      t.log(`${count} zones, ${signal}: ${((performance.now() - start) / 1_000).toFixed(1)} s`)
      t.not((await active()).name, former.name)
      if (signal === 'SIGSTOP') process.kill(former.powerDns.pid, 'SIGCONT')
      else await former.restart()
      await eventually(async () => /standby +yes/.test((await operator('primary', 'list'))[1]))
    }
    await service.kill()
  })
}

const operator = commandsOn(() => pair.system)

/** How many writes are measured, in how many turns. */
const TURNS = 5
const WRITES = 100

where('a write with a second PowerDNS, beside one without', async (t) => {
  const both = await pair.start()
  if ((await active()).name !== pair.primaries[0].name) await operator('primary', 'use', pair.primaries[0].name)
  const alone = await pair.start({ PDNS_API_URL: pair.primaries[0].proxy.url })
  await newZone(alone)
  await eventuallyIs(async () => (await write(both)).status, 200)
  const measures = [
    { what: 'one PowerDNS', service: alone, times: [] as number[], work: 0 },
    { what: 'two PowerDNS', service: both, times: [] as number[], work: 0 },
  ]
  for (let turn = 0; turn < TURNS; turn++) {
    for (const measure of measures) await measureWrites(measure)
  }
  for (const measure of measures) print(t, measure)
  t.true(measures.every(({ times }) => times.length === TURNS * WRITES))
  await pair.killServices()
})

interface Measure {
  what: string
  service: TestProcess
  /** Milliseconds. */
  times: number[]
  /** Seconds of the processors. */
  work: number
}

async function measureWrites(measure: Measure): Promise<void> {
  const { service, times } = measure
  const before = workOf(service)
  for (let i = 0; i < WRITES; i++) {
    const start = performance.now()
    succeeded(await write(service), 200)
    times.push(performance.now() - start)
  }
  measure.work += workOf(service) - before
}

function print(t: ExecutionContext, { what, times, work }: Measure): void {
  const median = [...times].sort((a, b) => a - b)[times.length >> 1]!
  t.log(
    `${what}: p50 ${median.toFixed(1)} ms, ${((work * 1_000) / times.length).toFixed(1)} ms of the service per write`,
  )
}

/** Seconds of the processors that a process has used. */
function workOf({ pid }: TestProcess): number {
  const [user, system] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ').slice(11, 13)
  return (Number(user) + Number(system)) / 100
}
