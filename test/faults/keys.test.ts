import test, { type ExecutionContext } from 'ava'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { promisify } from 'node:util'
import { findPostgres } from '../../src/installation/postgres-programs.ts'
import { createLog } from '../../src/log.ts'
import { pause, resume } from '../../src/service/adoption/pausing.ts'
import { trimHistory } from '../../src/service/domains/retention.ts'
import { audit } from '../../src/service/repair/audit.ts'
import { reconcileAll } from '../../src/service/repair/reconcile.ts'
import { query } from '../../src/store/database.ts'
import { dsIn } from '../support/clients/api.ts'
import { discrepancies, discrepanciesOf } from '../support/dns/discrepancies.ts'
import { validate } from '../support/dns/validators.ts'
import { servedSerial } from '../support/dns/wire.ts'
import { eventuallyIs } from '../support/eventually.ts'
import { type OwnService, useServers } from '../support/harness.ts'
import { type Call, type Fate, toZone } from '../support/servers/proxy.ts'
import { changeAtPowerDns } from '../support/state/behind-our-back.ts'
import { unrepaired } from '../support/state/marks.ts'

// The keys that sign a zone are in the database, so no fault changes the DS at the parent.

const servers = useServers()
let service: OwnService

test.serial.before('a service is started', async () => {
  service = await servers().serve({ LOG_LEVEL: 'debug' })
})

interface PdnsKey {
  id: number
  dnskey: string
  active: boolean
  published: boolean
  privatekey: string
}

const address = (content: string) => ({ subname: 'www', type: 'A', ttl: 300, records: [content] })

/** All keys at PowerDNS, with their private halves. */
async function keysOf(name: string): Promise<Omit<PdnsKey, 'id'>[]> {
  const path = `/zones/${name}./cryptokeys`
  const listed = (await servers().pdns('GET', path)).json as PdnsKey[]
  const keys = await Promise.all(listed.map(({ id }) => servers().pdns('GET', `${path}/${id}`)))
  return keys
    .map(({ json }) => json as PdnsKey)
    .map(({ dnskey, active, published, privatekey }) => ({ dnskey, active, published, privatekey }))
    .sort((a, b) => (a.dnskey < b.dnskey ? -1 : 1))
}

const addKey = (name: string, key: object) => servers().pdns('POST', `/zones/${name}./cryptokeys`, key)

/** A domain with an RRset, and its DS. */
async function makeDomain(name: string): Promise<string[]> {
  const ds = dsIn(await service.api.post('/domains/', { name }))
  await service.api.post(`/domains/${name}/rrsets/`, address('192.0.2.1'))
  return ds
}

/** Whether resolvers that trust this DS believe what the zone has, and what it has not. */
async function isBelieved(t: ExecutionContext, name: string, ds: string[]): Promise<void> {
  for (const one of ds) t.is(await validate(servers().powerDns, name, [one], `www.${name}`, 'A'), 'fully validated')
  const denial = await validate(servers().powerDns, name, ds, `absent.${name}`, 'A')
  t.is(denial, 'negative response, fully validated')
}

const secretsOf = (name: string) =>
  query<{ dnskey: string; secret: Buffer }>(
    servers().system.db,
    `select dnskey, secret from keys where domain_id = (select id from domains where name = :name)`,
    { name },
  )

test.serial('a creation stores the key; its private half is in no answer, log or dump', async (t) => {
  const name = 'secret.example'
  const created = await service.api.post('/domains/', { name })
  const [key] = await keysOf(name)
  t.is((await secretsOf(name))[0]!.dnskey, key!.dnskey)
  await reconcileAll(servers().system, { contents: true })
  await servers().pdns('DELETE', `/zones/${name}.`)
  t.is((await service.api.put(`/domains/${name}/rrsets/`, [address('192.0.2.2')])).status, 200)
  const read = await service.api.get(`/domains/${name}/`)
  t.deepEqual(await keysOf(name), [key])
  const [, half] = /^PrivateKey: (\S+)$/m.exec(key!.privatekey)!
  const octets = Buffer.from(half!, 'base64')
  const dump = await promisify(execFile)(join(findPostgres()!.folder, 'pg_dump'), [servers().backends.databaseUrl])
  t.true(dump.stdout.includes(key!.dnskey))
  const texts = [JSON.stringify(created.json), JSON.stringify(read.json), service.logged(), dump.stdout]
  for (const text of texts) {
    for (const form of ['Private-key-format', half!, octets.toString('hex'), octets.toString('latin1')])
      t.false(text.includes(form))
  }
})

