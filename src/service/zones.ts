import { NotFound } from '../errors.ts'
import { SMALL_ZONE } from '../limits.ts'
import { parseRdata } from '../dns/rdata.ts'
import type { PublishedRRset } from '../nameserver/nameserver.ts'
import { transaction } from '../store/database.ts'
import * as domains from '../store/domains.ts'
import type { Domain } from '../store/domains.ts'
import * as rrsets from '../store/rrsets.ts'
import type { RRset } from '../store/rrsets.ts'
import type { System } from '../system.ts'
import type { Actor } from './actor.ts'
import { changesStructure, isEffective, nameOf, type Change, type Zone } from './changes.ts'
import { sees } from './policies.ts'
import { equalise, nextVersion, settle, underMark } from './publication.ts'

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
    transaction(system.db, async (trx) => {
      const domain = await domains.lock(trx, name)
      if (domain === undefined || !sees(actor, domain)) throw new NotFound()
      const current = await rrsets.atSubnames(trx, domain.id, subnames)
      const changes = plan({ domain, current })
      const effective = changes.filter(isEffective)
      const idle = changes.filter((change) => change.after !== undefined && !isEffective(change))
      const now = system.now()

      const touched = await rrsets.touch(trx, domain.id, idle, now)
      if (effective.length === 0) {
        if (idle.length > 0) await domains.touch(trx, domain.id, now)
        return arrange(changes, touched)
      }
      await rrsets.remove(
        trx,
        domain.id,
        effective.filter(({ after }) => after === undefined),
      )
      const written = await rrsets.write(
        trx,
        domain.id,
        effective.flatMap(({ after }) => after ?? []),
        now,
      )
      const growth = effective.reduce((sum, { before, after }) => sum + Number(!!after) - Number(!!before), 0)

      const sending = { zone: name, version: nextVersion(system, domain.version), rrsets: effective.length }
      const state = await underMark(system, trx, sending, async (attempt) => {
        if (attempt.earlier !== undefined) {
          await settle(system, attempt.earlier)
          const desired = (await rrsets.list(trx, domain.id)).map((rrset) => published(domain, rrset))
          return { version: await equalise(system, domain, desired), rectify: true }
        }
        const rectify = domain.size + growth <= SMALL_ZONE || changesStructure(current, effective)
        if (rectify !== domain.rectify) {
          await system.nameserver.setRectify(`${name}.`, rectify)
          attempt.begun = true
        }
        await system.nameserver.publish(
          `${name}.`,
          sending.version,
          effective.map((change) => changed(domain, change)),
        )
        return { version: sending.version, rectify }
      })
      await domains.setPublished(trx, domain.id, { ...state, growth, now })
      return arrange(changes, [...touched, ...written])
    }),
  )
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
