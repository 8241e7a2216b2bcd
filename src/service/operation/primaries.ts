import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Conflict, NotFound } from '../../errors.ts'
import type { Member } from '../../nameserver/cluster/cluster.ts'
import { NSEC, STANDBY_SCRATCH_ZONE } from '../../nameserver/nameserver.ts'
import { transaction } from '../../store/database.ts'
import * as store from '../../store/primaries.ts'
import * as standbys from '../../store/standbys.ts'
import type { System } from '../../system.ts'
import { copyDue, lacksZones, requireZones } from '../repair/standbys.ts'

// What the operator sees and does of several PowerDNS (primaries.md).

/** Milliseconds that a primary has to answer an operator. */
const ANSWER_TIME = 5_000

/** A primary, for the operator. */
export interface PrimaryStatus {
  name: string
  active: boolean
  answers: boolean
  /** The number of zones that wait to be copied to its own database; null if it has none of its own. */
  behind: number | null
  /** Whether it cannot take over, because it lacks zones and none are copied to it. */
  lacksZones: boolean
}

/** Lists the primaries in PDNS_API_URL. @throws Unavailable */
export async function listPrimaries(system: System): Promise<PrimaryStatus[]> {
  const { db, primaries } = system
  const active = (await store.find(db))?.name ?? primaries.active.name
  const lags = await standbys.lags(db)
  return Promise.all(
    primaries.members.map(async (member) => {
      const { name, nameserver } = member
      const answers = await nameserver.answers(ANSWER_TIME)
      const behind = lags.get(name)?.behind ?? null
      const isUnknown = answers && behind === null && name !== active
      // If it answers no more, what was seen last.
      const lacks = isUnknown && (await lacksZones(system, member).catch(() => member.lacksZones ?? false))
      return { name, active: name === active, answers, behind, lacksZones: lacks }
    }),
  )
}

/** Returns a member that is not the active one, and that. @throws NotFound, Conflict */
async function standbyNamed(
  { db, primaries }: System,
  name: string,
): Promise<{ member: Member; known: store.Primary }> {
  const member = primaries.members.find((each) => each.name === name)
  if (member === undefined) {
    const names = primaries.members.map((each) => each.name).join(', ')
    throw new NotFound(`${name} is not in PDNS_API_URL, which has ${names}`)
  }
  const known = await store.current(db, primaries.active.name)
  if (known.name === name) throw new Conflict(`${name} is the active primary already`)
  return { member, known }
}

/**
 * Makes this primary the active one. The services follow within a second.
 * @param options.force also if it lacks zones, which are repaired then
 * @throws NotFound, Conflict, NameserverFailure, Unavailable
 */
export async function changeTo(system: System, name: string, { force }: { force: boolean }): Promise<void> {
  const { member, known } = await standbyNamed(system, name)
  await member.nameserver.probe()
  if (!force) await requireZones(system, member)
  if (!(await store.change(system.db, known.term, name, 0)))
    throw new Conflict('Somebody else has changed over meanwhile.')
}

/** Milliseconds between two reports of progress, and before the next attempt if there is none; the number of these. */
const REPORT_PAUSE = 2_000
const COPY_PAUSE = 500
const PATIENCE = 60

/**
 * Registers a standby with a database of its own, and copies all zones to it. Services do the same, also afterwards. It can
 * be cut short, and done again.
 * @returns the number of zones, and of those that could not be copied yet
 * @throws NotFound, NameserverFailure, Unavailable; Conflict if it is the active one, or has the same database
 */
export async function sync(
  system: System,
  name: string,
  tell: (done: number, all: number) => void,
): Promise<{ all: number; left: number }> {
  const { db, config } = system
  const { member, known } = await standbyNamed(system, name)
  await member.nameserver.probe()
  if (!(await standbys.lags(db)).has(name)) {
    if (await hasSameData(system, member))
      throw new Conflict(`${name} has the same database as ${known.name}: there is nothing to copy`)
    // The active one is a standby after a change-over.
    await standbys.register(db, [name, known.name])
  }
  await transaction(db, (trx) => standbys.noteAll(trx, name, config.catalogZone))
  const begun = performance.now()
  const countLeft = async () => {
    const elapsed = performance.now() - begun
    const lag = (await standbys.lags(db)).get(name)
    // Otherwise all that wait have been written since.
    return lag !== undefined && lag.age * 1_000 > elapsed ? lag.behind : 0
  }
  const all = await countLeft()
  let left = all
  for (let idle = 0; left > 0 && idle < PATIENCE; idle++) {
    await copyDue(system, member, AbortSignal.timeout(REPORT_PAUSE))
    const now = await countLeft()
    if (now < left) {
      left = now
      idle = 0
      tell(all - left, all)
    } else await sleep(COPY_PAUSE)
  }
  return { all, left }
}

/** Stops copying to a member. @throws NotFound, Conflict if it is the active one, Unavailable */
export async function forget({ db }: System, name: string): Promise<void> {
  if ((await store.find(db))?.name === name) throw new Conflict(`${name} is the active primary`)
  if (!(await standbys.forget(db, name))) throw new NotFound(`no zones are copied to ${name}`)
}

/** Reports whether the active nameserver has the data of a standby: it gets a zone that is made there. */
async function hasSameData({ nameserver: active }: System, { nameserver }: Member): Promise<boolean> {
  const lease = { confirm: () => Promise.resolve() }
  const zone = STANDBY_SCRATCH_ZONE
  await nameserver.deleteZone(zone, lease)
  const version = randomInt(1, 2 ** 31)
  await nameserver.createZone({ zone, denial: NSEC, version, rrsets: [], ownCds: false }, [], lease)
  try {
    return (await active.serial(zone)) === version
  } finally {
    await nameserver.deleteZone(zone, lease)
  }
}
