import test from 'ava'
import { pause, resume } from '../../src/service/adoption/pausing.ts'
import { reconcileAll } from '../../src/service/repair/reconcile.ts'
import { discrepancies } from '../support/dns/discrepancies.ts'
import { lookUp } from '../support/dns/dns.ts'
import { useServed, useServers } from '../support/harness.ts'
import { changeAtPowerDns, type Foreign, soaOf } from '../support/state/behind-our-back.ts'

// The operator pauses a domain, works on its zone at PowerDNS, and chooses which contents stay.

const servers = useServers()
const service = useServed(servers)

const rrsets = (name: string) => `/domains/${name}/rrsets/`
const www = (...records: string[]) => ({ subname: 'www', type: 'A', ttl: 60, records })
const recordsOf = async (name: string) =>
  ((await service().api.get(`${rrsets(name)}www/A/`)).json as { records: string[] }).records
const served = (name: string) => lookUp(servers().powerDns, `www.${name}`, 'A')

async function makePaused(name: string): Promise<void> {
  await service().api.post('/domains/', { name })
  await service().api.post(rrsets(name), www('192.0.2.1'))
  await pause(servers().system, name)
}

/** Changes the zone at PowerDNS; its serial, too, if one is given. */
async function change(name: string, address: string, serial?: number): Promise<void> {
  const soa: Foreign[] = serial === undefined ? [] : [['', 'SOA', 60, soaOf(name, serial)]]
  await changeAtPowerDns(servers(), name, ['www', 'A', 60, address], ...soa)
}

test.serial('a paused domain cannot be written, and its zone is not repaired', async (t) => {
  const name = 'paused.test'
  await makePaused(name)
  const detail = `{"detail":"${name} is paused by the operator of this service and cannot be changed now."}`
  const answers = [
    await service().api.post(rrsets(name), { ...www('192.0.2.1'), subname: 'new' }),
    await service().api.patch(`${rrsets(name)}www/A/`, { ttl: 61 }),
    await service().api.delete(`${rrsets(name)}www/A/`),
    await service().api.post(`${rrsets(name)}?dry_run=true`, { ...www('192.0.2.1'), subname: 'new' }),
    await service().api.delete(`/domains/${name}/`),
  ]
  for (const { status, text } of answers) t.deepEqual([status, text], [409, detail])
  t.deepEqual(await recordsOf(name), ['192.0.2.1'])

  await change(name, '192.0.2.9', 4_000_000_000)
  t.deepEqual(await reconcileAll(servers().system, { contents: true }), { doubtful: [], left: [] })
  t.deepEqual(await served(name), ['192.0.2.9'])

  const differences = [
    {
      name: `www.${name}.`,
      type: 'A',
      ours: { ttl: 60, records: ['192.0.2.1'] },
      theirs: { ttl: 60, records: ['192.0.2.9'] },
    },
  ]
  t.deepEqual(await resume(servers().system, name), differences)
  t.is((await service().api.delete(`${rrsets(name)}www/A/`)).status, 409)
  t.deepEqual(await resume(servers().system, name, 'ours'), differences)
  t.deepEqual(await served(name), ['192.0.2.1'])
  t.is((await service().api.delete(`${rrsets(name)}www/A/`)).status, 204)
})

for (const serial of [undefined, 4_000_000_001]) {
  const what = serial === undefined ? 'contents' : 'contents and the serial'
  test.serial(`what has changed at PowerDNS, ${what}, can be taken over`, async (t) => {
    const name = `theirs-${serial ?? 'same'}.test`
    await makePaused(name)
    await change(name, '192.0.2.9', serial)
    t.is((await resume(servers().system, name, 'theirs')).length, 1)
    t.deepEqual(await recordsOf(name), ['192.0.2.9'])
    t.deepEqual(await served(name), ['192.0.2.9'])
    t.is((await service().api.patch(`${rrsets(name)}www/A/`, www('192.0.2.2'))).status, 200)
    t.deepEqual(await served(name), ['192.0.2.2'])
  })
}

test.serial('what the API refuses is not taken over, and the domain stays paused', async (t) => {
  const name = 'refused.test'
  await makePaused(name)
  await changeAtPowerDns(servers(), name, ['alias', 'ALIAS', 60, 'x.example.'])
  const error = await t.throwsAsync(resume(servers().system, name, 'theirs'))
  t.regex(JSON.stringify(error), /alias\.refused\.test\. ALIAS: /)
  t.is((await service().api.delete(`${rrsets(name)}www/A/`)).status, 409)
  t.is((await resume(servers().system, name, 'ours')).length, 1)
  t.is((await service().api.delete(`${rrsets(name)}www/A/`)).status, 204)
})

test.serial('a domain whose zone has not changed is resumed at once', async (t) => {
  const name = 'same.test'
  await makePaused(name)
  t.deepEqual(await resume(servers().system, name), [])
  t.is((await service().api.delete(`${rrsets(name)}www/A/`)).status, 204)
})

test.serial('only domains that exist are paused, and only paused ones resumed', async (t) => {
  await t.throwsAsync(pause(servers().system, 'nowhere.test'), { message: 'There is no domain nowhere.test.' })
  await service().api.post('/domains/', { name: 'running.test' })
  await t.throwsAsync(resume(servers().system, 'running.test'), { message: 'running.test is not paused.' })
})

test.serial('at the end, DNS equals the database', async (t) => {
  t.deepEqual(await discrepancies(servers()), [])
})
