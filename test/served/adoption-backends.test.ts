import test from 'ava'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseRdata } from '../../src/dns/rdata.ts'
import { TYPES } from '../../src/dns/types.ts'
import { hasBackend } from '../../src/installation/programs.ts'
import { NEWEST_SPELLING, spell } from '../../src/nameserver/powerdns/spelling.ts'
import { EXAMPLES } from '../dns/examples/index.ts'
import type { Client } from '../support/clients/client.ts'
import { lookUp, verifyTransfer } from '../support/dns/dns.ts'
import { transferred } from '../support/dns/wire.ts'
import { type TestServers, useServers } from '../support/harness.ts'
import { type Backend, POSTGRES_SCHEMA } from '../support/servers/backends.ts'
import { newFolder } from '../support/servers/folders.ts'
import {
  adoption,
  contentsOf,
  dsOf,
  isADomain,
  isAdoptedAndSigned,
  isAdoptedAsItIs,
  ownerOf,
} from './checks/adoption.ts'

// Zones that were made by pdnsutil become domains, with each backend of PowerDNS that the tests can use here.

const BACKENDS: Backend[] = ['lmdb', 'gsqlite3']
const isRoot = process.getuid!() === 0
if (!isRoot && hasBackend('gpgsql') && existsSync(POSTGRES_SCHEMA)) BACKENDS.push('gpgsql')
else {
  const reason = isRoot ? "root's PowerDNS may not enter the folder of Postgres' socket" : 'gpgsql is not installed'
  test.skip(`zones of gpgsql are adopted (skipped: ${reason})`, (t) => t.fail())
}

/** With empty non-terminals, a wildcard, a delegation with DS and glue, and names in upper case. */
const CONTENTS = `
@ 600 IN NS ns1.elsewhere.example.
@ 600 IN NS ns2.elsewhere.example.
@ 600 IN MX 10 MAIL.elsewhere.example.
WWW 600 IN A 192.0.2.1
a.b.c 600 IN CAA 0 issue "ca.example"
*.wild 600 IN CNAME www.elsewhere.example.
sub 600 IN NS ns.sub
sub 600 IN DS 12345 13 2 ${'ab'.repeat(32)}
ns.sub 600 IN A 192.0.2.53
`

/** Makes a zone as an operator would. */
async function make(servers: TestServers, name: string, contents: string, commands: string[][] = []): Promise<void> {
  const file = join(newFolder(), 'zone')
  const soa = '@ 600 IN SOA ns1.elsewhere.example. dns.elsewhere.example. 2026010203 10800 3600 604800 900'
  writeFileSync(file, `$ORIGIN ${name}.\n${soa}\n${contents}`)
  await servers.pdnsutil('load-zone', name, file)
  await servers.pdnsutil('set-account', name, await ownerOf(servers))
  for (const [command, ...args] of commands) await servers.pdnsutil(command!, name, ...args)
  await servers.pdnsutil('rectify-zone', name)
}

/** Adds a name to the zone: `add-record` takes it as absolute from PowerDNS 5 on, and appends the zone to it before. */
const added = (zone: string) => ['add-record', `added.${zone}.`, 'TXT', '600', '"a;b \\"c\\" \\\\"']
const SECURED = ['secure-zone']
const zones: Record<string, string[][]> = {
  'nsec.test': [SECURED, added('nsec.test')],
  'nsec3.test': [SECURED, ['set-nsec3', '1 0 5 abcd'], added('nsec3.test')],
  'rolling.test': [
    ['add-zone-key', 'ksk', 'active', 'ecdsa256'],
    ['add-zone-key', 'zsk', 'active', 'rsasha256', '2048'],
    ['add-zone-key', 'zsk', 'inactive', 'ecdsa256'],
    added('rolling.test'),
  ],
}

