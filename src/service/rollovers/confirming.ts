import { Conflict, orNotFound } from '../../errors.ts'
import type { Domain } from '../../store/domains/domains.ts'
import type { Rollover } from '../../store/domains/rollovers.ts'
import * as store from '../../store/domains/rollovers.ts'
import type { Timestamp } from '../../time.ts'
import type { Access, Writer } from '../actor.ts'
import { checkAnew, type Delegation } from '../delegation/checks.ts'
import { failureOf } from '../delegation/judgement.ts'
import { authoriseWhole } from '../domains/domains.ts'
import { openZone } from '../zone/opening.ts'
import { formerIn } from './parent-ds.ts'
import { authoriseEarly, shown, type ShownRollover } from './rollovers.ts'
import { recordAction } from './transitions.ts'

/**
 * Notes that the owner vouches that the parent has the new DS, and not the former; or that other signers publish the new
 * key. The parent is asked first.
 * @param options.force true not to ask; for logins and the operator
 * @throws as `begin`; NotFound if no keys are being replaced; Conflict if the rollover waits for neither, or if the parent
 *   has the former DS, or may have it
 */
export async function confirm(access: Access<Writer>, { force }: { force: boolean }): Promise<ShownRollover> {
  // Before the lock: the parent may take its time.
  const examined = force ? undefined : await examineParent(access)
  await using zone = await openZone(access, [], { use: force ? 'keysByForce' : 'keys' })
  const { domain, publication, policies } = zone
  const { system, trx } = publication
  await authoriseWhole(trx, domain, policies)
  const rollover = orNotFound(await store.rolloverOf(trx, domain.id))
  const { phase, since } = rollover
  const isAtParent = phase === 'await-ds'
  if (isAtParent && !force && since !== examined) throw new Conflict('The rollover has changed meanwhile. Try again.')
  if (!(await store.confirm(trx, domain.id, isAtParent && force)))
    throw new Conflict('The rollover does not wait for a confirmation.')
  const entry = { action: isAtParent && force ? 'force' : 'confirm', phase } as const
  await recordAction(publication, domain, zone.author, entry, { version: domain.version, since: system.now() })
  await publication.commit()
  return shown(domain, { ...rollover, confirmed: true, seen: 0 })
}

/**
 * Asks the parent, if a rollover waits for it.
 * @returns the beginning of the phase that waits for it
 * @throws Conflict if it has a DS of the former keys, or may have it; Denied, Busy, NameserverFailure
 */
async function examineParent(access: Access<Writer>): Promise<Timestamp | undefined> {
  const { system, domain } = access
  await authoriseEarly(access)
  const rollover = await store.rolloverOf(system.db, domain.id)
  if (rollover?.phase !== 'await-ds' || domain.paused) return undefined
  const doubt = doubtOf(domain, rollover, await checkAnew(access, domain))
  if (doubt !== undefined) throw new Conflict(doubt)
  return rollover.since
}

/** Says why the former keys may still be needed; undefined: all servers of the parent answer, and have none of their DS. */
function doubtOf({ name }: Domain, rollover: Rollover, { parent, servers, problems }: Delegation): string | undefined {
  for (const server of servers) {
    const [ds] = formerIn(name, rollover, server.ds)
    if (ds === undefined) continue
    const found = `The parent zone ${parent} still has the former DS: ${server.name} (${server.address}) has "${ds}".`
    return `${found} Without the former key, validating resolvers would reject the domain. A login can confirm by force.`
  }
  const silent = servers.find(({ problem }) => problem !== null)
  if (silent === undefined && servers.length > 0) return undefined
  const reason = silent === undefined ? problems[0] : failureOf(parent!, silent)
  const unknown =
    'It is unknown whether the parent zone still has the former DS, without whose key validating resolvers would reject the domain.'
  return `${unknown} ${reason} A login can confirm by force.`
}
