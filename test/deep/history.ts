// What clients of one domain and an observer did and saw, and whether the documents allow it.

/** The address or TTL of an RRset that does not exist. */
export const NONE = 'none'
/** As a need: any value but NONE. */
export const SOME = 'some'

/** Values by what has them: the address and the TTL of each RRset, as in `{ 'www address': …, 'www ttl': … }`. */
export type Values = Record<string, string>

/** Milliseconds by `performance.now()`. */
export interface Span {
  from: number
  to: number
}

/**
 * How a write ended.
 * - done: 2xx
 * - refused: 4xx
 * - failed: 503 "Nothing was changed", or "The change was not made"
 * - unknown: 503 "unknown", or the connection was lost
 * - unexpected: any other answer, or 2xx to an invalid request
 */
export type Outcome = 'done' | 'refused' | 'failed' | 'unknown' | 'unexpected'

/** A request to change RRsets. No two give the same value, except NONE. */
export interface Write extends Span {
  kind: 'write'
  text: string
  sets: Values
  /** What must be so when it is carried out. */
  needs: Values
  outcome: Outcome
}

/** A request that causes a mail to an address of its own. */
export interface Mailing extends Span {
  kind: 'mailing'
  text: string
  address: string
  outcome: Outcome
}

/** A mail that arrived; `id` is the same if it was sent again. */
export interface Delivery extends Span {
  kind: 'delivery'
  address: string
  id: string
}

/** What an answer of the API tells of the database at one moment. */
export interface Read extends Span {
  kind: 'read'
  seen: Values
}

/** An answer of DNS about one RRset. */
export interface Look extends Span {
  kind: 'look'
  seen: Values
}

/** An answer of DNS about the SOA. */
export interface SerialLook extends Span {
  kind: 'serial'
  serial: number
}

/** A change of the zone that PowerDNS got; `to` is Infinity if it never answered. */
export interface Push extends Span {
  kind: 'push'
  serial: number
}

export type Event = Write | Mailing | Delivery | Read | Look | SerialLook | Push

export interface History {
  events: Event[]
  /** When the last fault was over. */
  healed: number
  /** When all repairs were done. */
  settled: number
}

/**
 * Milliseconds after which DNS no longer shows a change that failed, or that came late, once all faults are over. The
 * documents promise 11 s at most, and 15 s after a crash of Postgres (architecture.md, "Late requests"). Here dozens of zones
 * wait for repair at once, on a machine that may be busy. What is not repaired for these reasons is only found ten minutes
 * later, by an audit.
 */
export const BOUND = 120_000

/** What the history shows that must not be, in words. */
export function violations(history: History): string[] {
  const { events } = history
  return [
    ...unexpectedAnswers(events),
    ...wrongReads(events),
    ...wrongLooks(history),
    ...serialsBack(history),
    ...foreignMails(events),
    ...lostMails(events),
  ]
}

/** What must not be even if Postgres has lost acknowledged changes, as an asynchronous standby may. */
export function violationsDespiteLoss({ events }: History): string[] {
  return [...unexpectedAnswers(events), ...refusedReads(events), ...foreignMails(events)]
}

function unexpectedAnswers(events: Event[]): string[] {
  const unexpected = events.filter((event) => 'outcome' in event && event.outcome === 'unexpected')
  return unexpected.map((event) => `unexpected answer: ${describe(event)}`)
}

/** One line about an event. */
export function describe(event: Event): string {
  const what = {
    write: () => `${(event as Write).text}: ${(event as Write).outcome}`,
    mailing: () => `${(event as Mailing).text}: ${(event as Mailing).outcome}`,
    delivery: () => `mail ${(event as Delivery).id} arrives at ${(event as Delivery).address}`,
    read: () => `the API shows ${print((event as Read).seen)}`,
    look: () => `DNS shows ${print((event as Look).seen)}`,
    serial: () => `DNS shows serial ${(event as SerialLook).serial}`,
    push: () => `PowerDNS gets serial ${(event as Push).serial}`,
  }[event.kind]()
  return `${event.from.toFixed(1)} to ${event.to.toFixed(1)}: ${what}`
}

function print(values: Values): string {
  return Object.entries(values)
    .map(([what, value]) => `${what} ${value}`)
    .join(', ')
}

function writesOf(events: Event[]): Write[] {
  return events.filter((event) => event.kind === 'write')
}

