import { Unavailable } from '../../errors.ts'
import { REQUESTS_MAX, SMALL_WRITE } from '../../limits.ts'
import { transaction } from '../../store/database.ts'
import * as domains from '../../store/domains/domains.ts'
import type { RRsetState } from '../../store/zone/rrsets.ts'
import * as snapshots from '../../store/snapshots.ts'
import type { Difference, Snapshot } from '../../store/snapshots.ts'
import type { System } from '../../system.ts'
import type { Release } from '../../flow/budget.ts'
import { delegate } from '../domains/delegations.ts'
import * as served from '../domains/domains.ts'
import { BoundedMemory } from '../throttling/counters.ts'
import { operatorFor } from '../actor.ts'
import { changesTo } from '../zone/changes.ts'
import { NO_CONDITIONS } from '../zone/conditions.ts'
import { SERVICE } from '../zone/journal.ts'
import { nextVersion, openPublication } from '../zone/publication.ts'
import { openZone } from '../zone/opening.ts'
import { Zone } from '../zone/zone.ts'

/** The state to which resets return, by the pool of a system: each request has a copy of the system. */
const remembered = new WeakMap<System['db'], Snapshot>()

/** Remembers the present state for `reset`. */
export async function remember(system: System): Promise<void> {
  remembered.set(system.db, await snapshots.take(system.db))
}

/** Enters as one of the requests, which wait for a running reset. @returns a function that leaves. @throws Busy */
export async function enterRequests({ requests }: System): Promise<Release> {
  return requests.take('requests')
}

/**
 * Returns to the remembered state, when all running requests have ended. What nobody has changed is not touched. Zones
 * are changed by the one door, so their serials only grow. After a failure, the next reset completes it.
 * @throws Busy, Unavailable, NameserverFailure
 */
export async function reset(system: System): Promise<void> {
  const snapshot = remembered.get(system.db)
  if (snapshot === undefined) throw new Unavailable('no state was remembered')
  const leave = await system.requests.take('requests', REQUESTS_MAX)
  try {
    const different = await snapshots.differences(system.db, snapshot)
    const each = async (kind: Difference['kind'], work: (domain: Difference) => Promise<unknown>) => {
      await Promise.all(different.filter((domain) => domain.kind === kind).map(work))
    }
    await each('added', ({ ownerId, name }) => served.remove(system, operatorFor(ownerId), name, NO_CONDITIONS))
    await transaction(system.db, (trx) => snapshots.restoreAccounts(trx, snapshot))
    await each('changed', (domain) => rewrite(system, snapshot, domain))
    // After the zones of their local public suffixes, in which they are delegated.
    await each('removed', (domain) => create(system, snapshot, domain))
    await transaction(system.db, (trx) => snapshots.restoreRest(trx, snapshot))
    if (system.counters instanceof BoundedMemory) system.counters.clear()
    await system.mailer.clear()
  } finally {
    leave()
  }
  system.log.info('reset')
}

/** The RRsets of a domain in the snapshot. */
function rrsetsOf({ rows }: Snapshot, id: number): RRsetState[] {
  return rows['rrsets']!.filter((row) => row['domain_id'] === id).map((row) => row as unknown as RRsetState)
}

/** Writes the RRsets of the snapshot, and deletes the others; restores who may transfer the zone. */
async function rewrite(system: System, snapshot: Snapshot, domain: Difference): Promise<void> {
  const desired = rrsetsOf(snapshot, domain.id)
  {
    const opening = { isLarge: desired.length > SMALL_WRITE }
    await using zone = await openZone({ system, actor: operatorFor(domain.ownerId), domain }, 'all', opening)
    if (!(await snapshots.restoreTransfers(zone.publication.trx, snapshot, domain.id))) {
      await zone.write(changesTo(desired, zone.current))
      return
    }
    await zone.publishAgain()
    await zone.publication.commit()
  }
  await rewrite(system, snapshot, domain)
}

/** Creates a domain of the snapshot again. */
async function create(system: System, snapshot: Snapshot, { id, name, ownerId }: Difference): Promise<void> {
  await using publication = await openPublication(system, ownerId)
  const { trx } = publication
  const { sent } = await domains.past(trx, name)
  await snapshots.addDomain(trx, snapshot, id, nextVersion(system, sent + 1))
  const domain = (await domains.lock(trx, name))!
  const keys = await new Zone(publication, domain, SERVICE).create(rrsetsOf(snapshot, id))
  await delegate(publication, name, keys)
  await publication.commit()
}
