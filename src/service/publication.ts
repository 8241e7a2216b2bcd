import { setTimeout as sleep } from 'node:timers/promises'
import { NameserverFailure } from '../errors.ts'
import { graceTime } from '../limits.ts'
import type { PublishedRRset } from '../nameserver/nameserver.ts'
import { sendAlong, type Db } from '../store/database.ts'
import type { Domain } from '../store/domains.ts'
import * as marks from '../store/marks.ts'
import type { Mark } from '../store/marks.ts'
import type { System } from '../system.ts'
import { unixTime } from '../time.ts'
import { differences } from './differences.ts'

/** What is about to be sent to the nameserver. */
export interface Sending {
  /** The domain's name. */
  zone: string
  /** The SOA serial that it carries; null for a deletion. */
  version: number | null
  rrsets: number
}

/** What a push learns about the zone, and may say of it. */
export interface Attempt {
  /** A mark was there before: what is served may be anything, and something may still be under way to it. */
  earlier: Mark | undefined
  /** To be set once something was applied, so that a refusal of the rest no longer means that nothing was. */
  begun: boolean
}

/**
 * Runs `push` under a mark (architecture.md): the mark is committed before anything is sent, and goes with the commit
 * of `trx`. When the push fails, the mark stays unless it is certain that nothing was applied. The caller holds the
 * zone's lock in `trx` until the end.
 */
export async function underMark<T>(
  system: System,
  trx: Db,
  sending: Sending,
  push: (attempt: Attempt) => Promise<T>,
): Promise<T> {
  const mark = { zone: sending.zone, version: sending.version, grace: graceTime(sending.rrsets) }
  const attempt: Attempt = { earlier: await marks.place(system.marksDb, mark), begun: false }
  let result: T
  try {
    result = await push(attempt)
  } catch (error) {
    await reconsider(system, mark, attempt, error)
    throw error
  }
  void sendAlong(marks.remove(trx, sending.zone))
  return result
}

/** What a failed push means for the mark. */
async function reconsider(system: System, mark: Parameters<typeof marks.replace>[1], attempt: Attempt, error: unknown) {
  // Other errors come from before anything was sent.
  const kind = error instanceof NameserverFailure ? error.kind : 'unreachable'
  const nothingSent = attempt.earlier === undefined && !attempt.begun
  if (nothingSent && (kind === 'refused' || kind === 'conflict' || kind === 'unreachable')) {
    await marks.remove(system.marksDb, mark.zone)
  } else if (kind === 'failed' || kind === 'absent') {
    // It answered, so nothing of ours is under way any more.
    await marks.replace(system.marksDb, { ...mark, grace: 0 })
  }
}

/** The version that comes after `version`: it never falls behind the clock, nor behind what is served (powerdns.md §0). */
export function nextVersion(system: System, version: number, live = 0): number {
  return Math.max(version + 1, live + 1, unixTime(system.now()))
}

/** Waits until nothing that was sent to the zone under this mark can still be applied. */
export async function settle(system: System, mark: Mark): Promise<void> {
  const serial = await system.nameserver.serial(`${mark.zone}.`)
  if (mark.grace === 0 || serial === mark.version) return
  // The nameserver is well: what reached it is being carried out now, or never arrived.
  await sleep(mark.grace)
}

/**
 * Makes the served zone equal `desired`, whatever is there, and returns its version. Sends nothing if they are equal
 * and the version is the domain's. The version sent is noted in the mark, which exists.
 */
export async function equalise(
  system: System,
  domain: Pick<Domain, 'name' | 'version'>,
  desired: PublishedRRset[],
): Promise<number> {
  const zone = `${domain.name}.`
  const live = await system.nameserver.read(zone)
  const version = nextVersion(system, domain.version, live?.serial)
  const note = (rrsets: number) =>
    marks.replace(system.marksDb, { zone: domain.name, version, grace: graceTime(rrsets) })

  if (live?.complete !== true) {
    await note(desired.length)
    if (live !== undefined) await system.nameserver.deleteZone(zone)
    await system.nameserver.createZone(zone, version, desired)
    return version
  }
  const changes = differences(desired, live.rrsets)
  if (changes.length === 0 && live.serial === domain.version && live.rectify) return live.serial
  await note(changes.length)
  if (!live.rectify) await system.nameserver.setRectify(zone, true)
  await system.nameserver.publish(zone, version, changes)
  return version
}
