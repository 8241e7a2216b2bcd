import fc from 'fast-check'

// Records as users may write them: accepted, but not always canonical.

const number = (bits: number) => fc.oneof(fc.nat(2 ** bits - 1), fc.constantFrom(0, 2 ** bits - 1)).map(String)
const octets = (minLength: number, maxLength: number) =>
  fc.uint8Array({ minLength, maxLength }).map((bytes) => Array.from(bytes))
const hex = (min: number, max = min) => octets(min, max).map((values) => Buffer.from(values).toString('hex'))
const base64 = (min: number, max: number) => octets(min, max).map((values) => Buffer.from(values).toString('base64'))

/** The character itself if it never needs an escape, else its decimal escape. */
const written = (octet: number) =>
  /[A-Za-z0-9_-]/.test(String.fromCharCode(octet)) ? String.fromCharCode(octet) : ddd(octet)
const ddd = (octet: number) => `\\${String(octet).padStart(3, '0')}`
const escaped = (values: number[]) => values.map(written).join('')
const quoted = (min: number, max: number) => octets(min, max).map((values) => `"${escaped(values)}"`)

const chars = (text: string) => fc.constantFrom(...Array.from(text))
const ALNUM = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'
const hostLabel = fc
  .tuple(chars(ALNUM), fc.string({ unit: chars(`${ALNUM}-`), maxLength: 61 }), chars(ALNUM))
  .map((parts) => parts.join(''))
const dotted = (label: fc.Arbitrary<string>) =>
  fc.array(label, { minLength: 1, maxLength: 3 }).map((labels) => `${labels.join('.')}.`)
const host = dotted(hostLabel)
const alias = dotted(fc.string({ unit: chars(`${ALNUM}-_*`), minLength: 1, maxLength: 63 }))
const name = fc.oneof(fc.constant('.'), host, dotted(octets(1, 63).map(escaped)))

/** A part of a substitution: octets that are not its delimiter, and any after a backslash. */
const pieces = (delimiter: number) =>
  fc
    .array(
      fc.oneof(
        fc.nat(255).map((octet) => (octet === delimiter || octet === BACKSLASH ? [] : [octet])),
        fc.nat(255).map((octet) => [BACKSLASH, octet]),
      ),
      { maxLength: 50 },
    )
    .map((list) => list.flat())
const BACKSLASH = 0x5c
const substitution = fc
  .nat(255)
  .filter((octet) => !/[0-9i\\]/.test(String.fromCharCode(octet)))
  .chain((delimiter) =>
    fc
      .tuple(pieces(delimiter), pieces(delimiter), fc.constantFrom('', 'i', 'ii'))
      .filter(([expression]) => expression.length > 0)
      .map(
        ([expression, replacement, flags]) =>
          [delimiter, ...expression, delimiter, ...replacement, delimiter].map(written).join('') + flags,
      ),
  )

const fields = (...parts: fc.Arbitrary<string>[]) => fc.tuple(...parts).map((texts) => texts.join(' '))

/** A digest of a known type has the length of that type. */
const digest = fc
  .constantFrom<[number, number]>([1, 20], [2, 32], [3, 32], [4, 48], [5, 9], [200, 7])
  .chain(([type, length]) => fields(number(16), number(8), fc.constant(String(type)), hex(length)))

const key = fields(number(16), number(8), number(8), base64(1, 80))
const fingerprint = fields(number(8), number(8), number(8), hex(1, 70))
const strings = fc.array(quoted(0, 300), { minLength: 1, maxLength: 3 }).map((texts) => texts.join(' '))
const groups = fc.array(hex(2), { minLength: 4, maxLength: 4 }).map((list) => list.join(':'))
const pairs = (count: number) => fc.array(hex(1), { minLength: count, maxLength: count }).map((list) => list.join('-'))

/** IPv6 addresses; many are embedded IPv4 addresses, or nearly so. */
const ipv6 = fc.oneof(
  fc.ipV6(),
  fc.tuple(fc.constantFrom('::', '::ffff:', '::ffff:0:', '64:ff9b::'), fc.ipV4()).map((parts) => parts.join('')),
  fc.array(fc.constantFrom('0', '1', 'ffff'), { minLength: 8, maxLength: 8 }).map((list) => list.join(':')),
)

const prefixItem = fc.tuple(
  fc.constantFrom('', '!'),
  fc.oneof(
    fc.tuple(fc.ipV4(), fc.nat(32)).map(([address, length]) => `1:${address}/${length}`),
    fc.tuple(ipv6, fc.nat(128)).map(([address, length]) => `2:${address}/${length}`),
  ),
)

const types = fc.array(fc.oneof(fc.nat(300), fc.nat(65_534)), { maxLength: 12 })

const decimals = (max: number, places: number) =>
  fc.oneof(
    fc.nat(max).map(String),
    fc.nat(max * 10 ** places - 1).map((value) => (value / 10 ** places).toFixed(places)),
  )
const angle = (limit: number, hemispheres: [string, string]) =>
  fc
    .tuple(
      fc.oneof(
        fc.constant(`${limit}`),
        fc.nat(limit - 1).map(String),
        fc.tuple(fc.nat(limit - 1), fc.nat(59)).map((parts) => parts.join(' ')),
        fields(fc.nat(limit - 1).map(String), fc.nat(59).map(String), decimals(59, 3)),
      ),
      fc.constantFrom(...hemispheres),
    )
    .map((parts) => parts.join(' '))
