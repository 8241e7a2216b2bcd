import { absolute } from '../../dns/names.ts'
import { reasonOf, StartError } from '../../errors.ts'
import { type BackgroundTask, RECOVERY_PAUSE, runPeriodically } from '../../flow/background.ts'
import type { Member } from '../../nameserver/cluster/cluster.ts'
import type { Nameserver } from '../../nameserver/nameserver.ts'
import type { Db } from '../../store/database.ts'
import * as domains from '../../store/domains/domains.ts'
import * as store from '../../store/primaries.ts'
import * as standbys from '../../store/standbys.ts'
import * as marks from '../../store/zone/marks.ts'
import type { System } from '../../system.ts'
import { compose, send } from '../mails/mails.ts'
import { audit } from '../repair/audit.ts'
import { untilProbed } from '../repair/probing.ts'
import { serialOf } from '../repair/standbys.ts'

// The active one of several PowerDNS (primaries.md).

/** The longest pause, in milliseconds, between two looks which primary is the active one, and whether it answers. */
const LOOK_PAUSE = 1_000

/**
 * Milliseconds after a change-over at which all zones are compared: at once, after the small requests that were open, after
 * those that a gateway delivers, and after the largest.
 */
const COMPARISONS = [0, 15_000, 60_000, 240_000]

/** Milliseconds after which a change-over that no other primary could take is tried again. */
const RETRY_PAUSE = 3_000

/** The share of the zones that may differ at a primary that takes over by itself, and how many are compared before. */
export const TOLERANCE = 0.01
const SAMPLE = 300

/** How many zones may wait to be copied to one that takes over by itself, however few there are: they are doubted then. */
const WAITING = 10

/**
 * Uses the active primary from now on. Without several in PDNS_API_URL, it is that one, unless there were several.
 * @throws StartError if PDNS_API_URL lacks it; Unavailable
 */
export async function usePrimary({ db, primaries }: System): Promise<void> {
  const { members } = primaries
  const known = members.length > 1 ? await store.current(db, members[0]!.name) : await store.find(db)
  if (known !== undefined) {
    // Otherwise nobody would know which zones are behind there.
    const missing = (await standbys.registered(db)).find((name) => members.every((each) => each.name !== name))
    if (missing !== undefined && missing !== known.name) {
      throw new StartError(
        `PDNS_API_URL lacks ${missing}, to which zones are copied: name it there, or forget it (zoneplane primary forget)`,
      )
    }
    await standbys.doubt(db, known.name)
  }
  if (known !== undefined && !primaries.follow(known)) {
    throw new StartError(
      `PDNS_API_URL lacks ${known.name}, the active PowerDNS: name it there, or change over (zoneplane primary use)`,
    )
  }
}

/** Follows the active primary, and changes over if it does not answer, until stopped. */
export function primariesTask(system: System): BackgroundTask {
  const { config, primaries, log, pools } = system
  const stopping = new AbortController()
  const { signal } = stopping
  const pause = config.pdnsFailover === 0 ? LOOK_PAUSE : Math.min(LOOK_PAUSE, (config.pdnsFailover * 1_000) / 3)
  const limit = Math.max(LOOK_PAUSE, Math.ceil((config.pdnsFailover * 1_000) / 3))
  let probing: Promise<void> | undefined
  let examination: Promise<void> | undefined
  const silent = new Set<Member>()
  const unexamined = new Set(primaries.members)
  /** Since when this process has had no answer of the active one. */
  let failingSince: number | undefined
  let tried = -Infinity
  let isLost = false
  /** The times of the next comparisons, by performance.now(). */
  let due: number[] = []
  let comparison: Promise<void> | undefined
  const compareAgain = () => {
    due = COMPARISONS.map((time) => performance.now() + time)
  }
  const compare = async () => {
    due.shift()
    await audit(system, () => false).catch((error: unknown) => {
      due.unshift(performance.now() + RECOVERY_PAUSE)
      log.error('comparison after a change-over failed; retrying', { reason: reasonOf(error) })
    })
    comparison = undefined
  }
  const follow = async (known: store.Primary) => {
    const former = primaries.active
    // Before this process sends it anything.
    await standbys.doubt(system.db, known.name)
    const isKnown = primaries.follow(known)
    if (!isKnown && !isLost)
      log.error('PDNS_API_URL lacks the active PowerDNS; all writes get 503', { primary: known.name })
    isLost = !isKnown
    failingSince = undefined
    tried = -Infinity
    if (isLost) return
    log.warn('another PowerDNS is the active one; comparing all zones', { primary: known.name, former: former.name })
    system.metrics?.count('zoneplane_primary_changes_total', {})
    await former.nameserver.abandon()
    // Again, because somebody may have upgraded it.
    probing = primaries.active.nameserver.probe().then(
      () => undefined,
      () => untilProbed(system, signal),
    )
    compareAgain()
  }
  const ask = async (member: Member) => {
    const answers = await member.nameserver.answers(limit)
    // It may have kept requests for all this time: with a shared database, they change what the active one serves.
    if (answers && silent.delete(member) && member !== primaries.active) compareAgain()
    if (!answers) {
      silent.add(member)
      unexamined.add(member)
    } else if (member !== primaries.active && unexamined.delete(member)) {
      // Not awaited: a standby that hangs delays nothing.
      examination = examine(system, member)
    }
    return answers
  }
  const look = async () => {
    const known = await store.current(pools.counters, primaries.members[0]!.name)
    if (known.term !== primaries.term) await follow(known)
    if (isLost) return undefined
    if (due[0] !== undefined && due[0] <= performance.now()) comparison ??= compare()
    const asked = performance.now()
    const [answers] = await Promise.all([primaries.active, ...primaries.standbys].map(ask))
    if (answers === true) {
      failingSince = undefined
      await store.hear(pools.counters, known.term)
      return undefined
    }
    failingSince ??= asked
    const now = performance.now()
    const isFailed = config.pdnsFailover > 0 && now - failingSince >= config.pdnsFailover * 1_000
    if (isFailed && now - tried >= RETRY_PAUSE) {
      tried = now
      // The next look follows it.
      if (await changeOver(system, known)) return 0
    }
    return undefined
  }
  const looking = runPeriodically(log, 'watch for the active PowerDNS', look, pause, signal)
  return {
    async stop() {
      stopping.abort()
      await looking
      await Promise.all([probing, comparison, examination])
    },
  }
}

