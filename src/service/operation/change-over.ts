import { reasonOf, StartError } from '../../errors.ts'
import { type BackgroundTask, runPeriodically } from '../../flow/background.ts'
import type { Member } from '../../nameserver/cluster/cluster.ts'
import { type Db, transaction } from '../../store/database.ts'
import * as store from '../../store/primaries.ts'
import * as standbys from '../../store/standbys.ts'
import type { System } from '../../system.ts'
import { compose, send } from '../mails/mails.ts'
import { audit } from '../repair/audit.ts'
import { untilProbed } from '../repair/probing.ts'
import { requireZones } from '../repair/standbys.ts'

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

/**
 * Uses the active primary from now on. Without several in PDNS_API_URL, it is that one, unless there were several.
 * @throws StartError if PDNS_API_URL lacks it; Unavailable
 */
export async function usePrimary({ config, db, primaries }: System): Promise<void> {
  const { members } = primaries
  const known = members.length > 1 ? await store.current(db, members[0]!.name) : await store.find(db)
  if (known === undefined) return
  // Otherwise nobody would know which zones are behind there.
  const registered = [...(await standbys.lags(db)).keys()]
  const missing = registered.find((name) => members.every((each) => each.name !== name))
  if (missing !== undefined && missing !== known.name) {
    throw new StartError(
      `PDNS_API_URL lacks ${missing}, to which zones are copied: name it there, or forget it (zoneplane primary forget)`,
    )
  }
  await transaction(db, (trx) => standbys.doubt(trx, known.name, config.catalogZone))
  if (!primaries.follow(known)) {
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
  let probing: Promise<unknown> | undefined
  let examination: Promise<void> | undefined
  /** Whether each has answered the last question. */
  const answering = new Map<Member, boolean>()
  /** When another one may take over, by performance.now(), if the active one goes on not answering this process. */
  let deadline: number | undefined
  let isLost = false
  /** The times of the next comparisons, by performance.now(). */
  let due: number[] = []
  const compareAgain = () => {
    due = COMPARISONS.map((time) => performance.now() + time)
  }
  const compare = async () => {
    // Others may replace them meanwhile.
    const times = due
    if (times[0] === undefined || times[0] > performance.now()) return
    await audit(system, () => false)
    times.shift()
  }
  const follow = async (known: store.Primary) => {
    const former = primaries.active
    // Before this process sends it anything.
    await transaction(system.db, (trx) => standbys.doubt(trx, known.name, config.catalogZone))
    const isKnown = primaries.follow(known)
    if (!isKnown && !isLost)
      log.error('PDNS_API_URL lacks the active PowerDNS; all writes get 503', { primary: known.name })
    isLost = !isKnown
    deadline = undefined
    if (isLost) return
    log.warn('another PowerDNS is the active one; comparing all zones', { primary: known.name, former: former.name })
    system.metrics?.count('zoneplane_primary_changes_total', {})
    await former.nameserver.abandon()
    // Again, because somebody may have upgraded it.
    probing = primaries.active.nameserver.probe().catch(() => untilProbed(system, signal))
    compareAgain()
  }
  const ask = async (member: Member) => {
    const answers = await member.nameserver.answers(limit)
    const before = answering.get(member)
    answering.set(member, answers)
    if (answers && before !== true && member !== primaries.active) {
      // It may have kept requests for all this time: with a shared database, they change what the active one serves.
      if (before === false) compareAgain()
      // Not awaited: a standby that hangs delays nothing.
      examination = examine(system, member)
    }
    return answers
  }
  const look = async () => {
    const known = await store.current(pools.counters, primaries.members[0]!.name)
    if (known.term !== primaries.term) await follow(known)
    if (isLost) return undefined
    const asked = performance.now()
    const [answers] = await Promise.all([primaries.active, ...primaries.standbys].map(ask))
    if (answers === true) {
      deadline = undefined
      await store.hear(pools.counters, known.term)
      return undefined
    }
    deadline ??= asked + config.pdnsFailover * 1_000
    if (config.pdnsFailover === 0 || performance.now() < deadline) return undefined
    // If no standby can.
    deadline = performance.now() + RETRY_PAUSE
    // The next look follows it.
    return (await changeOver(system, known)) ? 0 : undefined
  }
  const looking = runPeriodically(log, 'watch for the active PowerDNS', look, pause, signal)
  const comparing = runPeriodically(log, 'comparison after a change-over', compare, LOOK_PAUSE, signal)
  return {
    async stop() {
      stopping.abort()
      await Promise.all([looking, comparing])
      await Promise.all([probing, examination])
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
  for (const member of primaries.standbys) {
    const { name, nameserver } = member
    try {
      await nameserver.probe()
      await requireZones(system, member)
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
