import type { Servers } from '../servers/servers.ts'

/** An RRset as somebody else leaves it: without contents, it is deleted. */
export type Foreign = [subname: string, type: string, ttl: number, ...contents: string[]]

/** Changes a zone at PowerDNS, and nowhere else. @throws if PowerDNS refuses that */
export async function changeAtPowerDns(
  { pdns }: Pick<Servers, 'pdns'>,
  zone: string,
  ...changes: Foreign[]
): Promise<void> {
  const rrsets = changes.map(([subname, type, ttl, ...contents]) => ({
    ...{ name: `${subname === '' ? '' : `${subname}.`}${zone}.`, type, ttl, changetype: 'REPLACE' },
    records: contents.map((content) => ({ content, disabled: false })),
  }))
  const { status } = await pdns('PATCH', `/zones/${zone}.`, { rrsets })
  if (status !== 204) throw new Error(`PowerDNS answered ${status}`)
}

/** Makes a signed zone with the address 192.0.2.1 at `www`, as an operator does. @throws if PowerDNS refuses that */
export async function makeForeignZone({ pdns }: Pick<Servers, 'pdns'>, name: string): Promise<void> {
  const record = (owner: string, type: string, content: string) => {
    return { name: owner, type, ttl: 300, records: [{ content, disabled: false }] }
  }
  const { status } = await pdns('POST', '/zones', {
    ...{ name: `${name}.`, kind: 'Native', nameservers: [], dnssec: true, nsec3param: '1 0 0 -' },
    rrsets: [
      record(`${name}.`, 'SOA', 'ns1.old.example. dns.old.example. 7 10800 3600 604800 900'),
      record(`${name}.`, 'NS', 'ns1.old.example.'),
      record(`www.${name}.`, 'A', '192.0.2.1'),
    ],
  })
  if (status !== 201) throw new Error(`PowerDNS answered ${status}`)
}

/** The content of a SOA with this serial. */
export function soaOf(zone: string, serial: number): string {
  return `ns1.zoneplane.test. hostmaster.${zone}. ${serial} 3600 600 1209600 3600`
}
