import type { Setup } from './setup.ts'

/** Distinguishes the zones of a bench. */
type Id = string | number

/** A domain of the service. */
export function zone(id: Id): string {
  return `zone${id}.test`
}

export function rrset(subname: string, i: number) {
  return { subname, type: 'A', ttl: 60, records: [address(i)] }
}

/** A different address for each number below 65,536. */
export function address(i: number): string {
  return `192.0.${(i >> 8) & 255}.${i & 255}`
}

/** The name of the zone in PowerDNS that is compared with `zone(id)`. */
export function rawName(id: Id): string {
  return `raw${id}.test.`
}

/** The request that creates this zone, with the settings of our zones. @param name another one for it */
export function rawZone(id: Id, name = rawName(id)) {
  return {
    name,
    kind: 'Master',
    dnssec: true,
    nsec3param: '1 0 0 -',
    soa_edit_api: '',
    api_rectify: true,
    nameservers: [],
    rrsets: [soa(name, 1), rawRRset(name, 'NS', 'ns1.bench.test.', 'ns2.bench.test.')],
  }
}

/** A change of an RRset at an absolute name; without contents, its deletion. */
export function rawRRset(name: string, type: string, ...contents: string[]) {
  const records = contents.map((content) => ({ content, disabled: false }))
  return { name, type, ttl: 60, changetype: 'REPLACE', records }
}

/** The deletion of a stale NSEC3 entry that LMDB keeps for a name that disappears; with it, denials would be bogus. */
export function rawForgotten(name: string) {
  return { name, type: 'NSEC3', changetype: 'DELETE' }
}

let serial = 2

/** Sends RRsets to PowerDNS in one request, with a new serial, like the service. */
export async function rawPatch(
  { raw }: Setup,
  id: Id,
  rrsets: (ReturnType<typeof rawRRset> | ReturnType<typeof rawForgotten>)[],
): Promise<unknown> {
  const name = rawName(id)
  return raw('PATCH', `/zones/${name}`, { rrsets: [soa(name, serial++), ...rrsets] })
}

/** The SOA of a zone with this serial. */
export function soa(name: string, version: number) {
  return rawRRset(name, 'SOA', `ns1.bench.test. hostmaster.${name} ${version} 86400 7200 3600000 3600`)
}
