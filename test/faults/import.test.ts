import test from 'ava'
import { setTimeout as sleep } from 'node:timers/promises'
import { query } from '../../src/store/database.ts'
import type { Answer } from '../support/client.ts'
import { discrepanciesOf } from '../support/dns/discrepancies.ts'
import { useServers, type TestProcess } from '../support/harness.ts'
import type { Call, Fate } from '../support/servers/proxy.ts'

// A domain that is created from a zone file is there with all of it or not at all (contract §§7.4, 7.7), whatever
// happens to PowerDNS or to the service meanwhile.

const servers = useServers()
const RRSETS = 500
const ZONE_FILE = Array.from({ length: RRSETS }, (_, i) => `h${i} 300 TXT ${i}\n`).join('')
const NOTHING_CHANGED = '{"detail":"The DNS backend is currently unavailable. Nothing was changed; please retry."}'

let service: TestProcess
let number = 0

test.serial.before('a service is started', async () => {
  service = await servers().start()
})

const freshName = () => `import-${number++}.example`
const create = (name: string) => service.api.post('/domains/', { name, zonefile: ZONE_FILE })

/** How many RRsets a domain has in the database; null if there is no such domain. */
async function sizeOf(name: string): Promise<number | null> {
  const sql = `select count(rrsets.*)::int as size from domains left join rrsets on domain_id = domains.id
    where name = :name group by domains.id`
  const [row] = await query<{ size: number }>(servers().system.db, sql, { name })
  return row?.size ?? null
}

/** The calls of a creation to PowerDNS, in order. */
const CALLS: Record<string, (call: Call, name: string) => boolean> = {
  creation: ({ method, path, body }, name) =>
    method === 'POST' && path.startsWith('/zones') && body.includes(`"${name}."`),
  flush: ({ method, path }, name) => method === 'PUT' && path === `/cache/flush?domain=${name}.`,
  keys: ({ path }, name) => path === `/zones/${name}./cryptokeys`,
}

const fates: Record<string, Fate> = {
  'answers 500 without doing it': { refuse: 500 },
  'answers 500 after doing it': { spoil: 500 },
  'closes the connection without doing it': 'cut',
  'closes the connection after doing it': 'swallow',
  'does it later, after the connection was closed': { abandoned: 500 },
}

for (const [which, isIt] of Object.entries(CALLS)) {
  for (const [how, fate] of Object.entries(fates)) {
    test.serial(
      `if PowerDNS ${how} (${which}), the answer is 503, nothing is left, and a retry imports all`,
      async (t) => {
        const name = freshName()
        const stopped = servers().proxy.stop((call) => isIt(call, name))
        const answering = create(name)
        await stopped.arrived
        stopped.release(fate)
        const answer = await answering
        t.deepEqual([answer.status, answer.text, answer.headers['retry-after']], [503, NOTHING_CHANGED, '5'])
        t.is(await sizeOf(name), null)
        t.is((await create(name)).status, 201)
        t.is(await sizeOf(name), RRSETS + 1)
        t.deepEqual(await discrepanciesOf(servers(), name), [])
      },
    )
  }
}

/** When PowerDNS is killed: at a call that waits before it, and so many milliseconds after it was let through. */
const deaths: [when: string, which: string, after: number | undefined][] = [
  ['before it has the zone', 'creation', undefined],
  ...[0, 5, 20, 60].map((after): [string, string, number] => [`${after} ms after it got the zone`, 'creation', after]),
  ['between creation and flush', 'flush', undefined],
  ['before it is asked for the keys', 'keys', undefined],
]

for (const [when, which, after] of deaths) {
  test.serial(`killed ${when}, PowerDNS has all or nothing after its restart`, async (t) => {
    const name = freshName()
    const { powerDns, proxy, restartPowerDns } = servers()
    const stopped = proxy.stop((call) => CALLS[which]!(call, name))
    const answering = create(name)
    await stopped.arrived
    if (after !== undefined) {
      stopped.release('pass')
      await sleep(after)
    }
    process.kill(powerDns.pid, 'SIGKILL')
    await powerDns.exited
    if (after === undefined) stopped.release('pass')
    const answer = await answering
    await restartPowerDns()
    // It may have been faster.
    t.true([201, 503].includes(answer.status), answer.text)
    t.deepEqual(await discrepanciesOf(servers(), name), [])
    t.is(await sizeOf(name), answer.status === 201 ? RRSETS + 1 : null)
    if (answer.status === 503) t.is((await create(name)).status, 201)
    t.deepEqual(await discrepanciesOf(servers(), name), [])
  })
}

for (const [which, isIt] of Object.entries(CALLS)) {
  for (const then of ['cut', 'swallow'] as const) {
    const what = then === 'cut' ? 'never gets to PowerDNS' : 'is carried out'
    test.serial(`if the service is killed during a call (${which}) that ${what}, nothing is left`, async (t) => {
      const name = freshName()
      const stopped = servers().proxy.stop((call) => isIt(call, name))
      const answering: Promise<Answer | Error> = create(name).catch((error: unknown) => error as Error)
      await stopped.arrived
      await service.kill()
      stopped.release(then)
      t.true((await answering) instanceof Error)
      service = await servers().start()
      t.deepEqual(await discrepanciesOf(servers(), name), [])
      t.is(await sizeOf(name), null)
      t.is((await create(name)).status, 201)
      t.is(await sizeOf(name), RRSETS + 1)
      t.deepEqual(await discrepanciesOf(servers(), name), [])
    })
  }
}
