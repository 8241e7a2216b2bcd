import test from 'ava'
import pg from 'pg'
import { audit } from '../../src/service/repair/audit.ts'
import { reconcile } from '../../src/service/repair/reconcile.ts'
import { begin, one, query } from '../../src/store/database.ts'
import * as marks from '../../src/store/zone/marks.ts'
import { newDomainWithWww, sendHeld } from '../support/clients/api.ts'
import { discrepancies, discrepanciesOf } from '../support/dns/discrepancies.ts'
import { defer, eventually, eventuallyIs } from '../support/eventually.ts'
import { type OwnService, useServers } from '../support/harness.ts'
import type { Call, Fate } from '../support/servers/proxy.ts'
import { changeAtPowerDns } from '../support/state/behind-our-back.ts'

// crashes.md.

const servers = useServers()
let service: OwnService

test.serial.before('a service is started', async () => {
  service = await servers().serve()
})

/** The call for the serials of all zones. */
const SERIALS = '/zones?dnssec=false'

const rrset = (address: string) => ({ subname: 'www', type: 'A', ttl: 300, records: [address] })
const write = (name: string, address: string) => service.api.put(`/domains/${name}/rrsets/www/A/`, rrset(address))

async function markOf(zone: string): Promise<marks.Mark | undefined> {
  return (await marks.list(servers().system.db, [zone]))[0]
}

async function serialOf(zone: string): Promise<number> {
  return ((await servers().pdns('GET', `/zones/${zone}.?rrsets=false`)).json as { serial: number }).serial
}

const spoil = (name: string) => changeAtPowerDns(servers(), name, ['www', 'A', 300, '192.0.2.99'])

/** Marks zones; their repair is due after the interval `due`. */
async function mark(names: string[], due = '1 hour'): Promise<void> {
  await marks.setMany(servers().system.db, names)
  await query(
    servers().system.db,
    `update marks set retry_at = now() + cast(:due as interval) where zone = any (:names)`,
    { names, due },
  )
}

test.serial('during a push the zone has a mark with the new serial; after the commit it has none', async (t) => {
  const name = 'asked.example'
  await newDomainWithWww(service.api, name)
  const { answering, call, release } = await sendHeld(servers(), 'PATCH', () => write(name, '192.0.2.2'))
  const before = await markOf(name)
  t.regex(call.body, new RegExp(`hostmaster\\.${name}\\. ${before!.version} `))
  t.true(before!.grace > 0)
  release('pass')
  t.is((await answering).status, 200)
  t.is(await markOf(name), undefined)
})

test.serial('a write that leaves a mark has its repair begin at once; other writes wake nobody', async (t) => {
  const name = 'waking.example'
  await newDomainWithWww(service.api, name)
  const { next } = service.system.workBell
  t.is((await write(name, '192.0.2.2')).status, 200)
  t.is((await write(name, '192.0.2.256')).status, 400)
  t.false(next.aborted)
  const { answering, release } = await sendHeld(servers(), 'PATCH', () => write(name, '192.0.2.3'))
  release('swallow')
  t.is((await answering).status, 503)
  t.true(next.aborted)
  t.deepEqual(await discrepanciesOf(servers(), name), [])
})

test.serial('an audit does not mark a zone that is written meanwhile', async (t) => {
  const name = 'audited.example'
  await newDomainWithWww(service.api, name)
  for (const [address, isLater] of [
    ['192.0.2.2', true],
    ['192.0.2.3', false],
  ] as const) {
    const { json: before } = await servers().pdns('GET', SERIALS)
    const stopped = servers().proxy.stop(({ path }) => path === SERIALS)
    const auditing = audit(service.system, () => false)
    await stopped.arrived
    t.is((await write(name, address)).status, 200)
    stopped.release(isLater ? 'pass' : { answer: before })
    await auditing
    t.is(await markOf(name), undefined)
  }
})

test.serial('repair does not delete the mark of a push that is still under way', async (t) => {
  const name = 'undecided.example'
  await newDomainWithWww(service.api, name)
  const { answering, release } = await sendHeld(servers(), 'PATCH', () => write(name, '192.0.2.2'))
  for (let i = 0; i < 3; i++) {
    await marks.hasten(servers().system.db)
    t.deepEqual(await reconcile(servers().system), [])
    t.truthy(await markOf(name))
  }
  release('pass')
  t.is((await answering).status, 200)
  t.deepEqual(await discrepanciesOf(servers(), name), [])
})

test.serial('a write that meets a mark publishes the whole zone', async (t) => {
  const name = 'whole.example'
  await newDomainWithWww(service.api, name)
  await spoil(name)
  await mark([name])
  const answer = await service.api.post(`/domains/${name}/rrsets/`, { ...rrset('192.0.2.2'), subname: 'other' })
  t.is(answer.status, 201)
  t.is(await markOf(name), undefined)
  t.deepEqual(await discrepancies(servers()), [])
})

test.serial('the deletion of a domain with a mark deletes the mark', async (t) => {
  const name = 'whole.example'
  await spoil(name)
  await mark([name])
  t.is((await service.api.delete(`/domains/${name}/`)).status, 204)
  t.is(await markOf(name), undefined)
  t.deepEqual(await discrepancies(servers()), [])
})

test.serial('a repair that fails is recorded and retried, and does not delay other repairs', async (t) => {
  const names = ['hopeless.example', 'hopeful-1.example', 'hopeful-2.example']
  for (const name of names) {
    await newDomainWithWww(service.api, name)
    await spoil(name)
  }
  servers().proxy.fail(({ path }) => (path.includes('hopeless') ? { refuse: 500 } : 'pass'))
  await mark(names, '0')
  await eventually(async () => (await markOf(names[0]!))!.attempts >= 2)
  await eventuallyIs(async () => (await marks.list(servers().system.db, names)).length, 1)
  t.is((await markOf(names[0]!))?.lastError, 'injected')
  servers().proxy.heal()
  await marks.hasten(servers().system.db)
  t.deepEqual(await discrepanciesOf(servers(), names[0]!), [])
})

