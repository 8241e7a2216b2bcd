import { parseIPv4, parseIPv6, printIPv4, printIPv6Dotted } from './addresses.ts'
import { decimal, type Field } from './fields.ts'
import { Unreadable } from './malformed.ts'
import { counted, decodeUint, encodeUint, fromBase64, split, take, takeCounted, takeSome, toBase64 } from './octets.ts'
import { MAX_RDATA, quote, string, word, type Token } from './presentation.ts'

/** How the value of a parameter is read and printed. */
interface Value {
  /** Reads what stands behind `=`, its escapes resolved, into wire form. */
  read: (text: string) => string
  /** Prints `=` and the value, or nothing if there is none by nature; throws Unreadable for octets that are no value. */
  print: (octets: string) => string
}

/** A comma list of things of one size. */
function list(size: number, read: (text: string) => string, print: (octets: string) => string): Value {
  return {
    read(text) {
      const items = text.split(',')
      if (items.length * size > MAX_RDATA) throw new Unreadable(`the list is longer than ${MAX_RDATA} octets`)
      return items.map(read).join('')
    },
    print: (octets) => `=${split(takeSome(octets), size).map(print).join(',')}`,
  }
}

const keyList = list(
  2,
  (name) => encodeUint(keyNumber(name), 2),
  (octets) => keyName(decodeUint(octets)),
)

const mandatory: Value = {
  read: (text) => split(keyList.read(text), 2).sort().join(''),
  print(octets) {
    const keys = split(octets, 2)
    if (keys[0] === '\0\0') throw new Unreadable('"mandatory" cannot be mandatory itself')
    if (!ascend(keys)) throw new Unreadable('mandatory keys are not in order, or one is listed twice')
    return keyList.print(octets)
  },
}

/** Protocols (RFC 9460 §7.1.1). In the list `\,` and `\\` are escapes, besides those of every string. */
const alpn: Value = {
  read: (text) =>
    splitList(text)
      .map((id) => counted(protocol(id)))
      .join(''),
  print(octets) {
    const ids = split(takeSome(octets), takeCounted).map((item) => protocol(item.slice(1)))
    return `=${ids
      .map((id) => id.replace(/[\\,]/g, '\\$&'))
      .join(',')
      .replaceAll('\\', '\\\\')}`
  },
}

const empty: Value = {
  read: (text) => text,
  print(octets) {
    if (octets !== '') throw new Unreadable('no-default-alpn and ohttp take no value')
    return ''
  },
}

const port: Value = {
  read: (text) => encodeUint(decimal(text, 16), 2),
  print(octets) {
    if (octets.length !== 2) throw new Unreadable('a port has two octets')
    return `=${decodeUint(octets)}`
  },
}

const ech: Value = {
  read: (text) => fromBase64(text.replace(/[ \t\r]/g, '')),
  print: (octets) => `="${toBase64(takeSome(octets))}"`,
}

/** Octets of no known meaning. */
const opaque: Value = {
  read: (text) => text,
  print(octets) {
    // PowerDNS before 5.0 takes them for comments and groups, even in quotes.
    if (/[;()]/.test(octets)) throw new Unreadable('the value of a key without a name cannot hold ";", "(" and ")"')
    return `=${quote(octets)}`
  },
}

/** It is empty, too, but PowerDNS before 5.1 does not know the name, and wants a value. */
const ohttp: Value = { ...empty, print: (octets) => empty.print(octets) + opaque.print(octets) }

/** The parameters with a name, by number: RFC 9460 §14.3.2, RFC 9461 (dohpath), RFC 9540 (ohttp). */
const PARAMETERS: readonly [name: string, value: Value][] = [
  ['mandatory', mandatory],
  ['alpn', alpn],
  ['no-default-alpn', empty],
  ['port', port],
  ['ipv4hint', list(4, parseIPv4, printIPv4)],
  ['ech', ech],
  ['ipv6hint', list(16, parseIPv6, printIPv6Dotted)],
  ['dohpath', opaque],
  ['ohttp', ohttp],
]
const [MANDATORY, ALPN, NO_DEFAULT_ALPN] = [0, 1, 2]

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
  print: (octets) => print(decode(octets)),
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
    // Behind keyN there are the octets themselves.
    params.set(key, namedKey(name) === key ? valueOf(key).read(text) : text)
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
  const params = split(wire, (rest) => take(rest, 4 + decodeUint(take(rest, 4).slice(2))))
  if (!ascend(params.map((param) => param.slice(0, 2)))) throw new Unreadable('the keys are not in order')
  return new Map(params.map((param) => [decodeUint(param.slice(0, 2)), param.slice(4)]))
}

function checked(params: Map<number, string>): Map<number, string> {
  print(params)
  const missing = split(params.get(MANDATORY) ?? '', 2).map(decodeUint).find((key) => !params.has(key)) // prettier-ignore
  if (missing !== undefined) throw new Unreadable(`${keyName(missing)} is mandatory, but not there`)
  if (params.has(NO_DEFAULT_ALPN) && !params.has(ALPN)) throw new Unreadable('no-default-alpn needs alpn')
  return params
}

function print(params: Map<number, string>): string {
  return [...params].map(([key, value]) => keyName(key) + valueOf(key).print(value)).join(' ')
}

/** The number of a name; -1 if there is no such name. */
function namedKey(name: string): number {
  return PARAMETERS.findIndex(([known]) => known === name.toLowerCase())
}

function keyNumber(name: string): number {
  const [, digits] = /^key(0|[1-9][0-9]{0,4})$/i.exec(name) ?? []
  const key = digits === undefined ? namedKey(name) : Number(digits)
  if (key < 0 || key > 65_535) throw new Unreadable(`unknown key "${name}"; one without a name is key0 to key65535`)
  return key
}

function keyName(key: number): string {
  return key <= LAST_PRINTED ? PARAMETERS[key]![0] : `key${key}`
}

function valueOf(key: number): Value {
  return PARAMETERS[key]?.[1] ?? opaque
}

/** Whether octets of one length come in order, none twice. */
function ascend(all: string[]): boolean {
  return all.every((octets, i) => i === 0 || octets > all[i - 1]!)
}

/** The items of a comma list in which `\,` is a comma, and `\\` a backslash. */
function splitList(text: string): string[] {
  // What is escaped becomes no octet for a while.
  const marked = text.replace(/\\([^])/g, (_, octet: string) => ({ ',': '\u0100', '\\': '\u0101' })[octet] ?? octet)
  if (marked.includes('\\')) throw new Unreadable('a backslash ends the list')
  return marked.split(',').map((item) => item.replaceAll('\u0100', ',').replaceAll('\u0101', '\\'))
}

function protocol(id: string): string {
  if (id === '' || id.length > 255) throw new Unreadable('a protocol of alpn has 1 to 255 octets')
  // Others PowerDNS before 5.0 does not read back, however they are written.
  if (/[^!#-'*-:<-~]/.test(id)) {
    throw new Unreadable('a protocol of alpn is of visible ASCII characters other than quotes, ";", "(" and ")"')
  }
  return id
}
