import { trimHistory } from '../../../src/service/domains/retention.ts'
import { later } from '../../../src/time.ts'
import { domainOf, newDomain, succeeded } from '../../support/clients/api.ts'
import { lookUp } from '../../support/dns/dns.ts'
import { eventually, eventuallyIs } from '../../support/eventually.ts'
import { useAccount, useService } from '../../support/harness.ts'
import { enter } from '../../support/rollovers/steps.ts'
import { test } from '../../support/serial.ts'

// Contract §15.10: keys that were replaced stay as long as deleted domains, and can come back.

const service = useService({ HISTORY_DAYS: '40' })
const account = useAccount(service)
const DAY = 86_400
const NONE = '{"detail":"There are no former keys of this domain."}'

const pathOf = (name: string) => `/domains/${name}/rollover/`

async function dnskeysOf(name: string): Promise<string[]> {
  return (await domainOf(account().api, name)).keys.map(({ dnskey }) => dnskey)
}

async function isOver(name: string): Promise<void> {
  await eventuallyIs(async () => (await account().api.get(pathOf(name))).status, 404)
}

/** Replaces the key of a domain to the end; returns the former one. */
async function replace(name: string, body: object = {}): Promise<string> {
  const [former] = await dnskeysOf(name)
  succeeded(await account().api.post(pathOf(name), body), 201)
  await enter(service(), name, 'await-ds')
  await enter(service(), name, undefined)
  await isOver(name)
  return former!
}

/** Lets a key of a domain have retired so many days ago. */
async function age(name: string, days: number): Promise<void> {
  await service().sql(
    `update keys set retired = retired - :days * interval '1 day'
     where domain_id = (select id from domains where name = :name)`,
    { name, days },
  )
}

/** Stores what a check found: the servers of the parent have these DS. */
async function see(name: string, ds: string[]): Promise<void> {
  await service().sql(
    `insert into delegations (domain_id, state, checked, observation, due)
       select id, 'mismatch', now(), :observation, now() + interval '1 day' from domains where name = :name
     on conflict (domain_id) do update set observation = excluded.observation, checked = excluded.checked,
       state = excluded.state, due = excluded.due`,
    { name, observation: JSON.stringify({ parent: 'example', servers: [{ ds: [] }, { ds }], nameservers: [] }) },
  )
}

test('the former key comes back as a rollover in the other direction', async (t) => {
  const { api } = account()
  const name = await newDomain(api)
  const former = await replace(name)
  const [present] = await dnskeysOf(name)
  t.like(succeeded(await api.post(pathOf(name), { return: true }), 201).json, { phase: 'publish', emergency: false })
  t.deepEqual((await dnskeysOf(name)).sort(), [former, present].sort())
  await eventually(async () => (await lookUp(service().powerDns, name, 'DNSKEY')).length === 2)
  const entry = ((await api.get(`/domains/${name}/history/`)).json as { id: string; rollover: object }[])[0]!
  t.deepEqual(entry.rollover, { action: 'return', phase: 'publish' })
  const undo = await api.post(`/domains/${name}/history/${entry.id}/undo/`)
  t.deepEqual(
    [undo.status, undo.text],
    [409, '{"detail":"A replacement of keys cannot be undone: cancel it, or bring the former keys back."}'],
  )
  const again = await api.post(pathOf(name), { return: true })
  t.deepEqual([again.status, again.text], [409, '{"detail":"The keys of this domain are being replaced already."}'])
  succeeded(await api.delete(pathOf(name)), 204)
  t.deepEqual(await dnskeysOf(name), [present])
  // It can still come back.
  succeeded(await api.post(pathOf(name), { return: true }), 201)
  t.true((await dnskeysOf(name)).includes(former))
})

test('without former keys there is nothing to bring back; the key of a rollover that was cancelled is none', async (t) => {
  const { api } = account()
  const name = await newDomain(api)
  for (const algorithm of [undefined, 'ecdsa256', 'ed25519']) {
    if (algorithm !== undefined) {
      succeeded(await api.post(pathOf(name), { algorithm }), 201)
      succeeded(await api.delete(pathOf(name)), 204)
    }
    const { status, text } = await api.post(pathOf(name), { return: true })
    t.deepEqual([status, text], [409, NONE], algorithm)
  }
  succeeded(await api.post(pathOf(name), { algorithm: 'ed25519' }), 201)
  await enter(service(), name, 'publish')
  succeeded(await api.delete(pathOf(name)), 200)
  await enter(service(), name, undefined)
  t.is((await api.post(pathOf(name), { return: true })).text, NONE)
})

