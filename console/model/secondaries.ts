/** A TSIG key of a domain. */
interface Key {
  name: string
  algorithm: string
  secret: string
}

/** Where the lines need the address of the server to transfer from, which the operator tells. */
const ADDRESS = 'ADDRESS'

/** The configuration of a secondary with a TSIG key, for BIND, Knot and NSD. */
export function configurationsOf(domain: string, { name, algorithm, secret }: Key): { server: string; text: string }[] {
  return [
    {
      server: 'BIND',
      text: `key "${name}" { algorithm ${algorithm}; secret "${secret}"; };
zone "${domain}" { type secondary; primaries { ${ADDRESS} key "${name}"; }; file "${domain}.db"; };
`,
    },
    {
      server: 'Knot',
      text: `key:
  - id: ${name}
    algorithm: ${algorithm}
    secret: ${secret}
remote:
  - id: zoneplane
    address: ${ADDRESS}
    key: ${name}
acl:
  - id: zoneplane
    address: ${ADDRESS}
    action: notify
zone:
  - domain: ${domain}
    master: zoneplane
    acl: zoneplane
`,
    },
    {
      server: 'NSD',
      text: `key:
  name: "${name}"
  algorithm: ${algorithm}
  secret: "${secret}"
zone:
  name: "${domain}"
  request-xfr: ${ADDRESS} ${name}
  allow-notify: ${ADDRESS} NOKEY
`,
    },
  ]
}
