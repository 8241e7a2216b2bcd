import { query } from '../../../src/store/database.ts'
import type { TestService } from '../harness.ts'
import type { LocalService } from '../servers/service.ts'
import type { Client } from './client.ts'
import { insertAccount } from './people.ts'
import { addToken, type Token } from './tokens.ts'

/** A login of a person, and of the same person as a member of an account. */
export interface MemberLogin {
  memberId: string
  personId: string
  email: string
  /** The person's own login. */
  own: Token
  /** The login with which it acts for the account. */
  session: Client
  secret: string
}

const ALL = { permCreateDomain: true, permDeleteDomain: true, permManageTokens: true, maxAge: '7 days' }

/** A login token of an account, as after a log-in. */
export async function loginOf(
  service: Pick<LocalService, 'system' | 'url'>,
  accountId: string,
  mfa = false,
): Promise<Token> {
  return addToken(service, accountId, { ...ALL, mfa, name: 'login' })
}

/** A new person who is a member of an account. @param domains the names of the only ones that it sees */
export async function addMember(
  service: Pick<TestService, 'system' | 'url'>,
  accountId: string,
  role: 'viewer' | 'editor' | 'admin',
  { domains = null, personId, mfa = false }: { domains?: string[] | null; personId?: string; mfa?: boolean } = {},
): Promise<MemberLogin> {
  const { db, now } = service.system
  const person = personId ?? (await insertAccount(service.system, {}))
  const [member] = await query<{ id: string; email: string }>(
    db,
    `insert into members (created, account_id, person_id, email, role, confined, source, accepted)
     select :now, :accountId, id, email, :role, :confined, 'invitation', :now from accounts where id = :person
     returning id, email`,
    { now: now(), accountId, person, role, confined: domains !== null },
  )
  await query(
    db,
    'insert into member_domains select :id, id from domains where name = any (cast(:domains as text[]))',
    { id: member!.id, domains: domains ?? [] },
  )
  const own = await loginOf(service, person, mfa)
  const { secret, api } = await addToken(service, person, { ...ALL, mfa, memberId: member!.id })
  return { memberId: member!.id, personId: person, email: member!.email, own, session: api, secret }
}
