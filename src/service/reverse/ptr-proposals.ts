import { classlessDomains, reverseName } from '../../dns/addresses.ts'
import { isSubname, lowerCase, nameOf, withAncestors, withoutDot } from '../../dns/names.ts'
import { inSlices, type Work } from '../../flow/slices.ts'
import { PTR_ADDRESSES_MAX } from '../../limits.ts'
import { list } from '../../store/tokens/policies.ts'
import { type ReverseNode, reverseNodes } from '../../store/zone/reverse.ts'
import type { Access, Visit } from '../actor.ts'
import { tagOfDomain } from '../rrsets/conditions.ts'
import { mayWrite } from '../tokens/policies.ts'
import type { Step } from '../zone/journal.ts'

/** A change of a PTR RRset that fits a write of addresses (contract §15.3). */
export interface PtrProposal extends Step {
  /** The name of the reverse domain, and its tag from before the RRset was read. */
  domain: string
  tag: string
  /** The names that lose their PTR, although the write does not take the address from them. */
  replaces: string[]
}

/** The names that get an address by a write, in its order, and those that lose it; and the TTL of the first. */
interface Turnover {
  come: string[]
  go: Set<string>
  ttl: number
}

/** Proposes PTR RRsets that fit a write, in domains that the actor sees and where it may write them (contract §15.3). */
export async function proposePtr(access: Access, steps: readonly Step[]): Promise<PtrProposal[]> {
  const { system, actor, domain } = access
  const turnovers = await inSlices(turnoversOf(domain, steps))
  if (turnovers.size === 0) return []
  const nodes = await nodesAt(access, [...turnovers.keys()].map(reverseName))
  const aliases = await nodesAt(access, Array.from(nodes.values(), targetOf))
  const policies = await list(system.db, actor.tokenId)
  const proposals = new Map<string, PtrProposal>()
  for (const [address, turnover] of turnovers) {
    const node = nodes.get(reverseName(address))
    const place = node && (node.cname === null ? node : aliases.get(targetOf(node)))
    if (place?.cname !== null || place.id === domain.id) continue
    const proposal = proposalAt(place, turnover)
    // The CNAMEs of two addresses can have one target.
    const name = nameOf(place, place.subname)
    if (proposal !== undefined && !proposals.has(name) && mayWrite(policies, place.id, proposal))
      proposals.set(name, proposal)
  }
  return [...proposals.values()]
}

/** Returns the turnover of each address, of the first ones. Yields after each step. */
function* turnoversOf(domain: { name: string }, steps: readonly Step[]): Work<Map<string, Turnover>> {
  const turnovers = new Map<string, Turnover>()
  const at = (address: string) => {
    const turnover = turnovers.get(address) ?? { come: [], go: new Set(), ttl: 0 }
    if (turnovers.size < PTR_ADDRESSES_MAX) turnovers.set(address, turnover)
    return turnover
  }
  for (const { subname, type, before, after } of steps) {
    yield
    if (!['A', 'AAAA'].includes(type) || subname.startsWith('*')) continue
    const name = nameOf(domain, subname)
    const [old, next] = [new Set(before?.records), new Set(after?.records)]
    for (const address of old) if (!next.has(address)) at(address).go.add(name)
    for (const address of next) {
      if (old.has(address)) continue
      const turnover = at(address)
      if (turnover.come.push(name) === 1) turnover.ttl = after!.ttl
    }
  }
  return turnovers
}

/** Finds where names are, in one statement, without those that no RRset can have. */
async function nodesAt({ system, actor }: Visit, names: string[]): Promise<Map<string, ReverseNode>> {
  const wanted = names
    .filter((name) => isSubname(name) && !name.startsWith('*'))
    .map((name) => ({ name, zones: [...withAncestors(name), ...classlessDomains(name)] }))
  return new Map((await reverseNodes(system.db, actor, wanted)).map((node) => [node.asked, node]))
}

function targetOf({ cname }: ReverseNode): string {
  return lowerCase(withoutDot(cname ?? ''))
}

/** Returns the change that fits a turnover; undefined: the RRset fits already. */
function proposalAt(place: ReverseNode, { come, go, ttl: usual }: Turnover): PtrProposal | undefined {
  const present = place.records ?? []
  const kept = present.filter((name) => !go.has(lowerCase(name)))
  const isMissing = come.length > 0 && !kept.some((name) => come.includes(lowerCase(name)))
  if (!isMissing && kept.length === present.length) return undefined
  const records = isMissing ? come.slice(0, 1) : kept
  return {
    domain: place.name,
    tag: tagOfDomain(place),
    subname: place.subname,
    type: 'PTR',
    before: place.ttl === null ? undefined : { ttl: place.ttl, records: present },
    after: records.length === 0 ? undefined : { ttl: Math.max(place.ttl ?? usual, place.minimumTtl), records },
    replaces: isMissing ? kept : [],
  }
}
