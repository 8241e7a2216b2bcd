import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import type { SecondaryReport } from '../../src/service/domains/serving-status.ts'
import * as domains from '../../src/store/domains/domains.ts'
import { unixTime } from '../../src/time.ts'
import type { Account } from '../support/clients/accounts.ts'
import { newDomain } from '../support/clients/api.ts'
import { update } from '../support/clients/dyndns.ts'
import { commandsOn } from '../support/command-line.ts'
import { eventuallyHas } from '../support/eventually.ts'
import { useService } from '../support/harness.ts'
import { test } from '../support/serial.ts'
import { type Servers, startServers } from '../support/servers/servers.ts'
import { type LocalService, startService } from '../support/servers/service.ts'

// Contract §15.6: which version of a domain the nameservers serve. The secondaries are other PowerDNS servers, whose zones
// the tests make and change, so that they serve what the tests want.

const service = useService()
let account: Account
let other: Servers
/** A service with secondaries on the same servers: one is `other`, at the address of another nobody listens. */
let primary: LocalService

test.before('a secondary', async () => {
  account = await service().account()
  other = await startServers()
  const silent = createSocket('udp4').bind(0, '127.0.0.1')
  await once(silent, 'listening')
  const { port } = silent.address()
  silent.close()
  const { dnsHost, dnsPort } = other.powerDns
  const SECONDARIES = `ns2.example.net=${dnsHost}:${dnsPort}, ns3.example.net=127.0.0.1:${port}`
  primary = await startService(service().backends, { SECONDARIES })
})

test.after.always(async () => {
  // Where the hook above failed, one of them or both are missing.
  const started = [primary, other] as [LocalService | undefined, Servers | undefined]
  await started[0]?.stop()
  await started[1]?.close()
})

interface Status {
  version: number
  published: string
  status: string
  nameservers: object[]
}

const weeks = (published: string) => Math.floor(unixTime(published) / (7 * 86_400))
const www = (address: string) => ({ subname: 'www', type: 'A', ttl: 60, records: [address] })

/** Makes the zone of a domain at the secondary, or another serial in it. */
async function serve(name: string, serial: number, method: 'POST' | 'PATCH' = 'POST'): Promise<void> {
  const content = `ns1.zoneplane.test. hostmaster.${name}. ${serial} 3600 600 1209600 3600`
  const soa = { name: `${name}.`, type: 'SOA', ttl: 60, changetype: 'REPLACE', records: [{ content, disabled: false }] }
  const zone = { name: `${name}.`, kind: 'Native', nameservers: [], soa_edit_api: '', soa_edit: 'NONE', rrsets: [soa] }
  const path = method === 'POST' ? '/zones' : `/zones/${name}.`
  const { status } = await other.pdns(method, path, method === 'POST' ? zone : { rrsets: [soa] })
  if (status >= 300) throw new Error(`PowerDNS answered ${status}`)
}

async function statusOf(name: string, query = '', api = primary.clientOf(account.secret)): Promise<Status> {
  const { status, text, json } = await api.get(`/domains/${name}/publication/${query}`)
  if (status !== 200) throw new Error(text)
  return json as Status
}

test('without secondaries, the primary alone counts', async (t) => {
  const name = await newDomain(account.api)
  const { status, json } = await account.api.get(`/domains/${name}/publication/`)
  const { version, published } = json as Status
  t.is(status, 200)
  const nameservers = [{ name: 'ns1.zoneplane.test.', status: 'INSYNC', version }]
  t.deepEqual(json, { version, published, status: 'INSYNC', nameservers })
  t.is(((await account.api.get(`/domains/${name}/`)).json as { published: string }).published, published)
})

