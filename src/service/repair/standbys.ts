import { absolute } from '../../dns/names.ts'
import { Conflict, type FailureKind, NameserverFailure, reasonOf, Unavailable } from '../../errors.ts'
import { RECOVERY_PAUSE } from '../../flow/background.ts'
import type { Member } from '../../nameserver/cluster/cluster.ts'
import type { Lease, Nameserver } from '../../nameserver/nameserver.ts'
import { transaction } from '../../store/database.ts'
import * as catalogs from '../../store/domains/catalogs.ts'
import type { Domain } from '../../store/domains/domains.ts'
import * as domains from '../../store/domains/domains.ts'
import { past } from '../../store/domains/spent.ts'
import type { Behind } from '../../store/standbys.ts'
import * as store from '../../store/standbys.ts'
import { atSubnames } from '../../store/zone/rrsets.ts'
import type { System } from '../../system.ts'
import { openKeys, othersThan } from '../secrets/signing-keys.ts'
import type { Scan } from '../work/work.ts'
import { rrsetKey } from '../zone/changes.ts'
import { DELIVERY_TIME } from '../zone/claim.ts'
import { amend, compare, isUsable, toSend, wantedZone } from '../zone/whole-zone.ts'

// Zones are copied from Postgres to the standbys that have databases of their own (primaries.md).

/** The zones that are copied to a standby at the same time. */
const COPIERS = 4

/** Milliseconds that a standby has to answer before anything is copied to it. */
const ANSWER_TIME = 1_000

/** How many zones are compared at one that takes over, and the share of them that may differ. */
const SAMPLE = 300
const TOLERANCE = 0.01

/** How many zones may wait to be copied to it, if that is more than this share of all: they are doubted then. */
const WAITING = 10

/** Copies the zones that are behind at the standbys. One that is down costs a question. */
export const STANDBY_SCAN: Scan = {
  name: 'copying to standbys',
  of: 'standbys',
  isOn: ({ primaries }) => primaries.standbys.length > 0,
  async run(system, stopping) {
    await Promise.all(system.primaries.standbys.map((member) => copyDue(system, member, stopping)))
  },
}

/** Copies all zones that are due at a standby, if it answers. */
export async function copyDue(system: System, member: Member, stopping?: AbortSignal): Promise<void> {
  const { nameserver } = member
  if (!(await nameserver.answers(ANSWER_TIME))) return
  if (nameserver.problem !== undefined) await nameserver.probe()
  let isAway = false
  const copy = async () => {
    while (!isAway && stopping?.aborted !== true) {
      const taken = await store.take(system.db, member.name)
      if (taken === undefined) return
      isAway = !(await copyOne(system, nameserver, taken))
    }
  }
  await Promise.all(Array.from({ length: COPIERS }, copy))
}

/**
 * Milliseconds after which a copy is tried again if the standby is away, or if the zone has changed while it was copied.
 * What the standby has not answered can still arrive there.
 */
const PAUSES: Partial<Record<FailureKind | 'superseded', number>> = {
  unreachable: RECOVERY_PAUSE,
  unknown: DELIVERY_TIME,
  superseded: 1_000,
}

/** Copies one zone. @returns false if the standby does not answer */
async function copyOne(system: System, nameserver: Nameserver, taken: Behind): Promise<boolean> {
  try {
    await store.finish(system.db, taken, await copyZone(system, nameserver, taken))
    return true
  } catch (error) {
    const failure = error instanceof NameserverFailure ? error.kind : 'failed'
    const kind = error instanceof Superseded ? 'superseded' : failure
    await store.postpone(system.db, taken, PAUSES[kind] ?? null)
    if (kind === 'superseded') return true
    const [primary, zone, reason] = [taken.member, taken.zone, reasonOf(error)]
    system.log.error('zone could not be copied to a standby; retrying', { primary, zone, reason })
    return PAUSES[kind] === undefined
  }
}

/** Another worker has the zone, or its standby is the active one now, or the zone has changed since it was read. */
class Superseded extends Unavailable {}

/** A zone that a worker copies. */
interface Copy {
  system: System
  /** The standby. */
  nameserver: Nameserver
  taken: Behind
  /** The right to send anything. */
  lease: Lease
  /** @throws Superseded if nobody may send what was read since the zone was taken */
  requireUnchanged: () => Promise<void>
}

/**
 * Makes a zone at a standby equal to the database, with its keys. What is read between two looks at an unchanged `change`
 * is what one commit has left.
 * @returns its serial there; undefined: it has no zone there, or is the catalog zone
 */
async function copyZone(system: System, nameserver: Nameserver, taken: Behind): Promise<number | undefined> {
  const { db, config } = system
  const zone = absolute(taken.zone)
  const confirm = async (unchanged: boolean) => {
    if (!(await store.isOwn(db, taken, { unchanged }))) throw new Superseded(`${taken.zone} is another worker's`)
  }
  const lease = { confirm: () => confirm(false) }
  const copy: Copy = { system, nameserver, taken, lease, requireUnchanged: () => confirm(true) }
  if (taken.zone === config.catalogZone) {
    await copyCatalog(copy)
    return undefined
  }
  const domain = await domains.find(db, taken.zone)
  if (domain === undefined || domain.suspended !== null) {
    await copy.requireUnchanged()
    await nameserver.deleteZone(zone, lease)
    return undefined
  }
  if (!(await copyChanges(copy, domain))) await copyDomain(copy, domain)
  if (!(await nameserver.hasSerial(zone, domain.version))) throw new NameserverFailure('failed', 'its serial differs')
  return domain.version
}

