import { absolute, nameOf } from '../../dns/names.ts'
import { Conflict, Invalid, NotFound } from '../../errors.ts'
import { inSlices } from '../../flow/slices.ts'
import type { KeyState, PublishedRRset } from '../../nameserver/nameserver.ts'
import type { LockedDomain } from '../../store/domains/domains.ts'
import * as store from '../../store/domains/interventions.ts'
import { keysOf } from '../../store/domains/keys.ts'
import { rolloverOf } from '../../store/domains/rollovers.ts'
import * as marks from '../../store/zone/marks.ts'
import type { RRset, RRsetState } from '../../store/zone/rrsets.ts'
import * as rrsets from '../../store/zone/rrsets.ts'
import type { System } from '../../system.ts'
import { lockNamed } from '../domains/domains.ts'
import { suspension } from '../names/suspended.ts'
import { OWN_REPAIR, repair } from '../repair/reconcile.ts'
import { areSame, isPublic, statesOf, storeKeys } from '../secrets/signing-keys.ts'
import { type Contents, contentsOf, isAnnouncement } from '../zone/cds.ts'
import { changesTo } from '../zone/changes.ts'
import * as differing from '../zone/differences.ts'
import { SERVICE } from '../zone/journal.ts'
import { openPublication, type Publication } from '../zone/publication.ts'
import { Zone } from '../zone/zone.ts'
import { planContents } from './adoption-plan.ts'

/** The contents that a paused domain goes on with: those of the database, or those at the nameserver. */
export type Side = 'ours' | 'theirs'

/** A difference between the database and the nameserver; undefined: that side has no such RRset. */
export interface Difference {
  name: string
  /** A type, or `signing keys`; these have no TTL. */
  type: string
  ours: State | undefined
  theirs: State | undefined
}

type State = Pick<RRsetState, 'records'> & { ttl?: number }

/**
 * Pauses a domain: accounts cannot write it and the service does not repair its zone, so that the operator can work on
 * it at the nameserver. @throws NotFound, Unavailable; Conflict if it is suspended, or its zone is being repaired
 */
export async function pause(system: System, name: string): Promise<void> {
  await using publication = await openPublication(system, 'operator', { queues: [`zone ${name}`] })
  const domain = await lockNamed(publication.trx, name)
  if (domain.suspended !== null) throw suspension(name)
  if (await marks.isMarked(publication.trx, name)) {
    throw new Conflict(`The zone of ${name} is being repaired. Try again when that is done.`)
  }
  await store.setPaused(publication.trx, domain.id, true)
  await publication.commit()
}

/**
 * Ends the pause of a domain if the nameserver serves the contents of the database, or a side is chosen.
 * @returns the differences; without a side, the domain stays paused if there are any
 * @throws NotFound, Unavailable, NameserverFailure; Conflict if the domain is not paused; Invalid with the contents
 *   that the database cannot take over
 */
export async function resume(system: System, name: string, side?: Side): Promise<Difference[]> {
  await using publication = await openPublication(system, 'operator', { queues: [`zone ${name}`] })
  const { trx } = publication
  const domain = await lockNamed(trx, name)
  if (!domain.paused) throw new Conflict(`${name} is not paused.`)
  const live = await system.nameserver.read(absolute(name))
  const stored = await keysOf(trx, domain.id)
  const current = await rrsets.list(trx, domain.id)
  const desired = contentsOf(name, stored, current)
  const contents = await differing.differences(desired.rrsets, live?.rrsets ?? [])
  const keys = live === undefined ? [] : keyDifferences(domain, stored, live.keys)
  const found = [...contents.map((difference) => differenceOf(domain, difference)), ...keys]
  if (found.length > 0 && side === undefined) return found
  await store.setPaused(trx, domain.id, false)
  if (keys.length > 0 && side === 'theirs') await takeKeys(publication, domain)
  if (contents.length > 0 && side === 'theirs') await takeOver(publication, domain, current, desired)
  else await marks.setMany(trx, [name], { delay: OWN_REPAIR })
  await publication.commit()
  await repair(system, name)
  return found
}

function keyDifferences({ name }: LockedDomain, stored: KeyState[], live: KeyState[]): Difference[] {
  if (areSame(stored, live)) return []
  const stateOf = (keys: KeyState[]) => ({ records: keys.map((key) => `${key.dnskey} (${statesOf(key)})`) })
  return [{ name, type: 'signing keys', ours: stateOf(stored), theirs: stateOf(live) }]
}

/** Stores the keys at the nameserver, and no others. @throws Conflict, Invalid, NameserverFailure */
async function takeKeys({ system, trx }: Publication, domain: LockedDomain): Promise<void> {
  const rollover = await rolloverOf(trx, domain.id)
  if (rollover !== undefined && rollover.phase !== 'queued') {
    throw new Conflict(`The keys of ${domain.name} are being replaced. Take ours, and cancel that first.`)
  }
  const keys = await system.nameserver.signingKeys(absolute(domain.name))
  if (!keys.some(isPublic)) throw Invalid.object('None of the keys at PowerDNS is active and published.')
  await storeKeys(system, trx, domain, keys, { only: true })
}

function differenceOf(domain: LockedDomain, { subname, type, before, after }: differing.Difference): Difference {
  const stateOf = (rrset: PublishedRRset | undefined) => rrset && { ttl: rrset.ttl, records: rrset.records }
  return { name: nameOf(domain, subname), type, ours: stateOf(after), theirs: stateOf(before) }
}

/**
 * Stores the contents at the nameserver as those of the domain.
 * @param current all RRsets of the domain
 * @throws NotFound, Invalid, NameserverFailure
 */
async function takeOver(
  publication: Publication,
  domain: LockedDomain,
  current: RRset[],
  { ownCds }: Contents,
): Promise<void> {
  const { system } = publication
  const zone = new Zone(publication, { ...domain, paused: false }, SERVICE, { current })
  const found = await system.nameserver.survey(absolute(domain.name))
  if (found === undefined) throw new NotFound(`PowerDNS has no zone ${domain.name}.`)
  const options = { clampTtl: false, dropDisabled: true }
  const state = { domain, current, policies: [], keepsNs: false, labelProblem: zone.labelProblem }
  const plan = await inSlices(planContents(found, state, options))
  if (plan.obstacles.length > 0) throw Invalid.object(plan.obstacles.join('\n'))
  // Those at the nameserver may be ours.
  const kept = ownCds ? current.filter(isAnnouncement) : plan.rrsets.filter(isAnnouncement)
  const wanted = [...plan.rrsets.filter((rrset) => !isAnnouncement(rrset)), ...kept]
  await zone.apply(changesTo(wanted, current), { touch: true })
}