/**
 * Reads whose values nobody may see; else a request that fits into no order. For the API there must be an order of all
 * requests in which each takes effect at one moment between its sending and its answer, and the answers are true.
 */
function wrongReads(events: Event[]): string[] {
  const found = refusedReads(events)
  if (found.length > 0) return found
  const reads = events.filter((event) => event.kind === 'read')
  const misfit = unexplained([...writesOf(events).filter(({ outcome }) => isPossible(outcome)), ...reads])
  return misfit === undefined ? [] : [`no order of the requests explains: ${describe(misfit)}`]
}

/** Reads whose values nobody may see. */
function refusedReads(events: Event[]): string[] {
  const reads = events.filter((event) => event.kind === 'read')
  const writes = writesOf(events)
  return reads.flatMap((read) => {
    const foreign = Object.entries(read.seen).filter(
      ([what, value]) =>
        value !== NONE && !writes.some(({ sets, outcome }) => sets[what] === value && isPossible(outcome)),
    )
    return foreign.length === 0 ? [] : [`${print(Object.fromEntries(foreign))} was refused: ${describe(read)}`]
  })
}

function isPossible(outcome: Outcome): boolean {
  return outcome === 'done' || outcome === 'unknown'
}

/**
 * The request that cannot be placed in the longest order of these requests; undefined: some order explains all. Writes of
 * unknown outcome may be left out, and may take effect at any time after their sending.
 */
function unexplained(requests: (Write | Read)[]): Write | Read | undefined {
  const relied = requests.flatMap((request) => Object.entries(request.kind === 'read' ? request.seen : request.needs))
  // An unknown write of values that nobody saw or relied on explains nothing.
  const isReliedOn = ([what, value]: [string, string]) =>
    value === NONE || relied.some(([which, needed]) => needed === value || (needed === SOME && which === what))
  const relevant = requests.filter(
    (request) => !isOptional(request) || Object.entries((request as Write).sets).some(isReliedOn),
  )
  const tried = new Set<string>()
  let fewest = Infinity
  let misfit: Write | Read | undefined

  function fits(state: Values, left: readonly number[]): boolean {
    const needed = left.filter((i) => !isOptional(relevant[i]!))
    if (needed.length === 0) return true
    const key = `${left.join()} ${JSON.stringify(Object.entries(state).sort())}`
    if (tried.has(key)) return false
    tried.add(key)
    const first = needed.reduce((a, b) => (relevant[a]!.to <= relevant[b]!.to ? a : b))
    const possible = left.filter((i) => relevant[i]!.from <= relevant[first]!.to)
    // A read that is true now can be placed now: it changes nothing.
    const trueNow = possible.find((i) => relevant[i]!.kind === 'read' && carryOut(relevant[i]!, state) !== undefined)
    for (const i of trueNow === undefined ? possible : [trueNow]) {
      const after = carryOut(relevant[i]!, state)
      const others = left.filter((other) => other !== i)
      if (after !== undefined && fits(after, others)) return true
    }
    if (needed.length < fewest) {
      fewest = needed.length
      misfit = relevant[first]
    }
    return false
  }

  return fits({}, [...relevant.keys()]) ? undefined : misfit
}

function isOptional(request: Write | Read): boolean {
  return request.kind === 'write' && request.outcome === 'unknown'
}

/** The values after a request; undefined: its answer would have been another one. A missing value is NONE. */
function carryOut(request: Write | Read, state: Values): Values | undefined {
  const needs = request.kind === 'read' ? request.seen : request.needs
  const isSo = Object.entries(needs).every(([what, value]) =>
    value === SOME ? (state[what] ?? NONE) !== NONE : (state[what] ?? NONE) === value,
  )
  if (!isSo) return undefined
  return request.kind === 'read' ? state : { ...state, ...request.sets }
}