test.serial('if PowerDNS makes no key for a new zone, the zone is created again', async (t) => {
  const { proxy } = servers()
  const name = 'keyless.example'
  const path = `/zones/${name}./cryptokeys`
  // As when its cache still has the key of a deleted zone of this name.
  const listed = proxy.stop((call) => call.method === 'GET' && call.path === path)
  const creating = service.api.post('/domains/', { name })
  await listed.arrived
  const [{ id }] = (await servers().pdns('GET', path)).json as [PdnsKey]
  await servers().pdns('DELETE', `${path}/${id}`)
  listed.release('pass')
  const created = await creating
  t.is(created.status, 201)
  const [key, ...others] = await keysOf(name)
  t.like(created.json, { keys: [{ dnskey: key!.dnskey }] })
  t.deepEqual(others, [])
  t.deepEqual(await discrepancies(servers()), [])
})

test.serial('a zone that vanished comes back with its key and a higher serial', async (t) => {
  const name = 'vanished.example'
  const ds = await makeDomain(name)
  const [keys, serial] = [await keysOf(name), await servedSerial(servers().powerDns, name)]
  await servers().pdns('DELETE', `/zones/${name}.`)
  t.deepEqual(await reconcileAll(servers().system, { contents: false }), { doubtful: [name], left: [] })
  t.deepEqual(await keysOf(name), keys)
  t.true((await servedSerial(servers().powerDns, name)) > serial)
  await isBelieved(t, name, ds)
  t.deepEqual(await discrepancies(servers()), [])
})

test.serial('all keys of a zone come back, of any kind and state', async (t) => {
  const name = 'several.example'
  const ds = await makeDomain(name)
  await addKey(name, { keytype: 'ksk', active: true, published: true, algorithm: 'ecdsa384' })
  await addKey(name, { keytype: 'zsk', active: true, published: true, algorithm: 'ecdsa384' })
  await addKey(name, { keytype: 'zsk', active: false, published: true, algorithm: 'rsasha256', bits: 1024 })
  await addKey(name, { keytype: 'csk', active: false, published: false, algorithm: 'ed25519' })
  t.deepEqual(await audit(servers().system, () => true), [name])
  await reconcileAll(servers().system, { contents: true })
  const keys = await keysOf(name)
  t.is(keys.length, 5)
  await servers().pdns('DELETE', `/zones/${name}.`)
  await reconcileAll(servers().system, { contents: false })
  t.deepEqual(await keysOf(name), keys)
  await isBelieved(t, name, ds)
  t.is((await service.api.delete(`/domains/${name}/`)).status, 204)
})

/** Changes the keys of a paused domain at PowerDNS, and takes them over. */
async function changeKeys(name: string, work: () => Promise<unknown>): Promise<void> {
  await pause(servers().system, name)
  await work()
  await resume(servers().system, name, 'theirs')
}

test.serial('a key that the operator rolls over while the domain is paused stays removed', async (t) => {
  const name = 'rolled.example'
  await makeDomain(name)
  const path = `/zones/${name}./cryptokeys`
  const [old] = (await servers().pdns('GET', path)).json as [PdnsKey]
  await changeKeys(name, () => addKey(name, { keytype: 'csk', active: true, published: true, algorithm: 'ecdsa256' }))
  t.is((await secretsOf(name)).length, 2)
  await changeKeys(name, () => servers().pdns('DELETE', `${path}/${old.id}`))
  const keys = await keysOf(name)
  t.is(keys.length, 1)
  t.deepEqual(await reconcileAll(servers().system, { contents: true }), { doubtful: [], left: [] })
  await servers().pdns('DELETE', `/zones/${name}.`)
  await reconcileAll(servers().system, { contents: false })
  t.deepEqual(await keysOf(name), keys)
  t.deepEqual(await discrepancies(servers()), [])
})

