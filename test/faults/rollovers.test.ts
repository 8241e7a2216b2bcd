import { reconcileAll } from '../../src/service/repair/reconcile.ts'
import { domainOf, newDomain, newRRset, succeeded } from '../support/clients/api.ts'
import { discrepancies } from '../support/dns/discrepancies.ts'
import { lookUp } from '../support/dns/dns.ts'
import { validate } from '../support/dns/validators.ts'
import { useServed, useServers } from '../support/harness.ts'
import { keysOf, passTo } from '../support/rollovers/steps.ts'
import { test } from '../support/serial.ts'

// A PowerDNS that lost what it had gets exactly the keys of the phase, and the rollover goes on.

const servers = useServers()
const service = useServed(servers)

/** A zone as PowerDNS had it before the rollover. */
interface Former {
  rrsets: object[]
  privateKey: string
}

const PHASES = ['sign', 'publish', 'await-ds', 'await-ds-ttl', 'unpublish']
const nameIn = (phase: string) => `${phase}.example`
const former = new Map<string, Former>()
const path = (name: string) => `/domains/${name}/rollover/`

async function formerOf(name: string): Promise<Former> {
  const { rrsets } = (await servers().pdns('GET', `/zones/${name}.`)).json as { rrsets: object[] }
  const [{ id }] = (await servers().pdns('GET', `/zones/${name}./cryptokeys`)).json as [{ id: number }]
  const { json } = await servers().pdns('GET', `/zones/${name}./cryptokeys/${id}`)
  return { rrsets, privateKey: (json as { privatekey: string }).privatekey }
}

/** Makes a zone what it was before the rollover, as a backup does. */
async function restore(name: string): Promise<void> {
  const { rrsets, privateKey } = former.get(name)!
  await servers().pdns('DELETE', `/zones/${name}.`)
  const zone = { name: `${name}.`, kind: 'Master', dnssec: false, soa_edit_api: '', api_rectify: true, rrsets }
  await servers().pdns('POST', '/zones', { ...zone, nameservers: [] })
  const key = { keytype: 'csk', active: true, published: true, privatekey: privateKey }
  await servers().pdns('POST', `/zones/${name}./cryptokeys`, key)
  await servers().pdns('PUT', `/zones/${name}.`, { nsec3param: '1 0 0 -' })
}

/** All that resolvers and the parent see of the keys, and the keys. */
async function shownOf(name: string) {
  const types = await Promise.all(['DNSKEY', 'CDS', 'CDNSKEY'].map((type) => lookUp(servers().powerDns, name, type)))
  return { types, keys: await keysOf(servers(), name) }
}

test('a domain is in each phase', async (t) => {
  for (const [i, phase] of PHASES.entries()) {
    const name = await newDomain(service().api, nameIn(phase))
    await newRRset(service().api, name, { subname: 'www', type: 'A', ttl: 3600, records: ['192.0.2.1'] })
    former.set(name, await formerOf(name))
    succeeded(await service().api.post(path(name), { algorithm: 'ed25519' }), 201)
    for (const next of PHASES.slice(1, i + 1)) await passTo(servers(), name, next)
  }
  t.deepEqual(await reconcileAll(servers().system, { contents: true }), { doubtful: [], left: [] })
})

for (const [what, lose] of [
  ['has the state of before the rollovers', async () => {
    for (const name of former.keys()) await restore(name)
  }],
  ['has lost all', async () => {
    await servers().powerDns.stop()
    await servers().restartPowerDns({ empty: true })
  }],
] as const) {
  test(`a PowerDNS that ${what} gets the keys of each phase`, async (t) => {
    const names = [...former.keys()]
    const before = await Promise.all(names.map(shownOf))
    await lose()
    t.deepEqual((await reconcileAll(servers().system, { contents: true })).left, [])
    t.deepEqual(await Promise.all(names.map(shownOf)), before)
    for (const { keys } of before) t.deepEqual(keys.served, keys.stored)
    t.deepEqual(await reconcileAll(servers().system, { contents: true }), { doubtful: [], left: [] })
  })
} // prettier-ignore

test('then each rollover goes on to its end', async (t) => {
  for (const [i, phase] of PHASES.entries()) {
    const name = nameIn(phase)
    for (const next of [...PHASES.slice(i + 1), 'done']) await passTo(servers(), name, next)
    await reconcileAll(servers().system, { contents: true })
    const { keys } = await domainOf(service().api, name)
    t.deepEqual(keys.map(({ dnskey }) => dnskey.slice(0, 9)), ['257 3 15 '])
    t.deepEqual((await keysOf(servers(), name)).served, [`${keys[0]!.dnskey} true true`])
    t.is(await validate(servers().powerDns, name, keys[0]!.ds, `www.${name}`, 'A'), 'fully validated')
  }
  t.deepEqual(await discrepancies(servers()), [])
}) // prettier-ignore

test('a PowerDNS with the state of before a rollover that is done loses the former key', async (t) => {
  const names = [...former.keys()]
  const before = await Promise.all(names.map(shownOf))
  for (const name of names) await restore(name)
  t.deepEqual((await reconcileAll(servers().system, { contents: true })).left, [])
  t.deepEqual(await Promise.all(names.map(shownOf)), before)
  t.deepEqual(await discrepancies(servers()), [])
})
