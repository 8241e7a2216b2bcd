import { Invalid, NO_PROBLEMS, type NameserverFailure, type Problems } from '../../errors.ts'
import { nameOf } from '../../dns/names.ts'
import type { Neighbour } from '../../dns/node.ts'
import { TYPES } from '../../dns/types.ts'
import { NAMED_POSITIONS } from '../../limits.ts'
import type { Work } from '../../slices.ts'
import type { Domain } from '../../store/domains.ts'
import type { RRset } from '../../store/rrsets.ts'
import { isEffective, placeOf, planItem, type Authorise, type Change, type Outcome, type Zone } from './changes.ts'
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
  const found: Problems[] = []
  let isValid = true
  for (const outcome of outcomes(view, 0, authorise)) {
    if ('after' in outcome) changes.push(outcome)
    else isValid = false
    if (found.length < KEPT) found.push(problemsOf(outcome))
    yield
  }
  if (!isValid) throw new Invalid({ [Symbol.iterator]: () => problems(view, found) })
  return changes
}

/** Of so many items the problems are kept; those of more, which are small then, take less time than memory. */
const KEPT = 10_000

/** The problems of each item; of the first ones they are known. */
function* problems(view: View, known: Problems[]): Generator<Problems> {
  yield* known
  for (const outcome of outcomes(view, known.length, () => undefined)) yield problemsOf(outcome)
}

/** The outcome of each item, beginning with one of them. @throws Denied */
function* outcomes(view: View, first: number, authorise: Authorise): Generator<Outcome> {
  const { inputs } = view
  let outcome: Outcome | undefined
  for (let i = first; i < inputs.length; i++) {
    // What has no place has nothing to do with others.
    const isSame = inputs[i] === inputs[i - 1] && inputs[i]!.type === undefined
    if (outcome === undefined || !isSame) outcome = plan(view, i, authorise)
    yield outcome
  }
}

function problemsOf(outcome: Outcome): Problems {
  return 'after' in outcome ? NO_PROBLEMS : outcome.problems
}

/** The zone and the request, each item findable by its place. */
interface View extends Zone {
  method: Method
  inputs: ItemInput[]
  /** Positions in the request by subname and type. */
  placed: Positions
  /** Positions in the request by subname. */
  asked: Positions
  /** Positions in what the database has, by subname. */
  stored: Positions
  /** By the first position at a place: what is said of all there that come after those that are named. */
  repeated: Map<number, Problems>
}

function* survey(zone: Zone, method: Method, inputs: ItemInput[]): Work<View> {
  const placed = new Positions(inputs.length)
  const asked = new Positions(inputs.length)
  const stored = new Positions(zone.current.length)
  for (let i = zone.current.length - 1; i >= 0; i--) {
    stored.put(i, zone.current[i]!.subname)
    yield
  }
  for (let i = inputs.length - 1; i >= 0; i--) {
    yield
    const { subname, type } = placeOf(inputs[i]!)
    if (inputs[i]!.isPlaceless || type === undefined) continue
    placed.put(i, subname, type)
    asked.put(i, subname)
  }
  return { ...zone, method, inputs, placed, asked, stored, repeated: new Map() }
}

/** Positions by place, in order. A list and a text for each place would take several times as much memory. */
class Positions {
  /** The first position by group and key. */
  readonly #first = new Map<string, Map<string, number>>()
  /** After each position the next one at the same place; after the last one, none that exists. */
  readonly #next: Int32Array

  constructor(length: number) {
    this.#next = new Int32Array(length)
  }

  /** To be called for the last position first. */
  put(position: number, subname: string, type = ''): void {
    const [group, key] = grouped(subname, type)
    const first = this.#first.get(group) ?? new Map<string, number>()
    this.#next[position] = first.get(key) ?? this.#next.length
    this.#first.set(group, first.set(key, position))
  }

  /** The first positions, at most so many. */
  at(subname: string, type = '', most = Infinity): number[] {
    const positions: number[] = []
    const [group, key] = grouped(subname, type)
    let at = this.#first.get(group)?.get(key) ?? this.#next.length
    while (at < this.#next.length && positions.length < most) {
      positions.push(at)
      at = this.#next[at]!
    }
    return positions
  }
}

/**
 * Groups by type, which need no text for type and subname, and by last character: a map of a million entries would take
 * long to grow. What is no type is no group of its own; the number in front tells where such a text ends.
 */
function grouped(subname: string, type: string): [group: string, key: string] {
  if (type === '' || TYPES.has(type)) return [`${type} ${subname.slice(-1)}`, subname]
  if (subname === '') return [`none at the apex ${type.slice(-1)}`, type]
  return [`none ${subname.slice(-1)}`, `${type.length} ${type} ${subname}`]
}

/** The stages of contract §8.7. @throws Denied */
function plan(view: View, i: number, authorise: Authorise): Outcome {
  const { method, inputs, placed } = view
  const input = inputs[i]!
  if (input.isPlaceless) return input
  const { subname, type } = placeOf(input)
  const same = type === undefined ? [] : placed.at(subname, type, NAMED_POSITIONS + 2)
  if (same.length > 1) return { problems: notUnique(view, same, i) }
  const before = storedAt(view, subname).find((rrset) => rrset.type === type)
  const neighbours = () => neighboursOf(view, i, subname)
  return planItem(view, { method, input, target: undefined, before, neighbours }, authorise)
}

/** @param positions those with the same place; of more than can be named, one more */
function notUnique({ repeated }: View, positions: number[], own: number): Problems {
  const isMore = positions.length - 1 > NAMED_POSITIONS
  const isNamed = own <= positions[NAMED_POSITIONS - 1]!
  const known = isMore && !isNamed ? repeated.get(positions[0]!) : undefined
  if (known !== undefined) return known
  const others = positions.filter((position) => position !== own)
  const named = others.slice(0, NAMED_POSITIONS).join(', ')
  const text = `Same subname and type as in position(s) ${named}${isMore ? ', …' : ''}, but must be unique.`
  const problems = { non_field_errors: [text] }
  if (isMore && !isNamed) repeated.set(positions[0]!, problems)
  return problems
}

/** What other items put at a subname, and what the database has there, without what this request deletes. */
function neighboursOf(view: View, i: number, subname: string): Neighbour[] {
  const { method, inputs, asked } = view
  const positions = asked.at(subname)
  const stored = storedAt(view, subname)
  if (positions.length === 1 && stored.length === 0) return []
  const isRemoval = (position: number) => inputs[position]!.records?.length === 0
  const removed = new Set(
    method === 'POST' ? [] : positions.filter(isRemoval).map((position) => inputs[position]!.type),
  )
  const others = positions.filter((position) => position !== i && !isRemoval(position))
  const present = stored.filter(({ type }) => !removed.has(type))
  return [
    ...others.map((place): Neighbour => ({ place, type: inputs[place]!.type! })),
    ...present.map(({ type }): Neighbour => ({ place: 'database', type })),
  ]
}

function storedAt({ current, stored }: View, subname: string): RRset[] {
  return stored.at(subname).map((position) => current[position]!)
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
