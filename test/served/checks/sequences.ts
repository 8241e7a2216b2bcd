import type { ExecutionContext } from 'ava'
import { SMALL_ZONE } from '../../../src/service/zone/rectification.ts'
import type { Client } from '../../support/clients/client.ts'
import { verifyTransfer } from '../../support/dns/dns.ts'
import { type Host, type Question, Zone } from '../../support/dns/zone.ts'
import { ancestors } from '../../support/dns/zone-model.ts'
import type { TestService } from '../../support/harness.ts'
import { Random } from '../../support/random.ts'

/** Names that affect each other's answers: empty non-terminals, wildcards at several depths, names below one another. */
export const SUBNAMES = [
  'a', 'b', 'a.a', 'b.a', 'a.b', 'a.a.a', 'b.a.a', 'a.a.b', 'a.b.b', 'c.a.b.b',
  '*', '*.a', '*.b', '*.a.a', '*.b.b', '*.x', 'k.j.i.h.g.f.a', 'i.h.g.f.a', 'y.x',
] // prettier-ignore
/** Never written: DNS denies them, expands a wildcard, or answers with a referral. */
const NEVER_WRITTEN = ['z', 'z.a', 'z.b.a', 'z.a.b.b', 'z.x', 'x', 'h.g.f.a', 'z.h.g.f.a', 'ns.a', 'z.z.z']
export const TYPES = ['A', 'TXT', 'MX', 'NS', 'DS', 'CNAME'] as const
type Type = (typeof TYPES)[number] | 'DNAME'

/** A change of one RRset; without records it is deleted. */
export interface Step {
  subname: string
  type: Type
  records: string[]
  ttl: number
}

/** A change that was made. */
export interface Changed extends Step {
  /** The types that the name had. */
  before: string[]
  /** Whether PowerDNS rectified the zone. */
  isRectified: boolean
}

/** What changes in a zone. */
export interface Choices {
  subnames: readonly string[]
  types: readonly Type[]
}

export interface Sequence {
  zone: string
  /** The number of RRsets that do not change. */
  size: number
  steps: number
  /** The number of answers that `delv` validates after each step; each takes long. */
  validated: number
}

/**
 * Changes a zone at random. Asserts after every step that the answers for names around the change are correct, and
 * after every 20th step those for all names; that PowerDNS rectified the zone if the step needs it, and in a large zone
 * with LMDB only then; and at the end that a transfer of the zone is valid. Steps that change the zone's structure, where random
 * choice finds one, alternate with steps that change only contents.
 */
export async function changeAtRandom(t: ExecutionContext, service: TestService, sequence: Sequence): Promise<void> {
  const random = new Random()
  const { api } = await service.account()
  const changing = await ChangingZone.create(service, api, sequence, random)
  const { zone } = changing
  for (let i = 0; i < sequence.steps; i++) {
    const { subname } = await changing.change(t, i % 2 === 0)
    const other = random.some(changing.names(), 4)
    const questions = changing.questions([...around(zone, subname), ...other])
    await zone.answers(t, questions)
    const [name, ...above] = ancestors(zone.at(subname), zone.at(''))
    const changed = changing.questions([name ?? zone.at(''), ...above.slice(0, 1)])
    await zone.validates(t, random.some(changed, Math.ceil(sequence.validated / 2)))
    await zone.validates(t, random.some(questions, Math.floor(sequence.validated / 2)))
    if (i % 20 === 19) await zone.answers(t, changing.questions(changing.names({ stable: false })))
  }
  await verifyTransfer(service.powerDns, zone.name, zone.ds)
}

/** A zone that is changed at random. */
export class ChangingZone {
  readonly zone: Zone
  readonly #random: Random
  readonly #choices: Choices
  /** Of names that do not change. */
  readonly #fillers: string[]
  /** See watchRectify. */
  readonly #rectified: () => boolean[]
  readonly #alwaysRectifies: boolean

  private constructor(service: Watched, zone: Zone, random: Random, choices: Choices, fillers: string[]) {
    this.zone = zone
    this.#random = random
    this.#choices = choices
    this.#fillers = fillers
    this.#rectified = watchRectify(service, zone.name)
    this.#alwaysRectifies = service.system.nameserver.alwaysRectify
  }

  /** @param sequence.size the number of RRsets that do not change */
  static async create(
    service: Watched,
    api: Client,
    { zone: name, size }: Pick<Sequence, 'zone' | 'size'>,
    random: Random,
    choices: Choices = { subnames: SUBNAMES, types: TYPES },
  ): Promise<ChangingZone> {
    const zone = await Zone.create(service, api, name)
    const fillers = await fill(zone, size)
    return new ChangingZone(service, zone, random, choices, fillers)
  }

