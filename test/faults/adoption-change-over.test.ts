import { query } from '../../src/store/database.ts'
import { emailOf } from '../support/clients/accounts.ts'
import { commandsOn, runWith } from '../support/command-line.ts'
import { lookUp } from '../support/dns/dns.ts'
import { eventuallyIs } from '../support/eventually.ts'
import { type OwnService, startTestPair, type TestPair } from '../support/harness.ts'
import { test } from '../support/serial.ts'
import { makeActive, type Primary } from '../support/servers/powerdns/pair.ts'
import type { Call } from '../support/servers/proxy.ts'
import { environmentFor } from '../support/servers/service.ts'
import { makeForeignZone } from '../support/state/behind-our-back.ts'

// Two PowerDNS with an LMDB each. The active one is killed in an adoption, and the other one, which has no such zone, takes
// over (primaries.md).

let pair: TestPair
let first: Primary
let second: Primary
let service: OwnService
const operator = commandsOn(() => service.system)

test.before('the servers start', async () => {
  pair = await startTestPair()
  ;[first, second] = pair.primaries
  service = await pair.serve({ PDNS_FAILOVER: '0' })
})

test.after.always('the servers stop', () => pair.close())

async function adopt(name: string): Promise<[boolean, string]> {
  const email = await emailOf(pair.system, pair.owner.id)
  const env = environmentFor(pair.backends, { PDNS_FAILOVER: '0', LOG_LEVEL: 'error' })
  return runWith(env, 'adopt', name, '--account', email, '--apply', '--json')
}

const use = (primary: Primary) => makeActive(service.system, primary)

const rowsOf = (table: string) => query(pair.system.db, `select from ${table}`)
const unsettled = () => rowsOf('marks where not settled')

test('a standby is registered', async (t) => {
  const [isDone, output] = await operator('primary', 'sync', second.name)
  t.true(isDone, output)
})

/** Whether the domain is committed before the call. */
const steps: [what: string, call: (call: Call, zone: string) => boolean, isCommitted: boolean][] = [
  ['reads the zone', ({ method, path }, zone) => method === 'GET' && path === zone, false],
  ['sets the zone up', ({ method, path }, zone) => method === 'PUT' && path === zone, false],
  ['reads the keys', ({ path }, zone) => path.startsWith(`${zone}/cryptokeys/`), false],
  ['publishes the zone', ({ method, path }, zone) => method === 'PATCH' && path === zone, true],
]

steps.forEach(([what, call, isCommitted], step) => {
  test(`if the active one is killed when an adoption ${what}, the zone is whole at the one that has it, and then at both`, async (t) => {
    const name = `step-${step}.example`
    await makeForeignZone(first, name)
    const dnskeys = await lookUp(first.powerDns, name, 'DNSKEY')
    const isServed = async ({ powerDns }: Primary) => {
      t.deepEqual(await lookUp(powerDns, `www.${name}`, 'A'), ['192.0.2.1'])
      t.deepEqual(await lookUp(powerDns, name, 'DNSKEY'), dnskeys)
    }
    const stop = first.proxy.stop((sent) => call(sent, `/zones/${name}.`))
    const adopting = adopt(name)
    await stop.arrived
    process.kill(first.powerDns.pid, 'SIGKILL')
    await first.powerDns.exited
    await use(second)
    stop.release('cut')
    const [isAdopted, output] = await adopting
    t.is(isAdopted, isCommitted, output)
    if (isCommitted) {
      await eventuallyIs(unsettled, [])
      await isServed(second)
    } else t.is((await service.api.get(`/domains/${name}/`)).status, 404)
    await first.restart()
    await isServed(first)

    await eventuallyIs(() => rowsOf('standby_zones'), [])
    await use(first)
    if (!isCommitted) {
      const [isDone, text] = await adopt(name)
      t.true(isDone, text)
    }
    await eventuallyIs(unsettled, [])
    await eventuallyIs(() => rowsOf('standby_zones'), [])
    await isServed(first)
    await isServed(second)
    const serial = async (primary: Primary) =>
      ((await primary.pdns('GET', `/zones/${name}.`)).json as { serial: number }).serial
    t.is(await serial(second), await serial(first))
  })
})
