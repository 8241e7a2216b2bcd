import test, { type ExecutionContext } from 'ava'
import { strangers, release, type AdoptionRequest } from '../../src/service/domains/adoption.ts'
import { reconcileAll } from '../../src/service/domains/reconcile.ts'
import { transfer, verifyTransfer } from '../support/dns/dns.ts'
import { servedSerial } from '../support/dns/wire.ts'
import type { Client } from '../support/client.ts'
import { useServers } from '../support/harness.ts'
import * as checks from './checks/adoption.ts'
import { adoption, isAdoptedAndSigned, isAdoptedAsItIs, ownerOf } from './checks/adoption.ts'

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

/** With empty non-terminals, a wildcard, a delegation with DS and glue, and names in upper case. */
const CONTENTS: Content[] = [
  ['', 'NS', 'ns1.elsewhere.example.', 'ns2.elsewhere.example.'],
  ['', 'MX', '10 MAIL.elsewhere.example.'],
  ['', 'TXT', '"v=spf1 -all"', '"a;b \\"c\\" \\\\"'],
  ['www', 'A', '192.0.2.1', '192.0.2.2'],
  ['WWW', 'AAAA', '2001:db8::1'],
  ['a.b.c', 'CAA', '0 issue "ca.example"'],
  ['*.wild', 'CNAME', 'www.elsewhere.example.'],
  ['sub', 'NS', 'ns.sub.@.'],
  ['sub', 'DS', `12345 13 2 ${'ab'.repeat(32)}`],
  ['ns.sub', 'A', '192.0.2.53'],
  ['_443._tcp.www', 'TLSA', `3 1 1 ${'cd'.repeat(32)}`],
  ['srv', 'SRV', '0 0 5060 sip.elsewhere.example.'],
  ['loc', 'LOC', '51 30 12.748 N 0 7 39.612 W 0.00m 1.00m 10000.00m 10.00m'],
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
const signed: [what: string, name: string, settings: object, keys: object[]][] = [
  ['with one key and NSEC', 'nsec.test', { dnssec: true }, []],
  ['with one key and NSEC3', 'nsec3.test', { dnssec: true, nsec3param: '1 0 0 -' }, []],
  ['with salt and iterations', 'salted.test', { dnssec: true, nsec3param: '1 0 5 abcd' }, []],
  [
    'with keys of two kinds',
    'pair.test',
    {},
    [
      { ...ECDSA, keytype: 'ksk' },
      { ...ECDSA, keytype: 'zsk' },
    ],
  ],
  ['with an RSA key', 'rsa.test', {}, [{ ...ECDSA, algorithm: 'rsasha256', bits: 2048 }]],
  ['with an inactive key', 'rolling.test', {}, [ECDSA, { ...ECDSA, active: false }]],
]

for (const [what, name, settings, keys] of signed) {
  test.serial(`a signed zone ${what} becomes a domain, and is served as before`, async (t) => {
    await make(name, settings, keys)
    t.true((await strangers(servers().system)).some((zone) => zone.name === name))
    const anchors = await isAdoptedAsItIs(t, servers(), name)
    await verifyTransfer(servers().powerDns, name, anchors)
    t.false((await strangers(servers().system)).some((zone) => zone.name === name))
    await isADomain(t, name, anchors)
  })
}

test.serial('a signed zone with narrow NSEC3 becomes a domain, and denies names as before', async (t) => {
  const name = 'narrow.test'
  await make(name, { dnssec: true, nsec3param: '1 0 0 -', nsec3narrow: true })
  const anchors = await dsOf(name)
  t.true((await plan(name, { apply: true, keepSoa: true })).adopted)
  await isADomain(t, name, anchors)
  t.like(await call('GET', `/zones/${name}.?rrsets=false`), { nsec3narrow: true })
})

test.serial('an unsigned zone is signed, and otherwise served as before', async (t) => {
  const name = 'unsigned.test'
  await make(name, {})
  const anchors = await isAdoptedAndSigned(t, servers(), name)
  await isADomain(t, name, anchors)
})

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
    'of a secondary',
    'secondary.test',
    (name) => call('POST', '/zones', { name: `${name}.`, kind: 'Slave', masters: ['192.0.2.1'], nameservers: [] }),
    /^it is a zone of the kind Slave/,
  ],
  [
    'of nobody',
    'nobody.test',
    (name) => make(name, { account: 'nobody' }),
    /^no account has the e-mail address "nobody"$/,
  ],
  ['whose name is a public suffix', 'co.uk', (name) => make(name, {}), /--allow-public-suffix/],
  ['that is a domain', 'present.test', (name) => api.post('/domains/', { name }), /^it is a domain already$/],
  [
    'with an ALIAS record',
    'alias.test',
    (name) => make(name, {}, [], [['www', 'ALIAS', 'x.example.']]),
    /^www\.alias\.test\. ALIAS: /,
  ],
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
