import { query } from '../../../src/store/database.ts'
import { eventually, eventuallyIs } from '../eventually.ts'
import type { TestServers } from '../harness.ts'
import { unrepaired } from '../state/marks.ts'
import { ask, dataOf } from './dns.ts'

interface PdnsZone {
  serial: number
  dnssec: boolean
  nsec3param: string
  soa_edit_api: string
  api_rectify: boolean
  rrsets: { name: string; type: string; ttl: number; records: { content: string }[] }[]
}

interface Row {
  name: string
  version: number
  rectify: boolean
  denial: string
  size: number
  octets: number
  suspended: string | null
  /** The keys, and those that sign. The only one of a zone is stored soon after the zone is made. */
  keys: number
  active: number
  rrsets: { subname: string; type: string; ttl: number; records: string[] }[]
}

/**
 * The differences between the database and PowerDNS' API, and between both and the answers over DNS. Uses no function
 * of the service. Compares records as text, so it suits only types that PowerDNS spells as we do.
 * @param foreign zones at PowerDNS that do not belong to the service
 */
export async function discrepancies(servers: Inspected, foreign: string[] = []): Promise<string[]> {
  const domains = await domainsOf(servers)
  const marks = await query<{ mark: string }>(
    servers.system.db,
    'select to_json(marks) #>> array[]::text[] as mark from marks where not settled',
  )
  const found = marks.map(({ mark }) => `marked: ${mark}`)
  const zones = (await servers.pdns('GET', '/zones?dnssec=false')).json as { name: string }[]
  const expected = [...domains.map(({ name }) => name), ...foreign]
  for (const { name } of zones) {
    if (!expected.includes(name.slice(0, -1))) found.push(`${name} is not a domain`)
  }
  for (const domain of domains) found.push(...(await inZone(servers, domain)))
  return found
}

/** What tells whether they differ. */
export type Inspected = Pick<TestServers, 'system' | 'pdns' | 'powerDns'>

/** Like `discrepancies`, for one zone, after waiting for its repair. */
export async function discrepanciesOf(servers: Inspected, name: string): Promise<string[]> {
  await eventuallyIs(() => unrepaired(servers, name), [])
  const [domain] = await domainsOf(servers, name)
  if (domain !== undefined) return inZone(servers, domain)
  const { status } = await servers.pdns('GET', `/zones/${name}.`)
  return status === 404 ? [] : [`${name} is not a domain`]
}

/**
 * Waits until repair is done, and returns the differences that are left. Those of requests that PowerDNS applies late are
 * repaired within 11 s (architecture.md, "Late requests"), after a crash of Postgres within 15 s; and of many zones, a look
 * takes seconds.
 */
export async function discrepanciesInTheEnd(
  servers: Inspected & Pick<TestServers, 'proxy'>,
  foreign: string[] = [],
): Promise<string[]> {
  await eventuallyIs(() => servers.proxy.open(), 0)
  await eventuallyIs(() => unrepaired(servers), [])
  const found: { differences: string[] } = { differences: [] }
  const areEqual = async () => {
    found.differences = await discrepancies(servers, foreign)
    return found.differences.length === 0
  }
  await eventually(areEqual).catch(() => undefined)
  return found.differences
}

function domainsOf(servers: Inspected, name: string | null = null): Promise<Row[]> {
  return query<Row>(
    servers.system.db,
    `select name, version, rectify, denial, size, record_octets as octets, suspended,
     (select greatest(1, count(*)) from keys where domain_id = domains.id and retired is null) as keys,
     (select greatest(1, count(*)) from keys where domain_id = domains.id and retired is null and active) as active, (
       select coalesce(json_agg(json_build_object('subname', subname, 'type', type, 'ttl', ttl, 'records', records)), '[]')
       from rrsets where domain_id = domains.id
     ) as rrsets from domains where name = coalesce(:name, name) order by name`,
    { name },
  )
}

async function inZone(servers: Inspected, domain: Row): Promise<string[]> {
  const { name, version, rectify, denial, rrsets } = domain
  const { status, json } = await servers.pdns('GET', `/zones/${name}.`)
  if (domain.suspended !== null) return status === 404 ? [] : [`${name} is suspended, and at PowerDNS: ${status}`]
  if (status !== 200) return [`${name} is not at PowerDNS: ${status}`]
  const zone = json as PdnsZone
  const keys = (await servers.pdns('GET', `/zones/${name}./cryptokeys`)).json as unknown[]
  const found: string[] = []
  const compare = (what: string, stored: unknown, live: unknown) => {
    if (stored !== live) found.push(`${name}: ${what}: ${String(stored)} in the database, ${String(live)} at PowerDNS`)
  }
  compare('serial', version, zone.serial)
  compare('SOA RRsets', 1, zone.rrsets.filter(({ type }) => type === 'SOA').length)
  compare('keys', domain.keys, keys.length)
  compare('signed', true, zone.dnssec)
  compare('denial', denial, zone.nsec3param)
  compare('serial policy', '', zone.soa_edit_api)
  compare('rectify', rectify, zone.api_rectify)
  const stored = new Map(
    rrsets.map(({ subname, type, ttl, records }) => [
      `${subname === '' ? '' : `${subname}.`}${name}. ${type}`,
      `${ttl} ${[...records].sort().join(' ')}`,
    ]),
  )
  const live = new Map<string, string>()
  let octets = 0
  for (const { name, type, ttl, records } of zone.rrsets) {
    const contents = records.map(({ content }) => content).sort()
    if (type === 'SOA') continue
    live.set(`${name} ${type}`, `${ttl} ${contents.join(' ')}`)
    octets += contents.join('').length
  }
  compare('number of RRsets', domain.size, live.size)
  compare('octets of records', domain.octets, octets)
  for (const key of new Set([...stored.keys(), ...live.keys()])) compare(key, stored.get(key), live.get(key))
  for (const { subname, type, records } of rrsets) {
    if (type !== 'A') continue
    const answer = await ask(servers.powerDns, `${subname}.${name}`, 'A')
    compare(`answer for ${subname}`, [...records].sort().join(' '), dataOf(answer, 'A').sort().join(' '))
    compare(`signature for ${subname}`, domain.active, dataOf(answer, 'RRSIG').length)
  }
  return found
}

/** The first record of type A at a name, as PowerDNS has it; undefined: none. */
export async function addressAt({ pdns }: Inspected, name: string, zone: string): Promise<string | undefined> {
  const { json } = await pdns('GET', `/zones/${zone}.?rrset_name=${name}.&rrset_type=A`)
  return (json as { rrsets: { records: { content: string }[] }[] }).rrsets[0]?.records[0]?.content
}
