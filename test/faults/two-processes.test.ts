import { createAccount } from '../support/clients/accounts.ts'
import { newDomain, patiently } from '../support/clients/api.ts'
import { addToken } from '../support/clients/tokens.ts'
import { discrepancies } from '../support/dns/discrepancies.ts'
import { type OwnService, type TestProcess, useServers } from '../support/harness.ts'
import { keysOf, passTime, passTo, phaseOf, published } from '../support/rollovers/steps.ts'
import { test } from '../support/serial.ts'
import { entriesOf } from '../support/state/history.ts'

// Two services on one database and one PowerDNS.

const servers = useServers()
let services: [TestProcess, OwnService]

test.before('two services are started', async () => {
  // PowerDNS stalls with more than ten connections in total.
  const environment = { PDNS_CONNECTIONS: '4' }
  services = await Promise.all([servers().start(environment), servers().serve(environment)])
})

const rrset = (subname: string, ...records: string[]) => ({ subname, type: 'A', ttl: 300, records })

test('concurrent writes from both services to one zone all succeed, and none is lost', async (t) => {
  const name = 'shared.example'
  await services[0].api.post('/domains/', { name })
  const answers = await Promise.all(
    services.flatMap(({ api }, i) =>
      Array.from({ length: 15 }, (_, j) =>
        patiently(() => api.post(`/domains/${name}/rrsets/`, rrset(`r${i}-${j}`, `192.0.2.${j}`))),
      ),
    ),
  )
  for (const { status } of answers) t.is(status, 201)
  t.is(((await services[0].api.get(`/domains/${name}/rrsets/`)).json as unknown[]).length, 31)
  t.deepEqual(await discrepancies(servers()), [])
})

test('concurrent writes from both services to one RRset all succeed, and DNS equals the database', async (t) => {
  const name = 'shared.example'
  for (const { api } of services) await api.post(`/domains/${name}/rrsets/`, rrset('www', '192.0.2.1'))
  const answers = await Promise.all(
    services.flatMap(({ api }, i) =>
      Array.from({ length: 10 }, (_, j) =>
        patiently(() => api.put(`/domains/${name}/rrsets/www/A/`, rrset('www', `198.51.100.${100 * i + j}`))),
      ),
    ),
  )
  for (const { status } of answers) t.is(status, 200)
  t.deepEqual(await discrepancies(servers()), [])
})

test('of two concurrent creations of one RRset, one is answered 201 and the other 400', async (t) => {
  for (let round = 0; round < 5; round++) {
    const path = '/domains/shared.example/rrsets/'
    const answers = await Promise.all(services.map(({ api }) => api.post(path, rrset(`new-${round}`, '192.0.2.1'))))
    t.deepEqual(answers.map(({ status }) => status).sort(), [201, 400])
    const refused = answers.find(({ status }) => status === 400)!.text
    t.is(
      refused,
      '{"non_field_errors":["Another RRset with the same subdomain and type exists for this domain. (Try modifying it.)"]}',
    )
  }
})

for (const isOneAccount of [true, false]) {
  const whose = isOneAccount ? 'one account' : 'two accounts'

  test(`of two concurrent creations of one domain by ${whose}, exactly one is answered 201`, async (t) => {
    const { system } = servers()
    const first = await createAccount(system, services[0].url)
    const second = isOneAccount
      ? services[1].clientOf(first.secret)
      : (await createAccount(system, services[1].url)).api
    for (let round = 0; round < 5; round++) {
      const name = `contested-${round}-${isOneAccount}.example`
      const answers = await Promise.all([first.api, second, second].map((api) => api.post('/domains/', { name })))
      t.deepEqual(answers.map(({ status }) => status).sort(), [201, 400, 400])
      for (const { status, text } of answers) {
        if (status === 400) t.is(text, '{"name":["domain with this name already exists."]}')
      }
    }
    t.deepEqual(await discrepancies(servers()), [])
  })
}

