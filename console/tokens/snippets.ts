/** What a program needs to use a token: its configuration and its command. */
export interface Program {
  /** Files and commands, as docs/clients.md has them below the heading of the same name, where they are tested. */
  texts: string[]
  note?: string
  /** Whether its text is of lines with a field's name and its value, which people enter one by one. */
  isForm?: boolean
}

export type ProgramName = keyof typeof PROGRAMS | keyof typeof KEY_PROGRAMS

/** What takes the place of the names in docs/clients.md. */
export interface Facts {
  /** The service's URL without a final slash. */
  url: string
  /** Of the token, or of its TSIG key, whose name is `keyName`. */
  secret: string
  keyName?: string | undefined
  /** The e-mail address of the account. */
  email: string
  /** The name that the token is for, and its domain; undefined if the token is for all domains. */
  place: { name: string; domain: string } | undefined
  /** A nameserver of the domain; undefined if it is not known. */
  nameserver: string | undefined
}

const WILDCARD = 'Leave out the name with * if you need no wildcard.'

const RENEWS = `Paste this as root. certbot then renews the certificate by itself; it asks before it replaces one. ${WILDCARD}`

const BUILT_IN =
  'It has the address desec.io built in, and comes here through a proxy that you set up: see “Programs with a built-in address” in docs/clients.md.'

