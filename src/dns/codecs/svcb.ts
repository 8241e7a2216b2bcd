import { parseIPv4, parseIPv6, printIPv4, printIPv6Dotted } from '../addresses.ts'
import { Unreadable } from '../malformed.ts'
import { counted, decodeUint, encodeUint, fromBase64, split, take, takeCounted, toBase64 } from '../octets.ts'
import { bare, MAX_RDATA, quote, string, type Token, word } from '../presentation.ts'
import { decimal, type Field } from './fields.ts'

/** The codec of a parameter's value; the text is without quotes and without the escapes of character-strings. */
interface Value {
  read: (text: string) => string
  /** Returns the canonical text; octets are valid only if `read` makes the same octets of it. */
  print: (octets: string) => string
}

/** Returns the codec of a comma-separated list of items of `size` octets. */
function list(size: number, read: (text: string) => string, print: (octets: string) => string): Value {
  return {
    read(text) {
      const items = text.split(',')
      if (items.length * size > MAX_RDATA) throw new Unreadable(`the list is longer than ${MAX_RDATA} octets`)
      return items.map(read).join('')
    },
    print: (octets) => split(octets, size).map(print).join(','),
  }
}

const mandatory: Value = {
  read(text) {
    const sorted = text
      .split(',')
      .map((name) => encodeUint(keyNumber(name), 2))
      .sort()
    if (sorted[0] === '\0\0') throw new Unreadable('"mandatory" cannot be mandatory itself')
    if (new Set(sorted).size < sorted.length) throw new Unreadable('a mandatory key is listed twice')
    return sorted.join('')
  },
  print: (octets) => split(octets, 2).map(decodeUint).map(keyName).join(','),
}

/** Protocols (RFC 9460 §7.1.1). In the list, `\,` and `\\` are escapes, in addition to those of character-strings. */
const alpn: Value = {
  read: (text) => splitList(text).map(readProtocol).join(''),
  print: (octets) =>
    split(octets, takeCounted)
      .map((id) => id.slice(1).replace(/[\\,]/g, '\\$&'))
      .join(','),
}

const port: Value = {
  read: (text) => encodeUint(decimal(text, 16), 2),
  print: (octets) => split(octets, 2).map(decodeUint).join(','),
}

const ech: Value = { read: (text) => fromBase64(text.replace(/[ \t\r]/g, '')), print: toBase64 }

/** Returns the codec of a value whose text is its octets. */
function plain(pattern: RegExp, problem: string): Value {
  return {
    read(text) {
      if (!pattern.test(text)) throw new Unreadable(problem)
      return text
    },
    print: (octets) => octets,
  }
}

const empty = plain(/^$/, 'no-default-alpn and ohttp take no value')

/** A value without a known format. PowerDNS before 5.0 reads these three as comments and groups, even in quotes. */
const opaque = plain(/^[^;()]*$/, 'the value of dohpath or of an unknown key cannot hold ";", "(" and ")"')

/** A URI template (RFC 9461 §5). It has no length of its own, but an empty one is not a template. */
const path: Value = {
  ...opaque,
  read(text) {
    if (text === '') throw new Unreadable('dohpath needs a value')
    return opaque.read(text)
  },
}

/** The named parameters, by number: RFC 9460 §14.3.2, RFC 9461 (dohpath), RFC 9540 (ohttp). */
const PARAMETERS: readonly [name: string, value: Value][] = [
  ['mandatory', mandatory],
  ['alpn', alpn],
  ['no-default-alpn', empty],
  ['port', port],
  ['ipv4hint', list(4, parseIPv4, printIPv4)],
  ['ech', ech],
  ['ipv6hint', list(16, parseIPv6, printIPv6Dotted)],
  ['dohpath', path],
  ['ohttp', empty],
]
const [MANDATORY, ALPN, NO_DEFAULT_ALPN, ECH] = [0, 1, 2, 5]

/** The last key that is printed by name; PowerDNS 4.7 does not know the later names. */
const LAST_PRINTED = 6

