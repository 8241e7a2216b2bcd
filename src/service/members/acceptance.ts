import { Conflict, Denied, Invalid } from '../../errors.ts'
import type { Account } from '../../store/accounts/accounts.ts'
import * as accounts from '../../store/accounts/accounts.ts'
import type { Member } from '../../store/accounts/members.ts'
import * as store from '../../store/accounts/members.ts'
import type { Db } from '../../store/database.ts'
import type { System } from '../../system.ts'
import { add } from '../accounts/accounts.ts'
import type { Parameters } from '../accounts/confirmations.ts'
import * as confirmations from '../accounts/confirmations.ts'
import { hashPassword } from '../accounts/passwords.ts'
import type { Actor } from '../actor.ts'
import { record } from '../events.ts'
import { phraseOf, tell } from './members.ts'

/**
 * Accepts an invitation for the account of the invited address; without one, makes it.
 * @param actor who is logged in, if anybody
 * @param newPassword of the account to be made
 * @throws Invalid, Denied, Conflict (contract §§11.3 and 19.2)
 */
export async function accept(
  system: System,
  code: string,
  { actor, newPassword }: { actor: Actor | undefined; newPassword: string | undefined },
): Promise<Member> {
  const { account } = await confirmations.check(system, 'accept-invitation', code)
  const passwordHash = newPassword === undefined ? undefined : await hashPassword(newPassword, account.id)
  return confirmations.redeem(system, 'accept-invitation', code, async (trx, account, { memberId, by }) => {
    const { email, present } = await invitationFor(system, trx, account, { memberId, by, actor })
    const person = present ?? (await addPerson(system, trx, email, passwordHash))
    await store.accept(trx, memberId, person.id, system.now())
    const member = (await store.find(trx, memberId))!
    const sentence = `${email} has accepted the invitation to your account, as ${phraseOf(member)}.`
    await tell(system, trx, account, email, sentence)
    if (person !== present) record(system, trx, 'account_created', { account: person.id, by: 'link' })
    record(system, trx, 'member_joined', { account: account.id, member: member.id, by: 'link' })
    return member
  })
}

/** Returns what an invitation offers to whoever has its link; undefined if nobody can accept it. */
export async function offerOf(system: System, code: string): Promise<string | undefined> {
  try {
    const { account, parameters } = await confirmations.check(system, 'accept-invitation', code)
    const invited = await invitationOf(system.db, account, parameters)
    return `${invited.email} may then act for the account ${account.email}, as ${phraseOf(invited)}.`
  } catch (error) {
    if (error instanceof Invalid || error instanceof Denied || error instanceof Conflict) return undefined
    throw error
  }
}

/** An invitation, and who has sent it: by which membership, if not by a login of the account itself. */
type Accepted = Parameters['accept-invitation'] & { actor: Actor | undefined }

/**
 * Returns the invited address, and its active account if there is one.
 * @throws Denied, Conflict if it cannot be accepted, or not by whoever is logged in
 */
async function invitationFor(
  system: System,
  trx: Db,
  account: Account,
  { memberId, by, actor }: Accepted,
): Promise<{ email: string; present: Account | undefined }> {
  const { email } = await invitationOf(trx, account, { memberId, by })
  const present = await accounts.withEmail(trx, email)
  if (actor !== undefined && actor.ownerId !== present?.id) {
    throw new Denied(`This invitation is for ${email}. Log in as that, or out, and open the link again.`)
  }
  if (present === undefined || present.state === 'pending') return { email, present: undefined }
  await refuse(system, trx, account, present, actor)
  return { email, present }
}

/** Returns an invitation that still holds. @throws Conflict */
async function invitationOf(
  db: Db,
  account: Account,
  { memberId, by }: Parameters['accept-invitation'],
): Promise<Member> {
  const invited = await store.find(db, memberId, { accountId: account.id })
  if (invited?.personId !== null) throw confirmations.overtaken()
  // Who invited, as a member, is no admin any more.
  if (by !== null && (await store.find(db, by))?.role !== 'admin') throw confirmations.overtaken()
  return invited
}

/** @throws Denied, Conflict if an account cannot become a member */
async function refuse(
  { config }: System,
  trx: Db,
  account: Account,
  { id, email, state }: Account,
  actor: Actor | undefined,
): Promise<void> {
  if (state === 'disabled') throw new Denied('User inactive.')
  const isMember = (await store.withEmail(trx, account.id, email))?.personId === id
  if (isMember || id === account.id) throw confirmations.overtaken()
  if (actor === undefined && !config.emailConfirmation) {
    throw new Denied(
      `This service does not confirm addresses, so the link does not show that the account ${email} is yours. Send the ` +
        'request with a login token of it.',
    )
  }
}

async function addPerson(system: System, trx: Db, email: string, passwordHash: string | undefined): Promise<Account> {
  if (!system.config.invitations) {
    throw new Denied(
      'There is no account with the invited address. Sign up, or ask the operator, and open the link again.',
    )
  }
  if (!system.config.passwords) {
    throw new Denied(
      `Sign in by ${system.config.oidcName} first, so that you have an account, and open the link again.`,
    )
  }
  if (passwordHash === undefined) throw Invalid.field('new_password', 'This field is required.')
  return (await add(system, trx, email, { passwordHash, state: 'active', outreachPreference: true }))!
}