/** The programs, by their names in docs/clients.md. */
export const PROGRAMS = {
  certbot: {
    texts: [
      `apt install certbot python3-certbot-dns-desec
`,
      `install -Dm600 /dev/stdin /etc/letsencrypt/zoneplane.ini <<'END'
dns_desec_endpoint = https://dns.example.net/api/v1/
dns_desec_token = $TOKEN
END
certbot certonly --agree-tos --email you@example.org \\
  --authenticator dns-desec --dns-desec-credentials /etc/letsencrypt/zoneplane.ini \\
  --dns-desec-propagation-seconds 5 -d example.org -d '*.example.org'
`,
    ],
    note: `The plugin is a package of Debian 13; without it, see “certbot with hooks”. ${RENEWS}`,
  },
  'certbot with hooks': {
    texts: [
      `install -Dm700 /dev/stdin /etc/letsencrypt/zoneplane-hook <<'END'
#!/bin/sh
set -eu
token=$TOKEN
api=https://dns.example.net/api/v1/domains
call() { curl -fsS -H "Authorization: Token $token" -H 'Content-Type: application/json' "$@"; }
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
END
certbot certonly --agree-tos --email you@example.org --manual --preferred-challenges dns \\
  --manual-auth-hook '/etc/letsencrypt/zoneplane-hook add' \\
  --manual-cleanup-hook '/etc/letsencrypt/zoneplane-hook remove' \\
  -d example.org -d '*.example.org'
`,
    ],
    note: `It needs curl. ${RENEWS}`,
  },
  'acme.sh': {
    texts: [
      `cd ~/.acme.sh/dnsapi
sed 's#https://desec.io/#https://dns.example.net/#; s/dns_desec/dns_zoneplane/; s/DEDYN_TOKEN/ZONEPLANE_TOKEN/g' \\
  dns_desec.sh > dns_zoneplane.sh
ZONEPLANE_TOKEN=$TOKEN ~/.acme.sh/acme.sh --issue --dns dns_zoneplane --dnssleep 5 \\
  -d example.org -d '*.example.org'
`,
    ],
    note: `It keeps the secret, and its cron job renews the certificate. ${WILDCARD}`,
  },
  'lego 5': {
    texts: [
      `HTTPS_PROXY=http://proxy.example.net:3128 SSL_CERT_FILE=ca.pem \\
  DESEC_TOKEN=$TOKEN lego run --accept-tos --email you@example.org --dns desec --dns.resolvers ns1.example.net:53 \\
  --dns.propagation.wait 1s --domains example.org --domains '*.example.org'
`,
    ],
    note: `${BUILT_IN} Run it daily in the same folder: it then renews the certificate. ${WILDCARD}`,
  },
  Caddy: {
    texts: [
      `# Caddyfile
example.org, *.example.org {
  tls {
    dns desec {
      token $TOKEN
    }
    resolvers 203.0.113.7:53
    propagation_delay 1s
    propagation_timeout -1
  }
}
`,
    ],
    note: `${BUILT_IN} In place of 203.0.113.7, write the address of one of your nameservers. It renews by itself. ${WILDCARD}`,
  },
  'FRITZ!Box': {
    texts: [
      `Update URL   https://dns.example.net/nic/update?hostname=<domain>&myipv4=<ipaddr>&myipv6=<ip6addr>
Domain name  home.example.org
User name    example.org
Password     $TOKEN
`,
    ],
    note: 'Internet, Permit Access, DynDNS, User-defined. Enter the words in < > as they are. The user name is any domain of yours. The first update creates the records. Without IPv6, end the URL with myipv6=preserve, or it deletes the AAAA records.',
    isForm: true,
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
    note: 'Then run: systemctl restart ddclient. For a host without IPv6, or without IPv4, leave out the line of that family.',
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
      `# /etc/cron.d/zoneplane
*/5 * * * * root ddclient -daemon 0 -file /etc/ddclient-ipv4.conf -cache /var/cache/ddclient/ipv4
*/5 * * * * root ddclient -daemon 0 -file /etc/ddclient-ipv6.conf -cache /var/cache/ddclient/ipv6
`,
    ],
    note: 'Each family has a file of its own.',
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
      `TOKEN=$TOKEN PYTHONPATH=. octodns-sync --config-file config.yaml --doit
`,
    ],
    note: 'Install it with pip install octodns octodns-desec. Run it without --doit first: records that are not in zones/ are deleted.',
  },
  Terraform: {
    texts: [
      `export DESEC_API_TOKEN=$TOKEN
`,
      `terraform {
  required_providers {
    desec = { source = "Valodim/desec" }
  }
}

provider "desec" {
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
  },
} satisfies Record<string, Program>

/** Programs that speak DNS UPDATE, with the TSIG key of a token. */
export const KEY_PROGRAMS = {
  nsupdate: {
    texts: [
      `nsupdate -k zoneplane.key <<'END'
server 203.0.113.7 5353
zone example.org
update delete www.example.org A
update add www.example.org 3600 A 192.0.2.1
send
END
`,
    ],
  },
  'certbot with DNS UPDATE': {
    texts: [
      `install -Dm600 /dev/stdin /etc/letsencrypt/zoneplane.ini <<'END'
dns_rfc2136_server = 203.0.113.7
dns_rfc2136_port = 5353
dns_rfc2136_name = $KEY
dns_rfc2136_secret = $SECRET
dns_rfc2136_algorithm = HMAC-SHA256
dns_rfc2136_sign_query = true
END
certbot certonly --agree-tos --email you@example.org \\
  --authenticator dns-rfc2136 --dns-rfc2136-credentials /etc/letsencrypt/zoneplane.ini \\
  --dns-rfc2136-propagation-seconds 5 -d example.org -d '*.example.org'
`,
    ],
    note: RENEWS,
  },
  'lego with DNS UPDATE': {
    texts: [
      `DNSUPDATE_NAMESERVER=203.0.113.7:5353 DNSUPDATE_TSIG_FILE=zoneplane.key DNSUPDATE_ZONES=example.org \\
  DNSUPDATE_SEQUENCE_INTERVAL=1 lego run --accept-tos --email you@example.org --dns rfc2136 \\
  --dns.resolvers ns1.example.net:53 --dns.propagation.wait 1s --domains example.org --domains '*.example.org'
`,
    ],
    note: WILDCARD,
  },
} satisfies Record<string, Program>

const ALL: Record<ProgramName, Program> = { ...PROGRAMS, ...KEY_PROGRAMS }

/** Returns a program by its name. */
export function programOf(name: ProgramName): Program {
  return ALL[name]
}

/** The file from which programs read a key, for BIND's and others. */
export const KEY_FILE = `install -m600 /dev/stdin zoneplane.key <<'END'
key "$KEY" {
  algorithm hmac-sha256;
  secret "$SECRET";
};
END
`

/** The names in the texts that stand for those of the reader; the longer ones first. */
const NAMES =
  /https:\/\/dns\.example\.net|dns\.example\.net|ns1\.example\.net|you@example\.org|home\.example\.org, nas\.example\.org|(?:(?:home|www)\.|(?:zone |ZONES=))?example\.org|\$TOKEN|\$KEY|\$SECRET/g

/** The texts of a program, ready for use. */
export function snippetsOf(program: ProgramName, facts: Facts): string[] {
  const { texts } = programOf(program)
  const isForHost = texts.some((text) => text.includes('home.example.org'))
  return texts.map((text) => filledIn(text, facts, isForHost))
}

/** A text with what the reader has in place of its names. */
export function filledIn(
  text: string,
  { url, secret, keyName, email, place, nameserver }: Facts,
  isForHost = false,
): string {
  const replaced = (name: string): string | undefined => {
    if (name === '$TOKEN' || name === '$SECRET') return secret
    if (name === '$KEY') return keyName
    if (name === 'https://dns.example.net') return url
    if (name === 'dns.example.net') return new URL(url).host
    if (name === 'ns1.example.net') return nameserver
    if (name === 'you@example.org') return email
    if (/^z/i.test(name)) return place && name.replace('example.org', place.domain)
    // A dynDNS client names the domain as its login, and the hosts by themselves.
    return name === 'example.org' && isForHost ? place?.domain : place?.name
  }
  return text.replace(NAMES, (name) => replaced(name) ?? name)
}
