import test from 'ava'
import type { Call, Fate } from '../support/servers/proxy.ts'
import { discrepancies, discrepanciesInTheEnd } from '../support/dns/discrepancies.ts'
import { useServers, type TestProcess } from '../support/harness.ts'

// The service is killed at every point of a push, while it writes one zone, creates a second and deletes a third.

const servers = useServers()

interface Work {
  what: string
  begin: (service: TestProcess, name: string) => Promise<unknown>
  /** The calls of it to PowerDNS, in order. */
  calls: ((call: Call, name: string) => boolean)[]
}

const rrset = (address: string) => ({ subname: 'www', type: 'A', ttl: 300, records: [address] })

const works: Work[] = [
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

const deaths: { when: string; then: Fate; call: (work: Work) => number }[] = [
  { when: 'before PowerDNS has the request', then: 'cut', call: () => 0 },
  { when: 'while PowerDNS carries it out', then: 'swallow', call: () => 0 },
  { when: 'before PowerDNS begins to carry it out', then: { late: 1000 }, call: () => 0 },
  { when: 'before the second request', then: 'cut', call: ({ calls }) => Math.min(1, calls.length - 1) },
  { when: 'at the last request', then: 'swallow', call: ({ calls }) => calls.length - 1 },
]

deaths.forEach(({ when, then, call }, round) => {
  test.serial(`killed ${when}, a service leaves nothing that is not put right after the restart`, async (t) => {
    const first = await servers().start()
    const names = works.map(({ what }) => `${what}-${round}.example`)
    for (const [i, { what }] of works.entries()) {
      if (what === 'creation') continue
      t.is((await first.api.post('/domains/', { name: names[i]! })).status, 201)
      const address = `/domains/${names[i]!}/rrsets/`
      t.is((await first.api.post(address, rrset('192.0.2.1'))).status, 201)
    }
    const stops = works.map((work, i) => servers().proxy.stop((sent) => work.calls[call(work)]!(sent, names[i]!)))
    const answers = works.map((work, i) => work.begin(first, names[i]!).catch((error: unknown) => error as Error))
    await Promise.all(stops.map(({ arrived }) => arrived))
    await first.kill()
    for (const { release } of stops) release(then)
    for (const answer of await Promise.all(answers)) t.true(answer instanceof Error)

    const second = await servers().start()
    t.deepEqual(await discrepanciesInTheEnd(servers()), [])
    // What was never acknowledged did not happen.
    t.like((await second.api.get(`/domains/${names[0]!}/rrsets/www/A/`)).json, { records: ['192.0.2.1'] })
    t.is((await second.api.get(`/domains/${names[1]!}/`)).status, 404)
    t.is((await second.api.get(`/domains/${names[2]!}/`)).status, 200)
    // And it can be done now.
    t.deepEqual(
      (await Promise.all(works.map((work, i) => work.begin(second, names[i]!)))).map(
        (answer) => (answer as { status: number }).status,
      ),
      [200, 201, 204],
    )
    t.deepEqual(await discrepancies(servers()), [])
    second.signal('SIGTERM')
    t.is(await second.ended, 0)
  })
})