const metres = (max: number) => fc.tuple(decimals(max, 2), fc.constantFrom('', 'm')).map((parts) => parts.join(''))
const spheres = fc.array(fc.oneof(metres(100), metres(40_000_000)), { maxLength: 3 })
const location = fields(
  angle(90, ['N', 'S']),
  angle(180, ['E', 'W']),
  fc.oneof(
    metres(21_000_000),
    metres(9000),
    metres(99_999).map((text) => `-${text}`),
  ),
).chain((place) => spheres.map((sizes) => [place, ...sizes].join(' ')))

/** A protocol of alpn that PowerDNS accepts; comma and backslash are escaped twice. */
const protocol = fc
  .string({ unit: chars(`${ALNUM}!#$%&'*+-./:<=>?@[]^_\`{|}~,\\`), minLength: 1, maxLength: 12 })
  .map((id) => id.replaceAll('\\', '\\\\\\\\').replaceAll(',', '\\\\,'))
const listOf = (item: fc.Arbitrary<string>) =>
  fc.array(item, { minLength: 1, maxLength: 4 }).map((items) => items.join(','))
/** A value of a parameter without a name. PowerDNS 5.1 cannot serve an empty one. */
const opaque = octets(1, 40)
  .map((values) => values.filter((octet) => !';()'.includes(String.fromCharCode(octet))))
  .filter((values) => values.length > 0)

const PARAMETERS: Record<string, fc.Arbitrary<string>> = {
  alpn: listOf(protocol).map((list) => `alpn=${list}`),
  port: number(16).map((port) => `port=${port}`),
  ipv4hint: listOf(fc.ipV4()).map((list) => `ipv4hint=${list}`),
  ech: base64(1, 60).map((text) => `ech=${text}`),
  ipv6hint: listOf(ipv6).map((list) => `ipv6hint=${list}`),
  dohpath: fc.constant('dohpath=/dns-query{?dns}'),
  ohttp: fc.constant('ohttp'),
  key65400: opaque.map((values) => `key65400="${escaped(values)}"`),
  key65401: opaque.map((values) => `key65401="${escaped(values)}"`),
}

const service = fields(
  fc.integer({ min: 1, max: 65_535 }).map(String),
  name,
  fc
    .shuffledSubarray(Object.keys(PARAMETERS))
    .chain((keys) =>
      fc.tuple(
        fc.tuple(...keys.map((key) => PARAMETERS[key]!)),
        fc.shuffledSubarray(keys),
        keys.includes('alpn') ? fc.constantFrom('', 'no-default-alpn') : fc.constant(''),
      ),
    )
    .map(([params, mandatory, more]) =>
      [...params, more, mandatory.length > 0 ? `mandatory=${mandatory.join(',')}` : ''].join(' '),
    ),
)

/** By type, the records that it accepts. */
export const RECORDS: Readonly<Record<string, fc.Arbitrary<string>>> = {
  A: fc.ipV4(),
  AAAA: ipv6,
  AFSDB: fields(number(16), name),
  APL: fc
    .array(
      prefixItem.map((parts) => parts.join('')),
      { minLength: 1, maxLength: 5 },
    )
    .map((items) => items.join(' ')),
  CAA: fields(number(8), fc.string({ unit: chars(ALNUM), minLength: 1, maxLength: 20 }), quoted(1, 300)),
  CDNSKEY: key,
  CDS: fc.oneof(digest, fc.constant('0 0 0 00')),
  CERT: fields(
    fc.oneof(fc.integer({ min: 1, max: 65_535 }).map(String), fc.constantFrom('PKIX', 'IPGP', 'oid')),
    number(16),
    number(8),
    base64(1, 80),
  ),
  CNAME: alias,
  CSYNC: fields(
    number(32),
    number(16),
    types.map((list) => list.map((type) => `TYPE${type + 1}`).join(' ')),
  ),
  DHCID: base64(1, 80),
  DLV: digest,
  DNAME: name,
  DNSKEY: key,
  DS: digest,
  EUI48: pairs(6),
  EUI64: pairs(8),
  HINFO: fields(quoted(0, 255), quoted(0, 255)),
  HTTPS: fc.oneof(service, fields(fc.constant('0'), name)),
  KX: fields(number(16), name),
  L32: fields(number(16), fc.ipV4()),
  L64: fields(number(16), groups),
  LOC: location,
  LP: fields(number(16), name),
  MX: fields(number(16), fc.oneof(host, fc.constant('.'))),
  NAPTR: fields(
    number(16),
    number(16),
    quoted(0, 9),
    quoted(0, 40),
    fc.oneof(
      fc.constant('""'),
      substitution.map((text) => `"${text}"`),
    ),
    name,
  ),
  NID: fields(number(16), groups),
  NS: host,
  OPENPGPKEY: base64(1, 300),
  PTR: name,
  RP: fields(name, name),
  SMIMEA: fingerprint,
  SPF: strings,
  SRV: fields(number(16), number(16), number(16), fc.oneof(host, fc.constant('.'))),
  SSHFP: fields(number(8), number(8), hex(1, 70)),
  SVCB: fc.oneof(service, fields(fc.constant('0'), name)),
  TLSA: fingerprint,
  TXT: strings,
  URI: fields(number(16), number(16), quoted(1, 300)),
}

/** A type and a record that it accepts. */
export const RECORD: fc.Arbitrary<[type: string, text: string]> = fc
  .constantFrom(...Object.keys(RECORDS))
  .chain((type) => RECORDS[type]!.map((text): [string, string] => [type, text]))
