import { transaction } from '../../store/database.ts'
import type { Domain } from '../../store/domains/domains.ts'
import type { Rollover } from '../../store/domains/rollovers.ts'
import * as store from '../../store/domains/rollovers.ts'
import type { System } from '../../system.ts'
import { DAY, HOUR, secondsBetween } from '../../time.ts'
import { compose, type MailText, sendToAccount } from '../mails/mails.ts'
import { shown } from './rollovers.ts'

/** Seconds after which a parent that acts on CDS has the new DS, and between two mails. */
const FIRST_PAUSE = HOUR
const NEXT_PAUSE = 7 * DAY

/** Asks the owner of a domain, now and then, to do that for which its rollover waits. */
export async function remindOwner(system: System, domain: Domain, rollover: Rollover): Promise<void> {
  const { since, mailed } = rollover
  const now = system.now()
  const pause = mailed === null ? FIRST_PAUSE : NEXT_PAUSE
  if (secondsBetween(mailed ?? since, now) < pause) return
  await transaction(system.db, async (trx) => {
    // The owner may have confirmed or cancelled it meanwhile.
    if (!(await store.noteMail(trx, rollover, now))) return
    // Beyond the rates of mails, the next look tries again.
    if (await sendToAccount(system, trx, domain.ownerId, 'rollover', textOf(domain, rollover))) return
    await store.noteMail(trx, rollover, mailed)
  })
}

function textOf(domain: Domain, rollover: Rollover): MailText {
  const { name } = domain
  if (rollover.phase === 'publish') {
    return compose(
      `${name}: other signers need a new key`,
      `The keys of ${name} are being replaced. You have added DNSKEY records of other signers. They must publish the new key before the replacement goes on. Until then all works as before.`,
      `Have them publish this DNSKEY record:\n${listed(rollover.incoming)}`,
      'Then confirm it through the API. If nobody else signs the domain any more, delete the DNSKEY records that you have added, and confirm it, too.',
    )
  }
  const { addDs, removeDs } = shown(domain, rollover)
  return compose(
    `${name} needs another DS record`,
    `The keys of ${name} are being replaced. Its parent zone does not have the DS record of the new key yet, or still has the former one. Please change it at your registrar. Until then all works as before.`,
    `Add one of these DS records; most registrars accept the first:\n${listed(addDs)}`,
    `Remove these, if they are there:\n${listed(removeDs)}`,
    'The service sees the change by itself, and then removes the former key. If the service cannot ask your parent zone, confirm the change through the API.',
  )
}

function listed(contents: string[]): string {
  return contents.map((content) => `- ${content}`).join('\n')
}
