import { query } from '../../src/store/database.ts'
import { newDomain, newRRset, shared } from '../support/clients/api.ts'
import { type Key, keyFor, messageOf, nameOn, rcodeOf, sendTo, signedWith } from '../support/clients/dns-update.ts'
import { addMember } from '../support/clients/members.ts'
import { addPolicies, addToken, type Token } from '../support/clients/tokens.ts'
import { useService } from '../support/harness.ts'
import { test } from '../support/serial.ts'

// Contract §21.1: a key may do what its token may do by HTTP, and nothing else. Each kind of token tries the same by both.

const service = useService({ DNS_UPDATE_PORT: '0', THROTTLE: 'off' })

/** An account with two domains, and one of another account. */
const site = shared(async () => {
  const account = await service().account({ limitDomains: null })
  const other = await service().account({ limitDomains: null })
  const domains = [await newDomain(account.api), await newDomain(account.api)] as const
  const foreign = await newDomain(other.api)
  for (const domain of [...domains, foreign]) await newRRset(account.api, domain).catch(() => undefined)
  return { account, other, domains, foreign }
})

type Site = Awaited<ReturnType<typeof site>>

/** Makes a token of this kind, and what is to happen once it has its key. */
type Kind = (site: Site) => Promise<{ token: Token; after?: () => Promise<unknown> }>

const add = async ({ account }: Site, options: Parameters<typeof addToken>[2] = {}) =>
  addToken(service(), account.id, options)

function withPolicies(...rows: Parameters<typeof addPolicies>[2][]): Kind {
  return async (site) => {
    const token = await add(site)
    await addPolicies(service(), token.id, ...rows)
    return { token }
  }
}

function changed(sql: string, values: (site: Site, token: Token) => Record<string, unknown>): Kind {
  return async (site) => {
    const token = await add(site)
    return { token, after: () => query(service().system.db, sql, { id: token.id, ...values(site, token) }) }
  }
}

const NO = { write: false }

const KINDS: Record<string, Kind> = {
  'without policies': async (site) => ({ token: await add(site) }),
  'with all permissions': async (site) => ({
    token: await add(site, { permCreateDomain: true, permDeleteDomain: true, permManageTokens: true }),
  }),
  'that may only read': withPolicies(NO),
  'for addresses': withPolicies(NO, { type: 'A', write: true }),
  'for one name': withPolicies(NO, { subname: 'www', write: true }),
  'for one name and type': withPolicies(NO, { subname: '_acme-challenge', type: 'TXT', write: true }),
  'for a pattern of names': withPolicies(NO, { pattern: '_acme-challenge.*', type: 'TXT', write: true }),
  'for all but one name': withPolicies({ write: true }, { subname: 'www', write: false }),
  'for all but NS': withPolicies({ write: true }, { type: 'NS', write: false }),
  'for one domain': async (site) => {
    const token = await add(site)
    await addPolicies(service(), token.id, NO, { domain: site.domains[0], write: true })
    return { token }
  },
  'for the other domain': async (site) => {
    const token = await add(site)
    await addPolicies(service(), token.id, NO, { domain: site.domains[1], write: true })
    return { token }
  },
  'that acts for another account': async (site) => ({
    token: await add(site, { userOverrideId: site.other.id }),
  }),
  'of another account that acts for this one': async (site) => ({
    token: await addToken(service(), site.other.id, { userOverrideId: site.account.id }),
  }),
  'of another account': async (site) => ({ token: await addToken(service(), site.other.id) }),
  'of a network elsewhere': async (site) => ({ token: await add(site, { allowedSubnets: ['192.0.2.0/24'] }) }),
  'of this network': async (site) => ({ token: await add(site, { allowedSubnets: ['127.0.0.0/8'] }) }),
  'that is too old': changed("update tokens set max_age = '0' where id = :id", () => ({})),
  'that was not used': changed(
    "update tokens set max_unused_period = '1 day', created = created - interval '2 days', last_used = null where id = :id",
    () => ({}),
  ),
  'that lost its networks': changed("update tokens set allowed_subnets = '{}' where id = :id", () => ({})),
  'whose rights ended after its key was made': changed(
    'insert into policies (created, token_id, perm_write) select created, id, false from tokens where id = :id',
    () => ({}),
  ),
  'that a member has made': async (site) => {
    const { memberId } = await addMember(service(), site.account.id, 'admin')
    const token = await add(site)
    await query(service().system.db, 'update tokens set made_by = :memberId where id = :id', { memberId, id: token.id })
    return { token }
  },
  'that a member has made who is disabled': async (site) => {
    const { memberId, personId } = await addMember(service(), site.account.id, 'admin')
    const token = await add(site)
    await query(service().system.db, 'update tokens set made_by = :memberId where id = :id', { memberId, id: token.id })
    const disable = "update accounts set state = 'disabled' where id = :personId"
    return { token, after: () => query(service().system.db, disable, { personId }) }
  },
  'of a disabled account': async (site) => {
    const owner = await service().account({ limitDomains: null })
    const token = await addToken(service(), owner.id, { userOverrideId: site.account.id })
    const disable = "update accounts set state = 'disabled' where id = :id"
    return { token, after: () => query(service().system.db, disable, { id: owner.id }) }
  },
}

