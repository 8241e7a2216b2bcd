import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { query } from '../../src/store/database.ts'
import { createAccount } from '../support/clients/accounts.ts'
import { domainOf, type ShownDomain } from '../support/clients/api.ts'
import { type Answer, Client } from '../support/clients/client.ts'
import {
  type Key,
  keyFor,
  messageOf,
  type Parts,
  rcodeOf,
  sendByTcp,
  signedWith,
} from '../support/clients/dns-update.ts'
import { discrepanciesOf } from '../support/dns/discrepancies.ts'
import { ask } from '../support/dns/dns.ts'
import { eventually, eventuallyIs } from '../support/eventually.ts'
import type { Services } from '../support/harness.ts'
import { Random } from '../support/random.ts'
import type { MailServer } from '../support/servers/mail-server.ts'
import type { Call } from '../support/servers/proxy.ts'
import type { Servers } from '../support/servers/servers.ts'
import type { Worker } from '../support/workers.ts'
import type { Clients, Fault, Scene } from './faults.ts'
import {
  BOUND,
  describe,
  type Event,
  type History,
  latePushes,
  type Mailing,
  NONE,
  type Outcome,
  SOME,
  type Values,
  violations,
  type Write,
} from './history.ts'

/** How much happened in some histories. */
export type Counts = Record<Outcome | 'reads' | 'looks' | 'late' | 'rollovers' | 'mails' | 'again', number>

const SUBNAMES = ['a', 'b', 'c']

/** How many clients a history has, and how many requests each sends, at least. */
const CLIENTS = 3
const REQUESTS = 3

/** One domain of an account of its own, and what its clients did and saw. */
interface Actors {
  domain: string
  secret: string
  /** The TSIG key of its token. */
  key: Key
  /** The keys that it has unless they are being replaced. */
  keys: string[]
  events: Event[]
  /** How many values were used. */
  values: number
}

/** How far the clients and observers of some histories are. */
interface Phase extends Clients {
  /** All requests are answered, and the faults are over: only repairs still change something. */
  isHealed: boolean
  isOver: boolean
}

/** A PowerDNS that answers questions about the domains. */
type Primary = Pick<Servers, 'proxy' | 'powerDns' | 'pdns'>

/** Histories that run at the same time. */
export interface Batch {
  seed: number
  size: number
  /** Of the domains' names. */
  prefix: string
  /** The faults that they share. */
  draw: (random: Random, scene: Scene) => Fault[]
  /** Called when the domains exist, before the first request. */
  ready?: () => Promise<void>
  /** The primaries whose answers must be right all the time; without it, all. Those of the others must be so in the end. */
  observed?: Primary[]
  /** What must not be in a history; without it, `violations`. */
  judge?: (history: History) => string[]
  /** The longest milliseconds between two requests of a client, so that requests meet faults that last; without it, 40. */
  pace?: number
  /** Whether commits can be lost. Then a key of a replacement that nobody knows of any more stays: its DS may be at the parent. */
  loses?: boolean
}

/**
 * Some histories at the same time, with faults of the servers that they share. The seed determines all choices, though
 * not which request meets which fault.
 * @param primaries that have all domains
 * @returns what must not be, with all that led to it
 */