test.serial(
  'a PowerDNS with the keys of before a rollover gets the new key back; the old one is reported',
  async (t) => {
    const name = 'key-of-before.example'
    await makeDomain(name)
    const path = `/zones/${name}./cryptokeys`
    const [old] = await keysOf(name)
    await changeKeys(name, async () => {
      const [{ id }] = (await servers().pdns('GET', path)).json as [PdnsKey]
      await addKey(name, { keytype: 'csk', active: true, published: true, algorithm: 'ecdsa256' })
      await servers().pdns('DELETE', `${path}/${id}`)
    })
    const shown = (await service.api.get(`/domains/${name}/`)).json as { keys: { ds: string[] }[] }
    const ds = shown.keys.flatMap((key) => key.ds)
    const [rolled] = await keysOf(name)
    const [{ id }] = (await servers().pdns('GET', path)).json as [PdnsKey]
    await addKey(name, { keytype: 'csk', active: true, published: true, privatekey: old!.privatekey })
    await servers().pdns('DELETE', `${path}/${id}`)

    const stream = new PassThrough()
    const system = { ...servers().system, log: createLog('warn', stream) }
    t.deepEqual(await reconcileAll(system, { contents: true }), { doubtful: [name], left: [] })
    const both = await keysOf(name)
    t.deepEqual(
      both.map(({ dnskey }) => dnskey),
      [old!, rolled!].map(({ dnskey }) => dnskey).sort(),
    )
    t.is((await secretsOf(name)).length, 2)
    // The service may have been faster.
    const logged = `${String(stream.read())}${service.logged()}`
    t.true(logged.includes(`"keys":"${old!.dnskey}"`), logged)
    await isBelieved(t, name, ds)
    t.is((await service.api.delete(`/domains/${name}/`)).status, 204)
  },
)

test.serial('a key whose state somebody changed gets its state back', async (t) => {
  const name = 'states.example'
  await makeDomain(name)
  const path = `/zones/${name}./cryptokeys`
  await addKey(name, { keytype: 'csk', active: false, published: false, algorithm: 'ecdsa256' })
  await reconcileAll(servers().system, { contents: true })
  const keys = await keysOf(name)
  t.deepEqual(keys.map(({ active }) => active).sort(), [false, true])
  for (const { id, active } of (await servers().pdns('GET', path)).json as PdnsKey[])
    await servers().pdns('PUT', `${path}/${id}`, { active: true, published: active })
  t.deepEqual(await reconcileAll(servers().system, { contents: true }), { doubtful: [name], left: [] })
  t.deepEqual(await keysOf(name), keys)
  t.is((await service.api.delete(`/domains/${name}/`)).status, 204)
})

test.serial('a zone that somebody made anew gets its key back, beside the new one, and both are stored', async (t) => {
  const name = 'anew.example'
  const ds = await makeDomain(name)
  const keys = await keysOf(name)
  const { json } = await servers().pdns('GET', `/zones/${name}.`)
  const { rrsets, serial } = json as { rrsets: object[]; serial: number }
  await servers().pdns('DELETE', `/zones/${name}.`)
  const zone = { name: `${name}.`, kind: 'Master', dnssec: true, soa_edit_api: '', api_rectify: true, rrsets }
  t.is((await servers().pdns('POST', '/zones', { ...zone, nsec3param: '1 0 0 -', nameservers: [] })).status, 201)
  const [foreign] = await keysOf(name)
  t.deepEqual(await reconcileAll(servers().system, { contents: true }), { doubtful: [name], left: [] })
  const both = await keysOf(name)
  t.is(both.length, 2)
  for (const key of [keys[0], foreign]) t.true(both.some(({ dnskey }) => dnskey === key!.dnskey))
  t.is((await secretsOf(name)).length, 2)
  t.true((await servedSerial(servers().powerDns, name)) > serial)
  await isBelieved(t, name, ds)
  t.is((await service.api.delete(`/domains/${name}/`)).status, 204)
})

