import { NameserverFailure } from '../src/errors.ts'
import { unrestricted } from '../src/service/actor.ts'
import { create } from '../src/service/domains/creation.ts'
import { hashSecret } from '../src/service/tokens/authentication.ts'
import * as accounts from '../src/store/accounts/accounts.ts'
import { transaction } from '../src/store/database.ts'
import * as domains from '../src/store/domains/domains.ts'
import * as tokens from '../src/store/tokens/tokens.ts'
import * as rrsets from '../src/store/zone/rrsets.ts'
import type { System } from '../src/system.ts'

export const DEMO_EMAIL = 'demo@example.test'
export const DEMO_DOMAIN = 'example.test'

/**
 * Creates the demo account, a token with this secret and all permissions, and the demo domain, unless they exist.
 * Returns a subname that the domain does not have yet; undefined if PowerDNS cannot create the domain now.
 */
export async function seedDemo(system: System, secret: string): Promise<string | undefined> {
  const now = system.now()
  const accountId = await transaction(system.db, async (trx) => {
    const limitDomains = system.config.limitDomains ?? null
    const account = { email: DEMO_EMAIL, passwordHash: null, state: 'active', outreachPreference: true } as const
    await accounts.insert(trx, { ...account, limitDomains, dailyRate: null, limitHistoryOctets: null, now })
    const accountId = (await accounts.withEmail(trx, DEMO_EMAIL))!.id
    const token = { ownerId: accountId, secretHash: hashSecret(secret), name: 'demo', now }
    await tokens.ensure(trx, token)
    return accountId
  })
  try {
    const domain =
      (await domains.find(system.db, DEMO_DOMAIN)) ??
      (await create(system, unrestricted(accountId), { name: DEMO_DOMAIN, problems: {} }))
    return await freeSubname(system, domain.id)
  } catch (error) {
    if (!(error instanceof NameserverFailure)) throw error
    system.log.warn('demo domain not created: the next start tries again', { reason: error.message })
    return undefined
  }
}

/** `www`, or the first of `www2`, `www3`, … that is free. */
async function freeSubname(system: System, domainId: number): Promise<string> {
  const taken = new Set((await rrsets.list(system.db, domainId)).map(({ subname }) => subname))
  for (let i = 1; ; i++) {
    const subname = i === 1 ? 'www' : `www${i}`
    if (!taken.has(subname)) return subname
  }
}