test('a write that publishes tells the version; one that changes nothing does not', async (t) => {
  const created = await account.api.post('/domains/', { name: 'versions.example' })
  const path = '/domains/versions.example/rrsets/'
  const one = `${path}www/A/`
  const zoneFile = { headers: { 'content-type': 'text/dns' }, body: 'www.versions.example. 60 IN A 192.0.2.6\n' }
  const undoLast = async () => {
    const [entry] = (await account.api.get('/domains/versions.example/history/')).json as { id: string }[]
    return account.api.post(`/domains/versions.example/history/${entry!.id}/undo/`)
  }
  const writes = [
    created,
    await account.api.post(path, www('192.0.2.1')),
    await account.api.put(one, www('192.0.2.2')),
    await account.api.patch(one, { ttl: 61 }),
    await account.api.patch(path, [www('192.0.2.3')]),
    await account.api.delete(one),
    await account.api.put(path, [www('192.0.2.4')]),
    await update(account.api, { hostname: 'www.versions.example', myip: '192.0.2.5' }),
    await account.api.send('PUT', '/domains/versions.example/zonefile/', undefined, zoneFile),
    await undoLast(),
    await account.api.post('/domains/versions.example/restore/', {
      version: Number(created.headers['zoneplane-version']),
    }),
  ]
  const versions = writes.map(({ headers }) => Number(headers['zoneplane-version']))
  for (const [at, version] of versions.entries()) t.true(version > (versions[at - 1] ?? 0), writes[at]!.text)
  t.is(((await account.api.get('/domains/versions.example/publication/')).json as Status).version, versions.at(-1)!)
  for (const { headers } of [
    await account.api.delete(one),
    await account.api.patch(`${path}?dry_run=true`, [www('192.0.2.3')]),
    await account.api.patch(path, [{ subname: 'www' }]),
    await account.api.get(path),
    await account.api.delete('/domains/versions.example/'),
  ])
    t.false('zoneplane-version' in headers)
})

for (const [query, problems] of [
  ['version=x', { version: ['A valid integer is required.'] }],
  ['version=-1', { version: ['A valid integer is required.'] }],
  ['wait=', { wait: ['Must be a whole number of seconds.'] }],
  ['wait=1.5', { wait: ['Must be a whole number of seconds.'] }],
] as const) {
  test(`the query ${query} is refused`, async (t) => {
    const name = await newDomain(account.api)
    const { status, json } = await account.api.get(`/domains/${name}/publication/?${query}`)
    t.deepEqual([status, json], [400, problems])
  })
}

test('a version that the domain has not had yet is refused; an earlier one may be asked about', async (t) => {
  const name = await newDomain(account.api)
  const path = `/domains/${name}/publication/`
  const { version } = (await account.api.get(path)).json as Status
  const later = await account.api.get(`${path}?version=${version + 1}`)
  t.deepEqual([later.status, later.json], [400, { version: [`The domain's version is ${version}.`] }])
  t.like((await account.api.get(`${path}?version=${version - 1}`)).json, { version: version - 1, status: 'INSYNC' })
})

test('each nameserver is told apart: one refuses, is behind, or serves the version; one that does not answer does not count', async (t) => {
  const name = await newDomain(account.api)
  const refused = await statusOf(name)
  const { version, published } = refused
  const ns1 = { name: 'ns1.zoneplane.test.', status: 'INSYNC', version }
  const ns3 = { name: 'ns3.example.net.', status: 'UNREACHABLE', version: null }
  const ns2 = (rest: object) => ({ name: 'ns2.example.net.', ...rest })
  const detail = 'answers REFUSED'
  t.deepEqual(refused, {
    ...{ version, published, status: 'PENDING' },
    nameservers: [ns1, ns2({ status: 'PENDING', version: null, detail }), ns3],
  })

  await serve(name, version - 5 + weeks(published))
  const older = { status: 'PENDING', version: version - 5, detail: 'serves an older version' }
  t.deepEqual(await statusOf(name), { ...refused, nameservers: [ns1, ns2(older), ns3] })
  t.like(await statusOf(name, `?version=${version - 5}`), { status: 'INSYNC' })

  await serve(name, version + weeks(published), 'PATCH')
  const insync = { status: 'INSYNC', version }
  t.deepEqual(await statusOf(name), { ...refused, status: 'INSYNC', nameservers: [ns1, ns2(insync), ns3] })
})

