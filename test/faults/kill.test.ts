import test from 'ava'
import { query } from '../../src/store/database.ts'
import { createAccount } from '../support/clients/accounts.ts'
import { succeeded } from '../support/clients/api.ts'
import type { Client } from '../support/clients/client.ts'
import { discrepancies, discrepanciesInTheEnd } from '../support/dns/discrepancies.ts'
import { useServers } from '../support/harness.ts'
import { type Call, type Fate, toZone } from '../support/servers/proxy.ts'
import { entriesOf, restore, undo } from '../support/state/history.ts'

// The service is killed at every point of a push, while it writes, creates, deletes, undoes, restores and brings back
// zones.

const servers = useServers()

interface Operation {
  what: string
  /** After an RRset was made. */
  prepare?: (api: Client, name: string) => Promise<unknown>
  begin: (api: Client, name: string) => Promise<unknown>
  /** The statuses of its RRset and its domain if it has no effect; its own if it has. */
  statuses: [number, number, number]
  /** Its calls to PowerDNS, in order. */
  calls: ((call: Call, name: string) => boolean)[]
}

/** The public halves of the keys of a domain, deleted or not. */
const KEYS = `select dnskey from keys where domain_id in (
  select id from domains where name = any (:names) union select id from deleted_domains where name = any (:names))`

const rrset = (address: string) => ({ subname: 'www', type: 'A', ttl: 300, records: [address] })

const isCreation = ({ method, body }: Call, name: string) => method === 'POST' && body.includes(`"${name}."`)

const WRITE: Pick<Operation, 'statuses' | 'calls'> = { statuses: [200, 200, 200], calls: [toZone('PATCH')] }

const operations: Operation[] = [
  { ...WRITE, what: 'write', begin: (api, name) => api.put(`/domains/${name}/rrsets/www/A/`, rrset('192.0.2.2')) },
  {
    what: 'creation',
    begin: (api, name) => api.post('/domains/', { name }),
    statuses: [404, 404, 201],
    calls: [
      isCreation,
      ({ method, path }, name) => method === 'PUT' && path === `/cache/flush?domain=${name}.`,
      ({ path }, name) => path === `/zones/${name}./cryptokeys`,
      ({ path }, name) => path.startsWith(`/zones/${name}./cryptokeys/`),
    ],
  },
  {
    what: 'deletion',
    begin: (api, name) => api.delete(`/domains/${name}/`),
    statuses: [200, 200, 204],
    calls: [toZone('DELETE')],
  },
  { ...WRITE, what: 'undo', begin: async (api, name) => undo(api, name, (await entriesOf(api, name))[0]!) },
  {
    what: 'return',
    prepare: (api, name) => api.delete(`/domains/${name}/`),
    begin: (api, name) => api.post('/domains/', { name, restore: true }),
    statuses: [404, 404, 201],
    calls: [
      isCreation,
      ({ method, path }, name) => method === 'POST' && path === `/zones/${name}./cryptokeys`,
      toZone('PUT'),
      toZone('PATCH'),
    ],
  },
  {
    ...WRITE,
    what: 'restore',
    begin: async (api, name) => restore(api, name, { version: (await entriesOf(api, name))[1]!.version }),
  },
]

const kills: { when: string; then: Fate; call: (operation: Operation) => number }[] = [
  { when: 'before PowerDNS receives the request', then: 'cut', call: () => 0 },
  { when: 'while PowerDNS applies the request', then: 'swallow', call: () => 0 },
  { when: 'before PowerDNS begins to apply the request', then: { late: 1000 }, call: () => 0 },
  {
    when: 'before PowerDNS receives the second request',
    then: 'cut',
    call: ({ calls }) => Math.min(1, calls.length - 1),
  },
  { when: 'while PowerDNS applies the last request', then: 'swallow', call: ({ calls }) => calls.length - 1 },
]

kills.forEach(({ when, then, call }, round) => {
  test.serial(`if the service is killed ${when}, the zones are repaired after its restart`, async (t) => {
    const victim = await servers().start()
    const names = operations.map(({ what }) => `${what}-${round}.example`)
    // An account can only write so many zones at once, and a restore counts as all of them.
    const accounts = await Promise.all(operations.map(() => createAccount(servers().system, victim.url)))
    const apis = accounts.map(({ api }) => api)
    for (const [i, { what, prepare }] of operations.entries()) {
      if (what === 'creation') continue
      succeeded(await apis[i]!.post('/domains/', { name: names[i]! }), 201)
      succeeded(await apis[i]!.post(`/domains/${names[i]!}/rrsets/`, rrset('192.0.2.1')), 201)
      await prepare?.(apis[i]!, names[i]!)
    }
    const keys = () => query(servers().system.db, KEYS, { names: names.filter((name) => name.startsWith('return')) })
    const before = await keys()
    const stops = operations.map((operation, i) =>
      servers().proxy.stop((sent) => operation.calls[call(operation)]!(sent, names[i]!)),
    )
    const answers = operations.map(({ begin }, i) =>
      begin(apis[i]!, names[i]!).catch((error: unknown) => error as Error),
    )
    await Promise.all(stops.map(({ arrived }) => arrived))
    await victim.kill()
    for (const { release } of stops) release(then)
    for (const answer of await Promise.all(answers)) t.true(answer instanceof Error)

    const next = await servers().serve()
    const nextApis = accounts.map(({ secret }) => next.clientOf(secret))
    t.deepEqual(await discrepanciesInTheEnd(servers()), [])
    // The requests were not acknowledged, so they have no effect.
    for (const [i, { statuses }] of operations.entries()) {
      const [api, path] = [nextApis[i]!, `/domains/${names[i]!}/`]
      const { status, json } = await api.get(`${path}rrsets/www/A/`)
      t.deepEqual([status, (await api.get(path)).status], statuses.slice(0, 2))
      if (status === 200) t.like(json, { records: ['192.0.2.1'] })
    }
    // Now the same requests succeed.
    const ended = await Promise.all(operations.map(({ begin }, i) => begin(nextApis[i]!, names[i]!)))
    for (const [i, { statuses }] of operations.entries()) t.like(ended[i], { status: statuses[2] })
    t.deepEqual(await discrepancies(servers()), [])
    t.deepEqual(await keys(), before)
    await next.stop()
  })
})
