import { setTimeout as sleep } from 'node:timers/promises'
import { absolute } from '../../dns/names.ts'
import { type FailureKind, NameserverFailure, reasonOf, Unavailable } from '../../errors.ts'
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
import { openKeys } from '../secrets/signing-keys.ts'
import type { Scan } from '../work/work.ts'
import { rrsetKey } from '../zone/changes.ts'
import { DELIVERY_TIME } from '../zone/claim.ts'
import { amend, compare, toSend, wantedZone } from '../zone/whole-zone.ts'

// Zones are copied from Postgres to the standbys that have databases of their own (primaries.md).

/** The zones that are copied to a standby at the same time. */
const COPIERS = 4

/** Milliseconds that a standby has to answer before anything is copied to it. */
const ANSWER_TIME = 1_000

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

/** Milliseconds after which a zone that has changed while it was copied is due again. */
const CHANGED_PAUSE = 1_000

/** Milliseconds after which a copy is tried again if the standby is away. What it has not answered can still arrive there. */
const PAUSES: Partial<Record<FailureKind, number>> = { unreachable: RECOVERY_PAUSE, unknown: DELIVERY_TIME }

/** Copies one zone. @returns false if the standby does not answer */
async function copyOne(system: System, nameserver: Nameserver, taken: Behind): Promise<boolean> {
  try {
    await store.finish(system.db, taken, await copyZone(system, nameserver, taken))
    return true
  } catch (error) {
    if (error instanceof Superseded) {
      await store.postpone(system.db, taken, CHANGED_PAUSE)
      return true
    }
    const kind = error instanceof NameserverFailure ? error.kind : 'failed'
    await store.postpone(system.db, taken, PAUSES[kind] ?? null)
    system.log.error('zone could not be copied to a standby; retrying', {
      primary: taken.member,
      zone: taken.zone,
      reason: reasonOf(error),
    })
    return PAUSES[kind] === undefined
  }
}

/** Another worker has the zone, or its standby is the active one now, or the zone has changed since it was read. */
class Superseded extends Unavailable {}

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
  const lease: Lease = { confirm: () => confirm(false) }
  if (taken.zone === config.catalogZone) {
    await copyCatalog(system, nameserver, taken.zone, () => confirm(true))
    return undefined
  }
  const domain = await domains.find(db, taken.zone)
  if (domain === undefined || domain.suspended !== null) {
    const serial = await nameserver.serial(zone)
    await confirm(true)
    if (serial !== undefined) await nameserver.deleteZone(zone, lease)
    return undefined
  }
  const rights = { lease, confirm: () => confirm(true) }
  if (!(await copyChanges(system, nameserver, domain, taken, rights)))
    await copyDomain(system, nameserver, domain, rights)
  if (!(await nameserver.hasSerial(zone, domain.version))) throw new NameserverFailure('failed', 'its serial differs')
  return domain.version
}

/** The rights of a worker that copies a zone. */
interface Rights {
  lease: Lease
  /** @throws Superseded also if the zone has changed since it was taken */
  confirm: () => Promise<void>
}

/** Sends the RRsets that differ. @returns false if they are not known, or the standby has another serial than it should */
async function copyChanges(
  { db }: System,
  nameserver: Nameserver,
  { name, denial, version, rectify }: Domain,
  { served, changed }: Behind,
  { lease, confirm }: Rights,
): Promise<boolean> {
  const zone = absolute(name)
  if (served === null || changed === null || !(await nameserver.hasSerial(zone, served))) return false
  const subnames = [...new Set(changed.map(([subname]) => subname))]
  const found = await atSubnames(db, name, { subnames, ancestors: [] })
  await confirm()
  const stored = new Map(found.map((rrset) => [rrsetKey(rrset), rrset]))
  const rrsets = changed.map(([subname, type]) => {
    return stored.get(rrsetKey({ subname, type })) ?? { subname, type, ttl: 0, records: [] }
  })
  await nameserver.publish({ zone, denial, version, rrsets }, rectify, lease)
  return true
}