test('a question may wait until the version is served everywhere', async (t) => {
  const name = await newDomain(account.api)
  const { version, published } = await statusOf(name)
  t.like(await statusOf(name, '?wait=1'), { status: 'PENDING' })
  // More than 30 seconds count as 30.
  const waiting = ['30', '31', '99999999999'].map((wait) => statusOf(name, `?wait=${wait}`))
  await serve(name, version + weeks(published))
  for (const status of await Promise.all(waiting)) t.like(status, { version, status: 'INSYNC' })
})

test('a write waits as the client prefers, after its commit', async (t) => {
  const name = await newDomain(account.api)
  const api = primary.clientOf(account.secret)
  const write = (address: string, prefer: string) =>
    api.put(`/domains/${name}/rrsets/www/A/`, www(address), { headers: { Prefer: prefer } })
  await api.post(`/domains/${name}/rrsets/`, www('192.0.2.1'))
  const late = await write('192.0.2.2', 'respond-async, wait=1')
  t.is(late.status, 200)
  t.like(late.headers, { 'preference-applied': 'wait=1', 'zoneplane-publication': 'PENDING' })

  const waiting = write('192.0.2.3', 'wait=99999999999')
  // The change is there while the answer waits.
  await eventuallyHas(async () => (await api.get(`/domains/${name}/rrsets/www/A/`)).text, '192.0.2.3')
  const { version, published } = await statusOf(name)
  await serve(name, version + weeks(published))
  const served = await waiting
  t.like(served.headers, {
    'preference-applied': 'wait=30',
    'zoneplane-publication': 'INSYNC',
    'zoneplane-version': String(version),
  })

  for (const prefer of ['', 'wait=0', 'wait', 'wait=x', 'await=5']) {
    const { status, headers } = await write(`192.0.2.${10 + prefer.length}`, prefer)
    t.is(status, 200)
    t.false('preference-applied' in headers || 'zoneplane-publication' in headers, prefer)
  }
})

test('an account may let only 20 requests wait at once; others are answered at once', async (t) => {
  const many = await service().account()
  const name = await newDomain(many.api)
  const api = primary.clientOf(many.secret)
  const all = Array.from({ length: 21 }, () => api.get(`/domains/${name}/publication/?wait=30`))
  t.like((await Promise.race(all)).json, { status: 'PENDING' })
  const { version, published } = await statusOf(name, '', api)
  await serve(name, version + weeks(published))
  const outcomes = (await Promise.all(all)).map(({ json }) => (json as Status).status)
  t.deepEqual(outcomes.sort(), [...Array<string>(20).fill('INSYNC'), 'PENDING'])
})

test('the operator learns how many zones each secondary serves as the database says', async (t) => {
  const zoneplane = commandsOn(() => primary.system)
  const all = (await domains.versions(primary.system.db)).length
  const [succeeded, printed] = await zoneplane('--json', 'secondaries')
  t.false(succeeded)
  const [ns2, ns3] = JSON.parse(printed) as SecondaryReport[]
  t.deepEqual(ns3, { name: 'ns3.example.net', insync: 0, pending: 0, unreachable: all, oldest: null })
  t.is(ns2!.insync + ns2!.pending, all)
  t.true(ns2!.insync > 0 && ns2!.pending > 0 && ns2!.oldest !== null)

  const [, lines] = await zoneplane('secondaries')
  t.regex(lines, /^secondary +insync +pending +oldest pending +not answered\nns2\.example\.net +\d+ +\d+ +\d{4}-/)
  t.deepEqual(await commandsOn(() => service().system)('secondaries'), [true, 'SECONDARIES names none.\n'])
})
