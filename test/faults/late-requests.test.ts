import { query } from '../../src/store/database.ts'
import { newDomainWithWww } from '../support/clients/api.ts'
import type { Answer, Client } from '../support/clients/client.ts'
import { addressAt, discrepanciesOf } from '../support/dns/discrepancies.ts'
import { eventually, eventuallyIs } from '../support/eventually.ts'
import { useServed, useServers } from '../support/harness.ts'
import { test } from '../support/serial.ts'
import type { Call, GATEWAY_BODIES } from '../support/servers/proxy.ts'
import { changeAtPowerDns, soaOf } from '../support/state/behind-our-back.ts'

// A request reaches PowerDNS after its sender has lost the zone's lock (crashes.md). No
// process compares all serials during these tests: that happens at a start and every ten minutes.

const servers = useServers()

/** The service that takes over. */
const service = useServed(servers)

const rrset = (address: string, subname = 'www') => ({ subname, type: 'A', ttl: 300, records: [address] })
const isPatch = ({ method }: Call) => method === 'PATCH'
const isCreation = ({ method }: Call) => method === 'POST'

async function marksOf(zone: string): Promise<{ settled: boolean }[]> {
  return query(servers().system.db, 'select settled from marks where zone = :zone', { zone })
}

/** The address of `www` at PowerDNS. */
const served = (name: string) => addressAt(servers(), `www.${name}`, name)

/** The status of PowerDNS' answer to a call, once it has applied it. */
async function statusOf(call: Call): Promise<number | undefined> {
  await eventually(() => call.status)
  return call.status
}

test('a change that arrives after later writes, which send only their changes, is found and undone', async (t) => {
  const name = 'late-change.example'
  await newDomainWithWww(service().api, name)
  const victim = await servers().start()
  const push = servers().proxy.stop(isPatch)
  const answering = victim.api.put(`/domains/${name}/rrsets/www/A/`, rrset('192.0.2.2')).catch(() => undefined)
  const late = await push.arrived
  await victim.kill()
  await answering
  const { api } = service()
  t.is((await api.put(`/domains/${name}/rrsets/www/A/`, rrset('192.0.2.3'))).status, 200)
  t.deepEqual(await marksOf(name), [{ settled: true }])

  servers().proxy.calls.length = 0
  t.is((await api.post(`/domains/${name}/rrsets/`, rrset('192.0.2.4', 'other'))).status, 201)
  const [patch, ...more] = servers().proxy.calls.filter(isPatch)
  t.deepEqual(more, [])
  const { rrsets } = JSON.parse(patch!.body) as { rrsets: { name: string; type: string }[] }
  t.deepEqual(
    rrsets.map(({ name, type }) => `${name} ${type}`),
    [`other.${name}. A`, `${name}. SOA`],
  )
  t.deepEqual(await marksOf(name), [{ settled: true }])

  push.release('pass')
  t.is(await statusOf(late), 204)
  await eventuallyIs(() => served(name), '192.0.2.3')
  t.deepEqual(await discrepanciesOf(servers(), name), [])
  await eventuallyIs(async () => (await marksOf(name)).length, 0)
})

/** What a gateway delivers after it has answered, and whether PowerDNS shows that it was undone. */
const DELIVERIES: {
  what: string
  answers: [status: number, form: keyof typeof GATEWAY_BODIES][]
  act: (api: Client, name: string) => Promise<Answer>
  isPush: (call: Call) => boolean
  isUndone: (name: string) => Promise<boolean>
}[] = [
  {
    what: 'a change',
    answers: [
      [500, 'html'],
      [422, 'text'],
      [500, 'json'],
      [409, 'empty'],
      [504, 'html'],
      [500, 'cut'],
    ],
    act: (api, name) => api.put(`/domains/${name}/rrsets/www/A/`, rrset('192.0.2.2')),
    isPush: isPatch,
    isUndone: async (name) => (await served(name)) === '192.0.2.1',
  },
  {
    what: 'a deletion',
    answers: [
      [404, 'html'],
      [500, 'empty'],
    ],
    act: (api, name) => api.delete(`/domains/${name}/`),
    isPush: ({ method }) => method === 'DELETE',
    isUndone: async (name) => (await servers().pdns('GET', `/zones/${name}.`)).status === 200,
  },
  {
    what: 'a creation',
    answers: [
      [409, 'json'],
      [502, 'html'],
    ],
    act: (api, name) => api.post('/domains/', { name }),
    isPush: isCreation,
    isUndone: async (name) => (await servers().pdns('GET', `/zones/${name}.`)).status === 404,
  },
]