/** Probes a standby, and tells the operator what would be in its way. */
async function examine({ log }: System, { name, nameserver }: Member): Promise<void> {
  const reasons = await nameserver.probe().catch((error: unknown) => [reasonOf(error)])
  for (const reason of reasons) log.warn('standby is not set up as needed', { primary: name, reason })
}

/** Makes the first standby the active one that can take over. Returns whether one is, or somebody else has changed over. */
async function changeOver(system: System, known: store.Primary): Promise<boolean> {
  const { config, db, log, primaries } = system
  for (const { name, nameserver } of primaries.standbys) {
    try {
      await nameserver.probe()
      const waiting = await standbys.behind(db, name)
      if (waiting.length > WAITING && waiting.length > (await domains.countAll(db)) * TOLERANCE)
        throw new Error(`${waiting.length} zones are not copied there yet`)
      const { differing, compared } = await sampleOf(db, nameserver, waiting)
      if (differing > compared * TOLERANCE) throw new Error(`${differing} of ${compared} zones differ there`)
      const tell = (trx: Db) => tellOperator(system, trx, name, known.name)
      if (await store.change(db, known.term, name, config.pdnsFailover, tell))
        log.error('PowerDNS does not answer; another one takes over', { primary: name, former: known.name })
      return true
    } catch (error) {
      log.error('PowerDNS cannot take over', { primary: name, reason: reasonOf(error) })
    }
  }
  return false
}

/** Sends the operator a mail about a change-over, if this transaction commits. */
async function tellOperator(system: System, trx: Db, name: string, former: string): Promise<void> {
  const { operatorEmail: to, pdnsFailover } = system.config
  if (to === undefined) return
  const text = compose(
    'Another PowerDNS has taken over',
    `The PowerDNS at ${former} has not answered for ${pdnsFailover} seconds. That at ${name} has taken over: all changes go there now.`,
    `Once ${former} answers again, it is a standby. "zoneplane primary list" shows how far it is behind, and "zoneplane primary use ${former}" makes it the active one again.`,
  )
  await send(system, trx, { to, kind: 'change-over' }, text)
}

/**
 * Compares the serials of some zones, chosen at random, over DNS: so a member takes over in a time that does not depend on
 * the number of zones. Zones that are marked, written meanwhile, or to be copied there do not differ.
 */
async function sampleOf(
  db: Db,
  nameserver: Nameserver,
  waiting: string[],
): Promise<{ differing: number; compared: number }> {
  const sample = await domains.sample(db, SAMPLE)
  const equal = await Promise.all(sample.map((domain) => isEqual(nameserver, domain)))
  const suspects = sample.filter((_, i) => !equal[i])
  const names = suspects.map(({ name }) => name)
  const excused = new Set([...waiting, ...(await marks.list(db, names)).map(({ zone }) => zone)])
  let differing = 0
  for (const { name, version } of suspects) {
    if (!excused.has(name) && (await domains.find(db, name))?.version === version) differing++
  }
  return { differing, compared: sample.length }
}

/** Reports whether a nameserver has a domain's zone with the serial in Postgres, or none if it should have none. */
async function isEqual(
  nameserver: Nameserver,
  domain: Pick<domains.Domain, 'name' | 'version' | 'suspended'>,
): Promise<boolean> {
  const [zone, serial] = [absolute(domain.name), serialOf(domain)]
  return serial === undefined ? (await nameserver.serial(zone)) === undefined : nameserver.hasSerial(zone, serial)
}
