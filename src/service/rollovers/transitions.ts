import { reasonOf } from '../../errors.ts'
import type { LockedDomain } from '../../store/domains/domains.ts'
import * as domains from '../../store/domains/domains.ts'
import { setStates } from '../../store/domains/keys.ts'
import * as notices from '../../store/domains/rollover-notices.ts'
import type { Phase, Rollover } from '../../store/domains/rollovers.ts'
import * as store from '../../store/domains/rollovers.ts'
import type { RolloverAction } from '../../store/zone/history.ts'
import * as marks from '../../store/zone/marks.ts'
import { after, type Timestamp } from '../../time.ts'
import { repair } from '../repair/reconcile.ts'
import { tellParents } from '../zone/cds.ts'
import { nextVersion } from '../zone/claim.ts'
import { type Author, record, SERVICE } from '../zone/journal.ts'
import type { Publication } from '../zone/publication.ts'
import { eventOf } from './owner-notices.ts'
import { type Sides, visibilityIn } from './phases.ts'

/** A rollover, and its next phase; undefined: it ends. */
export type Step = Sides & { phase: Phase | undefined; emergency: boolean; action: RolloverAction['action'] }

/**
 * Carries out a step, and commits it. The keys, the phase, its entry in the history and a mark are committed together;
 * repair then gives the zone these keys. So wherever the process ends, the zone has the keys of this phase, or will get them.
 * @returns the rollover as it was committed, unless it has ended: reading it afterwards could fail, as if nothing were changed
 */
export async function carryOut(
  publication: Publication,
  domain: LockedDomain,
  { incoming, outgoing, phase, emergency, action }: Step,
  author: Author = SERVICE,
): Promise<Rollover | undefined> {
  const { id, name } = domain
  const { system, trx } = publication
  const now = system.now()
  const { incoming: coming, outgoing: going } = visibilityIn(phase)
  await setStates(trx, id, incoming, coming)
  await setStates(trx, id, outgoing, going, phase === undefined ? now : null)
  if (phase === undefined) await store.remove(trx, id)
  else await store.enter(trx, { domainId: id, phase, incoming, outgoing, emergency }, now)
  const version = nextVersion(system, domain.sent)
  await domains.setRepaired(trx, id, version)
  await recordAction(publication, domain, author, { action, phase: phase ?? null }, { version, since: now })
  // In the other phases CDS stay as they are.
  if (phase === 'await-ds') await tellParents(system, trx, [domain])
  await marks.setOwn(trx, name)
  const rollover = await store.rolloverOf(trx, id)
  await publication.commit()
  system.log.info('rollover', { zone: name, phase: phase ?? 'done' })
  // If this fails, the mark stays, and reconcile tries again.
  await repair(system, name).catch((error: unknown) => {
    system.log.error('publication of keys failed; retrying', { zone: name, reason: reasonOf(error) })
  })
  return rollover
}

/** Adds an entry to the history of a domain, and tells its owner. */
export async function recordAction(
  { system, trx }: Publication,
  { id, name, ownerId, published }: LockedDomain,
  author: Author,
  rollover: RolloverAction,
  { version, since }: { version: number; since: Timestamp },
): Promise<void> {
  const event = eventOf(rollover)
  if (event !== undefined) await notices.add(trx, { ownerId, name }, author, { event, now: since })
  const state = { version, now: after(published, since), rollover }
  await record(system, trx, { id, ownerId }, { ...author, source: 'rollover' }, state, [])
}