for (const backend of BACKENDS) {
  const servers = useServers(backend)
  let api: Client
  let samples: RRset[]

  test.serial.before(`${backend}: there are zones, and a service`, async () => {
    for (const [name, commands] of Object.entries(zones)) await make(servers(), name, CONTENTS, commands)
    await make(servers(), 'imported.test', CONTENTS, await importOf(servers()))
    // PowerDNS does not transfer such zones.
    await make(servers(), 'narrow.test', CONTENTS, [SECURED, ['set-nsec3', '1 0 0 -', 'narrow'], added('narrow.test')])
    await make(servers(), 'unsigned.test', CONTENTS, [added('unsigned.test')])
    samples = samplesFor(await versionOf(servers()))
    const lines = samples.flatMap(({ subname, type, records }) =>
      records.map((text) => `${subname || '@'} 600 IN ${type} ${text}\n`),
    )
    await make(servers(), 'types.test', `@ 600 IN NS ns1.elsewhere.example.\n${lines.join('')}`, [SECURED])
    await make(servers(), 'strange.test', STRANGE)
    // It would see new zones only after zone-cache-refresh-interval.
    await servers().powerDns.stop()
    await servers().restartPowerDns()
    api = (await servers().serve()).api
  })

  for (const name of [...Object.keys(zones), 'imported.test']) {
    test.serial(`${backend}: the signed zone ${name} becomes a domain, and is served as before`, async (t) => {
      const anchors = await isAdoptedAsItIs(t, servers(), name)
      await verifyTransfer(servers().powerDns, name, anchors)
      await isADomain(t, servers(), api, name, anchors)
    })
  }

  test.serial(`${backend}: a zone with narrow NSEC3 becomes a domain, and denies names as before`, async (t) => {
    const { kept, adopted } = await adoption(servers(), 'narrow.test', { apply: true, keepSoa: true })
    t.deepEqual([kept.includes('NSEC3 1 0 0 - narrow'), adopted], [true, true])
    await isADomain(t, servers(), api, 'narrow.test', await dsOf(servers(), 'narrow.test'))
  })

  test.serial(`${backend}: an unsigned zone is signed, and otherwise served as before`, async (t) => {
    const anchors = await isAdoptedAndSigned(t, servers(), 'unsigned.test')
    await isADomain(t, servers(), api, 'unsigned.test', anchors)
  })

  test.serial(`${backend}: a zone with records of all types is served as before, and the API shows them`, async (t) => {
    // Name compression may change the case of names in contents.
    const served = async () => [
      (await transferred(servers().powerDns, 'types.test')).map((rrset) => ({ ...rrset, records: keysOf(rrset) })),
      await lookUp(servers().powerDns, 'types.test', 'DNSKEY'),
    ]
    const before = await served()
    const { obstacles, adopted } = await adoption(servers(), 'types.test', { apply: true, keepSoa: true })
    t.deepEqual([obstacles, adopted], [[], true])
    t.deepEqual(await served(), before)
    const { json } = await api.get('/domains/types.test/rrsets/')
    const shown = (json as RRset[]).map((rrset) => [rrset.subname, rrset.type, keysOf(rrset)])
    for (const rrset of samples)
      t.deepEqual(shown.find(([subname, type]) => subname === rrset.subname && type === rrset.type)?.[2], keysOf(rrset))
  })

  test.serial(`${backend}: types and names that the API does not have are named, and nothing is changed`, async (t) => {
    const before = await contentsOf(servers(), 'strange.test')
    const { obstacles } = await adoption(servers(), 'strange.test', { apply: true })
    t.deepEqual(obstacles.sort(), STRANGE_SAID)
    t.deepEqual(await contentsOf(servers(), 'strange.test'), before)
  })
}

interface RRset {
  subname: string
  type: string
  records: string[]
}

/** The contents of an RRset, in a fixed order. */
function keysOf({ type, records }: Pick<RRset, 'type' | 'records'>): string[] {
  return records.map((text) => (TYPES.has(type) ? parseRdata(type, text).key : text)).sort()
}

/** RRsets of each type, with all examples that a PowerDNS of this version reads in zone files. */
function samplesFor(version: string): RRset[] {
  const readsAll = /^4\./.test(version)
  return [...EXAMPLES].flatMap(([type, { accepted }]): RRset[] => {
    const texts = accepted
      .map((example) => (typeof example === 'string' ? example : example[1]))
      .filter((text) => readsAll || spell(type, text, NEWEST_SPELLING) === text)
    const distinct = [...new Map(texts.map((text) => [parseRdata(type, text).key, text])).values()]
    const { single, apex } = TYPES.get(type)!
    const subname = (i: number) => (apex === 'only' ? '' : `${type.toLowerCase()}${i}`)
    if (single !== true) return [{ subname: subname(0), type, records: distinct }]
    return distinct.map((text, i) => ({ subname: subname(i), type, records: [text] }))
  })
}

async function versionOf(servers: TestServers): Promise<string> {
  return ((await servers.pdns('GET', '')).json as { version: string }).version
}

const STRANGE = `
@ 600 IN NS ns1.elsewhere.example.
alias 600 IN ALIAS x.example.
lua 600 IN LUA A "ifportup(443, {'192.0.2.1'})"
ipsec 600 IN IPSECKEY 10 1 2 192.0.2.38 ${'AQID'.repeat(8)}
minfo 600 IN MINFO a.example. b.example.
generic 600 IN TYPE65280 \\# 1 ff
a\\.b 600 IN A 192.0.2.1
a\\032b 600 IN A 192.0.2.1
a\\"b 600 IN A 192.0.2.1
`

const STRANGE_SAID = [
  'a"b.strange.test. A: the API has no such names',
  'a\\032b.strange.test. A: the API has no such names',
  'a\\.b.strange.test. A: the API has no such names',
  'alias.strange.test. ALIAS: The ALIAS RR set type is currently unsupported.',
  'generic.strange.test. TYPE65280: Generic type format is not supported.',
  'ipsec.strange.test. IPSECKEY: The IPSECKEY RR set type is currently unsupported.',
  'lua.strange.test. LUA: The LUA RR set type is currently unsupported.',
  'minfo.strange.test. MINFO: The MINFO RR set type is currently unsupported.',
].sort()

/** The commands that import a key which was made elsewhere. */
async function importOf(servers: TestServers): Promise<string[][]> {
  const file = join(newFolder(), 'key')
  writeFileSync(file, await servers.pdnsutil('generate-zone-key', 'ksk', 'ecdsa256'))
  return [['import-zone-key', file, 'active', 'ksk'], added('imported.test')]
}