test.serial('the pauses between failed repairs of a zone double, up to five minutes', async (t) => {
  t.deepEqual(await pausesOf(12, '1'), [1, 1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300])
})

test.serial('many failures in a short time, as writes to the zone cause them, make no long pause', async (t) => {
  t.deepEqual(await pausesOf(12, '0'), Array(12).fill(1))
})

/** The seconds of pause after each of so many failures, which come after the last pause (1) or at once (0). */
async function pausesOf(failures: number, wait: '0' | '1'): Promise<number[]> {
  // Never committed. The clock of a transaction stands still, so the mark is made older instead.
  await using trx = await begin(servers().system.db)
  const mark = await marks.set(trx.db, 'never.example', { version: 1, grace: 0, timeLimit: 0 })
  const pauses: number[] = []
  for (let failure = 1; failure <= failures; failure++) {
    await marks.keep(trx.db, mark, true, 'injected')
    const sql = `update marks set since = since - ${wait} * (retry_at - now()) where zone = :zone
      returning extract(epoch from retry_at - now())::int as pause`
    pauses.push((await one<{ pause: number }>(trx.db, sql, { zone: mark.zone })).pause)
  }
  return pauses
}

test.serial('a repair that hangs does not delay other repairs', async (t) => {
  const names = ['hanging.example', ...Array.from({ length: 9 }, (_, i) => `free-${i}.example`)]
  for (const name of names) {
    await newDomainWithWww(service.api, name)
    await spoil(name)
  }
  const released = defer<Fate>()
  const isHanging = ({ path }: Call) => path.startsWith('/zones/hanging.example.')
  servers().proxy.calls.length = 0
  servers().proxy.fail((call) => (isHanging(call) ? released.promise : 'pass'))
  await mark(names.slice(0, 1), '0')
  await eventually(() => servers().proxy.calls.some(isHanging))
  await mark(names.slice(1), '0')
  await eventuallyIs(async () => (await marks.list(servers().system.db)).length, 1)
  t.is((await marks.list(servers().system.db))[0]!.zone, names[0]!)
  released.resolve('pass')
  servers().proxy.heal()
  await marks.hasten(servers().system.db)
  t.deepEqual(await discrepanciesOf(servers(), names[0]!), [])
  t.deepEqual(await discrepancies(servers()), [])
})

test.serial('marked zones that others have locked do not delay the repair of another zone', async (t) => {
  const names = Array.from({ length: 9 }, (_, i) => `busy-${i}.example`)
  for (const name of names) await newDomainWithWww(service.api, name)
  const other = new pg.Client(servers().backends.databaseUrl)
  await other.connect()
  const busy = names.slice(1)
  await other.query('begin')
  await other.query('select from domains where name = any ($1) for no key update', [busy])
  await mark(busy, '-1 hour')
  await mark(names.slice(0, 1), '0')
  await eventuallyIs(() => markOf(names[0]!), undefined)
  t.is((await marks.list(servers().system.db)).length, busy.length)
  await other.query('rollback')
  await other.end()
  for (const name of busy) t.deepEqual(await discrepanciesOf(servers(), name), [])
})

test.serial('two concurrent runs of `reconcile` repair each zone once', async (t) => {
  const names = Array.from({ length: 8 }, (_, i) => `twice-${i}.example`)
  for (const name of names) {
    await newDomainWithWww(service.api, name)
    await spoil(name)
  }
  await service.stop()
  await mark(names, '0')
  const repaired = await Promise.all([reconcile(servers().system), reconcile(servers().system)])
  t.deepEqual(repaired.flat().sort(), names)
  t.deepEqual(await discrepancies(servers()), [])
})

test.serial('a repaired zone gets a serial above that of the failed push', async (t) => {
  const name = 'tried.example'
  service = await servers().serve()
  await newDomainWithWww(service.api, name)
  const { answering, release } = await sendHeld(servers(), 'PATCH', () => write(name, '192.0.2.2'))
  const { version } = (await markOf(name))!
  release('cut')
  t.is((await answering).status, 503)
  t.deepEqual(await discrepanciesOf(servers(), name), [])
  const [domain] = await query<{ version: number }>(
    servers().system.db,
    'select version from domains where name = :name',
    { name },
  )
  t.true(domain!.version > version!)
})

test.serial('a push that PowerDNS applies after the grace period is found within seconds', async (t) => {
  const name = 'belated.example'
  await newDomainWithWww(service.api, name)
  const { answering, call, release } = await sendHeld(servers(), 'PATCH', () => write(name, '192.0.2.2'))
  const { version } = (await markOf(name))!
  // How long to watch for it.
  await query(servers().system.db, 'update marks set time_limit = 600000 where zone = :name', { name })
  const late = defer()
  release({ abandoned: late.promise })
  t.is((await answering).status, 503)
  t.deepEqual(await discrepanciesOf(servers(), name), [])
  t.is((await write(name, '192.0.2.3')).status, 200)
  late.resolve()
  await eventually(() => call.status)
  t.is(call.status, 204)
  await eventually(async () => (await serialOf(name)) !== version)
  t.deepEqual(await discrepanciesOf(servers(), name), [])
  t.like((await service.api.get(`/domains/${name}/rrsets/www/A/`)).json, { records: ['192.0.2.3'] })
})
