import { limitHistories } from '../../../src/service/domains/history-limits.ts'
import { trimHistory } from '../../../src/service/domains/retention.ts'
import { reconcileAll } from '../../../src/service/repair/reconcile.ts'
import { one, query, transaction } from '../../../src/store/database.ts'
import { excesses } from '../../../src/store/zone/history-octets.ts'
import { growthOf, scrape } from '../../metrics/scrape.ts'
import {
  freshName,
  newDomain,
  newReservedDomain,
  newRRset,
  newZone,
  rrset,
  succeeded,
} from '../../support/clients/api.ts'
import type { Answer } from '../../support/clients/client.ts'
import { update } from '../../support/clients/dyndns.ts'
import { eventuallyIs } from '../../support/eventually.ts'
import { useService } from '../../support/harness.ts'
import { Random } from '../../support/random.ts'
import { enter } from '../../support/rollovers/steps.ts'
import { test } from '../../support/serial.ts'
import { changeAtPowerDns } from '../../support/state/behind-our-back.ts'
import { contentsOf, entriesOf, restore, undo } from '../../support/state/history.ts'

// The octets of histories: how they are counted, and what goes beyond the limit of an account (contract §15.5).

const LIMIT = 65_536
const SUFFIX = 'dyn.history.test'

const service = useService({
  ...{ LIMIT_HISTORY_OCTETS: String(LIMIT), METRICS_PORT: '0', LOCAL_PUBLIC_SUFFIXES: SUFFIX },
})

/** For which an entry counts beside its changes. */
const EACH = 256

const STORED = `(select coalesce(sum(octet_length(changes) + ${EACH}), 0) from history where domain_id = domain.id)`

const RECORDS = `(select coalesce(sum(octet_length(array_to_string(records, ''))), 0) from rrsets where domain_id = domain.id)`

/** All domains, deleted or not, whose octets are not those of their entries, or those of their records (contract §8.6). */
async function wrong(): Promise<unknown[]> {
  const sql = [
    ['domains', 'history_octets', STORED],
    ['deleted_domains', 'history_octets', STORED],
    ['domains', 'record_octets', RECORDS],
  ].map(
    ([table, counted, stored]) =>
      `select name, ${counted} as counted, cast(${stored} as bigint) as stored from ${table} as domain
       where ${counted} is distinct from ${stored}`,
  )
  return service().sql(sql.join(' union all '))
}

/** The octets of a domain's history. */
async function octetsOf(name: string): Promise<number> {
  const sql = 'select history_octets as octets from domains where name = :name'
  return (await one<{ octets: number }>(service().system.db, sql, { name })).octets
}

async function idOf(name: string): Promise<number> {
  return (await one<{ id: number }>(service().system.db, 'select id from domains where name = :name', { name })).id
}

/** The ids of the entries of a domain, newest first. */
async function idsOf(name: string): Promise<string[]> {
  const sql = 'select id from history where domain_id = :id order by created desc, id desc'
  return (await service().sql<{ id: string }>(sql, { id: await idOf(name) })).map(({ id }) => id)
}

/** Puts so many entries of so many octets each before those that a domain has, as writes of earlier seconds. */
async function addOld(name: string, number: number, octets: number): Promise<void> {
  await service().sql(
    `with domain as (
       update domains set history_octets = history_octets + cast(:number as integer) * cast(:octets as integer)
       where name = :name returning id
     ), oldest as (select min(history.created) as time from history join domain on domain_id = domain.id)
     insert into history (id, domain_id, created, version, source, count, changes)
     select gen_random_uuid(), domain.id, time - n * interval '1 second', 1, 'api', 0, '[' || repeat(' ', :octets - ${EACH} - 2) || ']'
     from domain, oldest, generate_series(1, :number) as n`,
    { name, number, octets },
  )
}

/** A TXT RRset with records of so many octets. */
function text(subname: string, octets: number) {
  return rrset({ subname, type: 'TXT', records: [`"${'x'.repeat(octets - 2)}"`] })
}

