import { Conflict, Denied, Invalid, NameserverFailure, StartError, textOf, unlessNotFound } from '../src/errors.ts'
import { readDomain } from '../src/http/representations/domain.ts'
import { readPolicy } from '../src/http/representations/policy.ts'
import { readToken } from '../src/http/representations/token.ts'
import * as accounts from '../src/service/accounts/accounts.ts'
import * as domains from '../src/service/domains/domains.ts'
import { unrestricted } from '../src/service/tokens/actor.ts'
import * as policies from '../src/service/tokens/token-policies.ts'
import * as tokens from '../src/service/tokens/tokens.ts'
import type { System } from '../src/system.ts'
import type { Seed, SeedAccount } from './read.ts'

/**
 * Creates what a seed has and the database lacks: accounts by their address, tokens by their secret, domains by their
 * name. What exists is left as it is.
 * @throws StartError that names the line
 */
export async function applySeed(system: System, { file, accounts }: Seed): Promise<void> {
  const at = async <T>({ line }: { line: number }, work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      const isExpected = [Invalid, Denied, Conflict, NameserverFailure].some((kind) => error instanceof kind)
      if (!isExpected) throw error
      throw new StartError(`${file}, line ${line}: ${textOf(error as Error)}`, { cause: error })
    })
  for (const account of accounts) await applyAccount(system, account, at)
}

type At = <T>(part: { line: number }, work: Promise<T>) => Promise<T>

async function applyAccount(system: System, seed: SeedAccount, at: At): Promise<void> {
  const { email, limitDomains } = seed
  const limits = limitDomains === undefined ? {} : { limitDomains }
  const existing = await accounts.withEmail(system, email).catch(unlessNotFound)
  const { id } = existing ?? (await at(seed, accounts.create(system, email, limits)))
  const owner = unrestricted(id)
  const present = new Set((await domains.listAll(system, id)).map(({ name }) => name))
  for (const domain of seed.domains) {
    if (present.has(domain.name)) continue
    await at(domain, domains.create(system, owner, { ...readDomain(domain.body), byOperator: true }))
  }
  for (const token of seed.tokens) {
    if (await tokens.isKnown(system, token.secret)) continue
    const made = await at(token, tokens.create(system, owner, readToken(token.settings), token.secret))
    for (const policy of token.policies) {
      const read = () => readPolicy({ domain: null, subname: null, type: null, ...policy.body })
      await at(policy, policies.create(system, owner, made.token.id, read))
    }
  }
}
