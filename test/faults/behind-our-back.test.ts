import { audit, AUDIT_PAUSE, AUDIT_TURNS, auditByTurns } from '../../src/service/repair/audit.ts'
import { reconcileAll } from '../../src/service/repair/reconcile.ts'
import { begin, query } from '../../src/store/database.ts'
import { setOwn } from '../../src/store/zone/marks.ts'
import { currentTime, fromMicroseconds, microseconds } from '../../src/time.ts'
import { commandsOn } from '../support/command-line.ts'
import { discrepancies, discrepanciesInTheEnd } from '../support/dns/discrepancies.ts'
import { ask, dataOf } from '../support/dns/dns.ts'
import { eventually, eventuallyHas, eventuallyIs } from '../support/eventually.ts'
import { type OwnService, useServers } from '../support/harness.ts'
import { test } from '../support/serial.ts'
import { changeAtPowerDns, type Foreign } from '../support/state/behind-our-back.ts'
import { entriesOf } from '../support/state/history.ts'
import { unrepaired } from '../support/state/marks.ts'

// Somebody changes one of our zones directly at PowerDNS.

const servers = useServers()
let service: OwnService

test.before('a service is started', async () => {
  service = await servers().serve()
})

const rrset = (subname: string, ...records: string[]) => ({ subname, type: 'A', ttl: 300, records })

async function makeDomain(name: string): Promise<void> {
  await service.api.post('/domains/', { name })
  await service.api.post(`/domains/${name}/rrsets/`, rrset('www', '192.0.2.1', '192.0.2.2'))
  await service.api.post(`/domains/${name}/rrsets/`, rrset('mail', '192.0.2.3'))
}

const keysOf = async (zone: string) => {
  const keys = (await servers().pdns('GET', `/zones/${zone}./cryptokeys`)).json as { dnskey: string }[]
  return keys.map(({ dnskey }) => dnskey)
}

/** A change of the zone `domain`, which has these RRsets afterwards. */
const to =
  (...rrsets: Foreign[]) =>
  (domain: string) =>
    changeAtPowerDns(servers(), domain, ...rrsets)

/** A change of settings of a zone. */
const set = (settings: object) => (domain: string) => servers().pdns('PUT', `/zones/${domain}.`, settings)

async function removeKey(domain: string): Promise<void> {
  const path = `/zones/${domain}./cryptokeys`
  const [key] = (await servers().pdns('GET', path)).json as { id: number }[]
  await servers().pdns('DELETE', `${path}/${key!.id}`)
}

const CHANGES: [what: string, change: (domain: string) => Promise<unknown>, showsInSerial?: true][] = [
  ['a record added to an RRset', to(['www', 'A', 300, '192.0.2.1', '192.0.2.2', '192.0.2.9'])],
  ['a record changed', to(['mail', 'A', 300, '192.0.2.9'])],
  ['a record removed from an RRset', to(['www', 'A', 300, '192.0.2.2'])],
  ['a TTL changed', to(['mail', 'A', 301, '192.0.2.3'])],
  ['an RRset added', to(['new', 'TXT', 300, '"new"'])],
  ['an RRset removed', to(['mail', 'A', 300])],
  [
    'an RRset and the serial changed',
    to(['mail', 'A', 300, '192.0.2.9'], ['', 'SOA', 300, 'a. b. 4000000000 1 1 1 1']),
    true,
  ],
  ['the SOA removed', to(['', 'SOA', 300]), true],
  ['the zone deleted', (domain) => servers().pdns('DELETE', `/zones/${domain}.`), true],
  ['the key deleted', removeKey],
  ['rectification switched off', set({ api_rectify: false })],
  ['the setting SOA-EDIT-API changed', set({ soa_edit_api: 'INCEPTION-INCREMENT' })],
  ['the NSEC3 parameters changed', set({ nsec3param: '1 0 5 ab' })],
]

for (const [i, [what, change, showsInSerial = false]] of CHANGES.entries()) {
  test(`${what} directly at PowerDNS is found by comparing ${showsInSerial ? 'serials' : 'contents'} and repaired`, async (t) => {
    const name = `changed-${i}.example`
    await makeDomain(name)
    const keys = await keysOf(name)
    await change(name)
    t.not((await discrepancies(servers())).length, 0)
    // Such a change sets no mark.
    t.deepEqual(await unrepaired(servers()), [])
    if (!showsInSerial) t.deepEqual(await audit(servers().system, () => false), [])
    t.deepEqual(await reconcileAll(servers().system, { contents: !showsInSerial }), { doubtful: [name], left: [] })
    t.deepEqual(await discrepancies(servers()), [])
    t.deepEqual(await keysOf(name), keys)
  })
}

test('if nothing was changed at PowerDNS, no zone is repaired', async (t) => {
  await makeDomain('unchanged.example')
  t.deepEqual(await reconcileAll(servers().system, { contents: true }), { doubtful: [], left: [] })
})

