import test from 'ava'
import { SMALL_WRITE } from '../../src/limits.ts'
import { WRITERS_PER_ACCOUNT } from '../../src/service/zone/publication.ts'
import { query } from '../../src/store/database.ts'
import { createAccount } from '../support/clients/accounts.ts'
import { newDomainWithWww, patiently, sendHeld, succeeded } from '../support/clients/api.ts'
import type { Answer } from '../support/clients/client.ts'
import { hold, plainRequest } from '../support/clients/raw.ts'
import { addToken } from '../support/clients/tokens.ts'
import { discrepancies, discrepanciesInTheEnd } from '../support/dns/discrepancies.ts'
import { defer, eventually, eventuallyHas, eventuallyIs } from '../support/eventually.ts'
import { useServers } from '../support/harness.ts'
import type { Call, Fate } from '../support/servers/proxy.ts'
import { stored } from '../support/state/snapshot.ts'

// PowerDNS is down for a while, or fails (contract §2.3, §15.2). Through the proxy the service sees closed connections;
// without the proxy, refused ones.

const servers = useServers()

const UPDATE = 'The DNS backend is currently unavailable. Nothing was changed; please retry.'
const NOT_MADE =
  'The DNS backend is currently unavailable. The change was not made, but DNS can show it for a moment; please retry.'

const rrset = (address: string, subname = 'www') => ({ subname, type: 'A', ttl: 300, records: [address] })

test.afterEach.always(() => servers().killServices())

/** What PowerDNS does to all requests; without a fate, it is killed. */
const ABSENCES: [how: string, fate?: Fate][] = [
  ['refuses connections'],
  ['closes connections'],
  ['fails', { refuse: 500 }],
  ['is behind a gateway that answers 503', { refuse: 503 }],
  ['refuses our key', { refuse: 401 }],
  ['refuses us', { refuse: 403 }],
]

for (const [i, [how, fate]] of ABSENCES.entries()) {
  const isDirect = how === 'refuses connections'

  test.serial(`while PowerDNS ${how}, writes are answered 503 and reads succeed; then writes succeed`, async (t) => {
    const { powerDns, proxy, restartPowerDns } = servers()
    const { api, anonymous } = await servers().serve(isDirect ? { PDNS_API_URL: powerDns.apiUrl } : {})
    const [name, added] = [`away-${i}.example`, `new-${i}.example`]
    await newDomainWithWww(api, name)
    const path = `/domains/${name}/rrsets/`
    const before = await Promise.all([path, `${path}www/A/`].map((read) => api.get(read)))
    const had = await stored(servers().system.db)
    if (fate === undefined) {
      process.kill(powerDns.pid, 'SIGKILL')
      await powerDns.exited
    } else proxy.fail(() => fate)

    /** What a write is answered: it depends on whether PowerDNS can have got a change, or was only asked. */
    const answered = async (write: () => Promise<Answer>) => {
      proxy.calls.length = 0
      const answer = await write()
      return { answer, detail: proxy.calls.some(({ method }) => method !== 'GET') ? NOT_MADE : UPDATE }
    }
    for (const write of [
      () => api.put(`${path}www/A/`, rrset('192.0.2.2')),
      () => api.patch(`${path}www/A/`, { ttl: 600 }),
      () => api.post(path, rrset('192.0.2.2', 'new')),
      () => api.delete(`${path}www/A/`),
      () => api.delete(`/domains/${name}/`),
      () => api.post('/domains/', { name: added }),
    ]) {
      const { answer, detail } = await answered(write)
      t.deepEqual([answer.status, answer.json], [503, { detail }])
      t.is(answer.headers['retry-after'], '5')
      t.is(answer.headers['content-type'], 'application/json')
    }
    const { answer: update, detail } = await answered(() =>
      api.get(`/dyndns/update?hostname=www.${name}&myip=192.0.2.2`),
    )
    t.deepEqual([update.status, update.text, update.headers['retry-after']], [503, detail, '5'])
    t.is(update.headers['content-type'], 'text/plain')
    t.is(await stored(servers().system.db), had)
    for (const [i, read] of [path, `${path}www/A/`].entries()) {
      const answer = await api.get(read)
      t.deepEqual([answer.status, answer.text], [200, before[i]!.text])
    }
    t.is((await api.get('/domains/')).status, 200)
    t.is((await api.get(`/domains/?owns_qname=${name}`)).status, 200)
    t.is((await api.patch(`${path}www/A/`, {})).status, 200)
    t.is((await api.get(`/domains/${name}/`)).status, 200)
    t.is((await api.get(`/domains/${name}/zonefile/`)).status, 200)
    t.is((await anonymous.get('/')).status, 200)
    t.deepEqual((await anonymous.get('//root/healthz')).json, { status: 'ok' })
    const ready = await anonymous.get('//root/readyz')
    t.is(ready.status, 200)
    t.is(ready.text, '{"status":"ready","checks":{"database":"ok","migrations":"ok","powerdns":"unavailable"}}')
    // Without a connection nothing was sent, so no mark remains.
    if (isDirect) t.deepEqual(await query(servers().system.db, 'select zone from marks where not settled'), [])

    if (fate === undefined) await restartPowerDns()
    else proxy.heal()
    t.is((await api.put(`${path}www/A/`, rrset('192.0.2.2'))).status, 200)
    t.is((await api.post('/domains/', { name: added })).status, 201)
    t.is((await api.get(`/domains/${name}/`)).status, 200)
    t.deepEqual(await (isDirect ? discrepancies(servers()) : discrepanciesInTheEnd(servers())), [])
  })
}

