import { parseIPv4, parseIPv6, printIPv4, printIPv6Dotted } from './addresses.ts'
import { decimal, type Field } from './fields.ts'
import { Unreadable } from './malformed.ts'
import { counted, decodeUint, encodeUint, fromBase64, take, takeCounted, takeSome, toBase64 } from './octets.ts'
import { quote, string, word, type Token } from './presentation.ts'

/** How the value of a parameter is read, checked and printed. */
interface Value {
  /** Reads what stands behind `=`, its escapes resolved, into wire form. */
  read: (text: string) => string
  /** Throws Unreadable for octets that are no value. */
  check: (octets: string) => void
  /** Prints `=` and the value; of a parameter without one, nothing. */
  print: (octets: string) => string
}

const MANDATORY = 0
const ALPN = 1
const NO_DEFAULT_ALPN = 2

/** Names by number: RFC 9460 §14.3.2, RFC 9461 (dohpath), RFC 9540 (ohttp). */
const NAMES = ['mandatory', 'alpn', 'no-default-alpn', 'port', 'ipv4hint', 'ech', 'ipv6hint', 'dohpath', 'ohttp']

const mandatory: Value = {
  read(text) {
    const keys = text.split(',').map(keyNumber)
    if (new Set(keys).size < keys.length) throw new Unreadable('a key is listed twice as mandatory')
    return keys
      .sort((one, other) => one - other)
      .map((key) => encodeUint(key, 2))
      .join('')
  },
  check(octets) {
    const keys = pieces(takeSome(octets), 2).map(decodeUint)
    if (keys[0] === MANDATORY) throw new Unreadable('"mandatory" cannot be mandatory itself')
    if (keys.some((key, i) => i > 0 && key <= keys[i - 1]!)) throw new Unreadable('mandatory keys are not in order')
  },
  print: (octets) =>
    `=${pieces(octets, 2)
      .map((key) => keyName(decodeUint(key)))
      .join(',')}`,
}

/** Protocols (RFC 9460 §7.1.1). In the list `\,` and `\\` are escapes, besides those of every string. */
const alpn: Value = {
  read: (text) => splitList(text).map(protocol).map(counted).join(''),
  check(octets) {
    splitCounted(takeSome(octets)).forEach(protocol)
  },
  print(octets) {
    const list = splitCounted(octets).map((id) => id.replace(/[\\,]/g, '\\$&'))
    return `=${list.join(',').replaceAll('\\', '\\\\')}`
  },
}

const empty: Value = {
  read: (text) => text,
  check(octets) {
    if (octets !== '') throw new Unreadable('no-default-alpn and ohttp take no value')
  },
  print: () => '',
}

const port: Value = {
  read: (text) => encodeUint(decimal(text, 16), 2),
  check(octets) {
    if (octets.length !== 2) throw new Unreadable('a port has two octets')
  },
  print: (octets) => `=${decodeUint(octets)}`,
}

/** One or more addresses; their order is kept. */
function hints(size: number, parse: (text: string) => string, print: (octets: string) => string): Value {
  return {
    read: (text) => text.split(',').map(parse).join(''),
    check(octets) {
      pieces(takeSome(octets), size)
    },
    print: (octets) => `=${pieces(octets, size).map(print).join(',')}`,
  }
}

const ech: Value = {
  read: (text) => fromBase64(text.replace(/[ \t\r]/g, '')),
  check: takeSome,
  print: (octets) => `="${toBase64(octets)}"`,
}

/** Octets of no known meaning. */
const opaque: Value = {
  read: (text) => text,
  check(octets) {
    // PowerDNS before 5.0 takes them for comments and groups, even in quotes.
    if (/[;()]/.test(octets)) throw new Unreadable('the value of a key without a name cannot hold ";", "(" and ")"')
  },
  print: (octets) => `=${quote(octets)}`,
}

/** ohttp is empty, too, but PowerDNS before 5.1 does not know the name, and wants a value. */
const ohttp: Value = { ...empty, print: opaque.print }

/** In the order of NAMES. */
const VALUES: readonly Value[] = [
  mandatory,
  alpn,
  empty,
  port,
  hints(4, parseIPv4, printIPv4),
  ech,
  hints(16, parseIPv6, printIPv6Dotted),
  opaque,
  ohttp,
]

/** The last key that is printed with its name; PowerDNS 4.7 knows no more. */
const LAST_PRINTED = 6

