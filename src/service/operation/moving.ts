import { Conflict, NotFound } from '../../errors.ts'
import type { Account } from '../../store/accounts/accounts.ts'
import * as accounts from '../../store/accounts/accounts.ts'
import { type Db, transaction } from '../../store/database.ts'
import type { MovingDomain } from '../../store/domains/interventions.ts'
import * as store from '../../store/domains/interventions.ts'
import { conflicts, lockCreation } from '../../store/domains/relatives.ts'
import * as marks from '../../store/zone/marks.ts'
import type { System } from '../../system.ts'
import { record } from '../events.ts'
import { compose, sendToAccount } from '../mails/mails.ts'
import { registrable, registrableAncestors } from '../names/availability.ts'
import { repairNow } from '../repair/reconcile.ts'
import { keep } from '../tokens/rights.ts'

/**
 * Moves domains to another account, all or none (contract §7.10): with their records, keys and histories, in which nobody
 * is named any more. Policies of tokens that name them, and permissions to transfer them, end.
 * @throws NotFound, Unavailable, NameserverFailure; Conflict if one is paused or the account's already, if the account is
 *   not active or would exceed its limit, or if accounts would share a tree of names
 */
export async function move(system: System, names: string[], to: Account): Promise<void> {
  const asked = [...new Set(names)].sort()
  const closed = await transaction(system.db, async (trx) => {
    await keep(trx, [`account ${to.id}`])
    await accounts.lockQuota(trx, to.id)
    for (const name of [...new Set(asked.map(registrable))].sort()) await lockCreation(trx, name)
    const moved = await store.lockToMove(trx, asked)
    await refuse(trx, asked, moved, to.id)
    const closed = await store.move(
      trx,
      moved.map(({ id }) => id),
      to.id,
    )
    await refuseSharedTrees(system, trx, moved, to)
    for (const { name } of closed) await marks.setOwn(trx, name)
    for (const domain of moved) {
      await tell(system, trx, domain, to)
      for (const account of [domain.ownerId, to.id])
        record(system, trx, 'domain_moved', { account, domain: domain.name })
    }
    return closed
  })
  for (const { name, keyName } of closed) {
    await repairNow(system, name)
    // A key that no longer belongs to any zone is harmless if it stays.
    if (keyName !== null) await system.nameserver.removeTransferKey(keyName).catch(() => undefined)
  }
}

/** @throws NotFound, Conflict */
async function refuse(trx: Db, asked: string[], found: MovingDomain[], to: string): Promise<void> {
  const missing = asked.find((name) => !found.some((domain) => domain.name === name))
  if (missing !== undefined) throw new NotFound(`There is no domain ${missing}.`)
  for (const { name, ownerId, paused } of found) {
    if (paused) throw new Conflict(`${name} is paused. Resume it first.`)
    if (ownerId === to) throw new Conflict(`${name} is a domain of that account already.`)
  }
  const account = await accounts.get(trx, to)
  if (account?.state !== 'active') throw new Conflict('That account is not active.')
  const { email, limitDomains } = account
  const all = account.domains + found.length
  if (all > (limitDomains ?? Infinity)) {
    throw new Conflict(`${email} would have ${all} domains, and can have ${limitDomains}: see account set-limit.`)
  }
}

/** After the move. @throws Conflict if another account has a domain above or below one of these */
async function refuseSharedTrees({ config }: System, trx: Db, moved: MovingDomain[], to: Account): Promise<void> {
  for (const { name } of moved) {
    const ancestors = registrableAncestors(name, config.localPublicSuffixes).slice(1)
    if (await conflicts(trx, { ownerId: to.id, name, ancestors }, { orSuspended: false })) {
      throw new Conflict(`Another account has a domain above or below ${name}. Name both, to move them together.`)
    }
  }
}

async function tell(system: System, trx: Db, { name, ownerId }: MovingDomain, to: Account): Promise<void> {
  const texts = {
    [ownerId]: compose(
      `${name} was moved to another account`,
      `The operator of this service has moved your domain ${name} to another account. Your account can neither see nor change it any more. Policies of your tokens that named it are gone.`,
      'Please contact the operator of this service if you did not expect this.',
    ),
    [to.id]: compose(
      `${name} was moved to your account`,
      `The operator of this service has moved the domain ${name} to your account, with its records, keys and history. The history does not say who made the changes before. Nobody else has permission to transfer the zone.`,
      'Please contact the operator of this service if you did not expect this.',
    ),
  }
  for (const [accountId, text] of Object.entries(texts)) await sendToAccount(system, trx, accountId, 'move', text)
}
