import { adopt } from '../../src/service/adoption/adoption.ts'
import { reconcileAll } from '../../src/service/repair/reconcile.ts'
import { SMALL_ZONE } from '../../src/service/zone/rectification.ts'
import { emailOf } from '../support/clients/accounts.ts'
import { freshName, newRRset, succeeded } from '../support/clients/api.ts'
import { discrepanciesOf } from '../support/dns/discrepancies.ts'
import { lookUp } from '../support/dns/dns.ts'
import { useService } from '../support/harness.ts'
import { test } from '../support/serial.ts'
import { REQUEST } from './checks/adoption.ts'

// PowerDNS' LMDB loses an RRset of more than 1,800 octets that it rectifies after the transaction that stored it
// (powerdns.md §1.3).

const service = useService({ DENIAL: 'nsec' })
const nsec3 = useService({ DENIAL: 'nsec3' })

const LONG = Array.from({ length: 12 }, (_, i) => `"${String.fromCharCode(97 + i).repeat(255)}"`).join(' ')
const MANY = Array.from({ length: 120 }, (_, i) => `192.0.2.${i}`)
const ZONE_FILE =
  Array.from({ length: SMALL_ZONE + 1 }, (_, i) => `h${i} 300 A 192.0.2.1\n`).join('') + `imported 300 TXT ${LONG}\n`

for (const [denial, served] of [
  ['NSEC', service],
  ['NSEC3', nsec3],
] as const) {
  test(`${denial}: long RRsets in a large zone outlast the rectification of the zone`, async (t) => {
    const { api } = await served().account()
    const name = freshName()
    succeeded(await api.post('/domains/', { name, zonefile: ZONE_FILE }), 201)
    await newRRset(api, name, { subname: 'h1', type: 'TXT', records: [LONG] })
    await newRRset(api, name, { subname: 'new', type: 'TXT', records: [LONG] })
    await newRRset(api, name, { subname: 'addresses', type: 'A', records: MANY })
    // Such a name lets PowerDNS rectify the zone.
    await newRRset(api, name, { subname: 'below.another', type: 'A', records: ['192.0.2.1'] })
    for (const subname of ['h1', 'new', 'imported'])
      t.is((await lookUp(served().powerDns, `${subname}.${name}`, 'TXT')).length, 1, subname)
    t.is((await lookUp(served().powerDns, `addresses.${name}`, 'A')).length, MANY.length)
    t.deepEqual(await discrepanciesOf(served(), name), [])
  })

  test(`${denial}: a zone with long RRsets that vanished comes back with them`, async (t) => {
    const { api } = await served().account()
    const name = freshName()
    succeeded(await api.post('/domains/', { name }), 201)
    for (const i of [1, 2, 3]) await newRRset(api, name, { subname: `t${i}`, type: 'TXT', records: [LONG] })
    await served().pdns('DELETE', `/zones/${name}.`)
    t.deepEqual(await reconcileAll(served().system, { contents: true }), { doubtful: [name], left: [] })
    t.deepEqual(await discrepanciesOf(served(), name), [])
  })
}

test('an adopted zone that was not signed keeps its long RRsets', async (t) => {
  const name = freshName()
  const { api, id } = await service().account()
  const email = await emailOf(service().system, id)
  const soa = { content: `ns1.example. admin.example. 1 3600 600 86400 3600`, disabled: false }
  const rrsets = [
    { name: `${name}.`, type: 'SOA', ttl: 60, records: [soa] },
    ...[1, 2, 3].map((i) => {
      return { name: `t${i}.${name}.`, type: 'TXT', ttl: 60, records: [{ content: LONG, disabled: false }] }
    }),
  ]
  const zone = { name: `${name}.`, kind: 'Native', nameservers: [], rrsets }
  t.is((await service().pdns('POST', '/zones', zone)).status, 201)
  const request = { ...REQUEST, ownerOf: () => email, nsec3: true, apply: true }
  t.like(await adopt(service().system, name, request), { adopted: true })
  t.deepEqual(await discrepanciesOf(service(), name), [])
  for (const i of [1, 2, 3]) t.is((await lookUp(service().powerDns, `t${i}.${name}`, 'TXT')).length, 1)
  succeeded(await api.delete(`/domains/${name}/`), 204)
})
