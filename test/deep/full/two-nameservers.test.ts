import test from 'ava'
import { randomBytes } from 'node:crypto'
import { domainOf, succeeded } from '../../support/clients/api.ts'
import { lookUp } from '../../support/dns/dns.ts'
import { validate } from '../../support/dns/validators.ts'
import { eventuallyIs } from '../../support/eventually.ts'
import { type TestProcess, useServers } from '../../support/harness.ts'
import { freePort } from '../../support/servers/ports.ts'
import { startExample } from '../../support/servers/postgres/examples.ts'
import type { RestartableServer } from '../../support/servers/secondaries.ts'

// Two nameservers, as docs/deployment.md has them: PowerDNS, and a secondary with a file of docs/examples. That secondaries
// which were down catch up is in test/deep/secondaries.test.ts.

const servers = useServers()
const secret = randomBytes(32).toString('base64')
const ZONE = 'example.com'
const RRSETS = `/domains/${ZONE}/rrsets/`
const PATIENT = { headers: { Prefer: 'wait=30' } }

const SECONDARIES = [
  ['knot.conf', 33],
  ['nsd.conf', 34],
] as const

for (const [file, number] of SECONDARIES) {
  let service: TestProcess
  let secondary: RestartableServer
  /** The DS of the zone. */
  let ds: string[]

  const change = (address: string) =>
    service.api.put(RRSETS, [{ subname: 'www', type: 'A', ttl: 60, records: [address] }], PATIENT)

  /** What the status says of both, once all that answer are equal. */
  async function statuses(): Promise<Record<string, string>> {
    const { json } = succeeded(await service.api.get(`/domains/${ZONE}/publication/?wait=30`), 200)
    const { nameservers } = json as { nameservers: { name: string; status: string }[] }
    return Object.fromEntries(nameservers.map(({ name, status }) => [name.slice(0, 3), status]))
  }

  /** Whether the nameserver answers this, and proves it. */
  async function answers(server: { dnsHost: string; dnsPort: number }, address: string): Promise<boolean> {
    const found = await lookUp(server, `www.${ZONE}`, 'A')
    const proofs = [
      await validate(server, ZONE, ds, `www.${ZONE}`, 'A'),
      await validate(server, ZONE, ds, `no.${ZONE}`, 'A'),
    ]
    return [...found, ...proofs].join() === `${address},fully validated,negative response, fully validated`
  }

  test.serial(`${file}: a domain and its changes are served by both`, async (t) => {
    const { dnsPort } = servers().powerDns
    // The file names the hub as the server to transfer from.
    const ports = new Map([
      [31, dnsPort],
      [32, dnsPort],
      [number, await freePort()],
    ] as const)
    secondary = await startExample(file, { ports, secret })
    service = await servers().start({
      NAMESERVERS: 'ns1.example.net, ns2.example.net',
      SECONDARIES: `ns2.example.net=${secondary.dnsHost}:${secondary.dnsPort}`,
      TRANSFER_KEY: `hmac-sha256:transfer:${secret}`,
    })
    const created = await service.api.post('/domains/', { name: ZONE }, PATIENT)
    t.is(created.headers['zoneplane-publication'], 'INSYNC', created.text)
    ds = (await domainOf(service.api, ZONE)).keys.flatMap((key) => key.ds)
    t.is((await change('192.0.2.1')).headers['zoneplane-publication'], 'INSYNC')
    t.deepEqual(await statuses(), { ns1: 'INSYNC', ns2: 'INSYNC' })
    t.true(await answers(servers().powerDns, '192.0.2.1'))
    t.true(await answers(secondary, '192.0.2.1'))
  })

  test.serial(`${file}: while PowerDNS is down, it answers, and writes are 503`, async (t) => {
    await servers().powerDns.stop()
    t.true(await answers(secondary, '192.0.2.1'))
    t.is((await change('192.0.2.3')).status, 503)
    await servers().restartPowerDns()
    await eventuallyIs(async () => (await change('192.0.2.3')).status, 200)
    t.deepEqual(await statuses(), { ns1: 'INSYNC', ns2: 'INSYNC' })
    t.true(await answers(secondary, '192.0.2.3'))
    succeeded(await service.api.delete(`/domains/${ZONE}/`), 204)
    await servers().killServices()
    await secondary.kill()
  })
}
