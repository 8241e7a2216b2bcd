import { Invalid, type NameserverFailure, type Problems } from '../errors.ts'
import { nameOf } from '../dns/names.ts'
import type { Neighbour } from '../dns/node.ts'
import { NAMED_POSITIONS } from '../limits.ts'
import type { Work } from '../slices.ts'
import type { Domain } from '../store/domains.ts'
import type { RRset } from '../store/rrsets.ts'
import { isEffective, placeOf, planItem, type Authorise, type Change, type Zone } from './changes.ts'
import type { Method, RRsetInput } from './rrset-input.ts'

/** An item of a bulk request; if it is no object, or does not name its place in text, `problems` say only that. */
export interface ItemInput extends RRsetInput {
  isPlaceless?: true
}

/**
 * What a request for many RRsets changes (contract §8.7). Its time grows with the number of items and of what is in the
 * zone at their subnames.
 * @throws Invalid with the problems of each item, Denied
 */
export function* planMany(zone: Zone, method: Method, inputs: ItemInput[], authorise: Authorise): Work<Change[]> {
  const view = yield* survey(zone, method, inputs)
  const changes: Change[] = []
  let isValid = true
  for (let i = 0; i < inputs.length; i++) {
    const outcome = plan(view, i, authorise)
    if ('after' in outcome) changes.push(outcome)
    else isValid = false
    yield
  }
  if (!isValid) throw new Invalid({ [Symbol.iterator]: () => problems(view) })
  return changes
}

/** The problems of each item, none being an empty object. */
function* problems(view: View): Generator<Problems> {
  for (let i = 0; i < view.inputs.length; i++) {
    const outcome = plan(view, i, () => undefined)
    yield 'after' in outcome ? {} : outcome.problems
  }
}

/** The zone and the request, each item findable by its place. */
interface View extends Zone {
  method: Method
  inputs: ItemInput[]
  /** Positions in the request by subname and type. */
  placed: Map<string, number[]>
  /** Positions in the request by subname. */
  asked: Map<string, number[]>
  /** What the database has, by subname. */
  stored: Map<string, RRset[]>
}

function* survey(zone: Zone, method: Method, inputs: ItemInput[]): Work<View> {
  const view: View = { ...zone, method, inputs, placed: new Map(), asked: new Map(), stored: new Map() }
  for (const rrset of zone.current) {
    add(view.stored, rrset.subname, rrset)
    yield
  }
  for (const [i, input] of inputs.entries()) {
    yield
    if (input.isPlaceless) continue
    const { subname, type } = placeOf(input)
    if (type === undefined) continue
    add(view.placed, key(subname, type), i)
    add(view.asked, subname, i)
  }
  return view
}

function add<T>(lists: Map<string, T[]>, key: string, one: T): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [one])
  else list.push(one)
}

/** A type may be any text here, but the number in front tells where it ends. */
function key(subname: string, type: string): string {
  return `${type.length} ${type} ${subname}`
}

/** What one item changes, or what is wrong with it: the stages of contract §8.7. @throws Denied */
function plan(view: View, i: number, authorise: Authorise): Change | { problems: Problems } {
  const { method, inputs, placed, stored } = view
  const input = inputs[i]!
  if (input.isPlaceless) return input
  const { subname, type } = placeOf(input)
  const same = type === undefined ? [] : placed.get(key(subname, type))!
  if (same.length > 1) return { problems: { non_field_errors: [notUnique(same, i)] } }
  const before = stored.get(subname)?.find((rrset) => rrset.type === type)
  try {
    const neighbours = () => neighboursOf(view, i, subname)
    return planItem(view, { method, input, target: undefined, before, neighbours }, authorise)
  } catch (error) {
    if (!(error instanceof Invalid)) throw error
    return { problems: error.problems as Problems }
  }
}

function notUnique(positions: number[], own: number): string {
  const others = positions.slice(0, NAMED_POSITIONS + 1).filter((position) => position !== own)
  const named = others.slice(0, NAMED_POSITIONS).join(', ')
  const more = positions.length - 1 > NAMED_POSITIONS ? ', …' : ''
  return `Same subname and type as in position(s) ${named}${more}, but must be unique.`
}

/** What other items put at a subname, and what the database has there, without what this request deletes. */
function neighboursOf({ method, inputs, asked, stored }: View, i: number, subname: string): Neighbour[] {
  const positions = asked.get(subname)!
  if (positions.length === 1 && !stored.has(subname)) return []
  const isRemoval = (position: number) => inputs[position]!.records?.length === 0
  const removed = new Set(
    method === 'POST' ? [] : positions.filter(isRemoval).map((position) => inputs[position]!.type),
  )
  const others = positions.filter((position) => position !== i && !isRemoval(position))
  const present = (stored.get(subname) ?? []).filter(({ type }) => !removed.has(type))
  return [
    ...others.map((place): Neighbour => ({ place, type: inputs[place]!.type! })),
    ...present.map(({ type }): Neighbour => ({ place: 'database', type })),
  ]
}

/**
 * What to say of each change when the nameserver has refused one of them: of that one its reason, or, if it did not tell
 * which one it is, the same of all that it was sent.
 */
export function refusals(domain: Domain, changes: Change[], { rrset, message }: NameserverFailure): Problems[] {
  const isNamed = ({ subname, type }: Change) => rrset?.type === type && rrset.name === nameOf(domain, subname)
  const named = changes.filter(isNamed)
  const suspects = new Set(named.length > 0 ? named : changes.filter(isEffective))
  const what = suspects.size === 1 ? 'this RRset' : 'one of these RRsets'
  const problem = { non_field_errors: [`The DNS backend refused ${what}: ${message}`] }
  return changes.map((change) => (suspects.has(change) ? problem : {}))
}