export async function runBatch(
  services: Pick<Services, 'system'>,
  primaries: Primary[],
  workers: Worker[],
  mails: MailServer,
  { seed, size, prefix, draw, ready, observed = primaries, judge = violations, pace = 40, loses = false }: Batch,
): Promise<{ failures: string[]; counts: Counts }> {
  const random = new Random(seed)
  const phase: Phase = { sent: 0, running: 0, places: Infinity, isHealed: false, isOver: false }
  const faults = draw(random, { workers, requests: size * CLIENTS * REQUESTS, clients: phase })
  const all = await Promise.all(
    Array.from({ length: size }, (_, i) => newActors(services, random.of(workers), `${prefix}-${i}.example`)),
  )
  await ready?.()
  for (const { proxy } of primaries) proxy.calls.length = 0
  const observing = all.map((actors) => observe(observed, workers, actors, phase))
  const writing = all.flatMap((actors) =>
    Array.from({ length: CLIENTS + random.below(2) }, () =>
      act(workers, actors, phase, new Random(random.below(2 ** 31)), pace),
    ),
  )
  await Promise.all([...writing, ...faults.map(({ strike }) => strike())])
  const healed = performance.now()
  phase.isHealed = true
  const differences = await settle(services, primaries, workers, all, loses)
  const settled = performance.now()
  phase.isOver = true
  await Promise.all(observing)
  await Promise.all(all.map((actors) => lookAtAll(primaries, workers, actors)))

  const histories = all.map(({ domain, events }, i): History & { domain: string; found: string[] } => {
    const pushes = primaries.flatMap(({ proxy }) => pushesTo(domain, proxy.calls))
    const others = [...pushes, ...deliveriesOf(domain, mails)]
    const history = { events: [...events, ...others], healed, settled }
    return { domain, ...history, found: [...differences[i]!, ...judge(history)] }
  })
  const failures = histories
    .filter(({ found }) => found.length > 0)
    .map(({ domain, events, found }) => {
      const lines = events.sort((a, b) => a.from - b.from).map(describe)
      const replay = `${domain}: TEST_SEED=${seed} HISTORIES=${size} PROMOTIONS=1 makes the same choices again`
      const phases = `healed at ${healed.toFixed(1)}, settled at ${settled.toFixed(1)}`
      // What was found comes last: a log may be cut to its end.
      return [...lines, phases, ...faults.map(({ what }) => what), ...found, replay].join('\n')
    })
  return { failures, counts: count(histories) }
}

async function newActors({ system }: Pick<Services, 'system'>, { service }: Worker, domain: string): Promise<Actors> {
  const { secret, api, tokenId } = await createAccount(system, service.url)
  // On a busy machine, another PowerDNS can take over before anything is broken.
  const answer = await eventually(
    () => api.post('/domains/', { name: domain }),
    ({ status }) => status !== 503,
  )
  if (answer.status !== 201) throw new Error(`${answer.status} ${answer.text}`)
  const keys = (answer.json as ShownDomain).keys.map(({ dnskey }) => dnskey)
  return { domain, secret, key: await keyFor(api, tokenId), keys, events: [], values: 0 }
}

/** What a request sends, and what it means. */
interface Request {
  method: string
  /** Below the domain's RRsets, or from the root. */
  path: string
  json?: unknown
  headers?: Record<string, string>
  /** Whether it goes to PowerDNS' API. */
  byKey?: true
  /** Whether it is an update by DNS. */
  update?: Parts
  sets: Values
  needs: Values
  /** The answers that it may get, besides 503. */
  statuses: number[]
  /** What certainly was so if the answer is 404. */
  absent?: Values
  /** Where the mail goes that it causes. */
  address?: string
}

/** A client that sends a few requests, one after the other. */
async function act(workers: Worker[], actors: Actors, phase: Phase, random: Random, pace: number): Promise<void> {
  for (let left = REQUESTS + random.below(4); left > 0; left--) {
    phase.sent++
    await sleep(random.below(pace))
    while (phase.places < 1) await sleep(5)
    phase.places--
    phase.running++
    const worker = random.of(workers)
    const api = () => new Client(worker.service.url, actors.secret)
    const request = await choose(random, actors, api())
    let outcome = request && (await send(worker, actors, request))
    // A service that starts again would else be away for all that the clients have to send.
    for (let left = 1_000; outcome === 'unsent' && left > 0; left--) {
      await sleep(50)
      outcome = await send(worker, actors, request!)
    }
    phase.running--
    if (outcome === 'failed' || outcome === 'unknown') await sleep(200)
  }
}

/** The kinds of requests, by how many of 22 are of each. */
const WEIGHTS = {
  put: 3,
  bulk: 4,
  door: 2,
  update: 2,
  'update if': 1,
  delete: 1,
  ttl: 1,
  'if match': 2,
  invalid: 1,
  begin: 2,
  cancel: 1,
  mail: 2,
}
const KINDS = Object.entries(WEIGHTS).flatMap(([kind, weight]) => Array<string>(weight).fill(kind))

/** The value of the keys while they are being replaced. */
const REPLACED = { keys: 'replaced' }
const KEPT = { keys: NONE }

