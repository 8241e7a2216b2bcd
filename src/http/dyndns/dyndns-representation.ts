import { isIPv6 } from 'node:net'
import { parseNetwork } from '../../dns/addresses.ts'
import { Unreadable } from '../../dns/malformed.ts'
import { Invalid } from '../../errors.ts'
import { type AddressAction, type AddressType, hostList, type HostUpdate } from '../../service/domains/dyndns.ts'

/** The query parameters of a dynDNS request, in their order. */
export type Query = ReadonlyMap<string, string>

interface Family {
  type: AddressType
  /** The parameters that apply to all hosts; the first one with a value for this family counts. */
  parameters: string[]
  /** The prefix of parameters that name the hosts they apply to. */
  prefix: string
}

const FAMILIES: Family[] = [
  { type: 'A', parameters: ['myip', 'myipv4', 'ip', 'ipv4'], prefix: 'myipv4:' },
  { type: 'AAAA', parameters: ['myipv6', 'ipv6', 'myip', 'ip'], prefix: 'myipv6:' },
]

/**
 * Returns the hosts to update, by name (contract §10.3); undefined if the request names none.
 * @param user the user name of Basic authentication
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

/** Returns the hosts that are named in parameters such as `myipv4:host`. */
export function readOwnHosts(query: Query): string[] {
  return [...query.keys()].flatMap((name) => {
    const family = FAMILIES.find(({ prefix }) => name.startsWith(prefix))
    return family === undefined ? [] : hostList(name.slice(family.prefix.length))
  })
}

/**
 * Reads the actions on the addresses of each host and family (contract §10.4).
 * @param hosts the hosts of parameters that name none
 * @param address the client's
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
    for (const family of FAMILIES.filter(({ prefix }) => name.startsWith(prefix))) {
      const list = name.slice(family.prefix.length)
      const action = readAction(list, value, family) ?? { action: 'preserve' }
      for (const host of hostList(list)) put(host, family.type, action)
    }
  }
  return [...updates.values()]
}

function readForAll(query: Query, family: Family): AddressAction | undefined {
  for (const name of family.parameters) {
    const action = query.has(name) ? readAction(name, query.get(name)!, family) : undefined
    if (action !== undefined) return action
  }
  return undefined
}

/** Reads a parameter's value for a family; returns undefined if it has no address of this family. */
function readAction(name: string, value: string, { type }: Family): AddressAction | undefined {
  const trimmed = value.split(',').map((part) => part.trim())
  const parts = new Set(trimmed.filter((part) => fits(part, type)))
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

/** Reports whether it looks like an address of the family: IPv6 has a colon, and perhaps dots; IPv4 has only dots. */
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

/** Formats the response to an accepted update: one line per host (contract §10.6). */
export function presentGood(updates: HostUpdate[]): string {
  return [...new Set(updates.map(({ host }) => host))].map(() => 'good').join('\n')
}