const limit = () => limitHistories(service().system)
const NOTHING = { name: ['There is nothing to restore.'] }
const comeBack = (name: string) => ({ name, restore: true })

test('whatever writes to a domain, the octets of its entries and of its records are counted', async (t) => {
  const { api, account } = await newZone(service())
  await newReservedDomain(service(), account.id, SUFFIX)
  const domain = freshName()
  const path = `/domains/${domain}/rrsets/`
  const newest = async () => (await entriesOf(api, domain))[0]!
  const zonefile = { headers: { 'content-type': 'text/dns' }, body: 'a A 192.0.2.100\nc TXT "ä \\" \\\\"' }
  const steps: [what: string, expected: number, write: () => Promise<Answer>][] = [
    ['an import', 201, () => api.post('/domains/', { name: domain, zonefile: 'a A 192.0.2.1\nb MX 1 m' })],
    ['a creation', 201, () => api.post(path, rrset({ subname: 'd', type: 'TXT', records: ['"\\195\\164\\"\\\\"'] }))],
    ['another order', 200, () => api.patch(`${path}d/TXT/`, { records: ['"b"', '"\\065" "ä"'] })],
    ['another TTL', 200, () => api.patch(`${path}d/TXT/`, { ttl: 60 })],
    ['a replacement', 200, () => api.put(`${path}d/TXT/`, text('d', 200))],
    ['what changes nothing', 200, () => api.patch(`${path}a/A/`, {})],
    ['several', 200, () => api.patch(path, [rrset({ subname: 'a', records: [] }), rrset({ subname: 'e' })])],
    ['a dry run', 200, () => api.patch(`${path}?dry_run=true`, [rrset({ subname: 'f' })])],
    ['dynDNS', 200, () => update(api, { hostname: `g.${domain}`, myip: '192.0.2.1,2001:db8::1' })],
    ['a zone file', 200, () => api.send('PUT', `/domains/${domain}/zonefile/`, undefined, zonefile)],
    ['a deletion', 204, () => api.delete(`${path}c/TXT/`)],
    ['an undo', 200, async () => undo(api, domain, await newest())],
    ['a former state', 200, async () => restore(api, domain, { version: (await newest()).version - 3 })],
    ['a rollover', 201, () => api.post(`/domains/${domain}/rollover/`, {})],
    ['its end', 204, () => api.delete(`/domains/${domain}/rollover/`)],
    ['a deletion of the domain', 204, () => api.delete(`/domains/${domain}/`)],
    ['a new domain of its name', 201, () => api.post('/domains/', { name: domain })],
    ['the deletion of that', 204, () => api.delete(`/domains/${domain}/`)],
    ['a restored domain', 201, () => api.post('/domains/', comeBack(domain))],
    ['a refused write', 400, () => api.patch(path, [rrset(), rrset({ subname: 'x', records: ['x'] })])],
    ['a delegation', 201, () => api.post('/domains/', { name: `child.${SUFFIX}` })],
  ]
  for (const [what, expected, write] of steps) {
    t.like(await write(), { status: expected }, what)
    t.deepEqual(await wrong(), [], what)
  }
  t.true((await octetsOf(domain)) > 0)
  await changeAtPowerDns(service(), domain, ['www', 'A', 60, '192.0.2.66'])
  const entries = (await entriesOf(api, domain)).length
  await reconcileAll(service().system, { contents: true })
  t.is((await entriesOf(api, domain)).length, entries + 1)
  t.deepEqual(await wrong(), [], 'a repair')
})

