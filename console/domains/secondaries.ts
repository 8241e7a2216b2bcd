/** A TSIG key of a domain. */
interface Key {
  name: string
  algorithm: string
  secret: string
}

/** The addresses that the operator tells, in the lines: of the server to transfer from, and of those that send NOTIFY. */
export const ADDRESS = 'ADDRESS'
export const NOTIFIER = 'NOTIFIER'

/**
 * The configuration of a secondary with a TSIG key, for BIND, Knot and NSD. The lines for several domains go into one file:
 * the key's name, which no other key has, also names what belongs to it.
 */
export function configurationsOf(domain: string, { name, algorithm, secret }: Key): { server: string; text: string }[] {
  return [
    {
      server: 'BIND',
      text: `key "${name}" {
  algorithm ${algorithm};
  secret "${secret}";
};
zone "${domain}" {
  type secondary;
  file "${domain}.db";
  primaries { ${ADDRESS} key "${name}"; };
  allow-notify { ${NOTIFIER}; };
};
`,
    },
    {
      server: 'Knot',
      text: `key:
  - id: ${name}
    algorithm: ${algorithm}
    secret: ${secret}
remote:
  - id: ${name}
    address: ${ADDRESS}
    key: ${name}
acl:
  - id: ${name}
    address: ${NOTIFIER}
    action: notify
zone:
  - domain: ${domain}
    master: ${name}
    acl: ${name}
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
  zonefile: "${domain}.zone"
  request-xfr: ${ADDRESS} ${name}
  allow-notify: ${NOTIFIER} NOKEY
`,
    },
  ]
}
