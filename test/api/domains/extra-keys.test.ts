import { generateKeyPairSync } from 'node:crypto'
import { audit } from '../../../src/service/repair/audit.ts'
import { reconcileAll } from '../../../src/service/repair/reconcile.ts'
import { query as sql } from '../../../src/store/database.ts'
import { domainOf, newDomain, newRRset, succeeded } from '../../support/clients/api.ts'
import { lookUp, verifyTransfer } from '../../support/dns/dns.ts'
import { dsByBind, validate } from '../../support/dns/validators.ts'
import { query } from '../../support/dns/wire.ts'
import { useService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'
import { changeAtPowerDns } from '../../support/state/behind-our-back.ts'

// Keys of other signers beside the generated ones: contract §§7.1, 8.9.

const service = useService()

/** A DNSKEY record of a new key (RFC 6605 §4). */
function newKey(flags: number): string {
  const { x, y } = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' })
  const point = Buffer.concat([Buffer.from(x!, 'base64url'), Buffer.from(y!, 'base64url')])
  return `${flags} 3 13 ${point.toString('base64')}`
}

/** The record contents that DNS serves, sorted, without blanks in keys and digests. */
async function served(name: string, type: string): Promise<string[]> {
  const contents = await lookUp(service().powerDns, name, type)
  const fields = contents.map((content) => content.toLowerCase().split(' '))
  return fields.map((words) => [...words.slice(0, 3), words.slice(3).join('')].join(' ')).sort()
}

async function ttls(name: string, type: string): Promise<number[]> {
  const { answers } = await query(service().powerDns, name, type)
  return [...new Set(answers.filter((record) => record.type === type).map(({ ttl }) => ttl))]
}

const lowered = (contents: string[]) => contents.map((content) => content.toLowerCase()).sort()

const path = (name: string, type: string, subname = '@') => `/domains/${name}/rrsets/${subname}/${type}/`

/** A domain, and the records that are generated at its apex. */
async function signedDomain() {
  const { api } = await service().account()
  const name = await newDomain(api)
  const [key] = (await domainOf(api, name)).keys
  const generated = { DNSKEY: [key!.dnskey], CDNSKEY: [key!.dnskey], CDS: key!.ds }
  return { api, name, key: key!, generated }
}

/** A key of another signer, and its CDS and CDNSKEY records. */
async function foreign(name: string) {
  const dnskey = newKey(257)
  return { DNSKEY: [dnskey], CDNSKEY: [dnskey], CDS: await dsByBind(name, dnskey) }
}

const TYPES = ['DNSKEY', 'CDS', 'CDNSKEY'] as const

test('added records are served beside the generated ones, and all of them validate', async (t) => {
  const { api, name, key, generated } = await signedDomain()
  const added = await foreign(name)
  for (const type of TYPES) await newRRset(api, name, { subname: '', type, records: added[type] })
  for (const type of TYPES) {
    t.deepEqual(await served(name, type), lowered([...generated[type], ...added[type]]), type)
    t.is(await validate(service().powerDns, name, key.ds, name, type), 'fully validated', type)
    const { status, json } = await api.get(path(name, type))
    t.is(status, 200)
    t.like(json, { type, records: added[type] })
  }
  await verifyTransfer(service().powerDns, name, key.ds)
})

test('the RRset endpoints show only added records, and no RRset without any', async (t) => {
  const { api, name } = await signedDomain()
  for (const type of TYPES) t.is((await api.get(path(name, type))).status, 404)
  t.is((await api.get(`/domains/${name}/rrsets/?type=DNSKEY`)).text, '[]')
  const { records } = await newRRset(api, name, { subname: '', type: 'DNSKEY', records: [newKey(257)] })
  const { json } = await api.get(`/domains/${name}/rrsets/?type=DNSKEY`)
  t.like(json, [{ type: 'DNSKEY', records }])
})

test('`keys` lists added keys after the generated ones, sorted by content, with the DS that BIND computes', async (t) => {
  const { api, name, key } = await signedDomain()
  const rsa = `257 3 8 ${Buffer.concat([Buffer.from([3, 1, 0, 1]), Buffer.alloc(256, 0xa5)]).toString('base64')}`
  const ed25519 = `257 3 15 ${Buffer.alloc(32, 7).toString('base64')}`
  const records = [newKey(257), newKey(256), rsa, ed25519, newKey(257)]
  await newRRset(api, name, { subname: '', type: 'DNSKEY', records })
  const { status, json } = await api.get(`/domains/${name}/`)
  t.is(status, 200)
  const expected = await Promise.all(
    [...records].sort().map(async (dnskey) => ({
      dnskey,
      ds: await dsByBind(name, dnskey),
      flags: Number(dnskey.slice(0, 3)),
      keytype: null,
      managed: false,
    })),
  )
  const counts = expected.map(({ ds }) => ds.length)
  t.deepEqual(counts, [0, 2, 2, 2, 2])
  t.is(JSON.stringify((json as { keys: unknown }).keys), JSON.stringify([key, ...expected]))
})

test('deleting added records keeps the generated ones', async (t) => {
  const { api, name, key, generated } = await signedDomain()
  const added = await foreign(name)
  for (const type of TYPES) await newRRset(api, name, { subname: '', type, records: added[type] })
  for (const type of TYPES) {
    succeeded(await api.delete(path(name, type)), 204)
    t.deepEqual(await served(name, type), lowered(generated[type]), type)
  }
  t.deepEqual((await domainOf(api, name)).keys, [key])
  t.is(await validate(service().powerDns, name, key.ds, name, 'NS'), 'fully validated')
  await verifyTransfer(service().powerDns, name, key.ds)
})

test('replacing added records keeps the generated ones, even if their contents are written', async (t) => {
  const { api, name, key, generated } = await signedDomain()
  const [one, other] = [newKey(257), newKey(256)]
  await newRRset(api, name, { subname: '', type: 'DNSKEY', records: [one] })
  succeeded(await api.patch(path(name, 'DNSKEY'), { records: [other] }), 200)
  t.deepEqual(await served(name, 'DNSKEY'), lowered([...generated.DNSKEY, other]))
  succeeded(await api.patch(path(name, 'DNSKEY'), { records: generated.DNSKEY }), 200)
  t.deepEqual(await served(name, 'DNSKEY'), lowered(generated.DNSKEY))
  await verifyTransfer(service().powerDns, name, key.ds)
  succeeded(await api.delete(path(name, 'DNSKEY')), 204)
  t.deepEqual(await served(name, 'DNSKEY'), lowered(generated.DNSKEY))
})

test('at the apex, DNS serves the automatic TTL, and the API shows the written one', async (t) => {
  const { api, name } = await signedDomain()
  const automatic = await Promise.all(TYPES.map((type) => ttls(name, type)))
  t.true(automatic.every(([ttl]) => ttl !== 7777))
  const added = await foreign(name)
  for (const type of TYPES) {
    t.is((await newRRset(api, name, { subname: '', type, ttl: 7777, records: added[type] })).ttl, 7777)
    t.like((await api.get(path(name, type))).json, { ttl: 7777 })
  }
  t.deepEqual(await Promise.all(TYPES.map((type) => ttls(name, type))), automatic)
})

test('below the apex, CDS and CDNSKEY are served as written, and DNSKEY is refused', async (t) => {
  const { api, name, key, generated } = await signedDomain()
  const added = await foreign(name)
  for (const type of ['CDS', 'CDNSKEY'] as const) {
    await newRRset(api, name, { subname: 'sub', type, ttl: 7777, records: added[type] })
    t.deepEqual(await served(`sub.${name}`, type), lowered(added[type]), type)
    t.deepEqual(await ttls(`sub.${name}`, type), [7777])
    t.is(await validate(service().powerDns, name, key.ds, `sub.${name}`, type), 'fully validated')
    t.deepEqual(await served(name, type), lowered(generated[type]), type)
  }
  const below = { subname: 'sub', type: 'DNSKEY', ttl: 7777, records: added.DNSKEY }
  const answer = await api.post(`/domains/${name}/rrsets/`, below)
  t.is(answer.status, 400)
  t.is(answer.text, '{"non_field_errors":["DNSKEY RRset must have empty subname."]}')
  t.deepEqual((await domainOf(api, name)).keys, [key])
})

test('reconciliation finds no differences, and restores records that were lost or changed at PowerDNS', async (t) => {
  const { api, name, generated } = await signedDomain()
  const added = await foreign(name)
  for (const type of TYPES) {
    await newRRset(api, name, { subname: '', type, ttl: 7777, records: added[type] })
    if (type !== 'DNSKEY') await newRRset(api, name, { subname: 'sub', type, ttl: 7777, records: added[type] })
  }
  const { system } = service()
  t.deepEqual(await audit(system, () => true), [])
  for (const [type, contents] of [
    ['DNSKEY', []],
    ['CDS', []],
    ['CDNSKEY', [newKey(256)]],
  ] as const) {
    await changeAtPowerDns(service(), name, ['', type, 7777, ...contents])
    t.deepEqual(await served(name, type), lowered([...generated[type], ...contents]))
    t.deepEqual(await reconcileAll(system, { contents: true }), { doubtful: [name], left: [] })
    t.deepEqual(await served(name, type), lowered([...generated[type], ...added[type]]))
  }
  t.deepEqual(await audit(system, () => true), [])
})

const REMOVAL = { CDS: ['0 0 0 00'], CDNSKEY: ['0 3 0 AA=='] }

test('the wish to remove the DS stands alone in DNS, until it is taken back', async (t) => {
  const { api, name, key, generated } = await signedDomain()
  const added = await foreign(name)
  await newRRset(api, name, { subname: '', type: 'CDS', records: [...added.CDS, ...REMOVAL.CDS] })
  t.deepEqual([await served(name, 'CDS'), await served(name, 'CDNSKEY')], [REMOVAL.CDS, []])
  await newRRset(api, name, { subname: '', type: 'CDNSKEY', records: REMOVAL.CDNSKEY })
  for (const type of ['CDS', 'CDNSKEY'] as const) {
    t.deepEqual(await served(name, type), lowered(REMOVAL[type]))
    t.is(await validate(service().powerDns, name, key.ds, name, type), 'fully validated')
  }
  await verifyTransfer(service().powerDns, name, key.ds)
  t.deepEqual((await domainOf(api, name)).keys, [key])
  t.deepEqual(await audit(service().system, () => true), [])

  succeeded(await api.patch(path(name, 'CDS'), { records: added.CDS }), 200)
  t.deepEqual([await served(name, 'CDS'), await served(name, 'CDNSKEY')], [[], lowered(REMOVAL.CDNSKEY)])
  succeeded(await api.delete(path(name, 'CDNSKEY')), 204)
  t.deepEqual(await served(name, 'CDS'), lowered([...generated.CDS, ...added.CDS]))
  t.deepEqual(await served(name, 'CDNSKEY'), lowered(generated.CDNSKEY))
  t.deepEqual(await audit(service().system, () => true), [])
})

test('a restored domain, and one that lost its zone, ask for the removal of the DS as before', async (t) => {
  const { api, name } = await signedDomain()
  const { system } = service()
  for (const type of ['CDS', 'CDNSKEY'] as const)
    await newRRset(api, name, { subname: '', type, records: REMOVAL[type] })
  const lose = [
    async () => {
      succeeded(await api.delete(`/domains/${name}/`), 204)
      succeeded(await api.post('/domains/', { name, restore: true }), 201)
    },
    () => service().pdns('DELETE', `/zones/${name}.`),
    () => service().pdns('PUT', `/zones/${name}./metadata/PUBLISH-CDS`, { kind: 'PUBLISH-CDS', metadata: [] }),
  ]
  for (const work of lose) {
    await work()
    await reconcileAll(system, { contents: true })
    for (const type of ['CDS', 'CDNSKEY'] as const) t.deepEqual(await served(name, type), lowered(REMOVAL[type]))
    t.deepEqual(await audit(system, () => true), [])
  }
})

test('repair notices that a zone has only some of the CDS and CDNSKEY that PowerDNS generates', async (t) => {
  const { name, generated } = await signedDomain()
  const { system } = service()
  await service().pdns('PUT', `/zones/${name}./metadata/PUBLISH-CDS`, { kind: 'PUBLISH-CDS', metadata: [''] })
  t.deepEqual(await served(name, 'CDS'), [])
  await reconcileAll(system, { contents: true })
  t.deepEqual(await served(name, 'CDS'), lowered(generated.CDS))
})

test('a key that is not announced signs and has neither DS nor CDS; another signer keeps its own', async (t) => {
  const { api, name, key, generated } = await signedDomain()
  const { system } = service()
  const added = await foreign(name)
  const second = { keytype: 'csk', active: true, published: true, algorithm: 'ed25519' }
  t.is((await service().pdns('POST', `/zones/${name}./cryptokeys`, second)).status, 201)
  await reconcileAll(system, { contents: true })
  await sql(system.db, `update keys set announced = false where dnskey like '257 3 15 %'`, {})
  t.deepEqual(await reconcileAll(system, { contents: true }), { doubtful: [name], left: [] })
  const { keys } = await domainOf(api, name)
  const other = keys.find(({ dnskey }) => dnskey !== key.dnskey)!
  t.deepEqual(keys, [key, { ...other, ds: [], keytype: 'csk', managed: true, flags: 257 }])
  t.deepEqual(await served(name, 'DNSKEY'), lowered([key.dnskey, other.dnskey]))
  for (const type of ['CDS', 'CDNSKEY'] as const) {
    t.deepEqual(await served(name, type), lowered(generated[type]))
    await newRRset(api, name, { subname: '', type, records: added[type] })
    t.deepEqual(await served(name, type), lowered([...generated[type], ...added[type]]))
    succeeded(await api.delete(path(name, type)), 204)
    t.deepEqual(await served(name, type), lowered(generated[type]))
  }
  await verifyTransfer(service().powerDns, name, key.ds)
  t.deepEqual(await audit(system, () => true), [])
})