test('after random writes, deletions, the retention and the limit, the octets are those of the entries', async (t) => {
  const random = new Random()
  const { api } = await service().account()
  const names = [await newDomain(api), await newDomain(api), await newDomain(api)]
  const { system } = service()
  const age = (name: string) =>
    service().sql(
      `update history set id = cast('0000' || substr(cast(id as text), 5) as uuid), created = created - interval '91 days'
       where id in (
         select history.id from history join domains on domains.id = domain_id where name = :name
         order by history.created limit 2
       )`,
      { name },
    )
  const write = (name: string) => {
    const texts = Array.from({ length: 1 + random.below(40) }, () => text(`n${random.below(50)}`, 200))
    return api.patch(
      `/domains/${name}/rrsets/`,
      [...new Map(texts.map((each) => [each.subname, each])).values()].map((each) =>
        random.below(3) === 0 ? { ...each, records: [] } : { ...each, ttl: 60 + random.below(9) },
      ),
    )
  }
  const undoAny = async (name: string) => {
    const { json } = await api.get(`/domains/${name}/history/`)
    return Array.isArray(json) && json.length > 0
      ? undo(api, name, random.of(json as Awaited<ReturnType<typeof entriesOf>>))
      : undefined
  }
  const acts: [weight: number, act: (name: string) => Promise<unknown>][] = [
    [6, write],
    [2, undoAny],
    [1, (name) => api.delete(`/domains/${name}/`)],
    [2, (name) => api.post('/domains/', comeBack(name))],
    [1, (name) => api.post('/domains/', { name })],
    [1, (name) => age(name)],
    [1, () => trimHistory(system)],
    [1, limit],
  ]
  const choices = acts.flatMap(([weight, act]) => Array.from({ length: weight }, () => act))
  for (let left = 60; left > 0; left--) {
    await random.of(choices)(random.of(names))
    t.deepEqual(await wrong(), [])
  }
})

test('writes, the retention and the limit at once count each entry once', async (t) => {
  const { api } = await service().account()
  const names = [await newDomain(api), await newDomain(api)]
  for (const name of names) await addOld(name, 150, 1_000)
  const write = async (name: string) => {
    for (let i = 0; i < 20; i++) succeeded(await api.put(`/domains/${name}/rrsets/`, [text(`n${i}`, 200)]), 200)
  }
  let isWriting = true
  const trim = async () => {
    while (isWriting) await Promise.all([limit(), trimHistory(service().system)])
  }
  const trimming = trim()
  await Promise.all(names.map(write))
  isWriting = false
  await trimming
  await limit()
  t.deepEqual(await wrong(), [])
  t.true((await octetsOf(names[0]!)) + (await octetsOf(names[1]!)) <= LIMIT)
})

test('beyond the limit the oldest entries of the largest history go, and the oldest one left says so', async (t) => {
  const { api, domain: large } = await newZone(service(), { subname: 'a' }, { subname: 'b' })
  const small = await newDomain(api)
  const other = await newZone(service())
  for (const name of [small, other.domain]) await addOld(name, 20, 1_000)
  await addOld(large, 1_500, 300)
  const before = { large: await idsOf(large), small: await entriesOf(api, small) }
  const others = await entriesOf(other.api, other.domain)
  const grown = await growthOf(service(), limit)
  const entries = await entriesOf(api, large)
  t.deepEqual(await wrong(), [])
  t.true((await octetsOf(large)) + (await octetsOf(small)) <= LIMIT)
  // No more than necessary.
  t.true((await octetsOf(large)) + (await octetsOf(small)) > LIMIT - 300)
  t.deepEqual(
    entries.map(({ id }) => id),
    before.large.slice(0, entries.length),
  )
  t.deepEqual(
    entries.map(({ trimmed }) => trimmed),
    entries.map((_, i) => i === entries.length - 1),
  )
  t.deepEqual(await entriesOf(api, small), before.small)
  t.deepEqual(await entriesOf(other.api, other.domain), others)
  t.false([...before.small, ...others].some(({ trimmed }) => trimmed))
  t.is(grown.get('zoneplane_history_trimmed_total'), before.large.length - entries.length)
  const { octets } = await one<{ octets: number }>(
    service().system.db,
    `select cast(sum(history_octets) as bigint) as octets
     from (select history_octets from domains union all select history_octets from deleted_domains) as histories`,
  )
  await limit()
  t.is((await scrape(service())).get('zoneplane_history_octets'), octets)
  // Again, with the next write: another entry says so.
  await newRRset(api, large, text('c', 200))
  await limit()
  const later = (await entriesOf(api, large)).filter(({ trimmed }) => trimmed)
  t.is(later.length, 1)
  t.is(later[0]!.id, (await entriesOf(api, large)).at(-1)!.id)
})

