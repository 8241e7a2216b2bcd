import test from 'ava'
import { randomBytes } from 'node:crypto'
import { query } from '../../../src/store/database.ts'
import { ask, lookUp, type Server } from '../../support/dns/dns.ts'
import { eventually, eventuallyIs } from '../../support/eventually.ts'
import { type TestProcess, useServers } from '../../support/harness.ts'
import { freePort } from '../../support/servers/ports.ts'
import { startExample } from '../../support/servers/postgres/examples.ts'
import { runOurs } from '../../support/servers/programs.ts'
import { type RestartableServer, versionOf } from '../../support/servers/secondaries.ts'
import { environmentFor } from '../../support/servers/service.ts'

// BIND, Knot, PowerDNS and NSD serve what the catalog zone lists (RFC 9432), with the files of docs/examples. They are told of
// nothing else: no zone is configured at any of them.

const servers = useServers()
const KINDS: ('bind' | 'knot' | 'powerdns' | 'nsd')[] = ['bind', 'knot', 'powerdns']
const nsd = versionOf('nsd')
if (/^4\.[0-8]\./.test(nsd)) test.skip(`NSD: this is ${nsd}, and the first with catalog zones is 4.9`, () => undefined)
else KINDS.push('nsd')
const secret = randomBytes(32).toString('base64')
let secondaries: (RestartableServer & { kind: string })[] = []
let environment: Record<string, string>
let service: TestProcess

/** Whether a command succeeds. */
async function zoneplane(...args: string[]): Promise<boolean> {
  return (await runOurs(args, environmentFor(servers().backends, environment)))[0] === 0
}

test.serial.before('secondaries without zones', async () => {
  const ports = new Map([[31, servers().powerDns.dnsPort]])
  for (const number of [35, 36, 37, 38]) ports.set(number, await freePort())
  const started = KINDS.map(async (kind) => ({
    ...(await startExample(`catalog-${kind}.conf`, { ports, secret })),
    kind,
  }))
  secondaries = await Promise.all(started)
  const SECONDARIES = secondaries.map(({ kind, dnsHost, dnsPort }) => `${kind}.example=${dnsHost}:${dnsPort}`).join()
  const TRANSFER_KEY = `hmac-sha256:transfer:${secret}`
  environment = { SECONDARIES, TRANSFER_KEY, CATALOG_ZONE: 'catalog.example.net', LIMIT_DOMAINS: 'none' }
  service = await servers().start(environment)
})

test.after.always(async () => {
  for (const secondary of secondaries) await secondary.kill()
})

const PATIENT = { headers: { Prefer: 'wait=30' } }
const create = (name: string) => service.api.post('/domains/', { name }, PATIENT)
const write = (name: string, address: string) =>
  service.api.put(`/domains/${name}/rrsets/`, [{ subname: 'www', type: 'A', ttl: 60, records: [address] }], PATIENT)
const remove = (name: string) => service.api.delete(`/domains/${name}/`)

async function serves(server: Server, zone: string): Promise<boolean> {
  const { answers } = await ask(server, zone, 'SOA')
  return answers.some(({ type }) => type === 'SOA')
}

/** Waits until every secondary serves the zones, or none of these any more. */
async function allServe(zones: string[], expected = true): Promise<void> {
  for (const secondary of secondaries) {
    for (const zone of zones) {
      await eventuallyIs(() => serves(secondary, zone), expected).catch((error: unknown) => {
        throw new Error(`${zone} at ${secondary.kind}: ${secondary.output().slice(-2_000)}`, { cause: error })
      })
    }
  }
}

const many = (label: string, n: number) => Array.from({ length: n }, (_, i) => `${label}-${i}.example`)

test.serial('a new domain is served by all; a deleted one by none', async (t) => {
  const created = await create('one.example')
  t.is(created.headers['zoneplane-publication'], 'INSYNC', created.text)
  t.is((await write('one.example', '192.0.2.1')).headers['zoneplane-publication'], 'INSYNC')
  for (const secondary of secondaries) t.deepEqual(await lookUp(secondary, 'www.one.example', 'A'), ['192.0.2.1'])
  await remove('one.example')
  await allServe(['one.example'], false)
})

test.serial('a domain that is created again at once is served with its new keys', async (t) => {
  await create('again.example')
  await write('again.example', '192.0.2.1')
  await remove('again.example')
  const { json } = await create('again.example')
  await write('again.example', '192.0.2.2')
  const [, , , key] = (json as { keys: { dnskey: string }[] }).keys[0]!.dnskey.split(' ')
  for (const secondary of secondaries) {
    await eventually(async () => {
      const [dnskey = ''] = await lookUp(secondary, 'again.example', 'DNSKEY').catch(() => [])
      return dnskey.replaceAll(' ', '').endsWith(key!.replaceAll(' ', ''))
    })
    t.deepEqual(await lookUp(secondary, 'www.again.example', 'A'), ['192.0.2.2'], secondary.kind)
  }
})

test.serial('a secondary that was down learns of new domains after its return by itself', async (t) => {
  for (const down of secondaries) {
    const name = `missed-${down.kind}.example`
    await down.kill()
    t.is((await create(name)).status, 201)
    await down.start()
    await eventually(() => serves(down, name))
  }
})

test.serial('domains that the database has lost in great number stay served until the operator says so', async (t) => {
  const names = many('mass', 30)
  for (const name of names) await service.api.post('/domains/', { name })
  await allServe(names)
  await servers().killServices()
  await query(servers().system.db, 'delete from domains where name = any (:names)', { names })
  service = await servers().start(environment)
  await create('after.example')
  await allServe(['after.example', ...names])
  t.regex(service.output(), /catalog zone would lose too many members/)
  t.true(await zoneplane('catalog', 'publish', '--force'))
  await allServe(names, false)
  await allServe(['after.example'])
})

test.serial('when PowerDNS has lost its data, all go on serving, and follow again afterwards', async (t) => {
  const kept = many('kept', 12)
  for (const name of kept) await service.api.post('/domains/', { name })
  await allServe(kept)
  await servers().powerDns.stop()
  await servers().restartPowerDns({ empty: true })
  t.true(await zoneplane('rebuild'))
  const missed: string[] = []
  for (let round = 0; round < 20; round++) {
    for (const secondary of secondaries) {
      for (const zone of kept) if (!(await serves(secondary, zone))) missed.push(`${zone} at ${secondary.kind}`)
    }
  }
  t.deepEqual(missed, [])
  t.is((await create('new.example')).status, 201)
  await allServe(['new.example', ...kept])
  t.is((await write('kept-0.example', '192.0.2.9')).headers['zoneplane-publication'], 'INSYNC')
})
