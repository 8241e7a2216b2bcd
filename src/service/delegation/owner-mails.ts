import type { Db } from '../../store/database.ts'
import type { Domain } from '../../store/domains/domains.ts'
import type { System } from '../../system.ts'
import { compose, sendToAccount } from '../mails/mails.ts'
import { STATES, type Verdict } from './judgement.ts'
import type { Alarm } from './planning.ts'

/** Tells the owner of a domain, if this transaction commits, that its delegation needs attention, or no longer does. */
export async function tellOwner(
  system: System,
  trx: Db,
  { name, ownerId }: Domain,
  mail: NonNullable<Alarm>,
  { state, problems }: Verdict,
): Promise<void> {
  const text =
    mail === 'over'
      ? compose(
          `${name}: the delegation has changed`,
          `The trouble with the delegation of ${name}, of which we wrote to you, is over. Now ${STATES[state]} (${state}).`,
        )
      : compose(
          state === 'mismatch' ? `${name} fails at validating resolvers` : `${name} has lost its DS records`,
          `We have checked the delegation of ${name} twice: ${STATES[state]}.`,
          ...problems,
          'If you have changed something yourself, and want it to stay so, you need not do anything.',
        )
  await sendToAccount(system, trx, ownerId, `delegation ${mail}`, text)
}
