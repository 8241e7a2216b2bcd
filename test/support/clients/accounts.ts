import { one } from '../../../src/store/database.ts'
import type { System } from '../../../src/system.ts'
import type { Client } from './client.ts'
import { insertAccount } from './people.ts'
import { addToken } from './tokens.ts'

export interface AccountOptions {
  limitDomains?: number | null
  permCreateDomain?: boolean
  permDeleteDomain?: boolean
  permManageTokens?: boolean
}

export interface Account {
  id: string
  tokenId: string
  secret: string
  api: Client
}

/** A new account without password, and a client with a token of its own for the service at `url`. */
export async function createAccount(system: System, url: string, options: AccountOptions = {}): Promise<Account> {
  const { limitDomains = null, ...permissions } = options
  const id = await insertAccount(system, { limitDomains })
  const allowed = { permCreateDomain: true, permDeleteDomain: true, permManageTokens: true, ...permissions }
  const { id: tokenId, secret, api } = await addToken({ system, url }, id, allowed)
  return { id, tokenId, secret, api }
}

/** The e-mail address of an account. */
export async function emailOf({ db }: System, id: string): Promise<string> {
  return (await one<{ email: string }>(db, 'select email from accounts where id = :id', { id })).email
}
