import { setTimeout as sleep } from 'node:timers/promises'
import { NameserverFailure } from '../errors.ts'
import { RECONCILE_BATCH, RECONCILE_PAUSE } from '../limits.ts'
import { transaction } from '../store/database.ts'
import * as domains from '../store/domains.ts'
import * as marks from '../store/marks.ts'
import type { Domain } from '../store/domains.ts'
import * as rrsets from '../store/rrsets.ts'
import type { System } from '../system.ts'
import { registrable } from './availability.ts'
import { differences } from './differences.ts'
import { settle } from './publication.ts'
import { published, publishWhole } from './zones.ts'

/** Makes the marked zones that are due equal to the database, and takes their marks away. Returns how many it repaired. */
export async function reconcile(system: System): Promise<number> {
  let repaired = 0
  for (;;) {
    const due = await marks.due(system.db, RECONCILE_BATCH)
    const outcomes = await Promise.all(due.map(({ zone }) => attempt(system, zone)))
    const progress = outcomes.filter((outcome) => outcome).length
    repaired += progress
    // What is busy or postponed has its own next time.
    if (progress === 0) return repaired
  }
}

/** Whether the zone was repaired; if it cannot be now, it is tried again later. */
async function attempt(system: System, zone: string): Promise<boolean> {
  try {
    return await repair(system, zone)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    system.log.error('zone not repaired', { zone, reason })
    await marks.postpone(system.marksDb, zone, reason)
    return false
  }
}

/** Repairs one marked zone, unless somebody is at work on it. */
async function repair(system: System, name: string): Promise<boolean> {
  return transaction(system.db, async (trx) => {
    if (!(await domains.lockCreationIfFree(trx, registrable(name)))) return false
    const domain = await domains.lockIfFree(trx, name)
    if (domain === 'busy') return false
    const mark = await marks.find(trx, name)
    if (mark === undefined) return false
    await settle(system, mark)
    if (domain === undefined) {
      await system.nameserver.deleteZone(`${name}.`)
    } else {
      const version = await publishWhole(system, trx, domain)
      if (await differs(system, { ...domain, version, rectify: true })) {
        throw new NameserverFailure('failed', 'the zone still differs after it was published')
      }
    }
    await marks.remove(trx, name)
    system.log.warn('zone repaired', { zone: name, marked: mark.since })
    return true
  })
}

/**
 * Looks for zones that differ from the database although no mark says so, marks them, and returns their names: by their
 * serials, one request for all; with `contents`, also by what they hold, one request each.
 */
export async function audit(system: System, { contents }: { contents: boolean }): Promise<string[]> {
  const serials = await system.nameserver.serials()
  const suspects: string[] = []
  for (const { name, version } of await domains.versions(system.db)) {
    if (serials.get(`${name}.`) !== version || (contents && (await isOff(system, name)))) suspects.push(name)
  }
  await marks.placeMany(system.db, suspects)
  return suspects
}

async function isOff(system: System, name: string): Promise<boolean> {
  const domain = await domains.find(system.db, name)
  return domain === undefined || differs(system, domain)
}

/** Whether the nameserver has anything else than the database. */
async function differs(system: System, domain: Domain): Promise<boolean> {
  const live = await system.nameserver.read(`${domain.name}.`)
  if (live?.complete !== true || live.serial !== domain.version || live.rectify !== domain.rectify) return true
  const desired = (await rrsets.list(system.db, domain.id)).map((rrset) => published(domain, rrset))
  return differences(desired, live.rrsets).length > 0
}

/**
 * Reconciles now and then, until stopped. The first round also looks for differences by serial, for what happened
 * while no process of ours ran.
 */
export function keepReconciled(system: System): { stop(): Promise<void> } {
  const stopping = new AbortController()
  const done = (async () => {
    let audited = false
    while (!stopping.signal.aborted) {
      try {
        if (!audited) {
          await audit(system, { contents: false })
          audited = true
        }
        await reconcile(system)
      } catch (error) {
        system.log.error('reconciliation failed', { reason: (error as Error).message })
      }
      await sleep(RECONCILE_PAUSE, undefined, { signal: stopping.signal }).catch(() => undefined)
    }
  })()
  return {
    async stop() {
      stopping.abort()
      await done
    },
  }
}
