import {
  Conflict,
  Denied,
  Invalid,
  NameserverFailure,
  reasonOf,
  StartError,
  textOf,
  unlessNotFound,
} from '../src/errors.ts'
import { DOMAIN } from '../src/http/domains/domain-representation.ts'
import { POLICY } from '../src/http/tokens/policy-representation.ts'
import { readToken } from '../src/http/tokens/token-representation.ts'
import * as accounts from '../src/service/accounts/accounts.ts'
import { operatorFor } from '../src/service/actor.ts'
import { create } from '../src/service/domains/creation.ts'
import { listAll } from '../src/service/domains/domains.ts'
import * as policies from '../src/service/tokens/token-policies.ts'
import * as tokens from '../src/service/tokens/tokens.ts'
import { query, transaction } from '../src/store/database.ts'
import type { System } from '../src/system.ts'
import type { Seed, SeedAccount, SeedToken } from './read.ts'

/** The key of the advisory lock: any number that nothing else uses. */
const LOCK = 7_301_993

/**
 * Creates what a seed has and the database lacks: accounts by their address, domains by their name, tokens with their
 * policies by their secret. What exists is left as it is. Processes do it one after the other. If PowerDNS cannot create a
 * domain now, logs that; the next start tries again.
 * @throws StartError that names the line
 */
export async function applySeed(system: System, { file, accounts }: Seed): Promise<void> {
  const at: At = async ({ line }, work) =>
    work.catch((error: unknown) => {
      if (![Invalid, Denied, Conflict].some((kind) => error instanceof kind)) throw error
      throw new StartError(`${file}, line ${line}: ${textOf(error as Error)}`, { cause: error })
    })
  try {
    await transaction(system.db, async (trx) => {
      // However long the other process takes.
      await query(trx, `select set_config('lock_timeout', '0', true)`)
      await query(trx, 'select pg_advisory_xact_lock(:lock)', { lock: LOCK })
      for (const account of accounts) await applyAccount(system, account, at)
    })
  } catch (error) {
    if (!(error instanceof NameserverFailure)) throw error
    system.log.warn('seed not complete: the next start tries again', { reason: reasonOf(error) })
  }
}

type At = <T>(part: { line: number }, work: Promise<T>) => Promise<T>

async function applyAccount(system: System, seed: SeedAccount, at: At): Promise<void> {
  const { email, limitDomains } = seed
  const limits = limitDomains === undefined ? {} : { limitDomains }
  const existing = await accounts.withEmail(system, email).catch(unlessNotFound)
  const { id } = existing ?? (await at(seed, accounts.create(system, email, limits)))
  const present = new Set((await listAll(system, id)).map(({ name }) => name))
  for (const domain of seed.domains) {
    if (present.has(domain.name)) continue
    await at(domain, create(system, operatorFor(id), DOMAIN.read(domain.body)))
  }
  for (const token of seed.tokens) await applyToken(system, id, token, at)
}

/** All or nothing: without its policies, a token could do more than it may. */
async function applyToken(system: System, accountId: string, seed: SeedToken, at: At): Promise<void> {
  await transaction(system.db, async (trx) => {
    if (await tokens.isKnown(trx, seed.secret)) return
    const { settings, problems } = readToken(seed.settings)
    const made = await at(seed, tokens.add(system, trx, accountId, settings, { problems, secret: seed.secret }))
    for (const policy of seed.policies) {
      const input = POLICY.read({ domain: null, subname: null, type: null, ...policy.body })
      await at(policy, policies.add(system, trx, operatorFor(accountId), made.token.id, input))
    }
  })
}
