import { withAncestors } from '../../dns/names.ts'
import { Conflict, NameserverFailure, Unavailable } from '../../errors.ts'
import type { LockedDomain } from '../../store/domains/domains.ts'
import * as store from '../../store/domains/interventions.ts'
import { lockAll, lockCreation, servedAround } from '../../store/domains/relatives.ts'
import * as marks from '../../store/zone/marks.ts'
import type { System } from '../../system.ts'
import { delegate, withdraw } from '../domains/delegations.ts'
import { lockNamed } from '../domains/domains.ts'
import { withKeys } from '../domains/keys.ts'
import { record } from '../events.ts'
import { compose, sendToAccount } from '../mails/mails.ts'
import { registrable } from '../names/availability.ts'
import { repairNow } from '../repair/reconcile.ts'
import { openPublication, type Publication } from '../zone/publication.ts'

// The operator suspends domains (contract §7.9). That a domain is suspended is a state of its row, committed with a mark;
// repair then makes the nameserver equal to it, which has no zone of the domain. So wherever the process ends, the zone is
// not served in the end, or served again.

/**
 * Suspends a domain: it is not served, and nobody can change it. A suspended one stays so. When it resolves, the
 * nameserver does not have the zone.
 * @returns the account's other domains above and below it, which are still served
 * @throws NotFound, Unavailable, NameserverFailure; Conflict if it is paused
 */
export async function suspend(system: System, name: string): Promise<string[]> {
  await using publication = await openPublication(system, 'operator', { queues: [`zone ${name}`] })
  const { trx } = publication
  const domain = await lockToChange(publication, name)
  if (domain.paused) throw new Conflict(`${name} is paused. Resume it first.`)
  if (domain.suspended === null) {
    // Writes above it that have not seen the suspension end before it, and the others see it.
    await lockAll(trx, withAncestors(name).slice(1))
    // The delegation first, so that it never points to a deleted zone.
    await withdraw(publication, name)
    await store.suspend(trx, domain.id, system.now())
    const text = compose(
      `${name} was suspended`,
      `The operator of this service has suspended your domain ${name}. Its nameservers do not answer for it any more. Its records and keys are kept, but you cannot change or delete it.`,
      'Please contact the operator of this service if you have questions.',
    )
    await sendToAccount(system, trx, domain.ownerId, 'suspension', text)
    await commit(publication, domain, 'domain_suspended')
  }
  await settle(system, name, 'suspended, but its zone may still be served')
  return await servedAround(system.db, domain.ownerId, name, withAncestors(name).slice(1))
}

/**
 * Ends the suspension of a domain. When it resolves, the nameserver serves its zone as before, with a higher serial.
 * @throws NotFound, Unavailable, NameserverFailure; Conflict if it is not suspended
 */
export async function resumeServing(system: System, name: string): Promise<void> {
  await using publication = await openPublication(system, 'operator', { queues: [`zone ${name}`] })
  const { trx } = publication
  const domain = await lockToChange(publication, name)
  if (domain.suspended === null) throw new Conflict(`${name} is not suspended.`)
  await store.endSuspension(trx, domain.id, system.config.catalogZone !== undefined)
  await delegate(publication, name, (await withKeys(system, domain)).keys)
  const text = compose(
    `${name} is served again`,
    `The operator of this service has ended the suspension of your domain ${name}. Its nameservers answer for it as before, and you can change it again.`,
  )
  await sendToAccount(system, trx, domain.ownerId, 'suspension', text)
  await commit(publication, domain, 'domain_resumed')
  await settle(system, name, 'no longer suspended, but its zone may not be served yet')
}

/** Locks a domain, and the creation of others above and below it. @throws NotFound, Unavailable */
async function lockToChange({ trx }: Publication, name: string): Promise<LockedDomain> {
  await lockCreation(trx, registrable(name))
  return lockNamed(trx, name)
}

async function commit(
  publication: Publication,
  { name, ownerId }: LockedDomain,
  event: 'domain_suspended' | 'domain_resumed',
): Promise<void> {
  await marks.setOwn(publication.trx, name)
  record(publication.system, publication.trx, event, { account: ownerId, domain: name })
  await publication.commit()
}

/** @throws Unavailable, with what is so already, if the nameserver cannot be made equal to the database now */
async function settle(system: System, name: string, what: string): Promise<void> {
  await repairNow(system, name).catch((error: unknown) => {
    if (!(error instanceof NameserverFailure || error instanceof Unavailable)) throw error
    throw new Unavailable(`${name} is ${what}: ${error.message}. The service goes on trying.`, { cause: error })
  })
}