/** The next request; undefined if it depends on a read that fails. Draws the same numbers whatever happens. */
async function choose(random: Random, actors: Actors, api: Client): Promise<Request | undefined> {
  const kind = random.of(KINDS)
  const subname = random.of(SUBNAMES)
  const removed = SUBNAMES.filter(() => random.below(4) === 0)
  const spoiling = random.of(['address', 'ttl', 'twice', 'if match'])
  const number = ++actors.values
  const [records, ttl] = [[`192.0.${number >> 8}.${number & 255}`], 300 + number]
  const value = valuesOf(subname, records, ttl)
  const single = { path: `${subname}/A/`, absent: valuesOf(subname, [], 0) }
  const exists = { [`${subname} address`]: SOME }
  const put = {
    ...single,
    method: 'PUT',
    json: { subname, type: 'A', records, ttl },
    sets: value,
    needs: exists,
    statuses: [200, 404],
  }
  const items = SUBNAMES.map((each) => ({
    subname: each,
    type: 'A',
    ttl,
    records: removed.includes(each) ? [] : records,
  }))
  const bulk = {
    method: 'PUT',
    path: '',
    json: items,
    sets: Object.assign({}, ...items.map((item) => valuesOf(item.subname, item.records, ttl))) as Values,
    needs: {},
    statuses: [200],
  }
  // The same by PowerDNS' API, in several changes of each RRset.
  const amendments = items.flatMap((item) => {
    const named = { name: `${item.subname}.${actors.domain}.`, type: 'A', ttl }
    const extension = { ...named, changetype: 'EXTEND', records: [{ content: records[0] }] }
    return [{ ...named, changetype: 'DELETE' }, ...(item.records.length === 0 ? [] : [extension])]
  })
  if (kind === 'door') return { ...bulk, method: 'PATCH', json: { rrsets: amendments }, byKey: true, statuses: [204] }
  if (kind === 'update' || kind === 'update if') {
    const names = items.map((item) => ({
      ...item,
      name: `${item.subname}.${actors.domain}`,
      data: dataOf(records[0]!),
    }))
    const updates = names.flatMap(({ name, records: left, data }) => [
      { name, type: 1, class: 255 },
      ...(left.length === 0 ? [] : [{ name, type: 1, ttl, data }]),
    ])
    // The one of a name whose RRset exists, or not, as it was drawn.
    const isThere = removed.length % 2 === 0
    const prerequisite = { name: `${subname}.${actors.domain}`, type: 1, class: isThere ? 255 : 254 }
    const question = { name: actors.domain, type: 6 }
    const prerequisites = kind === 'update' ? [] : [prerequisite]
    return {
      ...bulk,
      json: undefined,
      method: 'UPDATE',
      path: JSON.stringify({ ttl, removed, prerequisites }),
      update: { id: number, question, sections: [prerequisites, updates, [{ name: '', type: 41, class: 1232 }]] },
      needs: kind === 'update' ? {} : { [`${subname} address`]: isThere ? SOME : NONE },
      statuses: kind === 'update' ? [200] : [200, 412],
    }
  }
  const rollover = { path: `/domains/${actors.domain}/rollover/`, absent: KEPT }
  // It goes no further: no parent, and none of the nameservers, answers.
  if (kind === 'begin')
    return { ...rollover, method: 'POST', json: {}, sets: REPLACED, needs: KEPT, statuses: [201, 409] }
  if (kind === 'cancel')
    return { ...rollover, method: 'DELETE', sets: KEPT, needs: REPLACED, statuses: [200, 204, 404] }
  if (kind === 'mail') {
    const address = `person-${number}@${actors.domain}`
    const json = { email: address, password: null, ...(spoiling === 'address' && { outreach_preference: 'perhaps' }) }
    return { method: 'POST', path: '/auth/', json, sets: {}, needs: {}, statuses: [202, 400], address }
  }
  if (kind === 'put') return put
  if (kind === 'bulk') return bulk
  if (kind === 'delete') {
    return { ...single, method: 'DELETE', sets: valuesOf(subname, [], 0), needs: {}, statuses: [204] }
  }
  if (kind === 'ttl') {
    const sets = { [`${subname} ttl`]: String(ttl) }
    return { ...single, method: 'PATCH', json: { ttl }, sets, needs: exists, statuses: [200, 404] }
  }
  if (kind === 'if match') {
    const read = await api.get(`/domains/${actors.domain}/rrsets/${subname}/A/`).catch(() => undefined)
    if (read?.status !== 200) return undefined
    const shown = read.json as { records: string[]; ttl: number }
    const needs = valuesOf(subname, shown.records, shown.ttl)
    return { ...put, headers: { 'if-match': read.headers['etag'] as string }, needs, statuses: [200, 404, 412] }
  }
  if (spoiling === 'address')
    return { ...put, json: { ...put.json, records: [...records, '192.0.2.256'] }, statuses: [400, 404] }
  if (spoiling === 'ttl') return { ...bulk, json: [...items.slice(1), { ...items[0], ttl: 86_401 }], statuses: [400] }
  if (spoiling === 'twice') return { ...bulk, json: [...items, items[0]], statuses: [400] }
  return { ...put, headers: { 'if-match': '"another"' }, statuses: [404, 412] }
}