test('what contradicts itself is refused', async (t) => {
  const { api } = account()
  const name = await newDomain(api)
  await replace(name)
  for (const [body, problems] of [
    [{ return: true, algorithm: 'ecdsa256' }, { algorithm: ['Cannot be combined with return.'] }],
    [{ return: 'perhaps' }, { return: ['Must be a valid boolean.'] }],
  ] as const) {
    const { status, json } = await api.post(pathOf(name), body)
    t.deepEqual([status, json], [400, problems])
  }
  succeeded(await api.post(pathOf(name), { return: false, algorithm: 'ed25519' }), 201)
})

test('of several former keys the last comes back, unless the parent has the DS of an earlier one', async (t) => {
  const { api } = account()
  const name = await newDomain(api)
  const { ds } = (await domainOf(api, name)).keys[0]!
  const first = await replace(name)
  await age(name, 1)
  const second = await replace(name)
  const added = async () => {
    const [present] = await dnskeysOf(name)
    succeeded(await api.post(pathOf(name), { return: true }), 201)
    const incoming = (await dnskeysOf(name)).filter((dnskey) => dnskey !== present)
    // With the DS at the parent, it cannot be cancelled.
    await see(name, [])
    succeeded(await api.delete(pathOf(name)), 204)
    return incoming
  }
  t.deepEqual(await added(), [second])
  await see(name, [`4711 13 2 ${'ab'.repeat(32)}`])
  t.deepEqual(await added(), [second])
  await see(name, [`4711 13 2 ${'ab'.repeat(32)}`, ds[0]!])
  t.deepEqual(await added(), [first])
})

test('former keys are erased with the domains that were deleted at the same time, and not before', async (t) => {
  const { api } = account()
  const { system } = service()
  const names = [await newDomain(api), await newDomain(api)] as const
  for (const name of names) await replace(name)
  const stored = async () => (await service().sql('select from keys where retired is not null')).length
  const before = await stored()
  await age(names[0], 41)
  await age(names[1], 39)
  await trimHistory(system)
  t.is(await stored(), before - 1)
  t.is((await api.post(pathOf(names[0]), { return: true })).text, NONE)
  succeeded(await api.post(pathOf(names[1]), { return: true }), 201)
  // A key that has come back is not erased, however long ago it had retired.
  await trimHistory({ ...system, now: () => later(system.now(), 39 * DAY) })
  t.is((await dnskeysOf(names[1])).length, 2)
})

test('a domain of the same name has the keys of those that its account has deleted, and no others', async (t) => {
  const { api } = account()
  const other = await service().account()
  const name = await newDomain(other.api)
  succeeded(await other.api.delete(`/domains/${name}/`), 204)
  await newDomain(api, name)
  t.is((await api.post(pathOf(name), { return: true })).text, NONE)
  const { dnskey, ds } = (await domainOf(api, name)).keys[0]!
  // Each hides its predecessor from `restore`.
  for (const again of [1, 2]) {
    succeeded(await api.delete(`/domains/${name}/`), 204)
    await newDomain(api, name)
    t.false((await dnskeysOf(name)).includes(dnskey), `${again}`)
  }
  await see(name, [ds[1]!])
  succeeded(await api.post(pathOf(name), { return: true }), 201)
  t.true((await dnskeysOf(name)).includes(dnskey))
  await eventually(async () => (await lookUp(service().powerDns, name, 'DNSKEY')).length === 2)
})

test('a domain that was deleted and comes back has its former keys, too', async (t) => {
  const { api } = account()
  const name = await newDomain(api)
  const former = await replace(name)
  succeeded(await api.delete(`/domains/${name}/`), 204)
  succeeded(await api.post('/domains/', { name, restore: true }), 201)
  succeeded(await api.post(pathOf(name), { return: true }), 201)
  t.true((await dnskeysOf(name)).includes(former))
})

test('a name that is created and deleted again and again keeps a few keys each time', async (t) => {
  const { api } = account()
  const name = await newDomain(api)
  const kept = 'select from keys where domain_id in (select id from deleted_domains where name = :name)'
  const counts = [0]
  for (let round = 1; round <= 13; round++) {
    if (round > 1) succeeded(await api.post('/domains/', { name }), 201)
    if (round > 1) succeeded(await api.post(pathOf(name), { return: true }), 201)
    succeeded(await api.delete(`/domains/${name}/`), 204)
    counts.push((await service().sql(kept, { name })).length)
  }
  // Its own key, and eight former ones.
  t.deepEqual(
    counts.slice(10).map((count, i) => count - counts[9 + i]!),
    [9, 9, 9, 9],
  )
})