/** The parameters of SVCB and HTTPS (RFC 9460 §2.2), sorted by key. */
export const parameters: Field = {
  rest: true,
  read: (tokens) => encode(checked(readParameters(tokens))),
  take(wire) {
    checked(decode(wire))
    return wire
  },
  print: (octets) => [...decode(octets)].map(([key, value]) => keyName(key) + valueOf(key).print(value)).join(' '),
}

/** The rule over the whole record: the alias form has no parameters. */
export function checkAlias([priority, , params]: string[]): void {
  if (priority === '\0\0' && params !== '') throw new Unreadable('parameters in AliasMode')
}

function readParameters(tokens: Token[]): Map<number, string> {
  const params = new Map<number, string>()
  for (let i = 0; i < tokens.length; i++) {
    const [, name = '', equals, rest = ''] = /^([^=]*)(=?)(.*)$/s.exec(word(tokens[i])) ?? []
    const quoted = equals !== '' && rest === '' ? tokens[++i] : undefined
    if (equals !== '' && rest === '' && !(quoted?.quoted && quoted.joined)) {
      throw new Unreadable(`expecting a value right after "${name}="`)
    }
    const key = keyNumber(name)
    if (params.has(key)) throw new Unreadable(`duplicate key "${key}"`)
    const text = quoted ? string(quoted) : rest
    params.set(key, NAMES.includes(name.toLowerCase()) ? valueOf(key).read(text) : text)
  }
  return params
}

function encode(params: Map<number, string>): string {
  return [...params]
    .sort(([one], [other]) => one - other)
    .map(([key, value]) => encodeUint(key, 2) + encodeUint(value.length, 2) + value)
    .join('')
}

function decode(wire: string): Map<number, string> {
  const params = new Map<number, string>()
  let last = -1
  for (let at = 0; at < wire.length;) {
    const head = take(wire.slice(at), 4)
    const key = decodeUint(head.slice(0, 2))
    const value = take(wire.slice(at + 4), decodeUint(head.slice(2)))
    if (key <= last) throw new Unreadable('the keys are not in order')
    params.set(key, value)
    at += 4 + value.length
    last = key
  }
  return params
}

function checked(params: Map<number, string>): Map<number, string> {
  for (const [key, value] of params) valueOf(key).check(value)
  const missing = pieces(params.get(MANDATORY) ?? '', 2)
    .map(decodeUint)
    .find((key) => !params.has(key))
  if (missing !== undefined) throw new Unreadable(`${keyName(missing)} is mandatory, but not there`)
  if (params.has(NO_DEFAULT_ALPN) && !params.has(ALPN)) throw new Unreadable('no-default-alpn needs alpn')
  return params
}

function keyNumber(name: string): number {
  const known = NAMES.indexOf(name.toLowerCase())
  if (known >= 0) return known
  const [, digits] = /^key(0|[1-9][0-9]{0,4})$/i.exec(name) ?? []
  const number = Number(digits)
  if (!(number < 65_536)) throw new Unreadable(`unknown key "${name}"; one without a name is key0 to key65535`)
  return number
}

function keyName(key: number): string {
  return key <= LAST_PRINTED ? NAMES[key]! : `key${key}`
}

function valueOf(key: number): Value {
  return VALUES[key] ?? opaque
}

/** The items of a comma list in which `\,` is a comma, and `\\` a backslash. */
function splitList(text: string): string[] {
  const items: string[] = []
  let item = ''
  for (const [piece] of text.matchAll(/[^\\,]+|,|\\[^]?/g)) {
    if (piece === ',') {
      items.push(item)
      item = ''
    } else if (piece === '\\') throw new Unreadable('a backslash ends the list')
    else item += piece.startsWith('\\') ? piece.slice(1) : piece
  }
  return [...items, item]
}

function protocol(id: string): string {
  if (id === '' || id.length > 255) throw new Unreadable('a protocol of alpn has 1 to 255 octets')
  // Others PowerDNS before 5.0 does not read back, however they are written.
  if (/[^!#-'*-:<-~]/.test(id)) {
    throw new Unreadable('a protocol of alpn is of visible ASCII characters other than quotes, ";", "(" and ")"')
  }
  return id
}

function splitCounted(wire: string): string[] {
  const items: string[] = []
  for (let at = 0; at < wire.length; at += 1 + items.at(-1)!.length) items.push(takeCounted(wire.slice(at)).slice(1))
  return items
}

/** Pieces of one size. */
function pieces(wire: string, size: number): string[] {
  return Array.from({ length: Math.ceil(wire.length / size) }, (_, i) => take(wire.slice(i * size), size))
}
