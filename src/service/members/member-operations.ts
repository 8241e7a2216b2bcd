import { NotFound, orNotFound } from '../../errors.ts'
import * as accounts from '../../store/accounts/accounts.ts'
import type { Member, Role } from '../../store/accounts/members.ts'
import * as store from '../../store/accounts/members.ts'
import { transaction } from '../../store/database.ts'
import type { System } from '../../system.ts'
import { withEmail } from '../accounts/accounts.ts'
import { record } from '../events.ts'
import { reserve } from '../tokens/rights.ts'
import { end, type Fate, insert, leftBy, phraseOf, tell, tellMember } from './members.ts'

// Operations of the operator, on any account (contract §15.2).

/** Returns the members of an account with this address. @throws NotFound */
export async function list(system: System, email: string): Promise<Member[]> {
  const account = await withEmail(system, email)
  return store.all(system.db, account.id)
}

/** Makes an account a member of another one, without an invitation. @throws NotFound, Invalid, Denied */
export async function add(
  system: System,
  email: string,
  of: string,
  rights: { role: Role; domains: string[] | null },
): Promise<Member> {
  const [account, person] = [await withEmail(system, of), await withEmail(system, email)]
  return transaction(system.db, async (trx) => {
    const locked = orNotFound(await accounts.lock(trx, account.id))
    const invited = await store.withEmail(trx, account.id, person.email)
    if (invited?.personId === null) await store.remove(trx, invited.id)
    const id = await insert(system, trx, locked, {
      email: person.email,
      personId: person.id,
      source: 'operator',
      ...rights,
    })
    await tell(
      system,
      trx,
      locked,
      person.email,
      `The operator has made ${person.email} a member of your account: ${phraseOf(rights)}.`,
    )
    const made = (await store.find(trx, id))!
    await tellMember(system, trx, made, `You may now act for the account ${locked.email}, as ${phraseOf(rights)}.`)
    record(system, trx, 'member_joined', { account: account.id, member: id })
    return made
  })
}

/** Removes a member or an invitation. @throws NotFound */
export async function remove(system: System, email: string, of: string, fate: Fate): Promise<Member> {
  const account = await withEmail(system, of)
  const known = await store.withEmail(system.db, account.id, email)
  if (known === undefined) throw new NotFound(`${email} is no member of ${of}.`)
  await transaction(system.db, async (trx) => {
    await reserve(trx, `member ${known.id}`)
    await end(trx, known.id, fate)
    const sentence = `The operator has removed ${known.email} from your account.${leftBy(known)}`
    await tell(system, trx, account, known.email, sentence)
    await tellMember(system, trx, known, `You may no longer act for the account ${account.email}.`)
    record(system, trx, 'member_removed', { account: account.id, member: known.id })
  })
  return known
}
