import { newDomain, rrset, succeeded } from '../support/clients/api.ts'
import { discrepanciesInTheEnd } from '../support/dns/discrepancies.ts'
import { ask, dataOf } from '../support/dns/dns.ts'
import { eventually, eventuallyHas } from '../support/eventually.ts'
import { useServers } from '../support/harness.ts'
import { test } from '../support/serial.ts'
import { PostgresPair } from '../support/servers/postgres/postgres-pair.ts'

// A primary with an asynchronous standby, which lacks the last commits when it is promoted.

let postgres: PostgresPair
const servers = useServers(undefined, async () => (postgres = await PostgresPair.start({ isSynchronous: false })))

const LOST = 'zones are ahead of Postgres'

test('after a failover that loses acknowledged changes, the log says so once, and DNS is repaired', async (t) => {
  const services = [await servers().start(), await servers().start()]
  const [{ api }] = services as [(typeof services)[0]]
  const names = ['changed.example', 'unchanged.example', 'deleted.example']
  for (const name of names) {
    await newDomain(api, name)
    succeeded(await api.post(`/domains/${name}/rrsets/`, rrset()), 201)
  }
  await postgres.awaitStandby()
  await postgres.holdUpStandby()
  // Several changes: the serials that were served must be exceeded.
  for (let i = 2; i < 9; i++) {
    succeeded(await api.put('/domains/changed.example/rrsets/www/A/', rrset({ records: [`192.0.2.${i}`] })), 200)
  }
  succeeded(await api.delete('/domains/deleted.example/'), 204)
  await newDomain(api, 'created.example')
  const before = await serialOf('changed.example')

  await postgres.lose('killed')
  await postgres.promote()
  const output = () => services.map((each) => each.output()).join('')
  await eventually(() => services.every((each) => each.output().includes('Postgres restarted or failed over')))
  await eventuallyHas(output, LOST)
  t.deepEqual(await discrepanciesInTheEnd(servers(), ['created.example']), [])
  t.deepEqual(dataOf(await ask(servers().powerDns, 'www.changed.example', 'A'), 'A'), ['192.0.2.1'])
  t.true((await serialOf('changed.example')) > before)
  t.deepEqual(dataOf(await ask(servers().powerDns, 'www.deleted.example', 'A'), 'A'), ['192.0.2.1'])
  const told = output()
    .split('\n')
    .filter((line) => line.includes(LOST))
    .map((line) => JSON.parse(line) as { level: string; count: number; zones: string })
  t.is(told.length, 1)
  t.like(told[0], { level: 'error', count: 1, zones: 'changed.example' })
  // A domain that was made is none any more. Its zone is left alone, as any that is no domain.
  t.regex(output(), /zones at PowerDNS without a domain.*created\.example/)
  t.is((await api.get('/domains/created.example/')).status, 404)
  // Writes go on.
  succeeded(await api.put('/domains/changed.example/rrsets/www/A/', rrset({ records: ['192.0.2.99'] })), 200)
  t.deepEqual(dataOf(await ask(servers().powerDns, 'www.changed.example', 'A'), 'A'), ['192.0.2.99'])
})

async function serialOf(name: string): Promise<number> {
  return ((await servers().pdns('GET', `/zones/${name}.`)).json as { serial: number }).serial
}
