import type { ExecutionContext } from 'ava'
import { setTimeout as sleep } from 'node:timers/promises'
import { answerTime, COLLECTION_ITEMS, requestSize } from '../../src/limits.ts'
import { reconcileAll } from '../../src/service/repair/reconcile.ts'
import { query } from '../../src/store/database.ts'
import { dsIn } from '../support/clients/api.ts'
import { discrepanciesInTheEnd } from '../support/dns/discrepancies.ts'
import { ask, lookUp } from '../support/dns/dns.ts'
import { validate } from '../support/dns/validators.ts'
import { eventuallyIs } from '../support/eventually.ts'
import { useServed, useServers } from '../support/harness.ts'
import { test } from '../support/serial.ts'
import { type Call, toZone } from '../support/servers/proxy.ts'
import { unrepaired } from '../support/state/marks.ts'

// A zone with more RRsets than one request to PowerDNS takes is created in batches; nobody sees a part of it.

const servers = useServers()
const RRSETS = COLLECTION_ITEMS + 500
const ZONE_FILE = Array.from({ length: RRSETS }, (_, i) => `h${i} 300 A 192.0.2.1\n`).join('')

const service = useServed(servers)
let number = 0

const freshName = () => `batches-${number++}.example`
const create = (name: string) => service().api.post('/domains/', { name, zonefile: ZONE_FILE })

async function domainExists(name: string): Promise<boolean> {
  return (await query(servers().system.db, 'select from domains where name = :name', { name })).length > 0
}

const [patches, puts] = [toZone('PATCH'), toZone('PUT')]

/** The requests that make the zone, in order. */
const CALLS: Record<string, (call: Call, name: string) => boolean> = {
  'the one that makes the zone': ({ method, body }, name) => method === 'POST' && body.includes(`"${name}."`),
  'the one that configures it': (call, name) => puts(call, name) && call.body.includes('nsec3param'),
  'the first batch': (call, name) => patches(call, name) && call.body.includes(`"h0.${name}."`),
  'the one that switches rectification on': (call, name) => puts(call, name) && !call.body.includes('nsec3param'),
  'the last batch, with the SOA': (call, name) =>
    patches(call, name) && call.body.includes(`"h${RRSETS - 1}.${name}."`),
}

/** The status of the answer to a question about a name that was never asked for. */
async function statusOf(name: string): Promise<string> {
  return (await ask(servers().powerDns, name, 'A')).rcode
}

/** The zone is complete, and a verifier finds its signatures and denials valid. */
async function isWhole(t: ExecutionContext, name: string): Promise<void> {
  const { powerDns, system } = servers()
  const [domain] = await query<{ version: number; size: number }>(
    system.db,
    'select version, size from domains where name = :name',
    { name },
  )
  const { json } = await servers().pdns('GET', `/zones/${name}.`)
  const { serial, api_rectify, rrsets } = json as { serial: number; api_rectify: boolean; rrsets: unknown[] }
  // With its SOA, and the NS RRset.
  t.deepEqual([serial, api_rectify, rrsets.length], [domain!.version, true, RRSETS + 2])
  t.is(domain!.size, RRSETS + 1)
  for (const i of [0, COLLECTION_ITEMS, RRSETS - 1]) {
    t.deepEqual(await lookUp(powerDns, `h${i}.${name}`, 'A'), ['192.0.2.1'])
  }
  t.is(await statusOf(`absent.${name}`), 'NXDOMAIN')
}

test('the zone is not served before it is complete, and then all of it is', async (t) => {
  const name = freshName()
  const stops = Object.entries(CALLS).map(([which, isIt]) => ({
    which,
    stopped: servers().proxy.stop((call) => isIt(call, name)),
  }))
  const answering = create(name)
  for (const [i, { which, stopped }] of stops.entries()) {
    await stopped.arrived
    t.is(await statusOf(`h${i}.${name}`), 'REFUSED', which)
    stopped.release('pass')
  }
  const ds = dsIn(await answering)
  await isWhole(t, name)
  for (const [owner, verdict] of [
    ['h7', 'fully validated'],
    ['nothing', 'negative response, fully validated'],
  ] as const) {
    t.is(await validate(servers().powerDns, name, ds, `${owner}.${name}`, 'A'), verdict)
  }
})