/** Answers of DNS with a value that was refused, failed, or overwritten. */
function wrongLooks(history: History): string[] {
  const looks = history.events.filter((event) => event.kind === 'look')
  const writes = writesOf(history.events)
  const isExcused = excuse(history)
  const pushes = history.events.filter((event) => event.kind === 'push')
  /** When a look certainly tells of all names: PowerDNS empties its cache of answers at the end of a change. */
  const endOf = (look: Look) =>
    Math.max(look.to, ...pushes.filter(({ from, to }) => from < look.to && look.from < to).map(({ to }) => to))
  /** When DNS certainly showed a value of a write that was done: all of a bulk write, once a part of it was seen. */
  const effective = (write: Write, what: string) =>
    Math.min(
      write.to,
      ...looks.filter(({ seen }) => isPartOf(seen, write)).map((look) => (what in look.seen ? look.to : endOf(look))),
    )

  function problem(look: Look, what: string, value: string): string | undefined {
    const sources = writes.filter(
      ({ sets, from, outcome }) => sets[what] === value && from < look.to && outcome !== 'refused',
    )
    const isInitial = value === NONE
    if (sources.length === 0 && !isInitial) return 'was refused, or never sent'
    if (isExcused(look)) return undefined
    const isOver = (write: Write) =>
      write.outcome === 'failed' && look.from > Math.min(history.settled, Math.max(write.to, history.healed) + BOUND)
    const later = (source: Write | undefined) =>
      writes.find(
        (write) =>
          write.outcome === 'done' &&
          what in write.sets &&
          write.from > (source?.to ?? -Infinity) &&
          effective(write, what) < look.from &&
          // A deletion of what the database does not have changes nothing in DNS, even while repair is due, and not even
          // as a part of a bulk write.
          (source === undefined || source.outcome === 'done' || write.sets[what] !== NONE),
      )
    const overwritten: Write[] = []
    for (const source of isInitial ? [undefined, ...sources] : sources) {
      if (source !== undefined && isOver(source)) continue
      const write = later(source)
      if (write === undefined) return undefined
      overwritten.push(write)
    }
    return overwritten[0] === undefined ? 'failed' : `was overwritten by ${overwritten[0].text}`
  }

  return looks.flatMap((look) =>
    Object.entries(look.seen).flatMap(([what, value]) => {
      const found = problem(look, what, value)
      return found === undefined ? [] : [`${what} ${value} ${found}: ${describe(look)}`]
    }),
  )
}

function isPartOf(seen: Values, { sets }: Write): boolean {
  return Object.entries(seen).some(([what, value]) => value !== NONE && sets[what] === value)
}

/** Requests of whose mail another one arrived, and those that were refused or failed, of which any did. */
function foreignMails(events: Event[]): string[] {
  return mailings(events).flatMap(([mailing, ids]) => {
    if (ids.size > 1) return [`${ids.size} mails, not one again: ${describe(mailing)}`]
    return ids.size === 1 && !isPossible(mailing.outcome) ? [`a mail arrived: ${describe(mailing)}`] : []
  })
}

/** Requests that were acknowledged, and whose mail did not arrive. */
function lostMails(events: Event[]): string[] {
  return mailings(events).flatMap(([mailing, ids]) =>
    mailing.outcome === 'done' && ids.size === 0 ? [`no mail arrived: ${describe(mailing)}`] : [],
  )
}

/** The requests that cause mails, and the ids of those that arrived. */
function mailings(events: Event[]): [Mailing, Set<string>][] {
  const arrived = events.filter((event) => event.kind === 'delivery')
  return events
    .filter((event) => event.kind === 'mailing')
    .map((mailing) => [mailing, new Set(arrived.flatMap(({ address, id }) => (address === mailing.address ? id : [])))])
}

/** Answers of DNS with a serial below one that was seen before. */
function serialsBack(history: History): string[] {
  const looks = history.events.filter((event) => event.kind === 'serial')
  const isExcused = excuse(history)
  return looks.flatMap((look) => {
    const higher = looks.find(({ serial, to }) => to < look.from && serial > look.serial)
    return higher === undefined || isExcused(look) ? [] : [`after serial ${higher.serial}: ${describe(look)}`]
  })
}

/**
 * Whether DNS may show an earlier state for now: PowerDNS has applied, or may have applied, a change after a later one. A
 * change is later if its serial is higher: each worker gets a new one under the zone's lock.
 */
function excuse({ events, healed, settled }: History): (span: Span) => boolean {
  const late = latePushes(events)
  return ({ from, to }) =>
    from < settled && late.some((push) => push.from < to && from < Math.max(healed, push.to) + BOUND)
}

/** The changes that PowerDNS applied, or may have applied, after a later one. */
export function latePushes(events: Event[]): Push[] {
  const pushes = events.filter((event) => event.kind === 'push')
  return pushes.filter((push) => pushes.some(({ serial, from }) => serial > push.serial && from < push.to))
}