test.serial('a key that PowerDNS has twice is made one', async (t) => {
  const name = 'twice.example'
  const ds = await makeDomain(name)
  const [key] = await keysOf(name)
  await addKey(name, { keytype: 'csk', active: true, published: true, privatekey: key!.privatekey })
  t.is((await keysOf(name)).length, 2)
  await reconcileAll(servers().system, { contents: true })
  t.deepEqual(await keysOf(name), [key])
  await isBelieved(t, name, ds)
})

test.serial('the keys of zones from a version that did not store them are stored, without a change', async (t) => {
  const names = ['old-1.example', 'old-2.example']
  for (const name of names) await makeDomain(name)
  const stored = await Promise.all(names.map(secretsOf))
  const serials = await Promise.all(names.map((name) => servedSerial(servers().powerDns, name)))
  await query(servers().system.db, 'delete from keys')
  t.deepEqual(await reconcileAll(servers().system, { contents: false }), { doubtful: [], left: [] })
  const now = await Promise.all(names.map(secretsOf))
  const dnskeys = (zones: typeof stored) => zones.map((keys) => keys.map(({ dnskey }) => dnskey))
  t.deepEqual(dnskeys(now), dnskeys(stored))
  t.notDeepEqual(now, stored)
  t.deepEqual(await Promise.all(names.map((name) => servedSerial(servers().powerDns, name))), serials)
})

test.serial('a service stores them at its start', async (t) => {
  await service.stop()
  await query(servers().system.db, 'delete from keys')
  service = await servers().serve({ LOG_LEVEL: 'debug' })
  const missing = 'select from domains where not exists (select from keys where domain_id = id)'
  await eventuallyIs(async () => (await query(servers().system.db, missing)).length, 0)
  t.deepEqual(await unrepaired(servers()), [])
})

test.serial('a zone that has no SOA keeps its key, even if it was not stored before', async (t) => {
  const name = 'no-soa.example'
  const ds = await makeDomain(name)
  const keys = await keysOf(name)
  await changeAtPowerDns(servers(), name, ['', 'SOA', 300])
  await query(servers().system.db, `delete from keys where domain_id = (select id from domains where name = :name)`, {
    name,
  })
  await reconcileAll(servers().system, { contents: false })
  t.deepEqual(await keysOf(name), keys)
  await isBelieved(t, name, ds)
})

test.serial('a deletion of unknown outcome that was carried out comes back with its key', async (t) => {
  const name = 'undeleted.example'
  const ds = await makeDomain(name)
  const keys = await keysOf(name)
  servers().proxy.fail(({ method }) => (method === 'DELETE' ? 'swallow' : 'pass'))
  t.is((await service.api.delete(`/domains/${name}/`)).status, 503)
  servers().proxy.heal()
  t.deepEqual(await discrepanciesOf(servers(), name), [])
  t.deepEqual(await keysOf(name), keys)
  await isBelieved(t, name, ds)
})

test.serial('a domain that is created again has a new key; the old one goes with the history', async (t) => {
  const name = 'again.example'
  const [before] = await makeDomain(name)
  const [old] = await secretsOf(name)
  const isStored = async () => {
    return (await query(servers().system.db, 'select from keys where dnskey = :dnskey', old)).length === 1
  }
  await service.api.delete(`/domains/${name}/`)
  t.notDeepEqual([before], await makeDomain(name))
  t.true(await isStored())
  const { system } = servers()
  await query(system.db, `update deleted_domains set deleted = deleted - interval '91 days' where name = :name`, {
    name,
  })
  await trimHistory(system)
  t.false(await isStored())
  t.is((await secretsOf(name)).length, 1)
})

