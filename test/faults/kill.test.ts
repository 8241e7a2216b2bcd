import test from 'ava'
import type { Call, Fate } from '../support/servers/proxy.ts'
import { discrepancies, discrepanciesInTheEnd } from '../support/dns/discrepancies.ts'
import { useServers, type TestProcess } from '../support/harness.ts'

// The service is killed at every point of a push, while it writes one zone, creates a second and deletes a third.

const servers = useServers()

interface Operation {
  what: string
  begin: (service: TestProcess, name: string) => Promise<unknown>
  /** Its calls to PowerDNS, in order. */
  calls: ((call: Call, name: string) => boolean)[]
}

const rrset = (address: string) => ({ subname: 'www', type: 'A', ttl: 300, records: [address] })

const operations: Operation[] = [
  {
    what: 'write',
    begin: ({ api }, name) => api.put(`/domains/${name}/rrsets/www/A/`, rrset('192.0.2.2')),
    calls: [({ method, path }, name) => method === 'PATCH' && path === `/zones/${name}.`],
  },
  {
    what: 'creation',
    begin: ({ api }, name) => api.post('/domains/', { name }),
    calls: [
      ({ method, body }, name) => method === 'POST' && body.includes(`"${name}."`),
      ({ method, path }, name) => method === 'PUT' && path === `/cache/flush?domain=${name}.`,
      ({ path }, name) => path === `/zones/${name}./cryptokeys`,
    ],
  },
  {
    what: 'deletion',
    begin: ({ api }, name) => api.delete(`/domains/${name}/`),
    calls: [({ method, path }, name) => method === 'DELETE' && path === `/zones/${name}.`],
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
    const first = await servers().start()
    const names = operations.map(({ what }) => `${what}-${round}.example`)
    for (const [i, { what }] of operations.entries()) {
      if (what === 'creation') continue
      t.is((await first.api.post('/domains/', { name: names[i]! })).status, 201)
      const address = `/domains/${names[i]!}/rrsets/`
      t.is((await first.api.post(address, rrset('192.0.2.1'))).status, 201)
    }
    const stops = operations.map((operation, i) =>
      servers().proxy.stop((sent) => operation.calls[call(operation)]!(sent, names[i]!)),
    )
    const answers = operations.map((operation, i) =>
      operation.begin(first, names[i]!).catch((error: unknown) => error as Error),
    )
    await Promise.all(stops.map(({ arrived }) => arrived))
    await first.kill()
    for (const { release } of stops) release(then)
    for (const answer of await Promise.all(answers)) t.true(answer instanceof Error)

    const second = await servers().start()
    t.deepEqual(await discrepanciesInTheEnd(servers()), [])
    // The requests were not acknowledged, so they have no effect.
    t.like((await second.api.get(`/domains/${names[0]!}/rrsets/www/A/`)).json, { records: ['192.0.2.1'] })
    t.is((await second.api.get(`/domains/${names[1]!}/`)).status, 404)
    t.is((await second.api.get(`/domains/${names[2]!}/`)).status, 200)
    // Now the same requests succeed.
    t.deepEqual(
      (await Promise.all(operations.map((operation, i) => operation.begin(second, names[i]!)))).map(
        (answer) => (answer as { status: number }).status,
      ),
      [200, 201, 204],
    )
    t.deepEqual(await discrepancies(servers()), [])
    second.signal('SIGTERM')
    t.is(await second.ended, 0)
  })
})
