import type { ParentAnswer, Parents, ParentServer } from '../../nameserver/parents/parents.ts'

/** A nameserver to which the parent zone delegates a domain; a name without final dot. */
export interface DelegatedServer {
  name: string
  /** Its addresses. */
  addresses: string[]
  /** The addresses that the parent zone has for it (glue); empty: none. */
  glue: string[]
  /** The reason why it does not serve the domain, such as `192.0.2.1 does not answer`; null: it does. */
  problem: string | null
}

/** The delegation of a domain, as all servers of the parent zone have it. Names are without final dot. */
export interface Observation {
  /** The parent zone; null: it was not found. */
  parent: string | null
  servers: ParentAnswer[]
  nameservers: DelegatedServer[]
}

/** Asks every server of the parent zone about a domain, and the domain's nameservers whether they serve it. */
export async function observe(parents: Parents, domain: string): Promise<Observation> {
  const zone = await parents.find(domain)
  if (zone === undefined) return { parent: null, servers: [], nameservers: [] }
  const answers = await Promise.all(zone.servers.map((server) => parents.ask(server, zone.name, domain)))
  const servers = answers.filter((answer) => answer !== undefined)
  const names = [...new Set(servers.flatMap(({ ns }) => ns))].sort()
  const nameservers = names.map(async (name) => {
    const glue = [...new Set(servers.flatMap(({ glue }) => glue[name] ?? []))].sort()
    return { ...(await examine(parents, name, domain)), glue }
  })
  return { parent: zone.name, servers, nameservers: await Promise.all(nameservers) }
}

async function examine(parents: Parents, name: string, domain: string): Promise<Omit<DelegatedServer, 'glue'>> {
  const addresses = await parents.addresses(name)
  if (addresses.length === 0) return { name, addresses, problem: 'it has no address' }
  const problems = await Promise.all(
    addresses.map(async (address) => {
      const problem = await parents.authorityProblem(address, domain)
      return problem === undefined ? [] : [`${address} ${problem}`]
    }),
  )
  return { name, addresses, problem: problems.flat()[0] ?? null }
}

/**
 * Asks one server of the parent zone, chosen at random, whether the delegation is still the same. Returns false if it is
 * not, or nobody knows.
 */
export async function isUnchanged(parents: Parents, domain: string, last: Observation): Promise<boolean> {
  const zone = await parents.find(domain)
  const server = zone?.servers[Math.floor(Math.random() * zone.servers.length)]
  if (zone?.name !== last.parent || server === undefined) return false
  const before = last.servers.find((each) => isSame(each, server))
  const now = await parents.ask(server, zone.name, domain)
  return before !== undefined && now?.problem === null && contentsOf(now) === contentsOf(before)
}

function isSame(one: ParentServer, other: ParentServer): boolean {
  return one.name === other.name && one.address === other.address
}

/** Returns the greatest TTL of the DS records at some servers, in seconds; null: they have none. */
export function dsTtlOf(servers: ParentAnswer[]): number | null {
  const ttls = servers.flatMap(({ dsTtl }) => dsTtl ?? [])
  return ttls.length === 0 ? null : Math.max(...ttls)
}

/** Returns a text that is equal for equal delegations. */
export function contentsOf({ ns, ds }: ParentAnswer): string {
  return JSON.stringify([ns, ds])
}