test.serial('a deleted domain comes back with its keys, of any kind and state, and its denial', async (t) => {
  const name = 'returned.example'
  const ds = await makeDomain(name)
  await addKey(name, { keytype: 'ksk', active: true, published: true, algorithm: 'ecdsa384' })
  await addKey(name, { keytype: 'zsk', active: true, published: true, algorithm: 'ecdsa384' })
  await addKey(name, { keytype: 'csk', active: false, published: false, algorithm: 'ed25519' })
  await servers().pdns('PUT', `/zones/${name}.`, { nsec3param: '' })
  await query(servers().system.db, `update domains set denial = '' where name = :name`, { name })
  await reconcileAll(servers().system, { contents: true })
  const keys = await keysOf(name)
  t.is((await service.api.delete(`/domains/${name}/`)).status, 204)
  t.is((await servers().pdns('GET', `/zones/${name}.`)).status, 404)
  const returned = dsIn(await service.api.post('/domains/', { name, restore: true }))
  t.true(ds.every((one) => returned.includes(one)))
  t.deepEqual(await keysOf(name), keys)
  t.like((await servers().pdns('GET', `/zones/${name}.`)).json, { nsec3param: '', dnssec: true })
  await isBelieved(t, name, ds)
  t.is((await service.api.delete(`/domains/${name}/`)).status, 204)
})

/** The requests that make a zone with stored keys, in their order. */
const STEPS: [what: string, isIt: (call: Call, name: string) => boolean][] = [
  ['the zone is made', ({ method, body }, name) => method === 'POST' && body.includes(`"${name}."`)],
  ['the key is added', ({ method, path }, name) => method === 'POST' && path === `/zones/${name}./cryptokeys`],
  ['the zone is configured', toZone('PUT')],
  ['the contents are sent', toZone('PATCH')],
  ['the caches are flushed', ({ path }, name) => path === `/cache/flush?domain=${name}.`],
  ['the zone is read again', toZone('GET')],
]

for (const [i, [what, isIt]] of STEPS.entries()) {
  const isQuestion = i === STEPS.length - 1
  // A question may be lost or answered: PowerDNS is the same afterwards.
  const fates: Fate[] = isQuestion ? ['cut'] : ['cut', 'swallow', { late: 500 }]

  test.serial(`if the service is killed when ${what}, the zones come back with their keys`, async (t) => {
    const names = fates.map((_, round) => `killed-${i}-${round}.example`)
    const ds: string[][] = []
    for (const name of names) ds.push(await makeDomain(name))
    const keys = await Promise.all(names.map(keysOf))
    await service.stop()
    for (const name of names) await servers().pdns('DELETE', `/zones/${name}.`)
    const stops = names.map((name) => {
      // Repair reads the zone before, too.
      if (isQuestion)
        servers()
          .proxy.stop((call) => isIt(call, name))
          .release('pass')
      return servers().proxy.stop((call) => isIt(call, name))
    })
    const victim = await servers().start()
    await Promise.all(stops.map(({ arrived }) => arrived))
    await victim.kill()
    for (const [round, { release }] of stops.entries()) release(fates[round]!)
    service = await servers().serve({ LOG_LEVEL: 'debug' })
    for (const [round, name] of names.entries()) {
      t.deepEqual(await discrepanciesOf(servers(), name), [])
      t.deepEqual(await keysOf(name), keys[round])
      await isBelieved(t, name, ds[round]!)
    }
  })
}

test.serial('a PowerDNS that lost all zones gets them back, with their keys, while the service runs', async (t) => {
  const name = 'lost.example'
  const ds = await makeDomain(name)
  const names = (await query<{ name: string }>(servers().system.db, 'select name from domains')).map(({ name }) => name)
  const keys = await Promise.all(names.map(keysOf))
  await servers().powerDns.stop()
  await servers().restartPowerDns({ empty: true })
  // The service may have repaired some already.
  t.true(((await servers().pdns('GET', '/zones')).json as []).length < names.length)
  t.deepEqual((await reconcileAll(servers().system, { contents: false })).left, [])
  t.deepEqual(await Promise.all(names.map(keysOf)), keys)
  t.deepEqual(await discrepancies(servers()), [])
  await isBelieved(t, name, ds)
})