async function copyDomain(
  system: System,
  nameserver: Nameserver,
  domain: Domain,
  { lease, confirm }: Rights,
): Promise<void> {
  const { keys, ...target } = await wantedZone(system, domain)
  const { zone, transfers, rrsets } = target
  // It would get another key.
  if (keys.length === 0) throw new Error('its keys are not stored yet')
  const live = await nameserver.read(zone, transfers)
  await confirm()
  const signing = openKeys(system, domain.name, keys)
  if (live?.complete !== true) {
    if (live !== undefined) await nameserver.deleteZone(zone, lease)
    await nameserver.createZone(target, signing, lease)
  } else {
    const { found, isReady, isEqual } = await compare(live, { keys, ...target })
    if (isEqual) return
    const own = new Set(keys.map(({ dnskey }) => dnskey))
    const gone = live.keys.map(({ dnskey }) => dnskey).filter((dnskey) => !own.has(dnskey))
    const sent = toSend(nameserver, found, rrsets)
    await amend(nameserver, live, { ...target, rrsets: sent }, isReady ? undefined : { keys: signing, gone }, lease)
  }
  if (!domain.rectify) await nameserver.setRectify(zone, false, lease)
}

/** Makes the catalog zone at a standby equal to what was published last. */
async function copyCatalog(
  { db }: System,
  nameserver: Nameserver,
  catalog: string,
  confirm: () => Promise<void>,
): Promise<void> {
  const members = new Map((await catalogs.listed(db)).map(({ id, zone }) => [String(id), zone]))
  const { sent: serial } = await past(db, catalog)
  // It was never published.
  if (serial === 0) return
  const live = await nameserver.catalogs.read(catalog)
  await confirm()
  if (live === undefined) {
    await nameserver.catalogs.create(catalog, serial, members)
    return
  }
  const added = new Map([...members].filter(([id, zone]) => live.members.get(id) !== zone))
  const removed = [...live.members.keys()].filter((id) => !members.has(id))
  if (live.sound && live.serial === serial && added.size + removed.length === 0) return
  if (!live.sound) await nameserver.catalogs.configure(catalog)
  await nameserver.catalogs.update(catalog, serial, added, removed)
}

/** Compares all serials at the standbys with databases of their own that answer. Notes the zones that differ. */
export async function compareStandbys(system: System): Promise<void> {
  const { db, log, primaries } = system
  if (primaries.standbys.length === 0) return
  const own = await store.registered(db)
  for (const member of primaries.standbys.filter(({ name }) => own.includes(name))) {
    if (!(await member.nameserver.answers(ANSWER_TIME))) continue
    await compareStandby(system, member).catch((error: unknown) => {
      log.error('zones at a standby could not be compared', { primary: member.name, reason: reasonOf(error) })
    })
  }
}

/** Returns the serial that a domain has at a nameserver; undefined: it has no zone, because it is suspended. */
export function serialOf({ version, suspended }: Pick<Domain, 'version' | 'suspended'>): number | undefined {
  return suspended === null ? version : undefined
}

/** Compares all serials at a standby. Notes the zones that differ. @throws NameserverFailure, Unavailable */
export async function compareStandby({ db }: System, { name, nameserver }: Member): Promise<void> {
  const versions = await transaction(db, (trx) => domains.versions(trx))
  const serials = await nameserver.serials()
  const differing = versions.filter((domain) => serials.get(absolute(domain.name)) !== serialOf(domain))
  if (differing.length > 0) await transaction(db, (trx) => store.note(trx, name, differing))
}

/** The pause in milliseconds between two looks of `copyAll`, and the number of those without progress before it ends. */
const COPY_PAUSE = 500
const COPY_PATIENCE = 60

/** The number of looks between two reports of progress. */
const LOOKS_PER_REPORT = 4

/**
 * Copies all zones to a standby. It can be cut short, and done again. Services do the same, also afterwards.
 * @returns the number of zones that could not be copied
 */
export async function copyAll(
  system: System,
  member: Member,
  tell: (done: number, all: number) => void,
): Promise<{ all: number; left: number }> {
  const { db, config } = system
  await transaction(db, (trx) => store.noteAll(trx, member.name, config.catalogZone))
  await store.hasten(db, member.name)
  const begun = await store.clock(db)
  const all = await store.countSince(db, member.name, begun)
  let left = all
  for (let look = 0, idle = 0; left > 0 && idle < COPY_PATIENCE; look++, idle++) {
    if (look % LOOKS_PER_REPORT === 0) tell(all - left, all)
    await copyDue(system, member)
    const now = await store.countSince(db, member.name, begun)
    if (now < left) idle = 0
    left = now
    if (left > 0) await sleep(COPY_PAUSE)
  }
  return { all, left }
}
