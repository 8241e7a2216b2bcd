import type { Inquiry } from '../../nameserver/parents/inquiry.ts'
import type { ParentAnswer, Parents, ParentServer, ParentZone } from '../../nameserver/parents/parents.ts'
import { GLUE_MAX, refused } from '../../nameserver/parents/referral.ts'

/**
 * The nameservers of a domain that are asked, and the characters of JSON of what all servers of the parent zone say that
 * are kept: strangers choose both.
 */
const NAMESERVERS_MAX = 24
const ANSWERS_LENGTH = 32 * 1024

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
  /** Those that were asked; none if the servers disagree. */
  nameservers: DelegatedServer[]
  /** True if validating resolvers reject the parent zone itself; absent as false. */
  isParentBogus?: boolean | undefined
  /** True if the parent zone is one of ours; absent as false. */
  isParentOurs?: boolean | undefined
}

/** What an observation needs to know of this service. */
export interface Home {
  /** The names of our nameservers, without final dot. */
  nameServers: string[]
  /** Returns the NS of the domain in a zone that is hosted here; undefined: it is not. */
  hosted: (parent: string) => Promise<string[] | undefined>
}

/**
 * Asks every server of the parent zone about a domain, and the domain's nameservers whether they serve it. If the inquiry
 * ends before, the servers left have a problem, and the nameservers left are missing.
 */
export async function observe(parents: Parents, domain: string, home: Home, inquiry: Inquiry): Promise<Observation> {
  const zone = await parents.find(domain)
  if (zone === undefined) return { parent: null, servers: [], nameservers: [] }
  const ask = await asker(parents, domain, zone, home)
  const answers = await inquiry.limit.map(zone.servers, (server) => ask(server, inquiry))
  const servers = bounded(answers.filter((answer) => answer !== undefined))
  const names = agreed(servers)?.ns.slice(0, NAMESERVERS_MAX) ?? []
  const examined = await inquiry.limit.map(names, (name) => examine(parents, name, domain, inquiry))
  const nameservers = examined.flatMap((nameserver) => {
    if (nameserver === undefined) return []
    const glue = [...new Set(servers.flatMap(({ glue }) => glue[nameserver.name] ?? []))].sort()
    return [{ ...nameserver, glue: glue.slice(0, GLUE_MAX) }]
  })
  const isParentBogus = names.length > 0 && (await parents.isBogus(zone.name, inquiry))
  const isParentOurs = (await ours(zone, home)) !== undefined
  return { parent: zone.name, servers, nameservers, isParentBogus, isParentOurs }
}

/** Returns the NS that our database has; undefined: the resolvers do not say that we serve the parent zone. */
async function ours(zone: ParentZone, { nameServers, hosted }: Home): Promise<string[] | undefined> {
  return zone.servers.some(({ name }) => nameServers.includes(name)) ? hosted(zone.name) : undefined
}

/**
 * Returns a function that asks a server of the parent zone. A nameserver of ours has both zones, and answers the question
 * for NS from the domain's own: those in the parent zone, our database tells.
 */
async function asker(
  parents: Parents,
  domain: string,
  zone: ParentZone,
  home: Home,
): Promise<(server: ParentServer, inquiry: Inquiry) => Promise<ParentAnswer | undefined>> {
  const ns = await ours(zone, home)
  return async (server, inquiry) => {
    const answer = await parents.ask(server, zone.name, domain, inquiry)
    const isOurs = ns !== undefined && home.nameServers.includes(server.name)
    return isOurs && answer?.problem === null ? { ...answer, ns } : answer
  }
}

/** Keeps the answers that fit into ANSWERS_LENGTH. */
function bounded(answers: ParentAnswer[]): ParentAnswer[] {
  let left = ANSWERS_LENGTH
  return answers.map((answer) => {
    left -= JSON.stringify(answer).length
    return left >= 0 ? answer : { ...answer, ...refused('answers with too many records') }
  })
}

/** Returns the delegation that all servers have which told one; undefined: they disagree, or there is none. */
export function agreed(servers: ParentAnswer[]): ParentAnswer | undefined {
  const [first, ...others] = servers.filter(({ problem }) => problem === null)
  return others.every((other) => contentsOf(other) === contentsOf(first!)) ? first : undefined
}

/** Returns undefined if the inquiry has ended before. */
async function examine(
  parents: Parents,
  name: string,
  domain: string,
  inquiry: Inquiry,
): Promise<Omit<DelegatedServer, 'glue'> | undefined> {
  const addresses = await parents.addresses(name, inquiry)
  let problem = addresses.length === 0 ? 'it has no address' : null
  for (const address of addresses) {
    const found = await parents.authorityProblem(address, domain, inquiry)
    if (found === undefined) continue
    problem = `${address} ${found}`
    break
  }
  return inquiry.isOver() ? undefined : { name, addresses, problem }
}

/**
 * Asks one server of the parent zone, chosen at random, whether the delegation is still the same. Returns false if it is
 * not, or nobody knows.
 */
export async function isUnchanged(
  parents: Parents,
  domain: string,
  last: Observation,
  home: Home,
  inquiry: Inquiry,
): Promise<boolean> {
  const zone = await parents.find(domain)
  const server = zone?.servers[Math.floor(Math.random() * zone.servers.length)]
  if (zone?.name !== last.parent || server === undefined) return false
  const before = last.servers.find((each) => isSame(each, server))
  const ask = await asker(parents, domain, zone, home)
  const now = await ask(server, inquiry)
  if (before === undefined || now?.problem !== null || contentsOf(now) !== contentsOf(before)) return false
  return (last.isParentBogus ?? false) === (now.ns.length > 0 && (await parents.isBogus(zone.name, inquiry)))
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
function contentsOf({ ns, ds }: ParentAnswer): string {
  return JSON.stringify([ns, ds])
}
