import type { Setup } from './setup.ts'

/** Names a zone among those of one bench. */
type Id = string | number

/** A domain of the service. */
export function zone(id: Id): string {
  return `zone${id}.test`
}

export function rrset(subname: string, i: number) {
  return { subname, type: 'A', ttl: 60, records: [address(i)] }
}

/** An address for each number below 65,536. */
export function address(i: number): string {
  return `192.0.${(i >> 8) & 255}.${i & 255}`
}

/** The zone of PowerDNS' own that is like `zone(id)`. */
export function rawName(id: Id): string {
  return `raw${id}.test.`
}

/** What creates it: with the settings that our zones have. */
export function rawZone(id: Id) {
  const name = rawName(id)
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

/** An RRset at an absolute name; without contents it is deleted. */
export function rawRRset(name: string, type: string, ...contents: string[]) {
  const records = contents.map((content) => ({ content, disabled: false }))
  return { name, type, ttl: 60, changetype: 'REPLACE', records }
}

/** Without this, LMDB keeps what it knew of a name for its denials, which are bogus then. */
export function rawForgotten(name: string) {
  return { name, type: 'NSEC3', changetype: 'DELETE' }
}

let serial = 2

/** Sends these RRsets to PowerDNS in one request, with a new serial, as the service does. */
export async function rawPatch(
  { raw }: Setup,
  id: Id,
  rrsets: (ReturnType<typeof rawRRset> | ReturnType<typeof rawForgotten>)[],
): Promise<unknown> {
  const name = rawName(id)
  return raw('PATCH', `/zones/${name}`, { rrsets: [soa(name, serial++), ...rrsets] })
}

function soa(name: string, version: number) {
  return rawRRset(name, 'SOA', `ns1.bench.test. hostmaster.${name} ${version} 86400 7200 3600000 3600`)
}