test('a zone whose repair has failed before is awaited while somebody else has its lock', async (t) => {
  const name = 'awaited.example'
  await makeDomain(name)
  const { db } = servers().system
  const lock = await begin(db)
  await query(lock.db, 'select from domains where name = :name for update', { name })
  await setOwn(db, name)
  await query(db, `update marks set attempts = 1, last_error = 'it was away' where zone = :name`, { name })
  let told = 0
  const reconciling = reconcileAll(servers().system, { contents: false, tell: () => told++ })
  // It tells at its start, and again when it has looked for some time.
  await Promise.race([reconciling, eventually(() => told >= 2)])
  await lock[Symbol.asyncDispose]()
  t.deepEqual((await reconciling).left, [])
})

test('a key added at PowerDNS is kept and stored: the zone is not created again', async (t) => {
  const name = 'rollover.example'
  await makeDomain(name)
  await servers().pdns('POST', `/zones/${name}./cryptokeys`, { keytype: 'csk', active: true, algorithm: 'ecdsa256' })
  const before = await keysOf(name)
  t.is(before.length, 2)
  t.deepEqual(await reconcileAll(servers().system, { contents: true }), { doubtful: [name], left: [] })
  t.deepEqual(await reconcileAll(servers().system, { contents: true }), { doubtful: [], left: [] })
  t.is((await service.api.put(`/domains/${name}/rrsets/mail/A/`, rrset('mail', '192.0.2.4'))).status, 200)
  t.deepEqual(await keysOf(name), before)
  t.is((await service.api.delete(`/domains/${name}/`)).status, 204)
})

test('in a day, audits compare the contents of all zones, some in each, and repair tells what was found', async (t) => {
  const names = Array.from({ length: 5 }, (_, i) => `turn-${i}.example`)
  for (const name of names) {
    await makeDomain(name)
    await changeAtPowerDns(servers(), name, ['www', 'A', 300, '192.0.2.9'])
  }
  let now = currentTime()
  const audited = auditByTurns({ ...servers().system, now: () => now })
  t.deepEqual(await audited(), [])
  const found: string[][] = []
  for (let turn = 0; turn < AUDIT_TURNS; turn += 3) {
    // Each second audit is late, and makes up for the turn that was missed.
    for (const turns of [1, 2]) {
      now = fromMicroseconds(microseconds(now) + BigInt(turns * AUDIT_PAUSE * 1_000))!
      found.push(await audited())
      // A repair between an audit's two questions would look like a difference.
      if (found.at(-1)!.length > 0) await eventuallyIs(() => unrepaired(servers()), [])
    }
  }
  t.deepEqual(found.flat().sort(), names)
  t.true(found.every((some) => some.length <= 2))
  await eventually(() =>
    names.every((name) => new RegExp(`"rrsets":"www A",.*"zone":"${name}"`).test(service.logged())),
  )
  t.deepEqual(await discrepanciesInTheEnd(servers()), [])
  const [entry] = await entriesOf(service.api, names[0]!)
  t.like(entry, { source: 'repair', count: 1 })
})

test('a write to a zone deleted at PowerDNS creates the zone again', async (t) => {
  const name = 'gone.example'
  await makeDomain(name)
  await servers().pdns('DELETE', `/zones/${name}.`)
  t.is((await service.api.put(`/domains/${name}/rrsets/mail/A/`, rrset('mail', '192.0.2.4'))).status, 200)
  t.deepEqual(await discrepancies(servers()), [])
})

test('a domain whose zone was deleted at PowerDNS can be deleted', async (t) => {
  const name = 'gone-already.example'
  await makeDomain(name)
  await servers().pdns('DELETE', `/zones/${name}.`)
  t.is((await service.api.delete(`/domains/${name}/`)).status, 204)
  t.deepEqual(await discrepancies(servers()), [])
})

test('at start the service repairs the zones whose serials differ', async (t) => {
  await service.stop()
  const name = 'unchanged.example'
  await servers().pdns('DELETE', `/zones/${name}.`)
  t.is(dataOf(await ask(servers().powerDns, `www.${name}`, 'A'), 'A').length, 0)
  service = await servers().serve()
  await eventuallyHas(() => service.logged(), `"zone":"${name}"`)
  t.deepEqual(await discrepanciesInTheEnd(servers()), [])
})

test('`zoneplane reconcile` lists the zones that it repaired; only with --contents it compares contents', async (t) => {
  const run = commandsOn(() => servers().system)
  t.deepEqual(await run('reconcile', '--contents'), [true, 'All zones are as the database says.\n'])
  await changeAtPowerDns(servers(), 'unchanged.example', ['www', 'A', 300, '192.0.2.9'])
  t.deepEqual(await run('reconcile'), [true, 'All zones are as the database says.\n'])
  t.deepEqual(await run('reconcile', '--contents'), [true, 'unchanged.example: repaired\n'])
  t.deepEqual(await discrepancies(servers()), [])
})
