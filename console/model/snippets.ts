/** What a program needs to use a token: its configuration and its command. */
export interface Program {
  /** Files and commands, as docs/clients.md has them below the heading of the same name, where they are tested. */
  texts: string[]
  /** The variable of the environment from which it takes the secret; undefined if the texts contain it. */
  variable?: string
  note?: string
}

export type ProgramName = keyof typeof PROGRAMS

/** What takes the place of the names in docs/clients.md. */
export interface Facts {
  /** The service's URL without a final slash. */
  url: string
  secret: string
  /** The e-mail address of the account. */
  email: string
  /** The name that the token is for, and its domain; undefined if the token is for all domains. */
  place: { name: string; domain: string } | undefined
  /** A nameserver of the domain; undefined if it is not known. */
  nameserver: string | undefined
}

const BUILT_IN =
  'It has the address desec.io built in, and comes here through a proxy that you set up: see “Programs with a built-in address” in docs/clients.md.'

/** The programs, by their names in docs/clients.md. */
export const PROGRAMS = {
  certbot: {
    texts: [
      `# zoneplane.ini, readable by root alone
dns_desec_endpoint = https://dns.example.net/api/v1/
dns_desec_token = $TOKEN
`,
      `certbot certonly --authenticator dns-desec --dns-desec-credentials zoneplane.ini \\
  --dns-desec-propagation-seconds 5 -d example.org -d '*.example.org'
`,
    ],
    note: 'It needs the plugin certbot-dns-desec.',
  },
  'certbot with hooks': {
    texts: [
      `#!/bin/sh
set -eu
api=https://dns.example.net/api/v1/domains
call() { curl -fsS -H "Authorization: Token $TOKEN" -H 'Content-Type: application/json' "$@"; }
name=_acme-challenge.$CERTBOT_DOMAIN
domain=$(call "$api/?owns_qname=$name" | sed 's/.*"name":"\\([^"]*\\)".*/\\1/')
subname=\${name%".$domain"}
records=
if [ "$1" = add ]; then
  # A name and its wildcard are proven by two records at one place.
  records=$(call "$api/$domain/rrsets/?subname=$subname&type=TXT" | sed -n 's/.*"records":\\[\\([^]]*\\)\\].*/\\1,/p')
  records="$records\\"\\\\\\"$CERTBOT_VALIDATION\\\\\\"\\""
fi
rrset="{\\"subname\\": \\"$subname\\", \\"type\\": \\"TXT\\", \\"ttl\\": 3600, \\"records\\": [$records]}"
call -X PUT -d "[$rrset]" "$api/$domain/rrsets/"
`,
      `certbot certonly --agree-tos --email you@example.org --manual --preferred-challenges dns \\
  --manual-auth-hook './zoneplane-hook add' --manual-cleanup-hook './zoneplane-hook remove' \\
  -d example.org -d '*.example.org'
`,
    ],
    variable: 'TOKEN',
  },
  'acme.sh': {
    texts: [
      `cd ~/.acme.sh/dnsapi
sed 's#https://desec.io/#https://dns.example.net/#; s/dns_desec/dns_zoneplane/; s/DEDYN_TOKEN/ZONEPLANE_TOKEN/g' \\
  dns_desec.sh > dns_zoneplane.sh
ZONEPLANE_TOKEN=$TOKEN acme.sh --issue --dns dns_zoneplane --dnssleep 5 -d example.org -d '*.example.org'
`,
    ],
  },
  'lego 5': {
    texts: [
      `HTTPS_PROXY=http://proxy.example.net:3128 SSL_CERT_FILE=ca.pem \\
  DESEC_TOKEN=$TOKEN lego run --accept-tos --email you@example.org --dns desec --dns.resolvers ns1.example.net:53 \\
  --dns.propagation.wait 1s --domains example.org --domains '*.example.org'
`,
    ],
    note: BUILT_IN,
  },
  'lego 4': {
    texts: [
      `HTTPS_PROXY=http://proxy.example.net:3128 SSL_CERT_FILE=ca.pem DESEC_TOKEN=$TOKEN \\
  lego --accept-tos --email you@example.org --dns desec \\
  --dns.resolvers ns1.example.net:53 --dns.disable-cp \\
  --domains example.org --domains '*.example.org' run
`,
    ],
    note: BUILT_IN,
  },
  Caddy: {
    texts: [
      `# Caddyfile
example.org, *.example.org {
  tls {
    dns desec {
      token {env.TOKEN}
    }
    resolvers 203.0.113.7:53
    propagation_delay 1s
    propagation_timeout -1
  }
}
`,
    ],
    variable: 'TOKEN',
    note: `${BUILT_IN} In place of 203.0.113.7, write the address of one of your nameservers.`,
  },
  'FRITZ!Box': {
    texts: [
      `Update URL   https://dns.example.net/nic/update?hostname=<domain>&myipv4=<ipaddr>&myipv6=<ip6addr>
Domain name  home.example.org
User name    example.org
Password     $TOKEN
`,
    ],
    note: 'Without IPv6 it sends an empty myipv6, which deletes the AAAA records. Write myipv6=preserve to keep them.',
  },
  'ddclient 4': {
    texts: [
      `# /etc/ddclient/ddclient.conf
daemon=300
usev4=cmdv4, cmdv4='curl -4 -sf https://dns.example.net/nic/checkip.html'
usev6=cmdv6, cmdv6='curl -6 -sf https://dns.example.net/nic/checkip.html'
protocol=dyndns2
server=dns.example.net
script=/nic/update
login=example.org
password=$TOKEN
home.example.org, nas.example.org
`,
    ],
    note: 'For a host without IPv6, or without IPv4, leave out the line of that family.',
  },
  'ddclient 3.10': {
    texts: [
      `# /etc/ddclient-ipv4.conf
daemon=300
ssl=yes
use=cmd, cmd='curl -4 -sf https://dns.example.net/nic/checkip.html'
protocol=dyndns2
server=dns.example.net
script=/nic/update?myipv6=preserve&
login=example.org
password=$TOKEN
home.example.org, nas.example.org
`,
      `# /etc/ddclient-ipv6.conf
daemon=300
ssl=yes
use=cmd, cmd='curl -6 -sf https://dns.example.net/nic/checkip.html'
protocol=dyndns2
server=dns.example.net
script=/nic/update?myipv4=preserve&
login=example.org
password=$TOKEN
home.example.org, nas.example.org
`,
    ],
    note: 'Each family has a file and a process of its own.',
  },
  octoDNS: {
    texts: [
      `# zoneplane.py
from octodns_desec import DesecAPI, DesecProvider
DesecAPI.API_DOMAINS_URL = 'https://dns.example.net/api/v1/domains'
`,
      `# config.yaml
providers:
  config:
    class: octodns.provider.yaml.YamlProvider
    directory: ./zones
  zoneplane:
    class: zoneplane.DesecProvider
    token: env/TOKEN
zones:
  '*':
    sources: [config]
    targets: [zoneplane]
`,
      `PYTHONPATH=. octodns-sync --config-file config.yaml --doit
`,
    ],
    variable: 'TOKEN',
  },
  Terraform: {
    texts: [
      `provider "desec" {
  api_uri = "https://dns.example.net/api/v1/"
}

resource "desec_rrset" "www" {
  domain  = "example.org"
  subname = "www"
  type    = "A"
  records = ["192.0.2.1"]
  ttl     = 3600
}
`,
    ],
    variable: 'DESEC_API_TOKEN',
    note: 'With the provider Valodim/desec.',
  },
} satisfies Record<string, Program>

/** The names in the texts that stand for those of the reader; the longer ones first. */
const NAMES =
  /https:\/\/dns\.example\.net|dns\.example\.net|ns1\.example\.net|you@example\.org|home\.example\.org, nas\.example\.org|(?:home\.)?example\.org|\$TOKEN/g

/** The texts of a program, ready for use. */
export function snippetsOf(program: ProgramName, facts: Facts): string[] {
  const { texts, variable }: Program = PROGRAMS[program]
  const { url, secret, email, place, nameserver } = facts
  const isForHost = texts.some((text) => text.includes('home.example.org'))
  const replaced = (name: string): string | undefined => {
    if (name === '$TOKEN') return variable === undefined ? secret : name
    if (name === 'https://dns.example.net') return url
    if (name === 'dns.example.net') return new URL(url).host
    if (name === 'ns1.example.net') return nameserver
    if (name === 'you@example.org') return email
    // A dynDNS client names the domain as its login, and the hosts by themselves.
    return name === 'example.org' && isForHost ? place?.domain : place?.name
  }
  const filled = texts.map((text) => text.replace(NAMES, (name) => replaced(name) ?? name))
  return variable === undefined ? filled : [`export ${variable}=${secret}\n`, ...filled]
}
