import test, { type ExecutionContext } from 'ava'
import { createAccount } from '../support/clients/accounts.ts'
import { newReservedDomain, succeeded } from '../support/clients/api.ts'
import type { Client } from '../support/clients/client.ts'
import { discrepancies, discrepanciesInTheEnd } from '../support/dns/discrepancies.ts'
import { lookUp } from '../support/dns/dns.ts'
import { type OwnService, useServers } from '../support/harness.ts'
import type { Fate } from '../support/servers/proxy.ts'

// A domain below a local public suffix is created and deleted together with its delegation in the suffix's zone
// (contract §7.6).

const SUFFIX = 'dyn.hosted.test'

const servers = useServers()
let service: OwnService
let child: Client

test.serial.before('a service is started that hosts a local public suffix', async () => {
  service = await servers().serve({ LOCAL_PUBLIC_SUFFIXES: SUFFIX })
  const config = { ...servers().system.config, localPublicSuffixes: [SUFFIX] }
  await newReservedDomain({ system: { ...servers().system, config } }, servers().owner.id, SUFFIX)
  child = (await createAccount(servers().system, service.url)).api
})

/** Whether the domain exists; asserts that the API, DNS and the delegation agree about it. */
async function exists(t: ExecutionContext, name: string): Promise<boolean> {
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
  ['answers 422', { refuse: 422 }],
  ['answers 500', { refuse: 500 }],
  ['applies the request but answers 500', { spoil: 500 }],
  ['applies the request but closes the connection', 'swallow'],
]

for (const [i, [what, fate]] of FATES.entries()) {
  test.serial(`if PowerDNS ${what} when the delegation is added, the whole creation is undone`, async (t) => {
    const name = `created${i}.${SUFFIX}`
    servers().proxy.fail(({ method, path }) => (method === 'PATCH' && path === `/zones/${SUFFIX}.` ? fate : 'pass'))
    const answer = await child.post('/domains/', { name })
    servers().proxy.heal()
    t.is(answer.status, 503)
    t.false(await exists(t, name))
    succeeded(await child.post('/domains/', { name }), 201)
    t.true(await exists(t, name))
  })

  test.serial(`if PowerDNS ${what} when the zone is deleted, the whole deletion is undone`, async (t) => {
    const name = `deleted${i}.${SUFFIX}`
    succeeded(await child.post('/domains/', { name }), 201)
    servers().proxy.fail(({ method }) => (method === 'DELETE' ? fate : 'pass'))
    const answer = await child.delete(`/domains/${name}/`)
    servers().proxy.heal()
    t.is(answer.status, 503)
    t.true(await exists(t, name))
    t.is((await child.delete(`/domains/${name}/`)).status, 204)
    t.false(await exists(t, name))
  })
}

test.serial('concurrent creations and deletions leave delegations for exactly the remaining domains', async (t) => {
  const names = Array.from({ length: 6 }, (_, i) => `many${i}.${SUFFIX}`)
  const created = await Promise.all(names.map((name) => child.post('/domains/', { name })))
  t.deepEqual(new Set(created.map(({ status }) => status)), new Set([201]))
  const deleted = names.filter((_, i) => i % 2 === 0)
  const deletions = await Promise.all(deleted.map((name) => child.delete(`/domains/${name}/`)))
  t.deepEqual(new Set(deletions.map(({ status }) => status)), new Set([204]))
  t.deepEqual(await discrepancies(servers()), [])
  for (const name of names) t.is(await exists(t, name), !deleted.includes(name), name)
})
