import test from 'ava'
import { emailOf } from '../support/clients/accounts.ts'
import { commandsOn } from '../support/command-line.ts'
import { discrepanciesInTheEnd } from '../support/dns/discrepancies.ts'
import { lookUp } from '../support/dns/dns.ts'
import { useServers } from '../support/harness.ts'
import { startOurs } from '../support/servers/programs.ts'
import type { Call, Fate } from '../support/servers/proxy.ts'
import { environmentFor } from '../support/servers/service.ts'
import { makeForeignZone } from '../support/state/behind-our-back.ts'

// `zoneplane adopt --apply` is killed at each of its calls to PowerDNS. The zone is answered all the time, with its key,
// and the command can be repeated.

const servers = useServers()

/** A question may be lost or answered: PowerDNS is the same afterwards. */
const QUESTION: Fate[] = ['cut']
/** Before PowerDNS gets the call, while it carries it out, and before it begins to. */
const CHANGE: Fate[] = ['cut', 'swallow', { late: 1000 }]

const steps: [what: string, call: (call: Call, zone: string) => boolean, fates: Fate[]][] = [
  ['reads the zone', ({ method, path }, zone) => method === 'GET' && path === zone, QUESTION],
  ['sets the zone up', ({ method, path }, zone) => method === 'PUT' && path === zone, CHANGE],
  ['reads the keys', ({ path }, zone) => path.startsWith(`${zone}/cryptokeys/`), QUESTION],
  ['publishes the zone', ({ method, path }, zone) => method === 'PATCH' && path === zone, CHANGE],
]

const run = commandsOn(() => servers().system)

steps.forEach(([what, call, fates], step) => {
  test.serial(`if an adoption is killed when it ${what}, nothing is lost, and it can be repeated`, async (t) => {
    const names = fates.map((_, i) => `step-${step}-${i}.example`)
    for (const name of names) await makeForeignZone(servers(), name)
    const dnskeys = await Promise.all(names.map((name) => lookUp(servers().powerDns, name, 'DNSKEY')))
    const areAnswered = async () => {
      for (const [i, name] of names.entries()) {
        t.deepEqual(await lookUp(servers().powerDns, `www.${name}`, 'A'), ['192.0.2.1'])
        t.deepEqual(await lookUp(servers().powerDns, name, 'DNSKEY'), dnskeys[i])
      }
    }
    const email = await emailOf(servers().system, servers().owner.id)
    const options = ['--account', email, '--apply', '--json']

    const stops = names.map((name) => servers().proxy.stop((sent) => call(sent, `/zones/${name}.`)))
    const { child, ended } = startOurs(['adopt', ...names, ...options], environmentFor(servers().backends))
    await Promise.all(stops.map(({ arrived }) => arrived))
    await areAnswered()
    child.kill('SIGKILL')
    await ended
    for (const [i, { release }] of stops.entries()) release(fates[i]!)
    await areAnswered()

    for (const name of names) {
      const [isDone, output] = await run('adopt', name, ...options)
      t.true(isDone || output.includes('it is a domain already'), output)
    }
    const service = await servers().serve()
    t.deepEqual(await discrepanciesInTheEnd(servers()), [])
    await areAnswered()
    for (const name of names) {
      t.is((await service.api.patch(`/domains/${name}/rrsets/www/A/`, { records: ['192.0.2.2'] })).status, 200)
      t.deepEqual(await lookUp(servers().powerDns, `www.${name}`, 'A'), ['192.0.2.2'])
    }
    await service.stop()
  })
})
