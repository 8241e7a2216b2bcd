import type { ExecutionContext } from 'ava'
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { domainOf, succeeded } from '../../support/clients/api.ts'
import { lookUp, type Server } from '../../support/dns/dns.ts'
import { validate } from '../../support/dns/validators.ts'
import { servedSerial } from '../../support/dns/wire.ts'
import { eventually, eventuallyIs } from '../../support/eventually.ts'
import { type TestProcess, useServers } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'
import { freePort } from '../../support/servers/ports.ts'
import { startExample } from '../../support/servers/postgres/examples.ts'
import type { RestartableServer } from '../../support/servers/secondaries.ts'

// The hidden primary of docs/deployment.md, with the files of docs/examples: PowerDNS signs, BIND is the hub, and Knot and
// NSD transfer the zones from it.

const servers = useServers()
const secret = randomBytes(32).toString('base64')
const KEY = `hmac-sha256:transfer:${secret}`
const ZONE = 'example.com'
const RRSETS = `/domains/${ZONE}/rrsets/`
const NAMES = 3000
const PATIENT = { headers: { Prefer: 'wait=30' } }
let hub: RestartableServer
let knot: RestartableServer
let nsd: RestartableServer
let service: TestProcess
/** The DS of the zone. */
let ds: string[]

test.before('the nameservers start', async () => {
  const ports = new Map([[31, servers().powerDns.dnsPort]])
  for (const number of [32, 33, 34]) ports.set(number, await freePort())
  hub = await startExample('bind-hub.conf', { ports, secret })
  knot = await startExample('knot.conf', { ports, secret })
  nsd = await startExample('nsd.conf', { ports, secret })
  const all = [hub, knot, nsd].map(({ dnsHost, dnsPort }, i) => `ns${i + 1}.example.net=${dnsHost}:${dnsPort}`)
  service = await servers().start({
    NAMESERVERS: 'ns1.example.net, ns2.example.net, ns3.example.net',
    SECONDARIES: all.join(),
    TRANSFER_KEY: KEY,
  })
})

test.after.always(async () => {
  for (const server of [hub, knot, nsd]) await (server as RestartableServer | undefined)?.kill()
})

const www = (address: string) => ({ subname: 'www', type: 'A', ttl: 60, records: [address] })

/** What the publication status says of each nameserver. */
async function statuses(query = ''): Promise<Record<string, string>> {
  const { json } = succeeded(await service.api.get(`/domains/${ZONE}/publication/${query}`), 200)
  const { nameservers } = json as { nameservers: { name: string; status: string; detail?: string }[] }
  return Object.fromEntries(nameservers.map(({ name, status, detail }) => [name.slice(0, 3), detail ?? status]))
}

/** Asserts that these servers answer a change, and prove it. */
async function answer(t: ExecutionContext, all: Server[], address: string): Promise<void> {
  for (const server of all) {
    t.deepEqual(await lookUp(server, `www.${ZONE}`, 'A'), [address])
    t.is(await validate(server, ZONE, ds, `www.${ZONE}`, 'A'), 'fully validated')
    t.is(await validate(server, ZONE, ds, `no.${ZONE}`, 'A'), 'negative response, fully validated')
  }
}

/** Changes an address; returns what the answer to the write says of the publication. */
async function change(address: string): Promise<unknown> {
  const written = succeeded(await service.api.put(RRSETS, [www(address)], PATIENT), 200)
  return written.headers['zoneplane-publication']
}

/** The records that a server sends to one that has the zone of this serial. */
async function difference({ dnsHost, dnsPort }: Server, serial: number): Promise<number> {
  const target = [`@${dnsHost}`, '-p', String(dnsPort), '-y', KEY, ZONE, `IXFR=${serial}`]
  const { stdout } = await promisify(execFile)('dig', [...target, '+noall', '+answer'], { maxBuffer: 2 ** 28 })
  return stdout.split('\n').filter((line) => /^\S+\s+\d+\s+IN\s/.test(line) && !line.includes('\tTSIG\t')).length
}

