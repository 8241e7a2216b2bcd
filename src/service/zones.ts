import { NotFound } from '../errors.ts'
import { SMALL_ZONE, SUBNAME_LENGTH } from '../limits.ts'
import { parseRdata } from '../dns/rdata.ts'
import type { PublishedRRset } from '../nameserver/nameserver.ts'
import { sendAlong, type Db } from '../store/database.ts'
import * as domains from '../store/domains.ts'
import type { Domain } from '../store/domains.ts'
import * as rrsets from '../store/rrsets.ts'
import type { RRset } from '../store/rrsets.ts'
import type { Mark } from '../store/marks.ts'
import type { System } from '../system.ts'
import type { Actor } from './actor.ts'
import { suffixes } from './availability.ts'
import { changesStructure, isEffective, nameOf, type Change, type Zone } from './changes.ts'
import { sees } from './policies.ts'
import { equalise, nextVersion, publishing } from './publication.ts'

/**
 * The one door for record changes: plans under the domain's lock, stores, publishes, commits; all of it or nothing.
 * Once it resolves, the new state is answered in DNS.
 * @param subnames where the plan may look and change
 * @param plan what shall change, given what is there; it may throw, then nothing happens
 * @returns the RRsets that are there after the write, in the order of the plan; undefined where there is none
 * @throws NotFound, Unavailable, NameserverFailure, and whatever `plan` throws
 */
export async function writeZone(
  system: System,
  actor: Actor,
  name: string,
  subnames: string[],
  plan: (zone: Zone) => Change[],
): Promise<(RRset | undefined)[]> {
  return system.turns.run(name, () =>
    publishing(system, async (trx, underMark) => {
      // One flight; the second statement sees what is there once the first has the lock.
      const [domain, around] = await Promise.all([
        domains.lock(trx, name),
        rrsets.atSubnames(trx, name, withAncestors(subnames)),
      ])
      if (domain === undefined || !sees(actor, domain)) throw new NotFound()
      const concerned = new Set(subnames)
      const changes = plan({ domain, current: around.filter(({ subname }) => concerned.has(subname)) })
      const effective = changes.filter(isEffective)
      const idle = changes.filter((change) => change.after !== undefined && !isEffective(change))
      const now = system.now()

      const touched = await rrsets.touch(trx, domain.id, idle, now)
      if (effective.length === 0) {
        if (idle.length > 0) await domains.touch(trx, domain.id, now)
        return arrange(changes, touched)
      }
      const version = nextVersion(system, domain.version)
      const growth = effective.reduce((sum, { before, after }) => sum + Number(!!after) - Number(!!before), 0)
      const rectify = domain.size + growth <= SMALL_ZONE || changesStructure(around, effective)
      const storing = sendAlong(
        rrsets.apply(trx, domain.id, {
          removed: effective.filter(({ after }) => after === undefined),
          written: effective.flatMap(({ after }) => after ?? []),
          ...{ growth, version, rectify, now },
        }),
      )
      const sending = { zone: name, version, rrsets: effective.length }
      const push = underMark(sending, async (attempt) => {
        const stored = await storing
        if (attempt.isDoubtful) {
          await publishWhole(system, trx, attempt.mark, domain)
          return stored
        }
        if (rectify !== domain.rectify) {
          await system.nameserver.setRectify(`${name}.`, rectify)
          attempt.begun = true
        }
        await system.nameserver.publish(
          `${name}.`,
          version,
          effective.map((change) => changed(domain, change)),
          rectify,
        )
        return stored
      })
      // Even if there is no push, storing has ended before the transaction does: else its rest would follow the end.
      const written = await push.finally(() => storing.catch(() => undefined))
      return arrange(changes, [...touched, ...written])
    }),
  )
}

/** Makes the zone at the nameserver, which may be anything, what the database says. */
export async function publishWhole(system: System, trx: Db, mark: Mark, domain: Domain): Promise<number> {
  const desired = (await rrsets.list(trx, domain.id)).map((rrset) => published(domain, rrset))
  const version = await equalise(system, mark, domain, desired)
  await domains.setRepaired(trx, domain.id, version)
  return version
}

/** These subnames and those above them, where a delegation may stand; without those that are too long to be there. */
function withAncestors(subnames: string[]): string[] {
  const storable = subnames.filter(({ length }) => length <= SUBNAME_LENGTH)
  return [...new Set(storable.flatMap(suffixes))]
}

/** The RRsets that the changes speak of, in their order. */
function arrange(changes: Change[], present: RRset[]): (RRset | undefined)[] {
  const byPlace = new Map(present.map((rrset) => [`${rrset.type} ${rrset.subname}`, rrset]))
  return changes.map(({ type, subname }) => byPlace.get(`${type} ${subname}`))
}

/** A stored RRset as the nameserver shall serve it. */
export function published(
  domain: Pick<Domain, 'name'>,
  { subname, type, ttl, records }: rrsets.RRsetState,
): PublishedRRset {
  return { name: nameOf(domain, subname), type, ttl, records: records.map((text) => parseRdata(type, text).backend) }
}

function changed(domain: Domain, { subname, type, before, after }: Change): PublishedRRset {
  return {
    name: nameOf(domain, subname),
    type,
    ttl: (after ?? before)!.ttl,
    records: after?.rdata.map(({ backend }) => backend) ?? [],
  }
}