test.serial('reads succeed while many writes wait for PowerDNS', async (t) => {
  const { api } = await servers().serve()
  const names = Array.from({ length: 12 }, (_, i) => `waiting-${i}.example`)
  for (const name of names) succeeded(await api.post('/domains/', { name }), 201)
  const isPatch = ({ method }: { method: string }) => method === 'PATCH'
  const stops = names.slice(0, WRITERS_PER_ACCOUNT).map(() => servers().proxy.stop(isPatch))
  const answering = names.map((name) => patiently(() => api.post(`/domains/${name}/rrsets/`, rrset('192.0.2.1'))))
  await Promise.all(stops.map(({ arrived }) => arrived))
  for (const name of names.slice(0, 4)) t.is((await api.get(`/domains/${name}/rrsets/`)).status, 200)
  for (const { release } of stops) release('pass')
  for (const { status } of await Promise.all(answering)) t.is(status, 201)
  t.deepEqual(await discrepancies(servers()), [])
})

test.serial(
  'the check of readiness does not wait for the requests that keep all connections to PowerDNS',
  async (t) => {
    const { api, anonymous } = await servers().serve({ PDNS_CONNECTIONS: '1' })
    await newDomainWithWww(api, 'busy.example')
    const stopped = servers().proxy.stop(({ method }) => method === 'PATCH')
    const writing = api.put('/domains/busy.example/rrsets/www/A/', rrset('192.0.2.2'))
    await stopped.arrived
    const ready = await anonymous.get('//root/readyz')
    t.is(ready.text, '{"status":"ready","checks":{"database":"ok","migrations":"ok","powerdns":"unavailable"}}')
    stopped.release('pass')
    // It has not yet been given up.
    t.is((await writing).status, 200)
  },
)

