import { newRRset, newZone, rrset, type ShownDomain, succeeded } from '../../support/clients/api.ts'
import { lookUp } from '../../support/dns/dns.ts'
import { useService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'
import { unrepaired } from '../../support/state/marks.ts'

const service = useService()

/** Reasons for a refusal (422), as PowerDNS words them. */
const REASONS = [
  "Record www.x.test./A '192.0.2.1': Not in expected format (parsed as '192.0.2.01')",
  'RRset www.x.test. IN CNAME: Conflicts with pre-existing RRset',
  'Duplicate record in RRset www.x.test. IN A with content "192.0.2.1"',
]

for (const reason of REASONS) {
  test(`a refusal by PowerDNS is reported with its reason, and nothing is applied: ${reason}`, async (t) => {
    const { api, domain, rrsets } = await newZone(service())
    const shown = await newRRset(api, domain, { subname: 'old' })
    const before = (await api.get(`/domains/${domain}/`)).json as ShownDomain
    const writes = [
      () => api.post(rrsets, rrset()),
      () => api.put(`${rrsets}old/A/`, rrset({ subname: 'old', ttl: 60 })),
      () => api.patch(`${rrsets}old/A/`, { records: ['192.0.2.99'] }),
    ]
    for (const write of writes) {
      service().proxy.fail(({ method }) => (method === 'PATCH' ? { refuse: 422, error: reason } : 'pass'))
      const answer = await write()
      service().proxy.heal()
      const problems = { non_field_errors: [`The DNS backend refused this RRset: ${reason}`] }
      t.deepEqual([answer.status, answer.text], [400, JSON.stringify(problems)])
      t.deepEqual(await unrepaired(service(), domain), [])
    }
    t.deepEqual((await api.get(`${rrsets}old/A/`)).json, shown)
    t.is((await api.get(`${rrsets}www/A/`)).status, 404)
    t.deepEqual((await api.get(`/domains/${domain}/`)).json, before)
    t.deepEqual(await lookUp(service().powerDns, `old.${domain}`, 'A'), ['192.0.2.1'])

    succeeded(await api.post(rrsets, rrset()), 201)
    t.deepEqual(await lookUp(service().powerDns, `www.${domain}`, 'A'), ['192.0.2.1'])
  })
}

test('after a refusal the next write sends only its change', async (t) => {
  const { api, domain, rrsets } = await newZone(service())
  service().proxy.fail(({ method }) => (method === 'PATCH' ? { refuse: 422, error: 'no' } : 'pass'))
  t.is((await api.post(rrsets, rrset())).status, 400)
  service().proxy.heal()
  service().proxy.calls.length = 0
  succeeded(await api.post(rrsets, rrset()), 201)
  const [change, ...more] = service().proxy.calls.filter((call) => call.path.includes(domain))
  t.deepEqual([change?.method, more], ['PATCH', []])
  t.is((JSON.parse(change!.body) as { rrsets: unknown[] }).rrsets.length, 2)
})
