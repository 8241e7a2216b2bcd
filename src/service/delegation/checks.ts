import { type Name, relative } from '../../dns/names.ts'
import { Busy } from '../../errors.ts'
import { Holder } from '../../flow/budget.ts'
import { TURN_TIMEOUT } from '../../limits.ts'
import type { Inquiry } from '../../nameserver/parents/inquiry.ts'
import { type Db, transaction } from '../../store/database.ts'
import type { DomainState, StoredCheck } from '../../store/domains/delegations.ts'
import * as store from '../../store/domains/delegations.ts'
import type { Domain } from '../../store/domains/domains.ts'
import * as domains from '../../store/domains/domains.ts'
import * as rrsets from '../../store/zone/rrsets.ts'
import type { System } from '../../system.ts'
import { secondsBetween, type Timestamp } from '../../time.ts'
import type { Visit, Writer } from '../actor.ts'
import { withKeys } from '../domains/keys.ts'
import { record } from '../events.ts'
import type { Cursor, Page } from '../pagination.ts'
import { groupOf } from '../throttling/callers.ts'
import { type DelegationState, judge, STATES } from './judgement.ts'
import { type Home, isUnchanged, type Observation, observe } from './observation.ts'
import { tellOwner } from './owner-mails.ts'
import { followTrouble, nextCheck, waitsAfter } from './planning.ts'

export { STATES, type DelegationState, type DomainState }

/** Seconds for which a check answers requests for another one. */
const FRESH_TIME = 10

/** Of so many routine checks, about one asks all servers also if the first one has nothing new. */
const THOROUGH = 7

/** The delegation of a domain, as the last check found it (contract §15.9). */
export interface Delegation extends Observation {
  state: DelegationState
  /** The time of the check; null: there was none. */
  checked: Timestamp | null
  /** Sentences for the owner, with what to do. */
  problems: string[]
}

/** Returns the last check of a domain. */
export async function lastCheck(db: Db, domainId: number): Promise<Delegation> {
  return shown(await store.find(db, domainId))
}

/** Returns a page of the actor's domains, or of those in a state, as the last checks found them: the newest domain first. */
export async function list(
  { system, actor }: Visit,
  state?: DelegationState,
  cursor?: Cursor,
): Promise<Page<DomainState>> {
  return store.page(system.db, actor, state, cursor)
}

/** Counts the domains of `list`. */
export async function count({ system, actor }: Visit, state?: DelegationState): Promise<number> {
  return store.count(system.db, actor, state)
}

/**
 * Checks a domain for a caller, unless somebody has done so a moment ago. Checks of an account run one at a time.
 * @throws Busy, NameserverFailure
 */
export async function checkNow(visit: Visit, domain: Domain): Promise<Delegation> {
  return inTurn(visit, async (system) => {
    const last = await lastCheck(system.db, domain.id)
    const isFresh = last.checked !== null && secondsBetween(last.checked, system.now()) < FRESH_TIME
    return isFresh ? last : check(system, domain)
  })
}

/** Acts like `checkNow`, but always asks all servers. @throws Busy, NameserverFailure */
export async function checkAnew(visit: Visit<Writer>, domain: Domain): Promise<Delegation> {
  return inTurn(visit, (system) => check(system, domain))
}

/** Runs `work` when the caller's group has its turn; if others wait, it ends as if its client had left (contract §1.8). */
function inTurn({ system, actor }: Visit<Writer>, work: (system: System) => Promise<Delegation>): Promise<Delegation> {
  const { patience } = system
  const cut = new AbortController()
  const holder = new Holder()
  const begin = () => {
    holder.begin(() => {
      cut.abort()
    })
    const gone = patience === undefined ? cut.signal : AbortSignal.any([patience.gone, cut.signal])
    return work({ ...system, patience: { left: patience?.left ?? TURN_TIMEOUT, gone } })
  }
  return system.bounds.checks.run(`checks of ${groupOf(actor)}`, patience, begin, { holder })
}