for (const [what, count, atOnce] of [
  ['small requests', 1, WRITERS_PER_ACCOUNT],
  ['large requests', SMALL_WRITE + 1, 1],
] as const) {
  test.serial(`while PowerDNS is slow, ${what} of one account leave room for the writes of another`, async (t) => {
    const { proxy, system } = servers()
    const { api, clientOf } = await servers().serve()
    const other = clientOf((await createAccount(system, '')).secret)
    const names = Array.from({ length: 12 }, (_, i) => `busy-${i}-${count}.example`)
    for (const name of names) succeeded(await api.post('/domains/', { name }), 201)
    succeeded(await other.post('/domains/', { name: `other-${count}.example` }), 201)
    if (atOnce === 1) succeeded(await api.post('/domains/', { name: 'own.example' }), 201)

    const isBusy = ({ method, path }: Call) => method === 'PATCH' && path.includes('busy-')
    const released = defer<Fate>()
    proxy.calls.length = 0
    proxy.fail((call) => (isBusy(call) ? released.promise : 'pass'))
    const rrsets = Array.from({ length: count }, (_, i) => rrset('192.0.2.1', `www${i}`))
    const answered: number[] = []
    const writing = names.map(async (name) => {
      answered.push((await patiently(() => api.post(`/domains/${name}/rrsets/`, rrsets))).status)
    })
    await eventuallyIs(() => proxy.calls.filter(isBusy).length, atOnce)
    t.is((await other.post(`/domains/other-${count}.example/rrsets/`, rrset('192.0.2.1'))).status, 201)
    // Small writes of the same account wait for no large one.
    if (atOnce === 1) t.is((await api.post(`/domains/own.example/rrsets/`, rrset('192.0.2.1'))).status, 201)
    t.deepEqual(answered, [])
    t.is(proxy.calls.filter(isBusy).length, atOnce)

    released.resolve('pass')
    await Promise.all(writing)
    proxy.heal()
    t.deepEqual(answered, Array<number>(names.length).fill(201))
    t.deepEqual(await discrepancies(servers()), [])
  })
}

const isCreation = ({ method, path }: Call) => method === 'POST' && path.startsWith('/zones')

test.serial('while PowerDNS is slow, thirty creations of one account at once all succeed', async (t) => {
  const { api } = await servers().serve()
  servers().proxy.fail((call) => (isCreation(call) ? { late: 250 } : 'pass'))
  const names = Array.from({ length: 30 }, (_, i) => `at-once-${i}.example`)
  const answers = await Promise.all(names.map((name) => api.post('/domains/', { name })))
  servers().proxy.heal()
  t.deepEqual(new Set(answers.map(({ status }) => status)), new Set([201]))
})

test.serial('a creation whose client is gone leaves the queue, and is not carried out', async (t) => {
  const service = await servers().serve()
  const { api } = service
  const first = await sendHeld(servers(), isCreation, () => api.post('/domains/', { name: 'first.example' }))
  const token = await addToken(service, servers().owner.id, { permCreateDomain: true })
  const headers = [`Authorization: Token ${token.secret}`, 'Content-Type: application/json']
  const creation = plainRequest('POST /api/v1/domains/', headers, '{"name":"gone.example"}')
  const { socket } = await hold(service.url, creation)
  const isUsed = async () => !(await api.get(`/auth/tokens/${token.id}/`)).text.includes('"last_used":null')
  await eventually(isUsed)
  const third = api.post('/domains/', { name: 'third.example' })
  socket.destroy()
  await eventuallyHas(() => service.logged(), 'the client is gone')
  first.release('pass')
  for (const { status } of await Promise.all([first.answering, third])) t.is(status, 201)
  t.is((await api.get('/domains/gone.example/')).status, 404)
})

test.serial('if PowerDNS is killed during pushes, its zones are repaired after its restart', async (t) => {
  const { proxy, powerDns, restartPowerDns } = servers()
  const { api } = await servers().serve()
  const names = ['killed-write.example', 'killed-creation.example', 'killed-deletion.example']
  await newDomainWithWww(api, names[0])
  await newDomainWithWww(api, names[2])
  const stops = ['PATCH', 'POST', 'DELETE'].map((method) => proxy.stop((call) => call.method === method))
  const answering = [
    api.put(`/domains/${names[0]!}/rrsets/www/A/`, rrset('192.0.2.2')),
    api.post('/domains/', { name: names[1]! }),
    api.delete(`/domains/${names[2]!}/`),
  ]
  await Promise.all(stops.map(({ arrived }) => arrived))
  for (const { release } of stops) release('pass')
  process.kill(powerDns.pid, 'SIGKILL')
  const answers = await Promise.all(answering)
  for (const { status } of answers) t.true([200, 201, 204, 503].includes(status), String(status))
  await restartPowerDns()
  t.deepEqual(await discrepanciesInTheEnd(servers()), [])
  t.is((await api.get(`/domains/${names[1]!}/`)).status, answers[1]!.status === 201 ? 200 : 404)
  t.is((await api.get(`/domains/${names[2]!}/`)).status, answers[2]!.status === 204 ? 404 : 200)
})