/** Sends the RRsets that differ. @returns false if they are not known, or the standby has another serial than it should */
async function copyChanges({ system, nameserver, taken, ...own }: Copy, domain: Domain): Promise<boolean> {
  const { name, denial, version, rectify } = domain
  const { served, changed } = taken
  const zone = absolute(name)
  if (served === null || changed === null || !(await nameserver.hasSerial(zone, served))) return false
  const subnames = new Set(changed.map(([subname]) => subname))
  const found = await atSubnames(system.db, name, { subnames: [...subnames], ancestors: [] })
  await own.requireUnchanged()
  const stored = new Map(found.map((rrset) => [rrsetKey(rrset), rrset]))
  const rrsets = changed.map(([subname, type]) => {
    return stored.get(rrsetKey({ subname, type })) ?? { subname, type, ttl: 0, records: [] }
  })
  await nameserver.publish({ zone, denial, version, rrsets }, rectify, own.lease)
  return true
}

/** Compares the whole zone, and sends what differs. */
async function copyDomain({ system, nameserver, lease, requireUnchanged }: Copy, domain: Domain): Promise<void> {
  const { keys, ...target } = await wantedZone(system, domain)
  const { zone, transfers, rrsets } = target
  // It would get another key.
  if (keys.length === 0) throw new Error('its keys are not stored yet')
  const live = await nameserver.read(zone, transfers)
  await requireUnchanged()
  const signing = openKeys(system, domain.name, keys)
  const gone = live === undefined ? [] : othersThan(keys, live)
  if (live === undefined || !isUsable(live, gone)) {
    if (live !== undefined) await nameserver.deleteZone(zone, lease)
    await nameserver.createZone(target, signing, lease)
  } else {
    const { found, isReady, isEqual } = await compare(live, { keys, ...target })
    if (isEqual) return
    const sent = toSend(nameserver, found, rrsets)
    await amend(nameserver, live, { ...target, rrsets: sent }, isReady ? undefined : { keys: signing, gone }, lease)
  }
  if (!domain.rectify) await nameserver.setRectify(zone, false, lease)
}

/** Makes the catalog zone at a standby equal to what was published last. */
async function copyCatalog({ system, nameserver, taken, requireUnchanged }: Copy): Promise<void> {
  const catalog = taken.zone
  const members = new Map((await catalogs.listed(system.db)).map(({ label, zone }) => [label, zone]))
  const { sent: serial } = await past(system.db, catalog)
  // It was never published.
  if (serial === 0) return
  const live = await nameserver.catalogs.read(catalog)
  const added = new Map([...members].filter(([label, zone]) => live?.members.get(label) !== zone))
  const removed = [...(live?.members.keys() ?? [])].filter((label) => !members.has(label))
  await requireUnchanged()
  if (live?.sound === true && live.serial === serial && added.size + removed.length === 0) return
  await nameserver.catalogs.publish(catalog, live, serial, added, removed)
}

/**
 * Compares all serials at the standbys with databases of their own that answer, and notes the zones that differ. At the others,
 * compares some.
 */
export async function compareStandbys(system: System): Promise<void> {
  const { db, log, primaries } = system
  if (primaries.standbys.length === 0) return
  const own = await store.lags(db)
  for (const member of primaries.standbys) {
    const { name, nameserver } = member
    if (!(await nameserver.answers(ANSWER_TIME))) continue
    try {
      if (own.has(name)) {
        const settled = await transaction(db, (trx) => store.settled(trx, name))
        const serials = await nameserver.serials()
        const differing = settled.filter((domain) => serials.get(absolute(domain.name)) !== serialOf(domain))
        if (differing.length > 0) await transaction(db, (trx) => store.note(trx, name, differing))
      } else if (await lacksZones(system, member)) {
        log.error('standby lacks zones and cannot take over; "zoneplane primary sync" copies them', { primary: name })
      }
    } catch (error) {
      log.error('zones at a standby could not be compared', { primary: name, reason: reasonOf(error) })
    }
  }
}

/** Remembers, and returns, whether a standby that answers lacks zones. @throws Unavailable */
export async function lacksZones(system: System, member: Member): Promise<boolean> {
  try {
    await requireZones(system, member)
    member.lacksZones = false
  } catch (error) {
    if (!(error instanceof Conflict)) throw error
    member.lacksZones = true
  }
  return member.lacksZones
}

/**
 * Requires that a standby has nearly all zones as the database says: few wait to be copied to it, and of some, chosen at
 * random, few have another serial over DNS. So it takes a time that does not depend on the number of zones. Zones that are
 * marked, written meanwhile, or to be copied do not differ.
 * @throws Conflict, Unavailable
 */
export async function requireZones({ db }: System, { name, nameserver }: Member): Promise<void> {
  const refuse = (number: number, all: number, how: string) => {
    const todo = 'after `primary use --force`, the services repair them there'
    if (number > all * TOLERANCE) throw new Conflict(`${number} of ${all} zones ${how} ${name}; ${todo}`)
  }
  const waiting = (await store.lags(db)).get(name)?.behind ?? 0
  if (waiting > WAITING) refuse(waiting, await domains.countAll(db), 'wait to be copied to')
  const sample = await store.sample(db, name, SAMPLE)
  const equal = await Promise.all(sample.map((one) => nameserver.hasSerial(absolute(one.name), serialOf(one))))
  const suspects = sample.filter((_, i) => !equal[i])
  refuse(await store.countCertain(db, suspects), sample.length, 'differ at')
}

/** Returns the serial that a domain has at a nameserver; undefined: it has no zone, because it is suspended. */
export function serialOf({ version, suspended }: Pick<Domain, 'version' | 'suspended'>): number | undefined {
  return suspended === null ? version : undefined
}
