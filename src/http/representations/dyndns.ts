import { isIPv6 } from 'node:net'
import { parseNetwork } from '../../dns/addresses.ts'
import { Unreadable } from '../../dns/malformed.ts'
import { Invalid } from '../../errors.ts'
import { hostList, type AddressAction, type AddressType, type HostUpdate } from '../../service/domains/dyndns.ts'

/** The query of a dynDNS request: parameters by name, in their order. */
export type Query = ReadonlyMap<string, string>

interface Family {
  type: AddressType
  /** Parameters with addresses for all names, the first that has some for this family counts. */
  parameters: string[]
  /** What parameters with addresses for names of their own begin with. */
  own: string
}

const FAMILIES: Family[] = [
  { type: 'A', parameters: ['myip', 'myipv4', 'ip', 'ipv4'], own: 'myipv4:' },
  { type: 'AAAA', parameters: ['myipv6', 'ipv6', 'myip', 'ip'], own: 'myipv6:' },
]

/**
 * The names that an update is about (contract §10.3); undefined if it says nothing of them.
 * @param user that of Basic authentication
 */
export function readHosts(query: Query, user: string | undefined): string[] | undefined {
  const hostname = query.get('hostname')
  const username = query.get('username')
  const text =
    (hostname === '' || hostname === 'YES' ? undefined : hostname) ??
    query.get('host_id') ??
    (user === '' || user?.includes('@') ? undefined : user) ??
    (username?.includes('@') ? undefined : username)
  return text === undefined ? undefined : hostList(text)
}

/** The names that have parameters of their own. */
export function readOwnHosts(query: Query): string[] {
  return [...query.keys()].flatMap((name) => {
    const family = FAMILIES.find(({ own }) => name.startsWith(own))
    return family === undefined ? [] : hostList(name.slice(family.own.length))
  })
}

/**
 * What an update does to each name and family (contract §10.4).
 * @param hosts the names that parameters without names are about
 * @param address the caller's
 * @throws Invalid
 */
export function readUpdates(query: Query, hosts: string[], address: string): HostUpdate[] {
  const updates = new Map<string, HostUpdate>()
  const put = (host: string, type: AddressType, action: AddressAction) =>
    updates.set(`${type} ${host}`, { host, type, ...action })
  for (const family of FAMILIES) {
    const action = readForAll(query, family) ?? fallback(family, address)
    for (const host of hosts) put(host, family.type, action)
  }
  for (const [name, value] of query) {
    for (const family of FAMILIES.filter(({ own }) => name.startsWith(own))) {
      const list = name.slice(family.own.length)
      const action = readAction(list, value, family) ?? { action: 'preserve' }
      for (const host of hostList(list)) put(host, family.type, action)
    }
  }
  return [...updates.values()]
}

function readForAll(query: Query, family: Family): AddressAction | undefined {
  for (const name of family.parameters) {
    const value = query.get(name)
    const action = value === undefined ? undefined : readAction(name, value, family)
    if (action !== undefined) return action
  }
  return undefined
}

/** What a parameter says about a family; undefined if nothing. */
function readAction(name: string, value: string, { type }: Family): AddressAction | undefined {
  const parts = new Set(
    value
      .split(',')
      .map((part) => part.trim())
      .filter((part) => fits(part, type)),
  )
  const [part] = parts
  if (part === undefined) return undefined
  if (parts.size > 1) {
    if (parts.has('') || parts.has('preserve')) {
      throw problem(name, 'cannot have addresses and "preserve" or an empty value at the same time.')
    }
    if ([...parts].some((each) => each.includes('/'))) {
      throw problem(name, 'cannot use subnet notation with multiple addresses.')
    }
    return { action: 'set', addresses: [...parts] }
  }
  if (part === '') return { action: 'remove' }
  if (part === 'preserve') return { action: 'preserve' }
  if (!part.includes('/')) return { action: 'set', addresses: [part] }
  try {
    return { action: 'prefix', prefix: parseNetwork(part) }
  } catch (error) {
    if (error instanceof Unreadable) throw problem(name, `is an invalid subnet: ${error.message}`)
    throw error
  }
}

/** A colon makes an IPv6 address, also of one that ends in dotted form; what has neither sign is none of either. */
function fits(part: string, type: AddressType): boolean {
  if (part === '' || part === 'preserve') return true
  return type === 'AAAA' ? part.includes(':') : part.includes('.') && !part.includes(':')
}

function fallback({ type }: Family, address: string): AddressAction {
  return isIPv6(address) === (type === 'AAAA') ? { action: 'set', addresses: [address] } : { action: 'remove' }
}

function problem(name: string, text: string): Invalid {
  return Invalid.object(`IP parameter "${name}" ${text}`)
}

/** The answer to an accepted update: a line for each name (contract §10.6). */
export function presentGood(updates: HostUpdate[]): string {
  return [...new Set(updates.map(({ host }) => host))].map(() => 'good').join('\n')
}