test('a domain and its changes arrive everywhere, signed; the status is about the secondaries alone', async (t) => {
  const created = await service.api.post('/domains/', { name: ZONE }, PATIENT)
  t.is(created.headers['zoneplane-publication'], 'INSYNC', created.text)
  ds = (await domainOf(service.api, ZONE)).keys.flatMap((key) => key.ds)
  t.is(await change('192.0.2.1'), 'INSYNC')
  t.deepEqual(await statuses(), { ns1: 'INSYNC', ns2: 'INSYNC', ns3: 'INSYNC' })
  await answer(t, [hub, knot, nsd], '192.0.2.1')
})

test('the hub gives nobody the zone without the key', async (t) => {
  const { dnsHost, dnsPort } = hub
  const { stdout } = await promisify(execFile)('dig', [`@${dnsHost}`, '-p', String(dnsPort), ZONE, 'AXFR'])
  t.true(stdout.includes('; Transfer failed'))
})

test(`of a change in ${NAMES} RRsets, the hub sends some records, and PowerDNS all`, async (t) => {
  const names = Array.from({ length: NAMES }, (_, i) => ({ ...www('192.0.2.9'), subname: `name-${i}` }))
  const written = succeeded(await service.api.patch(RRSETS, names, PATIENT), 200)
  t.is(written.headers['zoneplane-publication'], 'INSYNC')
  const serial = await servedSerial(hub, ZONE)
  t.is(await change('192.0.2.2'), 'INSYNC')
  const [sent, whole] = [await difference(hub, serial), await difference(servers().powerDns, serial)]
  t.log(`${sent} records instead of ${whole}`)
  t.true(sent > 4 && sent < 20, `${sent}`)
  t.true(whole > NAMES, `${whole}`)
  await answer(t, [hub, knot, nsd], '192.0.2.2')
})

test('a restart of PowerDNS, whose new signatures differ, harms nothing', async (t) => {
  await servers().powerDns.stop()
  await answer(t, [hub, knot, nsd], '192.0.2.2')
  t.is((await service.api.put(RRSETS, [www('192.0.2.3')])).status, 503)
  await servers().restartPowerDns()
  await eventuallyIs(async () => (await service.api.put(RRSETS, [www('192.0.2.3')])).status, 200)
  t.deepEqual(await statuses('?wait=30'), { ns1: 'INSYNC', ns2: 'INSYNC', ns3: 'INSYNC' })
  await answer(t, [hub, knot, nsd], '192.0.2.3')
})

test('while the hub is down the others answer what they have; after its return they catch up', async (t) => {
  await hub.kill()
  t.is(await change('192.0.2.4'), 'PENDING')
  const stale = 'serves an older version'
  t.deepEqual(await statuses(), { ns1: 'UNREACHABLE', ns2: stale, ns3: stale })
  await answer(t, [knot, nsd], '192.0.2.3')
  await hub.start()
  await eventually(async () => Object.values(await statuses('?wait=30')).every((status) => status === 'INSYNC'))
  await answer(t, [hub, knot, nsd], '192.0.2.4')
})

test('Knot or NSD that is down catches up after its return', async (t) => {
  for (const [server, address] of [
    [knot, '192.0.2.5'],
    [nsd, '192.0.2.6'],
  ] as const) {
    // prettier-ignore
    await server.kill()
    t.is(await change(address), 'INSYNC')
    await server.start()
    await eventually(async () => Object.values(await statuses('?wait=30')).every((status) => status === 'INSYNC'))
    await answer(t, [hub, knot, nsd], address)
  }
})

test('all three are restarted while PowerDNS is down, and answer', async (t) => {
  await servers().powerDns.stop()
  for (const server of [hub, knot, nsd]) {
    await server.kill()
    await server.start()
  }
  for (const server of [hub, knot, nsd]) {
    await eventuallyIs(async () => (await lookUp(server, `www.${ZONE}`, 'A')).join(), '192.0.2.6')
  }
  await answer(t, [hub, knot, nsd], '192.0.2.6')
})
