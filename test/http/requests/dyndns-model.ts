import { isIPv4, isIPv6 } from 'node:net'

/** A query's parameters in their order. */
export type Pairs = [name: string, value: string][]

export type Type = 'A' | 'AAAA'

/** The effect on one family at one name; no addresses: the RRset is deleted. */
export type Action = 'preserve' | { addresses: string[] } | { network: bigint; length: number }

const OWN = { A: 'myipv4:', AAAA: 'myipv6:' }
const FOR_ALL = { A: ['myip', 'myipv4', 'ip', 'ipv4'], AAAA: ['myipv6', 'ipv6', 'myip', 'ip'] }

/** The names in a query and in the user of Basic authentication (contract §10.3). */
export function namesOf(pairs: Pairs, user?: string): string[] | undefined {
  const value = (name: string) => pairs.findLast(([each]) => each === name)?.[1]
  const hostname = value('hostname')
  const username = value('username')
  if (hostname !== undefined && hostname !== '' && hostname !== 'YES') return listOf(hostname)
  if (value('host_id') !== undefined) return listOf(value('host_id')!)
  if (user !== undefined && user !== '' && !user.includes('@')) return listOf(user)
  return username === undefined || username.includes('@') ? undefined : listOf(username)
}

/** The names in parameters for single names. */
export function ownNamesOf(pairs: Pairs): string[] {
  return pairs.flatMap(([name]) => (/^myipv[46]:/.test(name) ? listOf(name.slice(7)) : []))
}

function listOf(text: string): string[] {
  const lower = text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
  return [...new Set(lower.split(',').map((part) => part.trim()))]
}

/** The effect on one family at one name (contract §10.4); undefined if the query does not concern it. */
export function actionFor(
  pairs: Pairs,
  type: Type,
  host: string,
  names: string[],
  address: string,
): Action | undefined {
  const isOwn = (name: string) => name.startsWith(OWN[type]) && listOf(name.slice(7)).includes(host)
  const own = pairs.findLast(([name]) => isOwn(name))
  if (own !== undefined) return read(own[1], type) ?? 'preserve'
  if (!names.includes(host)) return undefined
  for (const name of FOR_ALL[type]) {
    const action = read(pairs.findLast(([each]) => each === name)?.[1] ?? 'none', type)
    if (action !== undefined) return action
  }
  return { addresses: familyOf(address) === type ? [address] : [] }
}

/** All problems of the query's parameters. The last value of a repeated parameter counts. */
export function problemsOf(pairs: Pairs, names: string[]): string[] {
  const valid = pairs.filter(([name], i) => !pairs.slice(i + 1).some(([later]) => later === name))
  return (['A', 'AAAA'] as const).flatMap((type) => {
    const own = valid.filter(([name]) => name.startsWith(OWN[type]))
    const forAll = FOR_ALL[type]
      .flatMap((name) => valid.filter(([each]) => each === name))
      .find(([, value]) => partsOf(value, type).length > 0)
    return [...own, ...(names.length === 0 || forAll === undefined ? [] : [forAll])].flatMap(([name, value]) => {
      const text = problemOf(partsOf(value, type), type)
      return text === undefined ? [] : `IP parameter "${name.startsWith(OWN[type]) ? name.slice(7) : name}" ${text}`
    })
  })
}

function problemOf(parts: string[], type: Type): string | undefined {
  if (parts.length > 1 && parts.some((part) => part === '' || part === 'preserve')) {
    return 'cannot have addresses and "preserve" or an empty value at the same time.'
  }
  if (!parts.some((part) => part.includes('/'))) return undefined
  if (parts.length > 1) return 'cannot use subnet notation with multiple addresses.'
  const [address, ...rest] = parts[0]!.split('/')
  const [length, bits] = [rest.join('/'), BITS[type]]
  if (!isAddress(address!, type)) return 'is an invalid subnet: Text input is malformed.'
  const isLength = Array.from({ length: bits + 1 }, (_, i) => String(i)).includes(length)
  return isLength ? undefined : `is an invalid subnet: The length is not a number from 0 to ${bits}.`
}

/** The effect of a valid value on a family; undefined if it has none. */
function read(value: string, type: Type): Action | undefined {
  const parts = partsOf(value, type)
  const [part] = parts
  if (part === undefined || part === 'preserve') return part
  if (part === '') return { addresses: [] }
  const [address, length] = part.split('/')
  return length === undefined ? { addresses: parts } : { network: numberOf(address!), length: Number(length) }
}

function partsOf(value: string, type: Type): string[] {
  const parts = value.split(',').map((part) => part.trim())
  return [...new Set(parts.filter((part) => part === '' || part === 'preserve' || familyOf(part) === type))]
}

function familyOf(part: string): Type | undefined {
  if (part.includes(':')) return 'AAAA'
  return part.includes('.') ? 'A' : undefined
}

const BITS = { A: 32, AAAA: 128 }

export function isAddress(text: string, type: Type): boolean {
  return type === 'A' ? isIPv4(text) : isIPv6(text) && !text.includes('%')
}

/** An address as a number. */
export function numberOf(address: string): bigint {
  if (!address.includes(':')) return address.split('.').reduce((sum, octet) => sum * 256n + BigInt(octet), 0n)
  // A URL contains the compressed address without dots.
  const [before, after] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::')
  const groups = (half = '') => half.split(':').filter((group) => group !== '')
  const zeros = Array<string>(8 - groups(before).length - groups(after).length).fill('0')
  return [...groups(before), ...zeros, ...groups(after)].reduce((sum, group) => sum * 65536n + BigInt(`0x${group}`), 0n)
}

/** The addresses of a name after an action, as numbers. */
export function after(present: bigint[], action: Action, type: Type): bigint[] {
  if (action === 'preserve') return present
  if ('addresses' in action) return action.addresses.map(numberOf)
  const hosts = 1n << BigInt(BITS[type] - action.length)
  return [...new Set(present.map((address) => (action.network / hosts) * hosts + (address % hosts)))]
}
