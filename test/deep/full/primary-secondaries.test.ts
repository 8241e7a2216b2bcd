import { newDomain, newRRset, succeeded } from '../../support/clients/api.ts'
import { commandsOn } from '../../support/command-line.ts'
import { lookUp } from '../../support/dns/dns.ts'
import { eventually, eventuallyIs } from '../../support/eventually.ts'
import { startTestPair, type TestPair } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'
import { type SecondaryServer, startSecondary } from '../../support/servers/secondaries.ts'

// Secondaries that list both of two PowerDNS with a database each as their primaries.

/** PowerDNS asks only one of several (primaries.md). */
const KINDS = ['bind', 'knot', 'nsd'] as const
const ZONE = 'both.example'
const PATH = `/domains/${ZONE}/rrsets/www/A/`
const address = (last: number) => `192.0.2.${last}`

let pair: TestPair
let secondaries: SecondaryServer[]

test.before('two PowerDNS and their secondaries start', async () => {
  pair = await startTestPair()
  const primaries = pair.primaries.map(({ powerDns }) => powerDns)
  secondaries = await Promise.all(KINDS.map((kind) => startSecondary(kind, primaries, [ZONE])))
})

test.after.always('they end', async () => {
  for (const secondary of (secondaries as SecondaryServer[] | undefined) ?? []) await secondary.kill()
  await (pair as TestPair | undefined)?.close()
})

test('secondaries follow the active one, and keep what they have while the former one has an older version', async (t) => {
  const SECONDARIES = secondaries.map(({ kind, dnsHost, dnsPort }) => `${kind}.example=${dnsHost}:${dnsPort}`).join()
  const { api } = await pair.start({ SECONDARIES, PDNS_FAILOVER: '3' })
  const [first, second] = pair.primaries
  await newDomain(api, ZONE)
  await newRRset(api, ZONE, { subname: 'www', type: 'A', ttl: 300, records: [address(1)] })
  const [isDone, output] = await commandsOn(() => pair.system)('primary', 'sync', second.name)
  t.true(isDone, output)
  const served = async () =>
    Promise.all(secondaries.map(async (each) => (await lookUp(each, `www.${ZONE}`, 'A')).join()))
  const all = (last: number) => KINDS.map(() => address(last))
  await eventuallyIs(served, all(1))

  process.kill(first.powerDns.pid, 'SIGKILL')
  await eventually(async () => (await api.patch(PATH, { records: [address(2)] })).status === 200)
  await eventuallyIs(served, all(2))

  // Nothing is copied to it, so it has the older version.
  first.proxy.fail(({ method }) => (method === 'GET' ? 'pass' : { refuse: 500 }))
  await first.restart()
  t.deepEqual(await lookUp(first.powerDns, `www.${ZONE}`, 'A'), [address(1)])
  succeeded(await api.patch(PATH, { records: [address(3)] }), 200)
  await eventuallyIs(served, all(3))
  t.deepEqual(await lookUp(first.powerDns, `www.${ZONE}`, 'A'), [address(1)])
})
