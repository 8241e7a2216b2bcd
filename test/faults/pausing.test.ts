import test from 'ava'
import { pause } from '../../src/service/domains/pausing.ts'
import { one, query, transaction } from '../../src/store/database.ts'
import * as domains from '../../src/store/domains.ts'
import { discrepanciesInTheEnd } from '../support/dns/discrepancies.ts'
import { lookUp } from '../support/dns/dns.ts'
import { eventually } from '../support/eventually.ts'
import { useServers } from '../support/harness.ts'
import { startOurs } from '../support/servers/programs.ts'
import type { Call, Fate } from '../support/servers/proxy.ts'
import { environmentFor } from '../support/servers/service.ts'

// `zoneplane domain pause` and `resume` are killed. The domain is then paused or not, nothing in between, and the
// command can be repeated.

const servers = useServers()

/** The addresses of `www` in the database, and at PowerDNS. */
const ADDRESS = { ours: '192.0.2.1', theirs: '192.0.2.9' }

const steps: [what: string, call: (call: Call, zone: string) => boolean, fates: Fate[]][] = [
  ['reads the zone', ({ method, path }, zone) => method === 'GET' && path === zone, ['cut']],
  [
    'publishes the zone',
    ({ method, path }, zone) => method === 'PATCH' && path === zone,
    ['cut', 'swallow', { late: 1000 }],
  ],
]

const domain = (...args: string[]) => startOurs(['domain', ...args], environmentFor(servers().backends))

const isPaused = async (name: string) =>
  (await one<{ paused: boolean }>(servers().system.db, 'select paused from domains where name = :name', { name }))
    .paused

/** Makes a domain; no service runs afterwards. */
async function make(name: string): Promise<void> {
  const service = await servers().start()
  await service.api.post('/domains/', { name })
  const rrset = { subname: 'www', type: 'A', ttl: 60, records: [ADDRESS.ours] }
  const { status } = await service.api.post(`/domains/${name}/rrsets/`, rrset)
  if (status !== 201) throw new Error(`${name}: ${status}`)
  await servers().killServices()
}

async function changeAtPowerDns(name: string): Promise<void> {
  const records = [{ content: ADDRESS.theirs, disabled: false }]
  const rrset = { name: `www.${name}.`, type: 'A', ttl: 60, changetype: 'REPLACE', records }
  const { status } = await servers().pdns('PATCH', `/zones/${name}.`, { rrsets: [rrset] })
  if (status !== 204) throw new Error(`PowerDNS answered ${status}`)
}

for (const side of ['ours', 'theirs'] as const) {
  for (const [step, [what, call, fates]] of steps.entries()) {
    for (const [round, fate] of fates.entries()) {
      const when = typeof fate === 'string' ? fate : 'late'
      test.serial(`--${side}: killed when it ${what} (${when}), a resumption can be repeated`, async (t) => {
        const name = `${side}-${step}-${round}.example`
        await make(name)
        await pause(servers().system, name)
        await changeAtPowerDns(name)
        const stopped = servers().proxy.stop((sent) => call(sent, `/zones/${name}.`))
        const { child, ended } = domain('resume', name, `--${side}`)
        await stopped.arrived
        child.kill('SIGKILL')
        await ended
        stopped.release(fate)

        const isStill = await isPaused(name)
        // With --ours, the repair publishes the zone, after the commit.
        t.is(isStill, side === 'theirs' || what !== 'publishes the zone')
        if (isStill) t.deepEqual(await lookUp(servers().powerDns, `www.${name}`, 'A'), [ADDRESS.theirs])
        const again = domain('resume', name, `--${side}`)
        const code = await again.ended
        t.true(isStill ? code === 0 : again.output().includes(`${name} is not paused.`), again.output())

        const service = await servers().start()
        t.deepEqual(await discrepanciesInTheEnd(servers()), [])
        t.deepEqual(await lookUp(servers().powerDns, `www.${name}`, 'A'), [ADDRESS[side]])
        t.is((await service.api.delete(`/domains/${name}/rrsets/www/A/`)).status, 204)
        await servers().killServices()
      })
    }
  }
}

test.serial('a pause that is killed while it waits for a write changes nothing, and can be repeated', async (t) => {
  const name = 'pause.example'
  await make(name)
  const { db } = servers().system
  await transaction(db, async (writer) => {
    await domains.lock(writer, name)
    const { child, ended } = domain('pause', name)
    const waiting = `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
    await eventually(async () => (await query(db, waiting)).length)
    child.kill('SIGKILL')
    await ended
  })
  t.false(await isPaused(name))

  t.is(await domain('pause', name).ended, 0)
  t.true(await isPaused(name))
  t.is(await domain('resume', name).ended, 0)
  t.deepEqual(await discrepanciesInTheEnd(servers()), [])
})
