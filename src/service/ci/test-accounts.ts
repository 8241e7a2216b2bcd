import { randomUUID } from 'node:crypto'
import { transaction } from '../../store/database.ts'
import type { System } from '../../system.ts'
import * as accounts from '../accounts/accounts.ts'
import * as tokens from '../tokens/tokens.ts'

/** An account for one test, with the secret of a token that has all rights. */
export interface TestAccount {
  id: string
  email: string
  token: string
}

/** Creates an account without a limit of domains, for a test that runs beside others. */
export async function createTestAccount(system: System): Promise<TestAccount> {
  const { id, email } = await accounts.create(system, `${randomUUID()}@ci.test`, { limitDomains: null })
  const settings = { name: 'ci', permCreateDomain: true, permDeleteDomain: true, permManageTokens: true }
  const { secret } = await transaction(system.db, (trx) => tokens.add(system, trx, id, settings))
  return { id, email, token: secret }
}
