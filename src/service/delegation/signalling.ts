import { SUBNAME_LENGTH, withAncestors } from '../../dns/names.ts'
import { mapInSlices } from '../../flow/slices.ts'
import { NAME_LENGTH } from '../../limits.ts'
import type { PublishedRRset } from '../../nameserver/nameserver.ts'
import { exclusively } from '../../store/turns.ts'
import type { SignallingZone, WaitingDomain } from '../../store/zone/signals.ts'
import * as store from '../../store/zone/signals.ts'
import type { System } from '../../system.ts'
import { signallingZones } from '../names/signalling-zones.ts'
import type { Scan } from '../work/work.ts'
import { announcementsOf, asksForRemoval, tellParents } from '../zone/cds.ts'
import { changeOf, rrsetKey } from '../zone/changes.ts'
import { type Difference, differences } from '../zone/differences.ts'
import { lockZone } from '../zone/opening.ts'
import { openPublication } from '../zone/publication.ts'
import { asksParents } from './checking.ts'

// Domains that wait for their first DS have their CDS and CDNSKEY in the signalling zones of our nameservers, too, where a
// parent can validate them (RFC 9615; contract §15.11). A look compares what these zones have with what they should have,
// so whatever a crash or a user has done to them, the next look puts it right.

/** Milliseconds between two looks. Each change of a signalling zone is a transfer to each secondary. */
const SIGNAL_PAUSE = 15_000

/** The domains in a signalling zone, and the RRsets that a look changes in each. */
const DOMAINS_MAX = 10_000
const CHANGES_MAX = 2_000

/** The characters of the CDS and CDNSKEY that an owner may have added. */
const ADDED_LENGTH = 1_000

/** The prefix of signalling names (RFC 9615 §4.1). */
const PREFIX = '_dsboot.'

/** Keeps the signalling zones that are hosted here up to date, if the service checks at the parents. */
export const SIGNALLING: Scan = {
  name: 'signalling zones',
  pause: SIGNAL_PAUSE,
  isOn: (system) => asksParents(system) && system.nameserver.problem === undefined,
  run: signal,
}

/** Makes the signalling zones what they should be, unless another process does so; in steps, if that is much. */
export async function signal(system: System): Promise<void> {
  const zones = await store.zones(system.db, signallingZones(system.config))
  if (zones.length === 0) return
  await exclusively(system.db, 'signalling zones', async () => {
    const ids = zones.map(({ id }) => id)
    const [waiting, listed] = await Promise.all([
      store.waiting(system.db, ADDED_LENGTH, DOMAINS_MAX),
      store.listed(system.db, ids, PREFIX),
    ])
    const announced = await mapInSlices(waiting, announcedBy)
    const plans: Plan[] = []
    for (const zone of zones) {
      const wanted = (await mapInSlices(announced, (domain) => signalsIn(zone, domain, system))).flat()
      const present = listed.filter(({ zoneId }) => zoneId === zone.id)
      const found = (await differences(wanted, present)).slice(0, CHANGES_MAX)
      if (found.length > 0) plans.push({ zone, found })
    }
    if (plans.length > 0) await write(system, plans, waiting)
  })
}

/** A domain, and its CDS and CDNSKEY; none: it wants no DS. */
interface Announced {
  name: string
  rrsets: PublishedRRset[]
}

function announcedBy({ name, keys, added }: WaitingDomain): Announced {
  return { name, rrsets: added.some(asksForRemoval) ? [] : announcementsOf(name, keys, added) }
}

/** Returns the RRsets that a signalling zone should have for a domain. */
function signalsIn(zone: SignallingZone, { name, rrsets }: Announced, { waits }: System): PublishedRRset[] {
  const subname = `${PREFIX}${name}`
  const isTooLong = subname.length > SUBNAME_LENGTH || `${subname}.${zone.name}`.length > NAME_LENGTH
  // A parent cannot validate a signalling zone below the domain before it has the DS (RFC 9615 §4.1).
  if (isTooLong || withAncestors(zone.name).includes(name)) return []
  const ttl = Math.max(waits.dnskeyTtl, zone.minimumTtl)
  return rrsets.map(({ type, records }) => ({ subname, type, ttl, records }))
}

/** The differences of a zone from what it should be. */
interface Plan {
  zone: SignallingZone
  found: Difference[]
}

/** Writes all zones in one transaction, so that the parent is told when all have the signals. */
async function write(system: System, plans: Plan[], waiting: WaitingDomain[]): Promise<void> {
  await using publication = await openPublication(system, 'signalling zones')
  const { trx } = publication
  const news = new Set<string>()
  for (const { zone, found } of plans) {
    const subnames = [...new Set(found.map(({ subname }) => subname))]
    const locked = await lockZone(publication, zone.name, subnames)
    if (locked === undefined) continue
    const current = new Map(locked.current.map((rrset) => [rrsetKey(rrset), rrset]))
    await locked.apply(found.map((each) => changeOf({ ...each, before: current.get(rrsetKey(each)) })))
    for (const { subname, after } of found) if (after !== undefined) news.add(subname.slice(PREFIX.length))
  }
  await tellParents(
    system,
    trx,
    waiting.filter(({ name }) => news.has(name)),
  )
  await publication.commit()
}
