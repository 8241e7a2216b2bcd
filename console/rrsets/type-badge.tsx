/** The families of types; all others have the colour of texts. */
const FAMILIES: Record<string, string> = Object.fromEntries(
  Object.entries({
    address: 'A AAAA APL L32 L64 LP NID EUI48 EUI64',
    alias: 'CNAME DNAME PTR',
    mail: 'MX SPF OPENPGPKEY SMIMEA RP AFSDB',
    delegation: 'NS SOA CSYNC KX',
    service: 'SRV HTTPS SVCB NAPTR URI',
    trust: 'CAA DS CDS DNSKEY CDNSKEY TLSA SSHFP CERT DHCID',
  }).flatMap(([family, types]) => types.split(' ').map((type) => [type, family])),
)

/** The type of a record set, in the colour of its family. */
export function TypeBadge({ type }: { type: string }) {
  return <span class={`badge ${FAMILIES[type] ?? ''}`}>{type}</span>
}
