import ipaddr from 'ipaddr.js'
import { isIP, isIPv4 } from 'node:net'
import { withoutDot } from '../dns/names.ts'
import { type Rate, RATES, type Scope, SCOPES } from '../limits.ts'
import { DAY } from '../time.ts'

/** The maximum of a configured rate. */
const RATE_REQUESTS_MAX = 1_000_000
const RATE_SECONDS_MAX = 24 * DAY

// Parsers of the texts of settings. Each function throws an Error whose message describes a valid setting.

/** A nameserver that transfers our zones; a name without final dot. */
export interface Secondary {
  name: string
  address: string
  port: number
}

/** A TSIG key: a name without final dot, and base64. */
export interface TransferKey {
  name: string
  algorithm: string
  secret: string
}

/** An address, and the length of the network's prefix. */
export type Network = [ipaddr.IPv4 | ipaddr.IPv6, number]

const KEY_NAME = /^(?=.{1,253}\.?$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.?$/
const HOST_NAME = /^(?=.{1,253}\.?$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.?$/

function list(value: string): string[] {
  return value.split(/[\s,]+/).filter((part) => part !== '')
}

export function addresses(value: string): string[] {
  const all = list(value)
  if (all.length === 0) throw new Error('must be addresses to listen on, separated by commas')
  return all
}

export function ipAddress(value: string): string {
  if (isIP(value) === 0) throw new Error('must be an IP address')
  return value
}

/** Parses different IP addresses. */
export function ipAddresses(value: string): string[] {
  const all = list(value)
  if (all.length === 0 || all.some((text) => isIP(text) === 0) || new Set(all).size < all.length) {
    throw new Error('must be different IP addresses, separated by commas')
  }
  return all
}

export function integer(least: number, most: number): (value: string) => number {
  return (value) => {
    const number = /^\d{1,10}$/.test(value) ? Number(value) : NaN
    if (!(number >= least && number <= most)) throw new Error(`must be a whole number from ${least} to ${most}`)
    return number
  }
}

/** Parses a whole number, or `none`, which is undefined. */
export function integerOrNone(least: number, most: number): (value: string) => number | undefined {
  return (value) => (value === 'none' ? undefined : integer(least, most)(value))
}

export function url(...protocols: string[]): (value: string) => string {
  return (value) => {
    const protocol = URL.canParse(value) ? new URL(value).protocol : undefined
    // The message omits the value, because it may contain a password.
    if (protocol === undefined || !protocols.includes(protocol)) {
      throw new Error(`must be a URL beginning with ${protocols.map((p) => p + '//').join(' or ')}`)
    }
    return value
  }
}

/** Returns the addresses in a list of URLs. */
export function addressesOf(urls: string): string[] {
  return urls.split(',').map((text) => text.trim())
}

/** Parses URLs that differ in host or port, separated by commas. */
export function urls(...protocols: string[]): (value: string) => string {
  return (value) => {
    const hosts = addressesOf(value).map((text) => new URL(url(...protocols)(text)).host)
    if (new Set(hosts).size < hosts.length) throw new Error('must name each address once')
    return value
  }
}

/** Parses a URL of Postgres, with one address. */
export function database(value: string): string {
  const [, server = ''] = /^\w+:\/\/(?:[^/?#]*@)?([^/?#]*)/.exec(value) ?? []
  if (server.includes(',') || /[?&]host=[^&]*(,|%2c)/i.test(value)) {
    throw new Error(
      'must have one address; for several servers, that of a balancer such as HAProxy, which leads to the primary ' +
        '(docs/deployment.md)',
    )
  }
  return url('postgres:', 'postgresql:')(value)
}

export function mailServer(value: string): string {
  const parts = /^smtps?:/.test(value) && URL.canParse(value) ? new URL(value) : undefined
  const isServer =
    parts !== undefined &&
    parts.hostname !== '' &&
    /^\/?$/.test(parts.pathname + parts.search + parts.hash) &&
    (parts.username === '') === (parts.password === '') &&
    isPercentEncoded(parts.username + parts.password)
  if (!isServer) throw new Error('must be smtp://[user:password@]host[:port] or the same with smtps://')
  return value
}

function isPercentEncoded(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

/** Reports whether this is an e-mail address, without a name. */
export function isAddress(value: string): boolean {
  return /^[^\s@<>()",:;\\[\]]+@[^\s@<>()",:;\\[\]]+$/.test(value)
}

export function address(value: string): string {
  if (!isAddress(value)) throw new Error('must be an e-mail address, without a name')
  return value
}

/** Reports whether this is allowed as the secret of a token that the operator chooses. */
export function isSecret(value: string): boolean {
  return /^[\x21-\x7e]{8,256}$/.test(value)
}

export function secret(value: string): string {
  if (!isSecret(value)) throw new Error('must be 8 to 256 visible ASCII characters without blanks')
  return value
}

/** Parses keys in base64. */
export function encryptionKeys(value: string): Buffer[] {
  const texts = list(value)
  if (texts.length === 0 || texts.some((text) => !/^[A-Za-z0-9+/]{43}=$/.test(text))) {
    throw new Error('must be keys of 32 octets in base64, separated by commas; `openssl rand -base64 32` makes one')
  }
  return texts.map((text) => Buffer.from(text, 'base64'))
}

/** Parses a host name, without final dot. */
export function hostName(value: string): string {
  if (!HOST_NAME.test(value)) throw new Error(`must be one host name in lower case, not "${value}"`)
  return withoutDot(value)
}

/** Parses host names, without final dot. */
export function names(value: string): string[] {
  const all = list(value)
  const bad = all.find((name) => !HOST_NAME.test(name))
  if (all.length === 0 || bad !== undefined) {
    throw new Error(`must be host names in lower case, separated by commas${bad === undefined ? '' : `, not "${bad}"`}`)
  }
  return all.map(withoutDot)
}

/** Parses `ns2.example.net=192.0.2.53, ns3.example.net=[2001:db8::53]:5300`. */
export function secondaries(value: string): Secondary[] {
  const all = list(value).map((part) => {
    const [, name = '', v6, v4, port = '53'] =
      /^([^=]+)=(?:\[([0-9a-f:.]+)\]|([\d.]+))(?::(\d{1,5}))?$/.exec(part) ?? []
    const address = v6 ?? v4 ?? ''
    const isRight = HOST_NAME.test(name) && isIP(address) === (v6 === undefined ? 4 : 6)
    if (!isRight || Number(port) < 1 || Number(port) > 65_535) {
      throw new Error(`must be such as ns2.example.net=192.0.2.53, ns3.example.net=[2001:db8::53]:5300, not "${part}"`)
    }
    return { name: withoutDot(name), address, port: Number(port) }
  })
  if (new Set(all.map(({ name }) => name)).size < all.length) throw new Error('must have different names')
  return all
}

/** Parses `192.0.2.53, 192.0.2.53:5300, 2001:db8::53, [2001:db8::53]:5300`. */
export function endpoints(value: string): { address: string; port: number }[] {
  return list(value).map((part) => {
    const [, v6, v4, port = '53'] = /^(?:\[([0-9a-f:.]+)\]|([\d.]+))(?::(\d{1,5}))?$/.exec(part) ?? []
    const address = v6 ?? v4 ?? part
    if (isIP(address) === 0 || Number(port) < 1 || Number(port) > 65_535) {
      throw new Error(`must be addresses such as 192.0.2.53 or [2001:db8::53]:5300, separated by commas, not "${part}"`)
    }
    return { address, port: Number(port) }
  })
}

/** Parses the form of `dig -y`: `hmac-sha256:name:base64`. */
export function transferKey(value: string): TransferKey {
  const [, algorithm, name = '', secret = ''] =
    /^(hmac-sha(?:256|384|512)):([^:]+):([A-Za-z0-9+/]+={0,2})$/.exec(value) ?? []
  if (algorithm === undefined || !KEY_NAME.test(name) || secret.length % 4 !== 0) {
    // Without the value, because it contains the secret.
    throw new Error('must be such as hmac-sha256:transfer:SECRET, with a name in lower case, and a secret in base64')
  }
  return { name: withoutDot(name), algorithm, secret }
}

/** Parses addresses and networks, or `none`. */
export function transferAddresses(value: string): string[] {
  return value === 'none' ? [] : networks(value).map(([address, bits]) => `${address.toString()}/${bits}`)
}

export function networks(value: string): Network[] {
  return list(value).map((part) => {
    const [address = '', length] = part.split('/')
    const network = length === undefined ? `${part}/${isIPv4(part) ? 32 : 128}` : part
    // isIP, because ipaddr.js also accepts addresses such as 10.1 and 0x7f000001.
    if (isIP(address) === 0 || !ipaddr.isValidCIDR(network)) {
      throw new Error(`must be addresses or networks such as 10.0.0.0/8, separated by commas, not "${part}"`)
    }
    return ipaddr.parseCIDR(network)
  })
}

const UNITS: Record<string, number> = { s: 1, min: 60, h: 3600, d: DAY }

/** Parses `user=50000/d; dyndns=20/2min, 100/h`. Scopes that it does not name keep their default rates. */
export function throttleRates(value: string): Record<Scope, readonly Rate[]> {
  const rates = { ...RATES }
  const named = new Set<Scope>()
  const problems: string[] = []
  for (const part of value.split(';').filter((each) => each.trim() !== '')) {
    const [name = '', ...list] = part.split('=').map((each) => each.trim())
    const scope = SCOPES.find((each) => each === name)
    if (scope === undefined) problems.push(`there is no scope "${name}", only ${SCOPES.join(', ')}`)
    else if (named.has(scope)) problems.push(`${scope} is set twice`)
    else {
      named.add(scope)
      const texts = list.join('=').split(',')
      rates[scope] = texts.flatMap((text) => rate(text.trim()) ?? [])
      const invalid = texts.filter((text) => rate(text.trim()) === undefined)
      problems.push(...invalid.map((text) => `${scope} cannot be "${text.trim()}"`))
      const lengths = new Set(rates[scope].map(({ seconds }) => seconds))
      if (lengths.size < rates[scope].length) problems.push(`${scope} has two rates for the same time`)
    }
  }
  if (named.size === 0 && problems.length === 0) problems.push('no scope is named')
  if (problems.length > 0) throw new Error(`must be such as ${EXAMPLE}: ${problems.join('; ')}`)
  return rates
}

const EXAMPLE = '"dyndns=20/2min; dns_api_cheap=100/s, 500/min"'

/** Parses `20/2min`; undefined if it is not a rate that can be counted. */
function rate(value: string): Rate | undefined {
  const [, requests, count, unit = ''] = /^(\d{1,7})\/(\d{0,7})(s|min|h|d)$/.exec(value) ?? []
  const read = { requests: Number(requests), seconds: Number(count === '' ? 1 : count) * (UNITS[unit] ?? NaN) }
  const isCountable =
    read.requests >= 1 && read.requests <= RATE_REQUESTS_MAX && read.seconds >= 1 && read.seconds <= RATE_SECONDS_MAX
  return isCountable ? read : undefined
}

export function isOn(value: string): boolean {
  if (value !== 'on' && value !== 'off') throw new Error('must be "on" or "off"')
  return value === 'on'
}

export function oneOf<const T extends string>(values: readonly T[]): (value: string) => T {
  return (value) => {
    const known = values.find((each) => each === value)
    if (known === undefined) throw new Error(`must be one of ${values.join(', ')}`)
    return known
  }
}
