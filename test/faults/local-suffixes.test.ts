import test, { type ExecutionContext } from 'ava'
import { createAccount } from '../support/accounts.ts'
import { succeeded } from '../support/api.ts'
import type { Client } from '../support/client.ts'
import { discrepancies, discrepanciesInTheEnd } from '../support/dns/discrepancies.ts'
import { lookUp } from '../support/dns/dns.ts'
import { useServers, type TestProcess } from '../support/harness.ts'
import type { Fate } from '../support/servers/proxy.ts'

// A domain below a local public suffix and its delegation are one operation over two zones (contract §7.6).

const SUFFIX = 'dyn.hosted.test'

const servers = useServers()
let service: TestProcess
let child: Client

test.serial.before('a service with a local public suffix is started, which it hosts', async () => {
  service = await servers().start({ LOCAL_PUBLIC_SUFFIXES: SUFFIX })
  succeeded(await service.api.post('/domains/', { name: SUFFIX }), 201)
  child = (await createAccount(servers().system, service.url)).api
})

/** Whether DNS and the API have the domain, and the suffix' zone its delegation; all of it or nothing. */
async function isThere(t: ExecutionContext, name: string): Promise<boolean> {
  t.deepEqual(await discrepanciesInTheEnd(servers()), [])
  const { json } = await service.api.get(`/domains/${SUFFIX}/rrsets/?subname=${name.split('.')[0]}`)
  const delegation = (json as { type: string }[]).map(({ type }) => type).sort()
  const isShown = (await child.get(`/domains/${name}/`)).status === 200
  t.deepEqual(delegation, isShown ? ['DS', 'NS'] : [])
  t.is((await lookUp(servers().powerDns, name, 'DS')).length, isShown ? 2 : 0)
  t.is((await lookUp(servers().powerDns, name, 'NS')).length, isShown ? 2 : 0)
  return isShown
}

const FATES: [what: string, fate: Fate][] = [
  ['refuses', { refuse: 422 }],
  ['fails at', { refuse: 500 }],
  ['carries out, but fails to acknowledge,', { spoil: 500 }],
  ['does not answer for', 'swallow'],
]

for (const [i, [what, fate]] of FATES.entries()) {
  test.serial(`a creation is undone as a whole if PowerDNS ${what} the delegation`, async (t) => {
    const name = `created${i}.${SUFFIX}`
    servers().proxy.fail(({ method, path }) => (method === 'PATCH' && path === `/zones/${SUFFIX}.` ? fate : 'pass'))
    const answer = await child.post('/domains/', { name })
    servers().proxy.heal()
    t.is(answer.status, 503)
    t.false(await isThere(t, name))
    succeeded(await child.post('/domains/', { name }), 201)
    t.true(await isThere(t, name))
  })

  test.serial(`a deletion is undone as a whole if PowerDNS ${what} that of the zone`, async (t) => {
    const name = `deleted${i}.${SUFFIX}`
    succeeded(await child.post('/domains/', { name }), 201)
    servers().proxy.fail(({ method }) => (method === 'DELETE' ? fate : 'pass'))
    const answer = await child.delete(`/domains/${name}/`)
    servers().proxy.heal()
    t.is(answer.status, 503)
    t.true(await isThere(t, name))
    t.is((await child.delete(`/domains/${name}/`)).status, 204)
    t.false(await isThere(t, name))
  })
}

test.serial('children come and go at once, and the zone of the suffix has those that stay', async (t) => {
  const names = Array.from({ length: 12 }, (_, i) => `many${i}.${SUFFIX}`)
  const created = await Promise.all(names.map((name) => child.post('/domains/', { name })))
  t.deepEqual(new Set(created.map(({ status }) => status)), new Set([201]))
  const going = names.filter((_, i) => i % 2 === 0)
  const gone = await Promise.all(going.map((name) => child.delete(`/domains/${name}/`)))
  t.deepEqual(new Set(gone.map(({ status }) => status)), new Set([204]))
  t.deepEqual(await discrepancies(servers()), [])
  for (const name of names) t.is(await isThere(t, name), !going.includes(name), name)
})