test('undo and restore of what went are refused as after the retention', async (t) => {
  const { api, domain } = await newZone(service())
  const path = `/domains/${domain}/rrsets/`
  for (let i = 0; i < 4; i++)
    succeeded(
      await api.put(
        path,
        Array.from({ length: 100 }, (_, n) => text(`n${n}-${i}`, 200)),
      ),
      200,
    )
  const former = await entriesOf(api, domain)
  await limit()
  const left = await entriesOf(api, domain)
  t.is(left.length, 2)
  const [oldest, gone] = former.slice(1)
  t.like(left.at(-1), { id: oldest!.id, trimmed: true })
  t.is((await api.get(`/domains/${domain}/history/${gone!.id}/`)).status, 404)
  t.is((await undo(api, domain, gone!)).status, 404)
  t.deepEqual((await restore(api, domain, { at: gone!.created })).json, { at: ['There is no history of that time.'] })
  t.deepEqual((await restore(api, domain, { version: gone!.version })).json, {
    version: ['There is no history of that version.'],
  })
  succeeded(await restore(api, domain, { version: oldest!.version }), 200)
  t.is(Object.keys(await contentsOf(api, domain)).length, 301)
})

test('the newest entry of a domain stays, whatever its size, and the other domains keep what they may', async (t) => {
  const { api, domain } = await newZone(service())
  const small = await newDomain(api)
  const path = `/domains/${domain}/rrsets/`
  await addOld(small, 10, 2_000)
  succeeded(
    await api.put(
      path,
      Array.from({ length: 300 }, (_, n) => text(`n${n}`, 250)),
    ),
    200,
  )
  t.true((await octetsOf(domain)) > LIMIT)
  await limit()
  t.like(await entriesOf(api, domain), [{ count: 300, trimmed: true }])
  t.is((await entriesOf(api, domain)).length, 1)
  t.is((await entriesOf(api, small)).length, 11)
  await limit()
  t.is((await entriesOf(api, domain)).length, 1)
  succeeded(await undo(api, domain, (await entriesOf(api, domain))[0]!), 200)
})

test('deleted domains count: when all entries went there is nothing to restore, but the keys stay', async (t) => {
  const { api, domain } = await newZone(service())
  const keys = async (id: number) =>
    (await service().sql<{ dnskey: string }>('select dnskey from keys where domain_id = :id', { id })).map(
      ({ dnskey }) => dnskey,
    )
  const [id, path] = [await idOf(domain), `/domains/${domain}/rrsets/`]
  succeeded(
    await api.put(
      path,
      Array.from({ length: 300 }, (_, n) => text(`n${n}`, 250)),
    ),
    200,
  )
  const before = await keys(id)
  succeeded(await api.delete(`/domains/${domain}/`), 204)
  const listed = async () => (await api.get('/domains/?deleted=true')).json as { name: string }[]
  t.deepEqual(
    (await listed()).map(({ name }) => name),
    [domain],
  )
  await limit()
  t.deepEqual(await service().sql('select history_octets as octets from deleted_domains where id = :id', { id }), [
    { octets: 0 },
  ])
  t.like(await api.post('/domains/', comeBack(domain)), { status: 400, json: NOTHING })
  t.deepEqual(await listed(), [])
  t.deepEqual(await keys(id), before)
  // For a domain of the name, whose keys they were.
  succeeded(await api.post('/domains/', { name: domain }), 201)
  succeeded(await api.post(`/domains/${domain}/rollover/`, { return: true }), 201)
  await enter(service(), domain, 'await-ds')
  await enter(service(), domain, undefined)
  await eventuallyIs(
    async () => ((await api.get(`/domains/${domain}/`)).json as { keys: { dnskey: string }[] }).keys[0]!.dnskey,
    before[0],
  )
})

