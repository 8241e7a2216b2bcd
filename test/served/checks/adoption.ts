import type { ExecutionContext } from 'ava'
import { adopt, type Adoption, type AdoptionRequest } from '../../../src/service/adoption/adoption.ts'
import { reconcileAll } from '../../../src/service/repair/reconcile.ts'
import { emailOf } from '../../support/clients/accounts.ts'
import type { Client } from '../../support/clients/client.ts'
import { transfer, verifyTransfer } from '../../support/dns/dns.ts'
import { validate } from '../../support/dns/validators.ts'
import { servedSerial } from '../../support/dns/wire.ts'
import type { TestServers } from '../../support/harness.ts'

/** A request that changes nothing. The field `account` names the account. */
export const REQUEST: AdoptionRequest = {
  ownerOf: (field) => field,
  allowPublicSuffix: false,
  nsec3: false,
  keepSoa: false,
  clampTtl: false,
  dropDisabled: false,
  apply: false,
}

/** Plans the adoption of a zone, whose field `account` names its account, or carries it out. */
export function adoption(
  servers: TestServers,
  zone: string,
  request: Partial<AdoptionRequest> = {},
): Promise<Adoption> {
  return adopt(servers.system, zone, { ...REQUEST, ...request })
}

/** The e-mail address of the account that gets the zones. */
export const ownerOf = ({ system, owner }: TestServers) => emailOf(system, owner.id)

/** Calls PowerDNS' API, as others do. */
export async function call(servers: TestServers, method: string, path: string, body?: object): Promise<unknown> {
  const { status, json } = await servers.pdns(method, path, body)
  if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(json)}`)
  return json
}

/** The records of a zone without what its signing makes, and the SOA without its serial. */
export async function contentsOf({ powerDns }: TestServers, zone: string): Promise<string[]> {
  const text = await transfer(powerDns, zone)
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith(';') && !/\sIN\s(RRSIG|NSEC|NSEC3|NSEC3PARAM)\s/.test(line))
    .map((line) => line.replace(/\s+/g, ' ').replace(/(?<= SOA \S+ \S+ )[0-9]+/, '…'))
    .sort()
}

/** The DS that the parent has: of the keys that sign the DNSKEY RRset. */
export async function dsOf(servers: TestServers, zone: string): Promise<string[]> {
  const keys = (await call(servers, 'GET', `/zones/${zone}./cryptokeys`)) as {
    active: boolean
    cds?: string[]
    flags: number
  }[]
  return keys.filter(({ active, flags }) => active && flags === 257).flatMap(({ cds = [] }) => cds)
}

/** Adopts a signed zone, and asserts that neither the plan nor the adoption changes what is served. Returns its DS. */
export async function isAdoptedAsItIs(t: ExecutionContext, servers: TestServers, zone: string): Promise<string[]> {
  const [before, anchors] = [await contentsOf(servers, zone), await dsOf(servers, zone)]
  const serial = await servedSerial(servers.powerDns, zone)

  const planned = await adoption(servers, zone)
  t.deepEqual([planned.obstacles, planned.adopted], [[], false])
  t.deepEqual(await contentsOf(servers, zone), before)

  t.deepEqual(await adoption(servers, zone, { apply: true, keepSoa: true }), { ...planned, adopted: true })
  t.deepEqual(await contentsOf(servers, zone), before)
  t.deepEqual([await dsOf(servers, zone), await servedSerial(servers.powerDns, zone)], [anchors, serial])
  return anchors
}

/** Adopts a zone without keys, and asserts that it is signed then, and otherwise as before. Returns its DS. */
export async function isAdoptedAndSigned(t: ExecutionContext, servers: TestServers, zone: string): Promise<string[]> {
  const before = await contentsOf(servers, zone)
  t.true((await adoption(servers, zone, { apply: true, keepSoa: true })).adopted)
  const unsigned = (await contentsOf(servers, zone)).filter((line) => !/ (DNSKEY|CDS|CDNSKEY) /.test(line))
  t.deepEqual(unsigned, before)
  const anchors = await dsOf(servers, zone)
  t.true(anchors.length > 0)
  await verifyTransfer(servers.powerDns, zone, anchors)
  return anchors
}

/**
 * Asserts that the zone agrees with the database, and that changes by the API are answered, validated, at once. The zone
 * has a CAA RRset at `a.b.c` and a CNAME at `*.wild`.
 */
export async function isADomain(
  t: ExecutionContext,
  servers: TestServers,
  api: Client,
  zone: string,
  anchors: string[],
): Promise<void> {
  t.deepEqual(await reconcileAll(servers.system, { contents: true }), { doubtful: [], left: [] })
  const url = `/domains/${zone}/rrsets/`
  t.is((await api.post(url, { subname: 'new', type: 'A', ttl: 60, records: ['192.0.2.9'] })).status, 201)
  t.is((await api.delete(`${url}a.b.c/CAA/`)).status, 204)
  const ask = (owner: string, type: string) => validate(servers.powerDns, zone, anchors, `${owner}.${zone}`, type)
  t.is(await ask('new', 'A'), 'fully validated')
  t.is(await ask('any.wild', 'CNAME'), 'fully validated')
  t.is(await ask('new', 'TXT'), 'negative response, fully validated')
  t.is(await ask('a.b.c', 'CAA'), 'negative response, fully validated')
  t.is(await ask('absent', 'A'), 'negative response, fully validated')
}
