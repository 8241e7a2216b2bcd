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

/** What a small company has in DNS, so that the first look shows something: all but `www`, which README creates. */
const DEMO_ZONE = `
@                   3600 A     192.0.2.10
@                   3600 AAAA  2001:db8::10
@                   3600 MX    10 mail
@                   3600 MX    20 mx.example.net.
@                   3600 TXT   "v=spf1 mx include:_spf.example.net -all"
@                   3600 TXT   "example-verification=9f86d081884c7d65"
@                   3600 CAA   0 issue "ca.example.net"
@                   3600 CAA   0 iodef "mailto:security@example.test"
_dmarc              3600 TXT   "v=DMARC1; p=quarantine; rua=mailto:dmarc@example.test"
; The key of RFC 8463 §A.2
mail._domainkey     3600 TXT   "v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="
_imaps._tcp         3600 SRV   0 1 993 mail
_submissions._tcp   3600 SRV   0 1 465 mail
autoconfig          3600 CNAME mail
mail                3600 A     192.0.2.25
mail                3600 AAAA  2001:db8::25
_25._tcp.mail       3600 TLSA  3 1 1 ebcda169fe71f8b2bc8c37ca0baadd10d6b610a18dbeac5c8c2e52601ac7eb19
shop                300  CNAME shops.example.net.
*.preview           300  A     192.0.2.80
lab                 86400 NS   ns1.example.net.
lab                 86400 NS   ns2.example.net.
`

/**
 * Creates the demo account, a token with this secret and all permissions, and the demo domain, unless they exist. For
 * tests (CI_CONTROL), the domain has no records: they bring their own.
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
  const zonefile = system.config.ciControl ? '' : DEMO_ZONE
  try {
    const domain =
      (await domains.find(system.db, DEMO_DOMAIN)) ??
      (await create(system, unrestricted(accountId), { name: DEMO_DOMAIN, zonefile, problems: {} }))
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
