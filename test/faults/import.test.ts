import test from 'ava'
import { setTimeout as sleep } from 'node:timers/promises'
import { query } from '../../src/store/database.ts'
import { createAccount } from '../support/clients/accounts.ts'
import type { Answer } from '../support/clients/client.ts'
import { discrepanciesOf } from '../support/dns/discrepancies.ts'
import { type OwnService, useServers } from '../support/harness.ts'
import type { Call } from '../support/servers/proxy.ts'

// A domain created from a zone file exists with all its RRsets or not at all (contract §§7.4, 7.7), also if PowerDNS or the
// service is killed meanwhile. In test/faults/powerdns-fails.test.ts, calls of its creation fail.

const servers = useServers()
const RRSETS = 500
const ZONE_FILE = Array.from({ length: RRSETS }, (_, i) => `h${i} 300 TXT ${i}\n`).join('')

let service: OwnService
let number = 0

test.serial.before('a service is started', async () => {
  service = await servers().serve()
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

/** The calls to PowerDNS that create a domain, in order. */
const CALLS: Record<string, (call: Call, name: string) => boolean> = {
  creation: ({ method, path, body }, name) =>
    method === 'POST' && path.startsWith('/zones') && body.includes(`"${name}."`),
  flush: ({ method, path }, name) => method === 'PUT' && path === `/cache/flush?domain=${name}.`,
  keys: ({ path }, name) => path === `/zones/${name}./cryptokeys`,
}

/** When PowerDNS is killed: while the proxy holds a call back, or so many milliseconds after the proxy lets it pass. */
const kills: [when: string, which: string, after: number | undefined][] = [
  ['before it receives the zone', 'creation', undefined],
  ...[0, 5, 20, 60].map((after): [string, string, number] => [
    `${after} ms after receiving the zone`,
    'creation',
    after,
  ]),
  ['between creation and flush', 'flush', undefined],
  ['before it is asked for the keys', 'keys', undefined],
]

for (const [when, which, after] of kills) {
  test.serial(`if PowerDNS is killed ${when}, it has the whole zone or nothing after its restart`, async (t) => {
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
    // The request may have succeeded before the kill.
    t.true([201, 503].includes(answer.status), answer.text)
    t.deepEqual(await discrepanciesOf(servers(), name), [])
    t.is(await sizeOf(name), answer.status === 201 ? RRSETS + 1 : null)
    if (answer.status === 503) t.is((await create(name)).status, 201)
    t.deepEqual(await discrepanciesOf(servers(), name), [])
  })
}

for (const then of ['cut', 'swallow'] as const) {
  const what = then === 'cut' ? 'never reaches PowerDNS' : 'PowerDNS applies'

  test.serial(`if the service is killed during any of the calls, which ${what}, nothing remains`, async (t) => {
    await service.stop()
    const victim = await servers().start()
    const imports = Object.values(CALLS).map((matches) => {
      const name = freshName()
      return { name, stopped: servers().proxy.stop((call) => matches(call, name)) }
    })
    const answers = imports.map(async ({ name }): Promise<Answer | Error> => {
      // An account creates one domain at a time.
      const { api } = await createAccount(servers().system, victim.url)
      return api.post('/domains/', { name, zonefile: ZONE_FILE }).catch((error: unknown) => error as Error)
    })
    await Promise.all(imports.map(({ stopped }) => stopped.arrived))
    await victim.kill()
    for (const { stopped } of imports) stopped.release(then)
    for (const answer of await Promise.all(answers)) t.true(answer instanceof Error)
    service = await servers().serve()
    for (const { name } of imports) {
      t.deepEqual(await discrepanciesOf(servers(), name), [])
      t.is(await sizeOf(name), null)
      t.is((await create(name)).status, 201)
      t.is(await sizeOf(name), RRSETS + 1)
      t.deepEqual(await discrepanciesOf(servers(), name), [])
    }
  })
}
