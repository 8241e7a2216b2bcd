import test from 'ava'
import { pause } from '../../src/service/adoption/pausing.ts'
import { one, transaction } from '../../src/store/database.ts'
import * as domains from '../../src/store/domains/domains.ts'
import { commandsOn } from '../support/command-line.ts'
import { discrepanciesInTheEnd } from '../support/dns/discrepancies.ts'
import { lookUp } from '../support/dns/dns.ts'
import { eventually } from '../support/eventually.ts'
import { useServers } from '../support/harness.ts'
import { startOurs } from '../support/servers/programs.ts'
import { type Call, type Fate, toZone } from '../support/servers/proxy.ts'
import { environmentFor } from '../support/servers/service.ts'
import { changeAtPowerDns } from '../support/state/behind-our-back.ts'
import { waitingForLocks } from '../support/state/transactions.ts'

// `zoneplane domain pause` and `resume` are killed. The domain is then paused or not, nothing in between, and the
// command can be repeated.

const servers = useServers()

/** The addresses of `www` in the database, and at PowerDNS. */
const ADDRESS = { ours: '192.0.2.1', theirs: '192.0.2.9' }

const steps: [what: string, call: (call: Call, name: string) => boolean, fates: Fate[]][] = [
  ['reads the zone', toZone('GET'), ['cut']],
  ['publishes the zone', toZone('PATCH'), ['cut', 'swallow', { late: 1000 }]],
]

/** Begins a command in a process of its own, which is killed. */
const begin = (...args: string[]) => startOurs(['domain', ...args], environmentFor(servers().backends))

const run = commandsOn(() => servers().system)

const isPaused = async (name: string) =>
  (await one<{ paused: boolean }>(servers().system.db, 'select paused from domains where name = :name', { name }))
    .paused

/** Makes domains; no service runs afterwards. */
async function make(names: string[]): Promise<void> {
  const { api, stop } = await servers().serve()
  for (const name of names) {
    await api.post('/domains/', { name })
    const rrset = { subname: 'www', type: 'A', ttl: 60, records: [ADDRESS.ours] }
    const { status } = await api.post(`/domains/${name}/rrsets/`, rrset)
    if (status !== 201) throw new Error(`${name}: ${status}`)
  }
  await stop()
}

for (const side of ['ours', 'theirs'] as const) {
  for (const [step, [what, call, fates]] of steps.entries()) {
    test.serial(`--${side}: if it is killed when it ${what}, a resumption can be repeated`, async (t) => {
      const names = fates.map((_, i) => `${side}-${step}-${i}.example`)
      await make(names)
      for (const name of names) {
        await pause(servers().system, name)
        await changeAtPowerDns(servers(), name, ['www', 'A', 60, ADDRESS.theirs])
      }
      const stops = names.map((name) => servers().proxy.stop((sent) => call(sent, name)))
      const resuming = names.map((name) => begin('resume', name, `--${side}`))
      await Promise.all(stops.map(({ arrived }) => arrived))
      for (const { child } of resuming) child.kill('SIGKILL')
      await Promise.all(resuming.map(({ ended }) => ended))
      for (const [i, { release }] of stops.entries()) release(fates[i]!)

      for (const name of names) {
        const isStill = await isPaused(name)
        // With --ours, the repair publishes the zone, after the commit.
        t.is(isStill, side === 'theirs' || what !== 'publishes the zone')
        if (isStill) t.deepEqual(await lookUp(servers().powerDns, `www.${name}`, 'A'), [ADDRESS.theirs])
        const [isDone, output] = await run('domain', 'resume', name, `--${side}`)
        t.true(isStill ? isDone : output.includes(`${name} is not paused.`), output)
      }

      const service = await servers().serve()
      t.deepEqual(await discrepanciesInTheEnd(servers()), [])
      for (const name of names) {
        t.deepEqual(await lookUp(servers().powerDns, `www.${name}`, 'A'), [ADDRESS[side]])
        t.is((await service.api.delete(`/domains/${name}/rrsets/www/A/`)).status, 204)
      }
      await service.stop()
    })
  }
}

test.serial('a pause that is killed while it waits for a write changes nothing, and can be repeated', async (t) => {
  const name = 'pause.example'
  await make([name])
  const { db } = servers().system
  await transaction(db, async (writer) => {
    await domains.lock(writer, name)
    const { child, ended } = begin('pause', name)
    await eventually(() => waitingForLocks(db))
    child.kill('SIGKILL')
    await ended
  })
  t.false(await isPaused(name))

  t.true((await run('domain', 'pause', name))[0])
  t.true(await isPaused(name))
  t.true((await run('domain', 'resume', name))[0])
  t.deepEqual(await discrepanciesInTheEnd(servers()), [])
})