  /**
   * Makes a random change. Asserts that PowerDNS rectified the zone if that needs it, and in a large zone with LMDB only then.
   * @param structural whether the zone's structure shall change, if random choice finds such a change
   */
  async change(t: ExecutionContext, structural: boolean): Promise<Changed> {
    const { zone } = this
    const step = choose(zone, this.#random, this.#choices, structural)
    const before = zone.model.at(zone.at(step.subname)).map(({ type }) => type)
    const needed = needsRectify(zone, step)
    this.#rectified()
    await apply(zone, step)
    const isRectified = needed || this.#alwaysRectifies || zone.model.all().length <= SMALL_ZONE
    t.deepEqual(this.#rectified(), [isRectified], JSON.stringify(step))
    return { ...step, before, isRectified }
  }

  /** All names that may be in the zone, and some that are never written. @param options.stable whether also those of fillers */
  names({ stable } = { stable: true }): string[] {
    const subnames = [...this.#choices.subnames, ...NEVER_WRITTEN, '', ...(stable ? this.#fillers : [])]
    return subnames.map((subname) => this.zone.at(subname))
  }

  /** Questions for these names, some of them at random. */
  questions(names: string[]): Question[] {
    return questionsFor(this.zone, this.#random, names)
  }
}

/** A service whose requests to PowerDNS can be observed. */
type Watched = Host & Pick<TestService, 'proxy'>

/**
 * Observes the requests to PowerDNS about a zone. The returned function reports, for each publication since its last
 * call, whether the zone was rectified with it.
 */
function watchRectify({ proxy }: Watched, zone: string): () => boolean[] {
  let seen = 0
  let setting = true
  return () => {
    const publications: boolean[] = []
    for (const { method, path, body } of proxy.calls.slice(seen)) {
      if (path === `/zones/${zone}.` && method === 'PUT') setting = (JSON.parse(body) as Setting).api_rectify
      if (path === `/zones/${zone}.` && method === 'PATCH') publications.push(setting)
      if (path === `/zones/${zone}./rectify`) publications[publications.length - 1] = true
    }
    seen = proxy.calls.length
    return publications
  }
}

interface Setting {
  api_rectify: boolean
}

/**
 * Whether a step changes delegations, names, with NSEC those that empty non-terminals depend on, or writes an RRset below
 * a delegation.
 */
function needsRectify(zone: Zone, step: Step): boolean {
  const belowCut = zone.model.cutAbove(zone.at(step.subname)) !== undefined
  const isWritten = belowCut && step.records.length > 0 && step.type !== 'DS'
  if (isWritten || isCut(step)) return isWritten || isStructural(zone, step)
  return isStructural(zone, step) && (zone.model.proof === 'NSEC3' || isAmongNonTerminals(zone, step.subname))
}

/** Whether a name has names below it, or an ancestor without RRsets. */
function isAmongNonTerminals(zone: Zone, subname: string): boolean {
  const name = zone.at(subname)
  const above = ancestors(name, zone.at('')).slice(1)
  return (
    above.some((ancestor) => ancestor !== zone.at('') && zone.model.at(ancestor).length === 0) ||
    zone.model.all().some((rrset) => rrset.name.endsWith(`.${name}`))
  )
}

function isCut({ subname, type }: Step): boolean {
  return (type === 'NS' && subname !== '') || type === 'DS' || type === 'DNAME'
}

/** Adds `size` RRsets that do not change, two per name, some at deep names; returns the subnames. */
async function fill(zone: Zone, size: number): Promise<string[]> {
  const subnames = Array.from({ length: Math.ceil(size / 2) }, (_, i) => `f${i}${i % 5 === 0 ? `.e${i % 3}.deep` : ''}`)
  const all = subnames.flatMap((subname) => [
    { subname, type: 'A', records: ['192.0.2.9'] },
    { subname, type: 'TXT', records: ['"filler"'] },
  ])
  await zone.fill(all.slice(0, size))
  return subnames
}

/** A random step that the API accepts, structural or not as asked, unless 200 attempts find no such step. */
function choose(zone: Zone, random: Random, choices: Choices, structural: boolean): Step {
  let step: Step
  let tries = 0
  do step = attempt(zone, random, choices)
  while (!isAllowed(zone, step, choices) || (isStructural(zone, step) !== structural && ++tries < 200))
  return step
}

function attempt(zone: Zone, random: Random, { subnames, types }: Choices): Step {
  // Sometimes the apex is chosen, so that its NS RRset changes, too.
  const subname = random.below(12) === 0 ? '' : random.of(subnames)
  const type = random.of(subname === '' ? (['A', 'TXT', 'MX', 'NS'] as const) : types)
  const present = zone.model.get(zone.at(subname), type) !== undefined
  const removed = present && random.below(2) === 0
  const records = removed ? [] : contents(zone, random, type, [...subnames, ...NEVER_WRITTEN])
  return { subname, type, records, ttl: 60 + random.below(3) }
}

/** @param subnames that may be in the contents */
function contents(zone: Zone, random: Random, type: Type, subnames: string[]): string[] {
  const name = () => zone.at(random.of(subnames.filter((subname) => !subname.startsWith('*'))))
  const host = () => zone.at(random.of(subnames.filter((subname) => !/[*_-]/.test(subname))))
  switch (type) {
    case 'A':
      return random.some(['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4'], 1 + random.below(3))
    case 'TXT':
      return [`"${random.below(1000)}"`]
    case 'MX':
      return [`${random.below(100)} ${host()}`]
    case 'NS':
      return [...new Set([host(), `ns${random.below(9)}.example.`])]
    case 'DS':
      return [`${random.below(65536)} 13 2 ${'ab'.repeat(32)}`]
    case 'CNAME':
      return [random.below(4) === 0 ? 'elsewhere.example.' : name()]
    case 'DNAME':
      return [`elsewhere${random.below(9)}.example.`]
  }
}

/** Whether the API accepts a step, the step has an effect, and the model can predict the answers. */
function isAllowed(zone: Zone, { subname, type, records, ttl }: Step, { subnames }: Choices): boolean {
  if (records.length === 0) return true
  const name = zone.at(subname)
  const present = zone.model.get(name, type)
  if (present?.ttl === ttl && [...present.records].sort().join() === [...records].sort().join()) return false
  if (zone.model.redirection(name) !== undefined) return false
  if ((type === 'NS' || type === 'DS') && subname !== '' && !mayDelegate(zone, name)) return false
  if (type === 'DNAME' && !mayRedirect(zone, name)) return false
  const others = zone.model.at(name).filter((rrset) => rrset.type !== type)
  if (type === 'CNAME') return others.length === 0 && !couldLoop(zone, subnames, name, records[0]!)
  return others.every((rrset) => rrset.type !== 'CNAME')
}

/**
 * Whether a delegation may be here: not at a wildcard, where the answers are not defined (RFC 4592 §4.2), not beside a
 * DNAME, and not above or below another delegation or DS, where the API refuses it (contract §8.10).
 */
function mayDelegate(zone: Zone, name: string): boolean {
  const cut = zone.model.cutAbove(name)
  const below = zone.model
    .all()
    .some(({ name: other, type }) => /^(NS|DS|DNAME)$/.test(type) && other.endsWith(`.${name}`))
  const isFree = !below && zone.model.get(name, 'DNAME') === undefined
  return !name.startsWith('*') && (cut === undefined || cut === name) && isFree
}

/**
 * Whether a DNAME may be here: not at a wildcard (RFC 6672 §3.3), not at or below a delegation, and not above any name,
 * where the API refuses it.
 */
function mayRedirect(zone: Zone, name: string): boolean {
  const isAbove = zone.model.all().some((rrset) => rrset.name.endsWith(`.${name}`))
  return !name.startsWith('*') && !isAbove && zone.model.cutAbove(name) === undefined
}

/** Whether a CNAME could close a loop: targets must be later in the list, and those of wildcards outside the zone. */
function couldLoop(zone: Zone, subnames: readonly string[], from: string, to: string): boolean {
  const rank = (name: string) => [...subnames, ...NEVER_WRITTEN].findIndex((subname) => zone.at(subname) === name)
  return !to.endsWith('example.') && (from.startsWith('*') || rank(to) <= rank(from))
}

/** Whether a step creates or deletes a name, a delegation, a DS or a DNAME. */
function isStructural(zone: Zone, step: Step): boolean {
  const { subname, type, records } = step
  const types = zone.model.at(zone.at(subname)).map((rrset) => rrset.type)
  const isCreated = !types.includes(type) && records.length > 0
  const isDeleted = types.includes(type) && records.length === 0
  if (!isCreated && !isDeleted) return false
  if (isCreated ? types.length === 0 : types.length === 1) return true
  return isCut(step)
}

async function apply(zone: Zone, { subname, type, records, ttl }: Step): Promise<void> {
  if (records.length === 0) await zone.remove(subname, type)
  else await zone.put(subname, type, records, ttl)
}

/** A name, its ancestors, and names that are never written beside and below them, which wildcards may match. */
export function around(zone: Zone, subname: string): string[] {
  const name = zone.at(subname)
  const above = ancestors(name, zone.at(''))
  const plain = above.map((ancestor) => ancestor.replace(/^\*\./, ''))
  return [
    ...new Set([name, ...plain, `nope.${plain[0] ?? name}`, ...plain.map((ancestor) => `w.${ancestor}`), zone.at('')]),
  ]
}

/**
 * Questions for these names, without those that no resolver asks here: for a DS at the apex or below a delegation.
 * None asks for the CNAME of a wildcard: PowerDNS follows it and denies that its target has another.
 */
function questionsFor(zone: Zone, random: Random, names: string[]): Question[] {
  return names.flatMap((name) => {
    const cut = zone.model.cutAbove(name)
    const types = ['A', 'NS', random.of(['TXT', 'MX'])]
    if (name !== zone.at('') && (cut === undefined || cut === name)) types.push('DS')
    for (const alias of ['CNAME', 'DNAME']) if (zone.model.get(name, alias) !== undefined) types.push(alias)
    return types.map((type): Question => [name, type])
  })
}