test('a deleted domain comes back with what is left of its history, which still counts', async (t) => {
  const { api, domain } = await newZone(service(), {})
  await addOld(domain, 100, 1_000)
  succeeded(await api.delete(`/domains/${domain}/`), 204)
  await limit()
  succeeded(await api.post('/domains/', comeBack(domain)), 201)
  t.deepEqual(Object.keys(await contentsOf(api, domain)), [' NS', 'www A'])
  t.like((await entriesOf(api, domain)).at(-1), { trimmed: true })
  t.deepEqual(await wrong(), [])
  const octets = await octetsOf(domain)
  t.true(octets > LIMIT / 2 && octets <= LIMIT + 2_000, String(octets))
})

test('the operator sets the limit of an account', async (t) => {
  const { api, account, domain } = await newZone(service())
  await addOld(domain, 100, 1_000)
  await service().sql('update accounts set limit_history_octets = 200000 where id = :id', { id: account.id })
  await limit()
  t.is((await entriesOf(api, domain)).length, 101)
  await service().sql('update accounts set limit_history_octets = 0 where id = :id', { id: account.id })
  await limit()
  t.is((await entriesOf(api, domain)).length, 1)
})

test('a domain that is locked waits for another time, and nothing else does', async (t) => {
  const { system } = service()
  const locked = await newZone(service())
  const other = await newZone(service())
  for (const { domain } of [locked, other]) await addOld(domain, 100, 1_000)
  const old = `update history set id = cast('0000' || substr(cast(id as text), 5) as uuid)
    where domain_id = any (array(select id from domains where name = any (:names))) and version = 1`
  const octets = async () => [await octetsOf(locked.domain), await octetsOf(other.domain)] as const
  await transaction(system.db, async (trx) => {
    await query(trx, 'select from domains where name = :domain for no key update', { domain: locked.domain })
    await limit()
    t.true((await octets())[0] > LIMIT)
    t.true((await octets())[1] <= LIMIT)
    await service().sql(old, { names: [locked.domain, other.domain] })
    await trimHistory(system)
    t.true((await octets())[0] > LIMIT)
    t.is((await entriesOf(other.api, other.domain)).length, 1)
  })
  await trimHistory(system)
  t.is((await entriesOf(locked.api, locked.domain)).length, 1)
  t.deepEqual(await wrong(), [])
})

/** What histories keep if the largest one loses an octet until all fit. */
function level(sizes: number[], most: number): number[] {
  const left = [...sizes]
  while (left.reduce((sum, size) => sum + size, 0) > most) {
    const at = left.indexOf(Math.max(...left))
    left[at]!--
  }
  return left
}

test('the histories that lose entries become equally large, and no smaller than the others', async (t) => {
  const random = new Random()
  const { db } = service().system
  const { id: ownerId, api } = await service().account()
  const names = await Promise.all(Array.from({ length: 6 }, () => newDomain(api)))
  for (let left = 40; left > 0; left--) {
    const sizes = names.map(() => random.below(random.of([3, 30, 300])))
    const most = random.below(sizes.reduce((sum, size) => sum + size, 0) + 1)
    const rows = await service().sql<{ id: number }>(
      `update domains set history_octets = octets from unnest(cast(:names as text[]), cast(:sizes as bigint[])) as set (name, octets)
       where domains.name = set.name returning id`,
      { names, sizes },
    )
    t.is(rows.length, names.length)
    const found = await excesses(db, ownerId, most)
    const kept = level(sizes, most)
    const largest = Math.max(...kept)
    for (const { level } of found) t.true(level <= largest && level >= largest - 1, `${sizes.join()} ${most} ${level}`)
    t.is(found.length, sizes.filter((size) => size > (found[0]?.level ?? Infinity)).length)
    t.is(
      found.length > 0,
      sizes.some((size, i) => kept[i] !== size),
      `${sizes.join()} ${most}`,
    )
    t.deepEqual(
      await excesses(
        db,
        ownerId,
        sizes.reduce((sum, size) => sum + size, 0),
      ),
      [],
    )
  }
})