/** Ends a replacement of keys. */
function cancellation(domain: string): Request {
  const path = `/domains/${domain}/rollover/`
  return { method: 'DELETE', path, sets: KEPT, needs: REPLACED, statuses: [204, 404], absent: KEPT }
}

/** What has these values: an RRset with one record, or none. */
function valuesOf(subname: string, records: string[], ttl: number): Values {
  const values = records.length === 0 ? [NONE, NONE] : [records.join(' '), String(ttl)]
  return { [`${subname} address`]: values[0]!, [`${subname} ttl`]: values[1]! }
}

function dataOf(address: string): Buffer {
  return Buffer.from(address.split('.').map(Number))
}

/** Sends an update, and returns its answer as one of the API. */
async function sendUpdate({ updates }: Worker, key: Key, parts: Parts): Promise<Pick<Answer, 'status' | 'text'>> {
  const [answer] = await sendByTcp(updates.port, {
    host: updates.host,
    messages: [signedWith(key, messageOf(parts)).message],
  })
  if (answer === undefined) throw new Error('no answer')
  const rcode = rcodeOf(answer)
  const status = { NOERROR: 200, YXRRSET: 412, NXRRSET: 412, SERVFAIL: 503 }[rcode] ?? 400
  // Without a signature, it failed before the key was known.
  const isUnsigned = answer.readUInt16BE(10) === 0
  return { status, text: isUnsigned ? `${rcode} Nothing was changed` : `${rcode} ${answer.toString('latin1')}` }
}

async function send(worker: Worker, actors: Actors, request: Request): Promise<Outcome | 'unsent'> {
  const { domain, secret, events, key } = actors
  const api = new Client(worker.service.url, secret)
  const { method, path, json, headers = {}, sets, needs, statuses, absent, address } = request
  const condition = headers['if-match'] === undefined ? '' : ` If-Match ${headers['if-match']}`
  const text = `${method} ${path} ${JSON.stringify(json)}${condition} to ${api.url}`
  const sent = { text, from: performance.now(), to: Infinity, outcome: 'unknown' as Outcome }
  const write: Write | Mailing =
    address === undefined ? { kind: 'write', ...sent, sets, needs } : { kind: 'mailing', ...sent, address }
  events.push(write)
  try {
    const answer =
      request.update !== undefined
        ? await sendUpdate(worker, key, request.update)
        : request.byKey === true
          ? await new Client(api.url, secret, 'powerdns').send(method, `/servers/localhost/zones/${domain}.`, json)
          : await api.send(method, path.startsWith('/') ? path : `/domains/${domain}/rrsets/${path}`, json, { headers })
    write.to = performance.now()
    write.outcome = outcomeOf(answer, statuses)
    write.text += ` → ${answer.status}`
    // Whoever is told that something does not exist has read that.
    if (answer.status === 404 && absent !== undefined) {
      events.push({ kind: 'read', from: write.from, to: write.to, seen: absent })
    }
  } catch (error) {
    write.to = performance.now()
    if ((error as { code?: string }).code === 'ECONNREFUSED') {
      events.splice(events.indexOf(write), 1)
      return 'unsent'
    }
  }
  return write.outcome
}

