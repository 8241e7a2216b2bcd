import { SMALL_ZONE } from '../../src/service/zone/rectification.ts'
import { verifyTransfer } from '../support/dns/dns.ts'
import { isConsistent, Zone } from '../support/dns/zone.ts'
import { useService } from '../support/harness.ts'
import { test } from '../support/serial.ts'

// PowerDNS with SQLite, one of its SQL backends, which forget the DNSSEC order of an RRset whose contents change.

const service = useService({ THROTTLE: 'off' }, 'gsqlite3')

let zone: Zone

test.before('a large zone', async () => {
  const { api } = await service().account()
  zone = await Zone.create(service(), api, 'sql.test')
  const fillers = Array.from({ length: SMALL_ZONE + 1 }, (_, i) => `f${i}`)
  const rrsets = fillers.map((subname) => ({ subname, type: 'A', ttl: 60, records: ['192.0.2.9'] }))
  const { status } = await api.post(`/domains/${zone.name}/rrsets/`, rrsets)
  if (status !== 201) throw new Error(String(status))
})

for (const [what, subname] of [
  ['a name', 'x'],
  ['a wildcard', '*.w'],
  ['a name below an empty non-terminal', 'z.y'],
] as const) {
  test(`with an SQL backend, denials validate after the contents of ${what} in a large zone change`, async (t) => {
    await zone.put(subname, 'A', ['192.0.2.1'])
    await zone.put(subname, 'TXT', ['"1"'])
    await zone.put(subname, 'A', ['192.0.2.2'])
    const parent = subname.replace(/^[^.]*\.?/, '')
    const names = [subname, `below.${subname.replace('*', 'a')}`, parent].map((name) => zone.at(name))
    for (const questions of names.map((name) => ['A', 'MX'].map((type): [string, string] => [name, type]))) {
      await zone.answers(t, questions)
      await zone.validates(t, questions)
    }
  })
}

test('a transfer of the zone is valid, and it equals the database', async (t) => {
  await t.notThrowsAsync(verifyTransfer(service().powerDns, zone.name, zone.ds))
  await isConsistent(t, service())
})