for (const { what, answers, act, isPush, isUndone } of DELIVERIES) {
  for (const [status, form] of answers) {
    const title = `if a gateway answers ${status} (${form}) and delivers ${what} later, the answer is 503, and what it did is undone`
    test(title, async (t) => {
      const name = `gateway-${status}-${form}${what.replace('a ', '-')}.example`
      const { api } = service()
      if (what !== 'a creation') await newDomainWithWww(api, name)
      const push = servers().proxy.stop(isPush)
      const answering = act(api, name)
      const late = await push.arrived
      let deliver: () => void = () => undefined
      push.release({ gateway: status, form, later: new Promise<void>((resolve) => (deliver = resolve)) })
      const answer = await answering
      t.is(answer.status, 503)
      t.regex(answer.text, /The change was not made, but DNS can show it for a moment/)
      await eventually(async () => (await marksOf(name)).every(({ settled }) => settled))
      t.deepEqual(await marksOf(name), [{ settled: true }], 'the zone is watched')
      deliver()
      t.true([201, 204].includes((await statusOf(late))!))
      await eventually(() => isUndone(name))
      t.deepEqual(await discrepanciesOf(servers(), name), [])
    })
  }
}

test('a creation that arrives after its repair leaves no zone', async (t) => {
  const name = 'late-creation.example'
  const victim = await servers().start()
  const push = servers().proxy.stop(isCreation)
  const answering = victim.api.post('/domains/', { name }).catch(() => undefined)
  const late = await push.arrived
  await victim.kill()
  await answering
  await eventuallyIs(async () => (await marksOf(name))[0]?.settled, true)
  push.release('pass')
  t.is(await statusOf(late), 201)
  await eventuallyIs(async () => (await servers().pdns('GET', `/zones/${name}.`)).status, 404)
  t.deepEqual(await discrepanciesOf(servers(), name), [])
})

test('a write does not hide a change that was applied unseen: it publishes the whole zone', async (t) => {
  const name = 'unseen.example'
  await newDomainWithWww(service().api, name)
  await changeAtPowerDns(servers(), name, ['www', 'A', 300, '192.0.2.99'], ['', 'SOA', 300, soaOf(name, 1)])
  t.is(await served(name), '192.0.2.99')
  t.is((await service().api.post(`/domains/${name}/rrsets/`, rrset('192.0.2.4', 'other'))).status, 201)
  t.is(await served(name), '192.0.2.1')
  t.deepEqual(await discrepanciesOf(servers(), name), [])
})

test('deleting a domain whose creation failed waits until nothing of it is served', async (t) => {
  const name = 'failed-creation.example'
  const { api } = service()
  const push = servers().proxy.stop(isCreation)
  const answering = api.post('/domains/', { name })
  await push.arrived
  push.release({ spoil: 500 })
  // Repair meets a failure, so the zone stays.
  servers().proxy.fail(({ method }) => (method === 'DELETE' ? { refuse: 500 } : 'pass'))
  t.is((await answering).status, 503)
  t.is((await servers().pdns('GET', `/zones/${name}.`)).status, 200)
  t.is((await api.delete(`/domains/${name}/`)).status, 503)
  servers().proxy.heal()
  t.is((await api.delete(`/domains/${name}/`)).status, 204)
  t.is((await servers().pdns('GET', `/zones/${name}.`)).status, 404)
})