/** The parameters of SVCB and HTTPS (RFC 9460 §2.2), sorted by key. */
export const parameters: Field = {
  rest: true,
  read(tokens) {
    const params = readParameters(tokens)
    const missing = split(params.get(MANDATORY) ?? '', 2).map(decodeUint).find((key) => !params.has(key)) // prettier-ignore
    if (missing !== undefined) throw new Unreadable(`${keyName(missing)} is mandatory, but not there`)
    if (params.has(NO_DEFAULT_ALPN) && !params.has(ALPN)) throw new Unreadable('no-default-alpn needs alpn')
    return [...params]
      .sort(([one], [other]) => one - other)
      .map(([key, octets]) => encodeUint(key, 2) + encodeUint(octets.length, 2) + octets)
      .join('')
  },
  print: (octets) => split(octets, takeParameter).map(print).join(' '),
}

/** Checks the rule for the whole record: AliasMode has no parameters. */
export function checkAlias([priority, , params]: string[]): void {
  if (priority === '\0\0' && params !== '') throw new Unreadable('parameters in AliasMode')
}

function readParameters(tokens: Token[]): Map<number, string> {
  const params = new Map<number, string>()
  for (let i = 0; i < tokens.length; i++) {
    const [, name = '', equals, rest = ''] = /^([^=]*)(=?)(.*)$/s.exec(word(tokens[i])) ?? []
    const quoted = equals !== '' && rest === '' ? quotedValue(name, tokens[++i]) : undefined
    const key = keyNumber(name)
    if (params.has(key)) throw new Unreadable(`duplicate key "${key}"`)
    const text = quoted ? string(quoted) : rest
    if (text === '' && key <= LAST_PRINTED && key !== NO_DEFAULT_ALPN) throw new Unreadable(`"${name}" needs a value`)
    params.set(key, /^key/i.test(name) ? checkedOctets(key, text) : valueOf(key).read(text))
  }
  return params
}

/** Returns the quoted string right after `name=`. */
function quotedValue(name: string, token: Token | undefined): Token {
  if (token?.quoted && token.joined) return token
  throw new Unreadable(`expecting a value right after "${name}="`)
}

/** Returns the value of keyN, which is written as its octets. */
function checkedOctets(key: number, octets: string): string {
  const { read, print } = valueOf(key)
  if (read(print(octets)) === octets) return octets
  throw new Unreadable(`"key${key}" does not hold the octets of "${PARAMETERS[key]?.[0]}"`)
}

function takeParameter(wire: string): string {
  return take(wire, 4 + decodeUint(take(wire, 4).slice(2)))
}

function print(param: string): string {
  const key = decodeUint(param.slice(0, 2))
  const text = valueOf(key).print(param.slice(4))
  if (key === NO_DEFAULT_ALPN && text === '') return keyName(key)
  return `${keyName(key)}=${key === ECH || key > LAST_PRINTED ? quote(text) : bare(text)}`
}

function keyNumber(name: string): number {
  const [, digits] = /^key(0|[1-9][0-9]{0,4})$/i.exec(name) ?? []
  const key = digits === undefined ? PARAMETERS.findIndex(([known]) => known === name.toLowerCase()) : Number(digits)
  if (key < 0 || key > 65_535) throw new Unreadable(`unknown key "${name}"; one without a name is key0 to key65535`)
  return key
}

function keyName(key: number): string {
  return key <= LAST_PRINTED ? PARAMETERS[key]![0] : `key${key}`
}

function valueOf(key: number): Value {
  return PARAMETERS[key]?.[1] ?? opaque
}

/** Returns the items of a comma-separated list in which `\,` is a comma, and `\\` a backslash (RFC 9460 App. A.1). */
function splitList(text: string): string[] {
  // Until the list is split, a character that is not an octet stands for an escape.
  const marked = text.replaceAll('\\\\', '\u0101').replaceAll('\\,', '\u0100')
  if (marked.includes('\\')) throw new Unreadable('a backslash in alpn stands before neither "," nor another backslash')
  return marked.split(',').map((item) => item.replaceAll('\u0100', ',').replaceAll('\u0101', '\\'))
}

/** Reads a protocol of alpn. PowerDNS before 5.0 misreads all other characters, in any spelling. */
function readProtocol(id: string): string {
  if (id === '' || id.length > 255) throw new Unreadable('a protocol of alpn has 1 to 255 octets')
  if (!/[^!#-'*-:<-~]/.test(id)) return counted(id)
  throw new Unreadable('a protocol of alpn is of visible ASCII characters other than quotes, ";", "(" and ")"')
}