test('if PowerDNS fails after any of the calls, the answer is 503, nothing is left, and a retry imports all', async (t) => {
  const name = freshName()
  // Each retry gets further than the one before.
  for (const [which, isIt] of Object.entries(CALLS)) {
    const stopped = servers().proxy.stop((call) => isIt(call, name))
    const answering = create(name)
    await stopped.arrived
    stopped.release({ spoil: 500 })
    t.is((await answering).status, 503, which)
    t.false(await domainExists(name))
  }
  t.is((await create(name)).status, 201)
  await isWhole(t, name)
})

test('if the service is killed during any of the calls, which PowerDNS carries out, another process leaves nothing', async (t) => {
  const { db } = servers().system
  const flush = ({ path }: Call, name: string) => path === `/cache/flush?domain=${name}.`
  const victims = [...Object.values(CALLS), flush].map((isIt) => ({ isIt, name: freshName() }))
  for (const { isIt, name } of victims) {
    const victim = await servers().start()
    const stopped = servers().proxy.stop((call) => isIt(call, name))
    const answering = victim.api.post('/domains/', { name, zonefile: ZONE_FILE }).catch((error: unknown) => error)
    await stopped.arrived
    await victim.kill()
    // What was under way is carried out when nobody waits for it any more.
    stopped.release('swallow')
    t.true((await answering) instanceof Error, name)
  }
  await eventuallyIs(() => servers().proxy.open(), 0)
  // Nothing is under way any more, so no process need wait for late requests.
  await query(db, 'update marks set grace = 0, watch_until = now()')
  await eventuallyIs(() => query(db, 'select zone from marks'), [])
  t.deepEqual(await discrepanciesInTheEnd(servers()), [])
  for (const { name } of victims) t.is(await statusOf(`h0.${name}`), 'REFUSED', name)
})

test('PowerDNS may take longer for the rectification of an imported zone than for a small request', async (t) => {
  const name = freshName()
  const stopped = servers().proxy.stop((call) => CALLS['the one that switches rectification on']!(call, name))
  const answering = create(name)
  await stopped.arrived
  await sleep(answerTime(0) + 1000)
  stopped.release('pass')
  t.is((await answering).status, 201)
  await isWhole(t, name)
})

test('a zone with many long RRsets comes back', async (t) => {
  const name = freshName()
  await service().api.post('/domains/', { name })
  const content = Array.from({ length: 240 }, () => `"${'x'.repeat(255)}"`).join(' ')
  const count = Math.floor((12 * 2 ** 20) / content.length)
  await query(
    servers().system.db,
    `with changed as (update domains set size = size + :count, record_octets = record_octets + :count * length(:content)
       where name = :name returning id)
     insert into rrsets (domain_id, subname, type, ttl, records, created, touched)
       select id, 'h' || i, 'TXT', 60, array[:content], now(), now() from changed, generate_series(1, :count) i`,
    { name, content, count },
  )
  await servers().pdns('DELETE', `/zones/${name}.`)
  t.deepEqual((await reconcileAll(servers().system, { contents: true })).doubtful, [name])
  // The service may have begun to repair it, which takes a busy machine long.
  await eventuallyIs(() => unrepaired(servers(), name), [])
  t.is((await lookUp(servers().powerDns, `h${count}.${name}`, 'TXT')).length, 1)
  // To change one costs PowerDNS more than its number: the request, and the doubt about it, last longer.
  const sent = servers().proxy.stop((call) => patches(call, name))
  const changing = service().api.patch(`/domains/${name}/rrsets/`, [
    { subname: 'h1', type: 'TXT', ttl: 120, records: [content] },
  ])
  await sent.arrived
  const [mark] = await query<{ limit: number }>(
    servers().system.db,
    'select time_limit as limit from marks where zone = :name',
    { name },
  )
  t.true(requestSize([{ records: [content] }]) > 10)
  t.is(mark?.limit, answerTime(requestSize([{ records: [content] }])))
  sent.release('pass')
  t.is((await changing).status, 200)
  t.is((await service().api.delete(`/domains/${name}/`)).status, 204)
})