/**
 * Asks all servers of the parent zone about a domain, and stores what they say. `servers` of the result has the DS set
 * and its TTL at each of them, or the problem of the server.
 * @throws NameserverFailure, and Busy without storing anything if the client leaves or the process stops
 */
export async function check(system: System, domain: Domain, inquiry = begin(system)): Promise<Delegation> {
  const observation = await observe(system.parents, domain.name, homeOf(system, domain.name), inquiry)
  // It may lack answers that nobody waited for.
  if (system.patience?.gone.aborted === true) throw Busy.waitedTooLong('nobody waits for the check any more')
  return note(system, domain, observation)
}

/** Acts like `check`, but asks only one server if it has nothing new. @throws NameserverFailure */
export async function checkRoutinely(system: System, domain: Domain): Promise<Delegation> {
  const stored = await store.find(system.db, domain.id)
  const last = shown(stored)
  const isSettled = last.state !== 'unknown' && last.state !== 'propagating'
  const isDoubtful = stored !== undefined && stored.trouble !== null && !stored.told
  const isThorough = isDoubtful || Math.random() * THOROUGH < 1
  const inquiry = begin(system)
  const isSame =
    isSettled &&
    !isThorough &&
    (await isUnchanged(system.parents, domain.name, last, homeOf(system, domain.name), inquiry))
  // The keys may have changed.
  return isSame ? note(system, domain, last) : check(system, domain, inquiry)
}

/** Tells which NS of a domain a zone has that is served from our own database. */
function homeOf({ db, config }: System, domain: string): Home {
  const hosted = async (parent: string) => {
    const zone = await domains.find(db, parent)
    if (zone === undefined || zone.paused || zone.suspended !== null) return undefined
    const subname = domain.slice(0, -parent.length - 1)
    const found = await rrsets.list(db, zone.id, { subname, type: 'NS' })
    return found.flatMap(({ records }) => records.map((host) => relative(host as Name))).sort()
  }
  return { nameServers: config.nameServers.map(relative), hosted }
}

/** Begins an inquiry that ends when the client of the request, if any, is gone. */
function begin({ parents, patience }: System): Inquiry {
  return parents.begin(patience?.gone)
}

/** Judges and stores an observation, and queues the mail that it causes; stores nothing if the domain is gone. */
async function note(system: System, domain: Domain, observation: Observation): Promise<Delegation> {
  const nameServers = system.config.nameServers.map(relative)
  const { keys } = await withKeys(system, domain)
  const { state, problems } = judge(observation, { name: domain.name, nameServers, keys })
  const { parent, servers, nameservers, isParentBogus, isParentOurs } = observation
  const seen: Observation = { parent, servers, nameservers, isParentBogus, isParentOurs }
  const now = system.now()
  await transaction(system.db, async (trx) => {
    // The domain first, as its deletion does, to prevent deadlocks.
    if ((await domains.keep(trx, domain.name, domain.ownerId)) !== domain.id) return
    const before = (await store.take(trx, domain.id))!
    const { mail, ...trouble } = followTrouble(before, state, now)
    const waits = waitsAfter(before.waits, state, domain.created, now)
    await store.put(trx, domain.id, {
      // First, because it can be all that was stored before.
      ...trouble,
      ...{ state, checked: now, observation: JSON.stringify(seen), problems },
      ...{ waits, due: nextCheck(waits, trouble, now) },
    })
    if (mail !== undefined) await tellOwner(system, trx, domain, mail, { state, problems })
    const ids = { account: domain.ownerId, domain: domain.name }
    if (trouble.settled !== before.settled) record(system, trx, 'delegation_changed', { ...ids, state, by: 'parent' })
  })
  return { ...seen, state, checked: now, problems }
}

function shown(stored: StoredCheck | undefined): Delegation {
  if (stored === undefined) {
    return { state: 'unknown', checked: null, parent: null, servers: [], nameservers: [], problems: [] }
  }
  const { state, checked, observation, problems } = stored
  return { ...(JSON.parse(observation) as Observation), state: state as DelegationState, checked, problems }
}