/** What each of them tries: an RRset in one of the domains. */
const TARGETS: [what: string, domain: (site: Site) => string, subname: string, type: string, record: string][] = [
  ['an address', ({ domains }) => domains[0], 'www', 'A', '192.0.2.9'],
  ['an address of another name', ({ domains }) => domains[0], 'mail', 'A', '192.0.2.9'],
  ['a challenge', ({ domains }) => domains[0], '_acme-challenge', 'TXT', '"x"'],
  ['a challenge below', ({ domains }) => domains[0], '_acme-challenge.www', 'TXT', '"x"'],
  ['NS of the apex', ({ domains }) => domains[0], '', 'NS', 'ns.example.net.'],
  ['the other domain', ({ domains }) => domains[1], 'www', 'A', '192.0.2.9'],
  ['a foreign domain', ({ foreign }) => foreign, 'www', 'A', '192.0.2.9'],
]

/** The number of a type, and its record as above. */
const ON_WIRE: Record<string, { type: number; data: Buffer }> = {
  A: { type: 1, data: Buffer.from([192, 0, 2, 9]) },
  TXT: { type: 16, data: Buffer.from('\x01x') },
  NS: { type: 2, data: nameOn('ns.example.net') },
}

/** The code for the status of the API. */
const RCODES: Record<number, string> = { 200: 'NOERROR', 401: 'REFUSED', 403: 'REFUSED', 404: 'NOTAUTH' }

let ttl = 3_600

for (const [kind, make] of Object.entries(KINDS))
  test(`a token ${kind} may by DNS UPDATE what it may by HTTP`, async (t) => {
    const all = await site()
    const { token, after } = await make(all)
    const key = await keyOf(all, token)
    await after?.()
    const found: string[] = []
    for (const [what, domain, subname, type, record] of TARGETS) {
      const zone = domain(all)
      const body = [{ subname, type, ttl: ++ttl, records: [record] }]
      const { status } = await token.api.put(`/domains/${zone}/rrsets/`, body)
      const name = subname === '' ? zone : `${subname}.${zone}`
      const added = { name, ttl: ++ttl, ...ON_WIRE[type]! }
      const message = messageOf({ question: { name: zone, type: 6 }, sections: [[], [added], []] })
      const rcode = rcodeOf(await sendTo(service().updatePort!, signedWith(key, message).message))
      const stored = await query<{ ttl: number }>(
        service().system.db,
        `select ttl from rrsets join domains on domains.id = domain_id
         where domains.name = :zone and subname = :subname and type = :type`,
        { zone, subname, type },
      )
      const isWritten = stored[0]?.ttl === ttl
      const expected = RCODES[status]
      if (rcode !== expected || isWritten !== (expected === 'NOERROR'))
        found.push(`${what}: ${status} by HTTP, ${rcode} by DNS UPDATE, ${isWritten ? '' : 'not '}written`)
    }
    t.deepEqual(found, [])
  })

/** Makes the key of a token, as the account for which it acts may. */
async function keyOf({ account, other }: Site, token: Token): Promise<Key> {
  const [row] = await query<{ owner: string }>(
    service().system.db,
    'select coalesce(user_override_id, owner_id) as owner from tokens where id = :id',
    { id: token.id },
  )
  const owner = [account, other].find(({ id }) => id === row!.owner)
  const manager = await addToken(service(), owner?.id ?? row!.owner, { permManageTokens: true })
  return keyFor(manager.api, token.id)
}
