import test, { type ExecutionContext } from 'ava'
import type { Budget } from '../../src/flow/budget.ts'
import { type AdoptionRequest, release } from '../../src/service/adoption/adoption.ts'
import { reconcile, reconcileAll } from '../../src/service/repair/reconcile.ts'
import type { Client } from '../support/clients/client.ts'
import { transfer } from '../support/dns/dns.ts'
import { servedSerial } from '../support/dns/wire.ts'
import { useServers } from '../support/harness.ts'
import * as checks from './checks/adoption.ts'
import { adoption, ownerOf } from './checks/adoption.ts'

// Zones that others have made at PowerDNS become domains, and go on being served.

const servers = useServers()
let api: Client
let email: string

test.serial.before('a service is started', async () => {
  api = (await servers().serve()).api
  email = await ownerOf(servers())
})

type Content = [name: string, type: string, ...contents: string[]]

const SOA = 'ns1.elsewhere.example. dns.elsewhere.example. 2026010203 10800 3600 604800 900'

const CONTENTS: Content[] = [
  ['', 'NS', 'ns1.elsewhere.example.', 'ns2.elsewhere.example.'],
  ['a.b.c', 'CAA', '0 issue "ca.example"'],
  ['*.wild', 'CNAME', 'www.elsewhere.example.'],
]

const plan = (name: string, request?: Partial<AdoptionRequest>) => adoption(servers(), name, request)
const call = (method: string, path: string, body?: object) => checks.call(servers(), method, path, body)
const contentsOf = (name: string) => checks.contentsOf(servers(), name)
const dsOf = (name: string) => checks.dsOf(servers(), name)
const isADomain = (t: ExecutionContext, name: string, anchors: string[]) =>
  checks.isADomain(t, servers(), api, name, anchors)

/** Makes a zone as an operator would. */
async function make(name: string, settings: object, keys: object[] = [], contents = CONTENTS): Promise<void> {
  const absolute = (text: string) => (text === '' ? `${name}.` : `${text}.${name}.`)
  const rrsets = [['', 'SOA', SOA] as Content, ...contents].map(([owner, type, ...records]) => ({
    name: absolute(owner),
    type,
    ttl: 600,
    records: records.map((text) => ({ content: text.replace('@', name), disabled: false })),
  }))
  const zone = { name: `${name}.`, kind: 'Native', account: email, nameservers: [], soa_edit_api: 'DEFAULT', rrsets }
  await call('POST', '/zones', { ...zone, ...settings })
  for (const key of keys) await call('POST', `/zones/${name}./cryptokeys`, key)
  if (keys.length > 0) await call('PUT', `/zones/${name}./rectify`)
}

const ECDSA = { keytype: 'csk', algorithm: 'ecdsa256', active: true }

test.serial('without --keep-soa, the zone gets the SOA of the service at once, with a higher serial', async (t) => {
  const name = 'soa.test'
  await make(name, { dnssec: true })
  const serial = await servedSerial(servers().powerDns, name)
  t.true((await plan(name, { apply: true })).adopted)
  t.true((await servedSerial(servers().powerDns, name)) > serial)
  t.regex((await transfer(servers().powerDns, name)).split('\n')[0]!, /ns1\.zoneplane\.test\. hostmaster\.soa\.test\./)
})

test.serial('with --nsec3, a zone with NSEC gets the denial of new domains', async (t) => {
  const name = 'modern.test'
  await make(name, { dnssec: true })
  const { normalised, adopted } = await plan(name, { apply: true, nsec3: true })
  t.deepEqual([normalised, adopted], [['denial: NSEC3 1 0 0 -'], true])
  t.like(await call('GET', `/zones/${name}.?rrsets=false`), { nsec3param: '1 0 0 -' })
  await isADomain(t, name, await dsOf(name))
})

const obstacles: [what: string, name: string, make: (name: string) => Promise<unknown>, text: RegExp][] = [
  ['that does not exist', 'nowhere.test', () => Promise.resolve(), /^PowerDNS has no such zone$/],
  [
    'of nobody',
    'nobody.test',
    (name) => make(name, { account: 'nobody' }),
    /^no account has the e-mail address "nobody"$/,
  ],
  ['whose name is a public suffix', 'co.uk', (name) => make(name, {}), /--allow-public-suffix/],
  ['that is a domain', 'present.test', (name) => api.post('/domains/', { name }), /^it is a domain already$/],
  [
    'whose keys are all inactive',
    'asleep.test',
    (name) => make(name, {}, [{ ...ECDSA, active: false }]),
    /^none of its keys is active and published$/,
  ],
]

for (const [what, name, makeIt, text] of obstacles) {
  test.serial(`a zone ${what} is not adopted, and stays as it is`, async (t) => {
    await makeIt(name)
    const before = (await servers().pdns('GET', `/zones/${name}.`)).json
    const { obstacles, adopted } = await plan(name, { apply: true })
    t.true(
      obstacles.some((obstacle) => text.test(obstacle)),
      obstacles.join('\n'),
    )
    t.false(adopted)
    t.deepEqual((await servers().pdns('GET', `/zones/${name}.`)).json, before)
  })
}

test.serial('another process does not repair a zone before the adoption does', async (t) => {
  const name = 'beside.test'
  await make(name, { dnssec: true })
  const { system } = servers()
  const repaired: string[][] = []
  /** The adoption's own repair begins with a turn; the domain and its mark are committed then. */
  const take: Budget['take'] = async (key, ...rest) => {
    if (key === 'writers of repair') repaired.push(await reconcile(system))
    return system.bounds.writers.take(key, ...rest)
  }
  const writers = { take } as Budget
  const own = { ...system, bounds: { ...system.bounds, writers } }
  t.true((await checks.adoption({ ...servers(), system: own }, name, { apply: true })).adopted)
  t.deepEqual(repaired, [[]])
  await isADomain(t, name, await dsOf(name))
})

test.serial('a released domain is served as before, and can be adopted again', async (t) => {
  const name = 'there.test'
  await make(name, { dnssec: true })
  const before = await contentsOf(name)
  t.true((await plan(name, { apply: true, keepSoa: true })).adopted)
  await release(servers().system, name)
  t.deepEqual(await contentsOf(name), before)
  t.is((await api.get(`/domains/${name}/`)).status, 404)
  t.deepEqual(await reconcileAll(servers().system, { contents: true }), { doubtful: [], left: [] })
  t.deepEqual(await contentsOf(name), before)
  t.true((await plan(name, { apply: true, keepSoa: true })).adopted)
  await isADomain(t, name, await dsOf(name))
})
