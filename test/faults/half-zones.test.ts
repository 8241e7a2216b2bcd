import { reconcileAll } from '../../src/service/repair/reconcile.ts'
import * as marks from '../../src/store/zone/marks.ts'
import { newDomainWithWww, sendHeld } from '../support/clients/api.ts'
import { discrepancies, discrepanciesOf } from '../support/dns/discrepancies.ts'
import { eventually, eventuallyIs } from '../support/eventually.ts'
import { useServed, useServers } from '../support/harness.ts'
import { test } from '../support/serial.ts'
import { changeAtPowerDns } from '../support/state/behind-our-back.ts'

// Zones as PowerDNS leaves them if it is killed during a creation or deletion (powerdns.md §6.2), made here by hand.

const servers = useServers()
const service = useServed(servers)

const rrset = (address: string) => ({ subname: 'www', type: 'A', ttl: 300, records: [address] })
const path = (name: string) => `/zones/${name}.`

/** Makes a zone without SOA, as an interrupted creation leaves it. */
async function makeZoneWithoutSoa(name: string, withKey: boolean): Promise<void> {
  await servers().pdns('POST', '/zones', { name: `${name}.`, kind: 'Master', nameservers: [], dnssec: withKey })
  await changeAtPowerDns(servers(), name, ['', 'SOA', 300])
}

async function deleteKey(name: string): Promise<void> {
  const [key] = (await servers().pdns('GET', `${path(name)}/cryptokeys`)).json as { id: number }[]
  await servers().pdns('DELETE', `${path(name)}/cryptokeys/${key!.id}`)
}

/** Sets a mark as a killed process leaves it; the service repairs it after a second. */
async function leaveMark(zone: string, version: number | null): Promise<void> {
  await marks.set(servers().system.pools.marks, zone, { version, grace: 0, timeLimit: 0 })
}

for (const withKey of [false, true]) {
  const half = withKey ? 'a key and no SOA' : 'neither key nor SOA'

  test(`a half-created zone with ${half} is deleted if its creation was not acknowledged`, async (t) => {
    const name = 'removed.example'
    await makeZoneWithoutSoa(name, withKey)
    await leaveMark(name, 1_800_000_000)
    t.deepEqual(await reconcileAll(servers().system, { contents: false }), { doubtful: [name], left: [] })
    t.is((await servers().pdns('GET', path(name))).status, 404)
    t.deepEqual(await discrepancies(servers()), [])
  })

  test(`a half-created zone with ${half} does not prevent the creation of the domain`, async (t) => {
    const name = `again-${withKey}.example`
    await makeZoneWithoutSoa(name, withKey)
    await leaveMark(name, 1_800_000_000)
    t.is((await service().api.post('/domains/', { name })).status, 201)
    t.deepEqual(await discrepanciesOf(servers(), name), [])
  })

  test(`a zone with ${half} whose domain exists is completed`, async (t) => {
    const name = `finished-${withKey}.example`
    await newDomainWithWww(service().api, name)
    await servers().pdns('DELETE', path(name))
    await makeZoneWithoutSoa(name, withKey)
    await leaveMark(name, null)
    t.deepEqual(await reconcileAll(servers().system, { contents: false }), { doubtful: [name], left: [] })
    t.deepEqual(await discrepancies(servers()), [])
  })
}

test('a half-deleted zone, whose key is gone, is completed if its deletion was not acknowledged', async (t) => {
  const name = 'half-deleted.example'
  await newDomainWithWww(service().api, name)
  await deleteKey(name)
  await leaveMark(name, null)
  t.deepEqual(await reconcileAll(servers().system, { contents: false }), { doubtful: [name], left: [] })
  t.deepEqual(await discrepancies(servers()), [])
})

test('a domain with a half-deleted zone can be deleted', async (t) => {
  const name = 'half-deleted.example'
  await deleteKey(name)
  await leaveMark(name, null)
  t.is((await service().api.delete(`/domains/${name}/`)).status, 204)
  t.deepEqual(await discrepancies(servers()), [])
})

test('the next write completes a half-deleted zone', async (t) => {
  const name = 'half-written.example'
  await newDomainWithWww(service().api, name)
  await deleteKey(name)
  await leaveMark(name, null)
  t.is((await service().api.put(`/domains/${name}/rrsets/www/A/`, rrset('192.0.2.2'))).status, 200)
  t.deepEqual(await discrepanciesOf(servers(), name), [])
})

test('the next creation replaces the zone of an unacknowledged one, with a higher serial', async (t) => {
  const name = 'complete.example'
  const serial = 1_900_000_000
  const content = `ns1.zoneplane.test. hostmaster.${name}. ${serial} 1 1 1 300`
  const soa = { name: `${name}.`, type: 'SOA', ttl: 300, records: [{ content, disabled: false }] }
  const zone = { name: `${name}.`, kind: 'Master', nameservers: [], dnssec: true, soa_edit_api: '', rrsets: [soa] }
  t.is((await servers().pdns('POST', '/zones', zone)).status, 201)
  await leaveMark(name, serial)
  t.is((await service().api.post('/domains/', { name })).status, 201)
  t.like((await servers().pdns('GET', path(name))).json, { serial: serial + 2 })
  t.deepEqual(await discrepanciesOf(servers(), name), [])
})

test('a creation waits until the repair of an earlier one can no longer delete the zone', async (t) => {
  const name = 'deleted-late.example'
  const { proxy } = servers()
  let isCreated = false
  let isDeleted = false
  proxy.fail(({ method, path }) => {
    if (method === 'POST' && path.startsWith('/zones?') && !isCreated) {
      isCreated = true
      return { spoil: 500 }
    }
    if (method === 'DELETE' && !isDeleted) {
      isDeleted = true
      return { abandoned: 1000 }
    }
    return 'pass'
  })
  t.is((await service().api.post('/domains/', { name })).status, 503)
  await eventually(() => isDeleted)
  t.is((await service().api.post('/domains/', { name })).status, 201)
  await eventuallyIs(() => proxy.open(), 0)
  proxy.heal()
  t.deepEqual(await discrepanciesOf(servers(), name), [])
})

for (const fate of ['pass', 'cut'] as const) {
  const second = fate === 'pass' ? 'is refused because of it' : 'is lost'

  test(`the zone of a creation that is applied late is deleted, though a second creation ${second}`, async (t) => {
    const name = `created-late-${fate}.example`
    const { proxy } = servers()
    const isCreation = ({ method, body }: { method: string; body: string }) =>
      method === 'POST' && body.includes(`"${name}.`)
    let apply = () => {}
    proxy.stop(isCreation).release({ abandoned: new Promise<void>((resolve) => (apply = resolve)) })
    t.is((await service().api.post('/domains/', { name })).status, 503)
    const { answering, release } = await sendHeld(servers(), isCreation, () =>
      service().api.post('/domains/', { name }),
    )
    apply()
    await eventuallyIs(async () => (await servers().pdns('GET', path(name))).status, 200)
    release(fate)
    t.is((await answering).status, 503)
    t.deepEqual(await discrepanciesOf(servers(), name), [])
    t.is((await service().api.post('/domains/', { name })).status, 201)
    t.deepEqual(await discrepanciesOf(servers(), name), [])
  })
}