function outcomeOf({ status, text }: Pick<Answer, 'status' | 'text'>, statuses: number[]): Outcome {
  if (status === 503 && /Nothing was changed|The change was not made/.test(text)) return 'failed'
  if (status === 503 && text.includes('unknown')) return 'unknown'
  if (!statuses.includes(status)) return 'unexpected'
  return status < 300 ? 'done' : 'refused'
}

/** Asks the services, and more often DNS, again and again; less often once little changes any more. */
async function observe(primaries: Primary[], workers: Worker[], actors: Actors, phase: Phase): Promise<void> {
  const again = async (pause: number, later: number, look: (turn: number) => Promise<boolean>) => {
    for (let turn = 0; !phase.isOver; turn++) {
      await look(turn)
      await sleep(phase.isHealed ? later : pause)
    }
  }
  await Promise.all([
    again(250, 1_000, (turn) => readAll(workers[turn % workers.length]!, actors)),
    again(70, 140, (turn) => {
      const primary = primaries[(turn >> 1) % primaries.length]
      if (primary === undefined) return Promise.resolve(false)
      return turn % 2 === 0 ? lookAtSerial(primary, actors) : lookAt(primary, actors, SUBNAMES[turn % SUBNAMES.length]!)
    }),
  ])
}

/** The final state, when everything works again. */
async function lookAtAll(primaries: Primary[], workers: Worker[], actors: Actors): Promise<void> {
  const answered = [
    ...(await Promise.all(workers.map((worker) => readAll(worker, actors)))),
    ...(await Promise.all(
      primaries.flatMap((primary) => [
        ...SUBNAMES.map((subname) => lookAt(primary, actors, subname)),
        lookAtSerial(primary, actors),
      ]),
    )),
  ]
  if (answered.includes(false)) throw new Error(`${actors.domain}: no answer from a service, or from DNS`)
}

/** Reads all RRsets. Returns whether the service answered. */
async function readAll({ service }: Worker, { domain, secret, events }: Actors): Promise<boolean> {
  const from = performance.now()
  const answer = await new Client(service.url, secret).get(`/domains/${domain}/rrsets/?type=A`).catch(() => undefined)
  if (answer?.status !== 200) return false
  const rrsets = answer.json as { subname: string; records: string[]; ttl: number }[]
  const seen = SUBNAMES.map((subname) => {
    const { records, ttl } = rrsets.find((rrset) => rrset.subname === subname) ?? { records: [], ttl: 0 }
    return valuesOf(subname, records, ttl)
  })
  events.push({ kind: 'read', from, to: performance.now(), seen: Object.assign({}, ...seen) as Values })
  return readKeys(service, { domain, secret, events })
}

/** Reads whether the keys are being replaced. Returns whether the service answered. */
async function readKeys(
  { url }: Worker['service'],
  { domain, secret, events }: Pick<Actors, 'domain' | 'secret' | 'events'>,
) {
  const from = performance.now()
  const answer = await new Client(url, secret).get(`/domains/${domain}/rollover/`).catch(() => undefined)
  if (answer?.status !== 200 && answer?.status !== 404) return false
  events.push({ kind: 'read', from, to: performance.now(), seen: answer.status === 200 ? REPLACED : KEPT })
  return true
}

/** Cancels what is left of the replacements of keys. Returns what is wrong if the domain has not its first keys again. */
async function goBack([worker]: Worker[], actors: Actors, loses: boolean): Promise<string[]> {
  const { domain, secret, keys } = actors
  const request = cancellation(domain)
  while (!['done', 'refused'].includes(await send(worker!, actors, request))) await sleep(200)
  const now = (await domainOf(new Client(worker!.service.url, secret), domain)).keys.map(({ dnskey }) => dnskey)
  const kept = loses ? now.filter((key) => keys.includes(key)) : now
  return isDeepStrictEqual(kept, keys) ? [] : [`the keys are ${now.join()}, not ${keys.join()}`]
}

/** Asks DNS for an RRset. Returns whether it answered; a PowerDNS that has just started may refuse. */
async function lookAt({ powerDns }: Primary, { domain, events }: Actors, subname: string): Promise<boolean> {
  const from = performance.now()
  const answer = await ask(powerDns, `${subname}.${domain}`, 'A').catch(() => undefined)
  if (answer === undefined || !['NOERROR', 'NXDOMAIN'].includes(answer.rcode)) return false
  const records = answer.answers.flatMap((rr) => (rr.type === 'A' ? [rr] : []))
  const seen = valuesOf(
    subname,
    records.map(({ data }) => data),
    records[0]?.ttl ?? 0,
  )
  events.push({ kind: 'look', from, to: performance.now(), seen })
  return true
}

