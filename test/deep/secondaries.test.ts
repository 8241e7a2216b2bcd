import test, { type ExecutionContext } from 'ava'
import { unixTime } from '../../src/time.ts'
import { domainOf } from '../support/clients/api.ts'
import type { Answer } from '../support/clients/client.ts'
import { ask, lookUp } from '../support/dns/dns.ts'
import { validate } from '../support/dns/validators.ts'
import { eventuallyIs } from '../support/eventually.ts'
import { type TestProcess, useServers } from '../support/harness.ts'
import { type SecondaryServer, startSecondary } from '../support/servers/secondaries.ts'

// Nameservers of other projects transfer the zones: they are told of changes (RFC 1996), and the publication status
// (contract §15.6) says what they serve.

const servers = useServers()
const ZONES = ['told.example', 'bulk.example', 'again.example', 'missed.example']
let secondaries: SecondaryServer[] = []
let service: TestProcess

test.serial.before('secondaries of every kind', async () => {
  const { powerDns } = servers()
  secondaries = await Promise.all(
    (['bind', 'knot', 'nsd', 'powerdns'] as const).map((kind) => startSecondary(kind, powerDns, ZONES)),
  )
  const SECONDARIES = secondaries.map(({ kind, dnsHost, dnsPort }) => `${kind}.example=${dnsHost}:${dnsPort}`).join()
  service = await servers().start({ SECONDARIES })
})

test.after.always(async () => {
  for (const secondary of secondaries) await secondary.kill()
})

interface Status {
  version: number
  published: string
  status: string
  nameservers: { name: string; status: string; version: number | null }[]
}

const www = (...records: string[]) => ({ subname: 'www', type: 'A', ttl: 60, records })
const PATIENT = { headers: { Prefer: 'wait=30' } }

async function statusOf(zone: string, query = ''): Promise<Status> {
  return (await service.api.get(`/domains/${zone}/publication/${query}`)).json as Status
}

/** The serial that a server answers; its answer code if it has none. */
async function serialAt(server: SecondaryServer, zone: string): Promise<number | string> {
  const { rcode, answers } = await ask(server, zone, 'SOA')
  const soa = answers.find(({ type }) => type === 'SOA')
  return soa?.type === 'SOA' ? (soa.data.serial ?? 0) : rcode
}

/** Whether the status says what the servers themselves say. */
async function agrees(zone: string): Promise<boolean> {
  const { version, published, nameservers } = await statusOf(zone)
  const weeks = Math.floor(unixTime(published) / (7 * 86_400))
  const serials = await Promise.all(secondaries.map((secondary) => serialAt(secondary, zone)))
  return serials.every((serial, at) => {
    const said = nameservers.find(({ name }) => name === `${secondaries[at]!.kind}.example.`)!
    if (typeof serial === 'string') return said.version === null
    return said.version === serial - weeks && (said.status === 'INSYNC') === said.version >= version
  })
}

/** The DS of a domain, which its parent would have. */
async function dsOf(zone: string): Promise<string[]> {
  return (await domainOf(service.api, zone)).keys.flatMap(({ ds }) => ds)
}

/** Asserts that each secondary proves what it answers: the SOA, these names' A records, and that there is no other name. */
async function areProven(t: ExecutionContext, zone: string, ...names: string[]): Promise<void> {
  const ds = await dsOf(zone)
  const questions = [[zone, 'SOA'], ...names.map((name) => [`${name}.${zone}`, 'A'])] as [string, string][]
  for (const secondary of secondaries) {
    for (const question of questions) {
      t.is(
        await validate(secondary, zone, ds, ...question),
        'fully validated',
        `${secondary.kind} ${question.join(' ')}`,
      )
    }
    const denial = await validate(secondary, zone, ds, `nothing.${zone}`, 'A')
    t.is(denial, 'negative response, fully validated', secondary.kind)
  }
}

test.serial('a new domain, a change and a bulk write are served by all when the status says so', async (t) => {
  const zone = 'told.example'
  const path = `/domains/${zone}/rrsets/`
  const many = Array.from({ length: 500 }, (_, i) => ({ ...www('192.0.2.1'), subname: `name-${i}` }))
  const writes: [() => Promise<Answer>, ...names: string[]][] = [
    [() => service.api.post('/domains/', { name: zone }, PATIENT)],
    [() => service.api.post(path, www('192.0.2.1'), PATIENT), 'www'],
    [() => service.api.put(`${path}www/A/`, www('192.0.2.2'), PATIENT), 'www'],
    [() => service.api.patch(path, many, PATIENT), 'www', 'name-0', 'name-499'],
    [() => service.api.delete(`${path}www/A/`, PATIENT), 'name-0'],
  ]
  for (const [write, ...names] of writes) {
    const { text, headers } = await write()
    t.is(headers['zoneplane-publication'], 'INSYNC', text)
    const { version, status, nameservers } = await statusOf(zone)
    t.is(status, 'INSYNC')
    const versions = nameservers.map((server) => server.version)
    t.deepEqual(versions, Array<number>(5).fill(version))
    t.true(await agrees(zone))
    await areProven(t, zone, ...names)
  }
  for (const secondary of secondaries) {
    t.deepEqual(await lookUp(secondary, `name-499.${zone}`, 'A'), ['192.0.2.1'])
    t.is((await ask(secondary, `www.${zone}`, 'A')).rcode, 'NXDOMAIN')
  }
})

test.serial('a domain that is deleted and created again is served by all, with its new keys', async (t) => {
  const zone = 'again.example'
  const former: string[] = []
  for (const address of ['192.0.2.1', '192.0.2.2']) {
    t.is((await service.api.post('/domains/', { name: zone })).status, 201)
    const written = await service.api.post(`/domains/${zone}/rrsets/`, www(address), PATIENT)
    t.is(written.headers['zoneplane-publication'], 'INSYNC')
    for (const secondary of secondaries) t.deepEqual(await lookUp(secondary, `www.${zone}`, 'A'), [address])
    await areProven(t, zone, 'www')
    for (const ds of former) t.false((await dsOf(zone)).includes(ds))
    former.push(...(await dsOf(zone)))
    await service.api.delete(`/domains/${zone}/`)
  }
})

test.serial('a secondary that is down does not count, and catches up after its return by itself', async (t) => {
  const zone = 'missed.example'
  await service.api.post('/domains/', { name: zone }, PATIENT)
  for (const down of secondaries) {
    const address = `192.0.2.${1 + secondaries.indexOf(down)}`
    await down.kill()
    const written = await service.api.put(`/domains/${zone}/rrsets/`, [www(address)], PATIENT)
    t.is(written.headers['zoneplane-publication'], 'INSYNC', down.kind)
    const { nameservers } = await statusOf(zone)
    const shown = nameservers.find(({ name }) => name === `${down.kind}.example.`)
    t.like(shown, { status: 'UNREACHABLE', version: null })
    await down.start()
    await eventuallyIs(async () => (await lookUp(down, `www.${zone}`, 'A')).join(), address)
    t.like(await statusOf(zone, '?wait=30'), { status: 'INSYNC' })
  }
})
