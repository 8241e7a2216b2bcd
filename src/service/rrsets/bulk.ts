import { nameOf } from '../../dns/names.ts'
import type { Neighbour } from '../../dns/node.ts'
import { Invalid, type NameserverFailure, type Occluded, type Problems } from '../../errors.ts'
import type { Work } from '../../flow/slices.ts'
import type { Domain } from '../../store/domains/domains.ts'
import type { RRset } from '../../store/zone/rrsets.ts'
import { type Change, type Outcome, planItem, rrsetKey, type ZoneState } from '../zone/changes.ts'
import type { Method, RRsetInput } from '../zone/rrset-input.ts'

/** Duplicates that an item's error names: with more, the response would grow with the square of the items. */
const NAMED_POSITIONS = 100

/** An item of a bulk request. */
export interface ItemInput extends RRsetInput {
  /** True if the item is not an object, or its subname or type is not a string; `problems` then contains only that. */
  isMalformed?: true
}

/**
 * Plans the changes of a request for many RRsets (contract §8.7). Takes time linear in the number of items and of
 * RRsets at their subnames.
 * @throws Invalid with the problems of each item, Denied
 */
export function* planMany(zone: ZoneState, method: Method, inputs: ItemInput[]): Work<Change[]> {
  const request = yield* index(zone, method, inputs)
  const changes: Change[] = []
  const problems: Problems[] = []
  for (const position of inputs.keys()) {
    const outcome = yield* plan(request, position)
    if ('problems' in outcome) problems[position] = outcome.problems
    else changes.push(outcome)
    yield
  }
  if (changes.length < inputs.length) throw new Invalid(Array.from(inputs, (_, position) => problems[position] ?? {}))
  return changes
}

/** The zone and the request, indexed by name. */
interface Request {
  zone: ZoneState
  method: Method
  inputs: ItemInput[]
  /** Positions in the request by subname and type. */
  byKey: Map<string, number[]>
  /** Positions in the request by subname. */
  bySubname: Map<string, number[]>
  /** RRsets in the database by subname. */
  stored: Map<string, RRset[]>
}

function* index(zone: ZoneState, method: Method, inputs: ItemInput[]): Work<Request> {
  const request: Request = { zone, method, inputs, byKey: new Map(), bySubname: new Map(), stored: new Map() }
  for (const rrset of zone.current) {
    add(request.stored, rrset.subname, rrset)
    yield
  }
  for (const [position, { subname = '', type, isMalformed }] of inputs.entries()) {
    if (!isMalformed && type !== undefined) {
      add(request.byKey, rrsetKey({ subname, type }), position)
      add(request.bySubname, subname, position)
    }
    yield
  }
  return request
}

function add<T>(lists: Map<string, T[]>, key: string, value: T): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [value])
  else list.push(value)
}

/** Plans one item by the stages of contract §8.7. @throws Denied */
function* plan(request: Request, position: number): Work<Outcome> {
  const { zone, method, inputs, byKey, stored } = request
  const input = inputs[position]!
  if (input.isMalformed) return input
  const { subname = '', type } = input
  const same = type === undefined ? [] : byKey.get(rrsetKey({ subname, type }))!
  if (same.length > 1) return { problems: notUnique(same, position) }
  const before = stored.get(subname)?.find((rrset) => rrset.type === type)
  const neighbours = () => neighboursOf(request, position, subname)
  return yield* planItem(zone, { method, input, before, neighbours })
}

/** @param positions all items with this subname and type */
function notUnique(positions: number[], own: number): Problems {
  const others = positions.slice(0, NAMED_POSITIONS + 1).filter((position) => position !== own)
  const more = positions.length - 1 > NAMED_POSITIONS ? ', …' : ''
  const named = others.slice(0, NAMED_POSITIONS).join(', ')
  return { non_field_errors: [`Same subname and type as in position(s) ${named}${more}, but must be unique.`] }
}

/** Returns the RRsets that other items put at a subname, and the stored ones that the request does not delete. */
function neighboursOf({ method, inputs, bySubname, stored }: Request, own: number, subname: string): Neighbour[] {
  const positions = bySubname.get(subname)!
  const typeAt = (position: number) => inputs[position]!.type!
  const isRemoval = (position: number) => inputs[position]!.records?.length === 0
  const removed = new Set(method === 'POST' ? [] : positions.filter(isRemoval).map(typeAt))
  const others = positions.filter((position) => position !== own && !isRemoval(position))
  const kept = (stored.get(subname) ?? []).filter(({ type }) => !removed.has(type))
  return [
    ...others.map((position): Neighbour => ({ source: position, type: typeAt(position) })),
    ...kept.map(({ type }): Neighbour => ({ source: 'database', type })),
  ]
}

/** Returns the problems of each change when some would occlude, or be occluded (contract §8.10). */
export function occlusionProblems(changes: Change[], { occlusions }: Occluded): Problems[] {
  const texts = new Map<string, string[]>()
  for (const { text, ...key } of occlusions) add(texts, rrsetKey(key), text)
  return changes.map((change): Problems => {
    const own = texts.get(rrsetKey(change))
    return own === undefined ? {} : { non_field_errors: own }
  })
}

/** Returns the problems of each change after a rejection by PowerDNS: at the RRset that it names, otherwise at all. */
export function refusals(domain: Domain, changes: Change[], { rrset, message }: NameserverFailure): Problems[] {
  const isNamed = ({ subname, type }: Change) => rrset?.type === type && rrset.name === nameOf(domain, subname)
  const named = changes.filter(isNamed)
  const suspects = new Set(named.length > 0 ? named : changes.filter(({ isEffective }) => isEffective))
  const refused = suspects.size === 1 ? 'this RRset' : 'one of these RRsets'
  const problem = { non_field_errors: [`The DNS backend refused ${refused}: ${message}`] }
  return changes.map((change) => (suspects.has(change) ? problem : {}))
}

/** Returns the error of a bulk request with its problems by the names of RRsets. @param keys those of the request, in its order */
export function withNames(
  error: unknown,
  domain: Pick<Domain, 'name'>,
  keys: Pick<RRsetInput, 'subname' | 'type'>[],
): unknown {
  if (!(error instanceof Invalid && Array.isArray(error.problems))) return error
  const named = error.problems.flatMap((problems, position) => {
    const { subname = '', type } = keys[position]!
    const texts = Object.entries(problems).flatMap(([field, own]) =>
      own.map((text) => (field === 'non_field_errors' ? text : `${field}: ${text}`)),
    )
    return texts.length === 0 ? [] : [[`RRset ${nameOf(domain, subname)} IN ${type}`, texts] as const]
  })
  return new Invalid(Object.fromEntries(named))
}
