import { pause, resume } from '../../src/service/adoption/pausing.ts'
import { one, query } from '../../src/store/database.ts'
import * as store from '../../src/store/domains/rollovers.ts'
import { domainOf, newDomain, succeeded } from '../support/clients/api.ts'
import { lookUp } from '../support/dns/dns.ts'
import { eventually, eventuallyIs } from '../support/eventually.ts'
import { useService } from '../support/harness.ts'
import type { ShownRollover } from '../support/rollovers/stage.ts'
import { keysOf, passTime, passTo, published } from '../support/rollovers/steps.ts'
import { test } from '../support/serial.ts'
import type { Fate } from '../support/servers/proxy.ts'

// Contract §15.10: what a parent, and other processes, can see of rollovers. That each phase is valid for all who trust the DS
// that the parent may have, or may have had, is in test/deep/rollovers.test.ts.

const service = useService()

const SAME = ['publish', 'await-ds', 'await-ds-ttl']
const OTHER = ['sign', 'publish', 'await-ds', 'await-ds-ttl', 'unpublish']

/** CDS as dig prints them, in the form of DS in the API. */
async function cdsOf(name: string): Promise<string[]> {
  const printed = await lookUp(service().powerDns, name, 'CDS')
  const contents = printed.map((text) => {
    const [tag, algorithm, type, ...digest] = text.toLowerCase().split(' ')
    return [tag, algorithm, type, digest.join('')].join(' ')
  })
  return contents.sort()
}

test('at no moment, CDS announce the former key and the new one together', async (t) => {
  const { api } = await service().account()
  const name = await newDomain(api)
  const former = (await domainOf(api, name)).keys[0]!.ds
  const path = `/domains/${name}/rollover/`
  const seen = new Set<string>()
  // What a parent can see between any two calls.
  service().proxy.fail(async (): Promise<Fate> => {
    const cds = await cdsOf(name)
    const isFormer = cds.filter((content) => former.includes(content))
    seen.add([isFormer.length > 0 && 'former', isFormer.length < cds.length && 'new'].filter(Boolean).join(' and '))
    return 'pass'
  })
  succeeded(await api.post(path, { algorithm: 'ed25519' }), 201)
  for (const phase of [...OTHER.slice(1), 'done']) await passTo(service(), name, phase)
  service().proxy.heal()
  seen.delete('')
  t.deepEqual([...seen].sort(), ['former', 'new'])
})

test('a key that does not sign stays as it is until the end of a rollover', async (t) => {
  const { api } = await service().account()
  const name = await newDomain(api)
  const path = `/domains/${name}/rollover/`
  const keys = `/zones/${name}./cryptokeys`
  await pause(service().system, name)
  const hidden = { keytype: 'csk', active: false, published: false, algorithm: 'ecdsa256' }
  await service().pdns('POST', keys, hidden)
  await resume(service().system, name, 'theirs')
  const before = await keysOf(service(), name)
  t.is(before.served.filter((key) => key.endsWith(' false false')).length, 1)
  const cds = await cdsOf(name)
  succeeded(await api.post(path, { algorithm: 'ecdsa256' }), 201)
  t.is((await keysOf(service(), name)).served.filter((key) => key.endsWith(' false false')).length, 1)
  t.deepEqual(await cdsOf(name), cds)
  succeeded(await api.delete(path), 204)
  t.deepEqual(await keysOf(service(), name), before)
  succeeded(await api.post(path, { algorithm: 'ecdsa256' }), 201)
  for (const phase of SAME) {
    await eventuallyIs(async () => ((await api.get(path)).json as Partial<ShownRollover>).phase, phase)
    await passTime(service(), name)
  }
  await eventuallyIs(async () => (await api.get(path)).status, 404)
  await published(service(), name)
  t.is((await keysOf(service(), name)).served.length, 1)
})

test('time counts once, however many processes see it pass, and however clocks are set', async (t) => {
  const { db } = service().system
  const { api } = await service().account()
  const name = await newDomain(api)
  const begun = performance.now()
  succeeded(await api.post(`/domains/${name}/rollover/`, {}), 201)
  const row = () => one<{ seen: number; waited: number }>(
    db,
    'select seen, waited from rollovers join domains on id = domain_id where name = :name',
    { name },
  ) // prettier-ignore
  await eventually(async () => (await row()).seen > 0)
  for (let processes = 5; processes > 0; processes--) await store.addWaited(db, 600)
  const { waited } = await row()
  t.true(waited <= (performance.now() - begun) / 1_000, `${waited} s`)
  // As if the clock of Postgres were set forward.
  await query(db, `update rollovers set counted = counted - interval '1 day'`)
  await store.addWaited(db, 1)
  const later = (await row()).waited
  t.true(later <= (performance.now() - begun) / 1_000 + 1, `${later} s`)
  succeeded(await api.delete(`/domains/${name}/rollover/`), 204)
})

test('what was observed of an earlier rollover says nothing about the present one', async (t) => {
  const { db } = service().system
  const { api } = await service().account()
  const name = await newDomain(api)
  const path = `/domains/${name}/rollover/`
  const [{ id }] = await query<{ id: number }>(db, 'select id from domains where name = :name', { name }) as [{ id: number }] // prettier-ignore
  succeeded(await api.post(path, {}), 201)
  const former = (await store.rolloverOf(db, id))!
  succeeded(await api.delete(path), 204)
  succeeded(await api.post(path, {}), 201)
  await store.note(db, former, { version: 1, seen: 7, ttl: 0 }, 0)
  t.not((await store.rolloverOf(db, id))!.seen, 7)
  succeeded(await api.delete(path), 204)
})

test('keys at PowerDNS are not taken over while those of the domain are being replaced', async (t) => {
  const { api } = await service().account()
  const { system } = service()
  const name = await newDomain(api)
  succeeded(await api.post(`/domains/${name}/rollover/`, {}), 201)
  const { stored } = await keysOf(service(), name)
  await published(service(), name)
  await pause(system, name)
  const keys = `/zones/${name}./cryptokeys`
  await service().pdns('POST', keys, { keytype: 'csk', active: true, published: true, algorithm: 'ecdsa256' })
  const message = `The keys of ${name} are being replaced. Take ours, and cancel that first.`
  await t.throwsAsync(resume(system, name, 'theirs'), { message })
  for (const { id, dnskey } of (await service().pdns('GET', keys)).json as { id: number; dnskey: string }[])
    if (!stored.some((key) => key.startsWith(`${dnskey} `))) await service().pdns('DELETE', `${keys}/${id}`)
  t.deepEqual(await resume(system, name), [])
})