test('if two accounts create a domain and one below it at once, one is answered 201 and the other 400', async (t) => {
  const { system } = servers()
  const accounts = await Promise.all(services.map(({ url }) => createAccount(system, url)))
  for (let round = 0; round < 5; round++) {
    const names = [`family-${round}.example`, `a.child.family-${round}.example`]
    // Through both services, and through one.
    const apis = [accounts[0]!.api, services[round % 2]!.clientOf(accounts[1]!.secret)]
    const answers = await Promise.all(apis.map((api, i) => api.post('/domains/', { name: names[i]! })))
    t.deepEqual(answers.map(({ status }) => status).sort(), [201, 400])
  }
  t.deepEqual(await discrepancies(servers()), [])
})

test('if a domain is deleted during writes, each write is answered 201 or 404, and the domain is gone', async (t) => {
  const name = 'deleted.example'
  await services[0].api.post('/domains/', { name })
  const writes = services.flatMap(({ api }, i) =>
    Array.from({ length: 6 }, (_, j) =>
      patiently(() => api.post(`/domains/${name}/rrsets/`, rrset(`r${i}-${j}`, '192.0.2.1'))),
    ),
  )
  t.is((await patiently(() => services[1].api.delete(`/domains/${name}/`))).status, 204)
  for (const { status } of await Promise.all(writes)) t.true([201, 404].includes(status), String(status))
  t.is((await services[0].api.get(`/domains/${name}/`)).status, 404)
  t.deepEqual(await discrepancies(servers()), [])
})

test('if one service deletes a domain while the other creates it again, domain and zone both exist or neither', async (t) => {
  const name = 'fickle.example'
  for (let round = 0; round < 6; round++) {
    await services[0].api.post('/domains/', { name })
    const [deletion, creation] = await Promise.all([
      services[0].api.delete(`/domains/${name}/`),
      services[1].api.post('/domains/', { name }),
    ])
    t.is(deletion.status, 204)
    t.true([201, 400].includes(creation.status), String(creation.status))
    t.is((await services[0].api.get(`/domains/${name}/`)).status, creation.status === 201 ? 200 : 404)
    t.deepEqual(await discrepancies(servers()), [])
    await services[1].api.delete(`/domains/${name}/`)
  }
})

test('a rollover begins once, and enters each phase once, whichever service looks at it', async (t) => {
  const name = await newDomain(services[0].api)
  const path = `/domains/${name}/rollover/`
  const begun = await Promise.all(services.map(({ api }) => patiently(() => api.post(path, { algorithm: 'ed25519' }))))
  t.deepEqual(begun.map(({ status }) => status).sort(), [201, 409])
  const phases = ['publish', 'await-ds', 'await-ds-ttl', 'unpublish', 'done']
  for (const phase of phases) await passTo(servers(), name, phase)
  const actions = (await entriesOf(services[1].api, name)).map(({ rollover }) => rollover?.phase ?? null)
  t.deepEqual(actions.reverse(), [null, 'sign', ...phases.slice(0, -1), null])
  const { served, stored } = await keysOf(servers(), name)
  t.deepEqual(served, stored)
  t.is(stored.length, 1)
})

test('a cancellation beside a confirmation goes back, and the keys are those of its phase', async (t) => {
  const name = await newDomain(services[0].api)
  const path = `/domains/${name}/rollover/`
  await services[0].api.post(path, { algorithm: 'ed25519' })
  for (const phase of ['publish', 'await-ds']) await passTo(servers(), name, phase)
  const login = await addToken({ ...servers(), url: services[1].url }, servers().owner.id, {
    mfa: false,
    permDeleteDomain: true,
  })
  const [cancelled] = await Promise.all([
    services[0].api.delete(path),
    login.api.post(`${path}confirm/`, { force: true }),
    passTime(servers(), name),
  ])
  t.is(cancelled.status, 200)
  await published(servers(), name)
  const phase = await phaseOf(servers(), name)
  t.true(phase.startsWith('back: '), phase)
  const { served, stored } = await keysOf(servers(), name)
  t.deepEqual(served, stored)
  t.is(stored.length, 2)
})
