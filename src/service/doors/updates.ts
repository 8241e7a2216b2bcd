import { parseRdata } from '../../dns/rdata.ts'
import { TYPES } from '../../dns/types.ts'
import type { Rcode } from '../../dns/wire/messages.ts'
import { inSlices, type Work } from '../../flow/slices.ts'
import type { Access } from '../actor.ts'
import { withNames } from '../rrsets/bulk.ts'
import { NO_CONDITIONS } from '../rrsets/conditions.ts'
import * as rrsets from '../rrsets/rrsets.ts'
import type { Written } from '../zone/changes.ts'
import type { RRsetInput } from '../zone/rrset-input.ts'

// DNS UPDATE (contract §21.4): RFC 2136 §3.2 and §3.4.2.

/** The content of a record; of what is malformed, the generic form, which is reported later. */
export interface Content {
  /** Records of one type with the same key are the same. */
  key: string
  text: string
}

/** A condition of an update, about an RRset, or without `type` about all at a name. */
export interface Prerequisite {
  subname: string
  type?: string
  /** Whether it must exist. */
  exists: boolean
  /** The keys of all its records, if these count. */
  contents?: Set<string>
}

/** A step of an update: a record comes (with a TTL) or goes, or an RRset goes, or without `type` all at a name. */
export interface Step {
  subname: string
  type?: string
  ttl?: number
  content?: Content
}

/** An update in parts, as in its message. */
export interface Update {
  prerequisites: Prerequisite[]
  steps: Step[]
}

/** A prerequisite does not hold. */
export class Unmet extends Error {
  readonly rcode: Rcode

  constructor(rcode: Rcode) {
    super('A prerequisite does not hold.')
    this.rcode = rcode
  }
}

/**
 * Applies an update under the zone's lock; all or nothing.
 * @throws Unmet; Invalid with the problems of each RRset, by its name and type; Denied, Unauthenticated
 */
export async function update(access: Access, { prerequisites, steps }: Update): Promise<Written> {
  const subnames = [...new Set([...prerequisites, ...steps].map(({ subname }) => subname))]
  let inputs: RRsetInput[] = []
  const request = async (current: rrsets.RRset[]) => {
    inputs = await inSlices(requestOf(current, { prerequisites, steps }))
    return inputs
  }
  const asked = { terms: { ...NO_CONDITIONS, dryRun: false }, source: 'update' } as const
  return rrsets.amend(access, subnames, request, asked).catch((error: unknown) => {
    throw withNames(error, access.domain, inputs)
  })
}

/** An RRset during the update. */
interface State {
  before: rrsets.RRset | undefined
  /** undefined: that of the stored RRset, or none has come */
  ttl: number | undefined
  /** By key. */
  records: Map<string, string>
  /** Whether the update names it, so that its right is needed. */
  isNamed: boolean
}

/** The RRsets at a name, by type. */
type Node = Map<string, State>

/** Returns the bulk request that does the same, with one item for each RRset that the update names. @throws Unmet */
function* requestOf(current: rrsets.RRset[], { prerequisites, steps }: Update): Work<RRsetInput[]> {
  const nodes = new Map<string, Node>()
  const nodeOf = (subname: string) => {
    const node = nodes.get(subname) ?? new Map<string, State>()
    nodes.set(subname, node)
    return node
  }
  for (const before of current) {
    const state: State = { before, ttl: undefined, records: new Map(), isNamed: false }
    for (const text of before.records) {
      state.records.set(parseRdata(before.type, text).key, text)
      yield
    }
    nodeOf(before.subname).set(before.type, state)
  }
  for (const prerequisite of prerequisites) {
    examine(prerequisite, nodeOf(prerequisite.subname))
    yield
  }
  for (const step of steps) {
    apply(step, nodeOf(step.subname))
    yield
  }
  return [...nodes].flatMap(([subname, node]) =>
    [...node].flatMap(([type, { before, ttl, records, isNamed }]): RRsetInput[] => {
      // An unchanged TTL may be below the minimum.
      const changed = ttl === before?.ttl ? undefined : ttl
      return isNamed ? [{ subname, type, ttl: changed, records: [...records.values()], problems: {} }] : []
    }),
  )
}

/** @throws Unmet unless the prerequisite holds (RFC 2136 §3.2.5) */
function examine({ subname, type, exists, contents }: Prerequisite, node: Node): void {
  const isApex = subname === ''
  if (type === undefined) {
    // The apex has a SOA, which is not stored.
    if ((isApex || node.size > 0) !== exists) throw new Unmet(exists ? 'NXDOMAIN' : 'YXDOMAIN')
    return
  }
  const records = node.get(type)?.records
  const isThere = records !== undefined || (isApex && type === 'SOA')
  const isSame =
    contents === undefined || (records?.size === contents.size && [...contents].every((key) => records.has(key)))
  if (isThere !== exists || !isSame) throw new Unmet(exists ? 'NXRRSET' : 'YXRRSET')
}

/** Carries out one step (RFC 2136 §3.4.2). What it says about the SOA is ignored: the service makes it. */
function apply({ subname, type, ttl, content }: Step, node: Node): void {
  if (type === 'SOA') return
  const isApexNs = subname === '' && type === 'NS'
  if (type === undefined) {
    clearAll(subname, node)
    return
  }
  const state = node.get(type) ?? { before: undefined, ttl: undefined, records: new Map(), isNamed: false }
  if (content === undefined) {
    if (isApexNs) return
    node.set(type, state)
    clear(state)
    return
  }
  node.set(type, state)
  state.isNamed = true
  if (ttl === undefined) {
    if (!isApexNs || state.records.size > 1) state.records.delete(content.key)
  } else if (!isInTheWay(type, node)) {
    if (TYPES.get(type)?.single) state.records.clear()
    state.records.set(content.key, content.text)
    state.ttl = ttl
  }
}

/** Removes all RRsets at a name; NS of the apex stays. */
function clearAll(subname: string, node: Node): void {
  for (const [type, state] of node) if (subname !== '' || type !== 'NS') clear(state)
}

function clear(state: State): void {
  state.records.clear()
  state.isNamed = true
}

/** Reports whether a CNAME is beside other RRsets, or another RRset beside a CNAME: such an addition is ignored. */
function isInTheWay(type: string, node: Node): boolean {
  const isAlone = (each: string) => TYPES.get(each)?.alone === true
  return [...node].some(([each, { records }]) => each !== type && records.size > 0 && (isAlone(type) || isAlone(each)))
}