/** Asks DNS for the SOA. Returns whether it answered. */
async function lookAtSerial({ powerDns }: Primary, { domain, events }: Actors): Promise<boolean> {
  const from = performance.now()
  const answer = await ask(powerDns, domain, 'SOA').catch(() => undefined)
  const [soa] = answer?.answers.flatMap((rr) => (rr.type === 'SOA' ? [rr] : [])) ?? []
  if (soa === undefined) return false
  events.push({ kind: 'serial', from, to: performance.now(), serial: soa.data.serial! })
  return true
}

/** Waits until all zones are repaired, all mails are sent, and all keys are as before. Returns, for each, the differences that are left. */
async function settle(
  { system }: Pick<Services, 'system'>,
  primaries: Primary[],
  workers: Worker[],
  all: Actors[],
  loses: boolean,
): Promise<string[][]> {
  for (const { proxy } of primaries) await eventuallyIs(() => proxy.open(), 0)
  await eventuallyIs(async () => (await query(system.db, 'select from marks where not settled')).length, 0)
  await eventuallyIs(async () => (await query(system.db, 'select from work')).length, 0)
  const changed = await Promise.all(all.map((actors) => goBack(workers, actors, loses)))
  const waiting = 'select zone, attempts, claim, (due - clock_timestamp())::text as pause from standby_zones'
  await eventuallyIs(() => query(system.db, waiting), [])
  const end = performance.now() + BOUND
  const differences: string[][] = []
  for (const [i, { domain }] of all.entries()) {
    const look = async () => {
      const each = primaries.map((primary) => discrepanciesOf({ system, ...primary }, domain))
      return (await Promise.all(each)).flat()
    }
    let found = await look()
    while (found.length > 0 && performance.now() < end) {
      await sleep(200)
      found = await look()
    }
    differences.push([...found, ...changed[i]!])
  }
  return differences
}

/** The changes that PowerDNS got for a domain's zone. */
function pushesTo(domain: string, calls: Call[]): Event[] {
  return calls.flatMap(({ method, path, body, from, to = Infinity }) => {
    if (method !== 'PATCH' || path !== `/zones/${domain}.` || from === undefined) return []
    const { rrsets } = JSON.parse(body) as { rrsets: { type: string; records: { content: string }[] }[] }
    const serial = Number(rrsets.find(({ type }) => type === 'SOA')!.records[0]!.content.split(' ')[2])
    return [{ kind: 'push' as const, from, to, serial }]
  })
}

/** The mails that arrived at addresses of a domain. */
function deliveriesOf(domain: string, { received }: MailServer): Event[] {
  return received.flatMap(({ to: [address], at, mail }) =>
    address!.endsWith(`@${domain}`)
      ? [{ kind: 'delivery' as const, from: at, to: at, address: address!, id: mail.messageId! }]
      : [],
  )
}

/** Adds what happened to a sum. */
export function addTo(total: Counts, counts: Counts): void {
  for (const [what, number] of Object.entries(counts) as [keyof Counts, number][]) total[what] += number
}

/** Nothing happened so far. */
export function noCounts(): Counts {
  return {
    done: 0,
    refused: 0,
    failed: 0,
    unknown: 0,
    unexpected: 0,
    reads: 0,
    looks: 0,
    late: 0,
    rollovers: 0,
    mails: 0,
    again: 0,
  }
}

function count(histories: History[]): Counts {
  const counts = noCounts()
  for (const { events } of histories) {
    for (const event of events) {
      if ('outcome' in event) counts[event.outcome]++
      if (event.kind === 'write' && 'keys' in event.sets && event.outcome === 'done') counts.rollovers++
      if (event.kind === 'read') counts.reads++
      if (event.kind === 'look') counts.looks++
    }
    counts.late += latePushes(events).length
    const ids = events.flatMap((event) => (event.kind === 'delivery' ? event.id : []))
    counts.mails += ids.length
    counts.again += ids.length - new Set(ids).size
  }
  return counts
}
