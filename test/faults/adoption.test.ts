import test from 'ava'
import { one } from '../../src/store/database.ts'
import { discrepanciesInTheEnd } from '../support/dns/discrepancies.ts'
import { lookUp } from '../support/dns/dns.ts'
import { useServers } from '../support/harness.ts'
import { startOurs } from '../support/servers/programs.ts'
import type { Call, Fate } from '../support/servers/proxy.ts'
import { environmentFor } from '../support/servers/service.ts'

// `zoneplane adopt --apply` is killed at each of its calls to PowerDNS. The zone is answered all the time, with its key,
// and the command can be repeated.

const servers = useServers()

const steps: [what: string, call: (call: Call, zone: string) => boolean][] = [
  ['reads the zone', ({ method, path }, zone) => method === 'GET' && path === zone],
  ['sets the zone up', ({ method, path }, zone) => method === 'PUT' && path === zone],
  ['reads the keys', ({ path }, zone) => path.startsWith(`${zone}/cryptokeys/`)],
  ['publishes the zone', ({ method, path }, zone) => method === 'PATCH' && path === zone],
]
const fates: [when: string, fate: Fate][] = [
  ['before PowerDNS gets the call', 'cut'],
  ['while PowerDNS carries the call out', 'swallow'],
  ['before PowerDNS begins to carry the call out', { late: 1000 }],
]

const record = (name: string, type: string, content: string) => {
  return { name, type, ttl: 300, records: [{ content, disabled: false }] }
}

steps.forEach(([what, call], step) => {
  fates.forEach(([when, fate], round) => {
    test.serial(
      `if an adoption is killed when it ${what}, ${when}, nothing is lost, and it can be repeated`,
      async (t) => {
        const name = `step-${step}-${round}.example`
        const { status } = await servers().pdns('POST', '/zones', {
          ...{ name: `${name}.`, kind: 'Native', nameservers: [], dnssec: true, nsec3param: '1 0 0 -' },
          rrsets: [
            record(`${name}.`, 'SOA', 'ns1.old.example. dns.old.example. 7 10800 3600 604800 900'),
            record(`${name}.`, 'NS', 'ns1.old.example.'),
            record(`www.${name}.`, 'A', '192.0.2.1'),
          ],
        })
        t.is(status, 201)
        const dnskey = await lookUp(servers().powerDns, name, 'DNSKEY')
        const isAnswered = async () => {
          t.deepEqual(await lookUp(servers().powerDns, `www.${name}`, 'A'), ['192.0.2.1'])
          t.deepEqual(await lookUp(servers().powerDns, name, 'DNSKEY'), dnskey)
        }
        const { email } = await one<{ email: string }>(
          servers().system.db,
          'select email from accounts where id = :id',
          { id: servers().owner.id },
        )
        const adopt = () =>
          startOurs(['adopt', name, '--account', email, '--apply', '--json'], environmentFor(servers().backends))

        const stopped = servers().proxy.stop((sent) => call(sent, `/zones/${name}.`))
        const { child, ended } = adopt()
        await stopped.arrived
        await isAnswered()
        child.kill('SIGKILL')
        await ended
        stopped.release(fate)
        await isAnswered()

        const { ended: code, output } = adopt()
        const isDone = (await code) === 0
        t.true(isDone || output().includes('it is a domain already'), output())
        const service = await servers().start()
        t.deepEqual(await discrepanciesInTheEnd(servers()), [])
        await isAnswered()
        t.is((await service.api.patch(`/domains/${name}/rrsets/www/A/`, { records: ['192.0.2.2'] })).status, 200)
        t.deepEqual(await lookUp(servers().powerDns, `www.${name}`, 'A'), ['192.0.2.2'])
        await servers().killServices()
      },
    )
  })
})
