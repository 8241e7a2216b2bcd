import { createRouter } from '../../../src/http/router.ts'
import { suspend } from '../../../src/service/operation/suspension.ts'
import { one, query } from '../../../src/store/database.ts'
import type { Account } from '../../support/clients/accounts.ts'
import { freshName, newDomain, newRRset, rrset, succeeded } from '../../support/clients/api.ts'
import { type Answer, Client } from '../../support/clients/client.ts'
import { addMember } from '../../support/clients/members.ts'
import { freshEmail } from '../../support/clients/people.ts'
import {
  addFactor,
  addPasskey,
  addPolicies,
  addToken,
  setState,
  type TokenOptions,
} from '../../support/clients/tokens.ts'
import { useService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'
import { SIGN_ON } from '../../support/sign-on/settings.ts'
import { entriesOf } from '../../support/state/history.ts'

// Permissions (contract §3.2): every endpoint and method with every kind of caller. The expected answers are stated
// here, independently of the service.

const service = useService({ CAPTCHA: 'on', WEBHOOK_NETWORKS: '127.0.0.1', ...SIGN_ON })

/** The target of the requests: an account with a domain that has www A, and two tokens with one policy each. */
interface Site {
  account: Account
  /** An account that owns a token bound to `account`. */
  owner: Account
  domain: string
  /** The account's own token, and the one that is bound to it. */
  tokens: Record<'own' | 'bound', { id: string; policy: string }>
  /** A factor of the account that was never used, and a passkey, by which it has MFA enabled. */
  factor: string
  passkey: string
  /** A member of the account; and a membership of the account, which may read for another one. */
  member: string
  membership: string
  /** A webhook of the account, and a delivery. */
  webhook: string
  delivery: string
  /** The entry of the creation of www A in the domain's history; and the version before. */
  entry: string
  version: number
}

interface Caller {
  /** Creates the caller's token and returns its secret; undefined: no token. */
  secret: (site: Site) => Promise<string | undefined>
  /** Fails authentication. */
  refused?: true
  /** Has no token. */
  anonymous?: true
  create?: boolean
  remove?: boolean
  manage?: boolean
  /** Has a login token; `pending`: its MFA step is missing. */
  login?: boolean
  pending?: boolean
  restricted?: boolean
  /** Has the login of a member of the account; `editor`: with this role. */
  member?: boolean
  editor?: boolean
  /** Whether it sees the domain, may write www A and, with the flag, delete the domain. */
  sees?: boolean
  writes?: boolean
  clears?: boolean
  /** Its relation to the token in the path. */
  relation?: 'own' | 'bound' | 'foreign'
}

const FLAGS = { permCreateDomain: true, permDeleteDomain: true, permManageTokens: true }
const ALL = {
  create: true,
  remove: true,
  manage: true,
  sees: true,
  writes: true,
  clears: true,
  relation: 'own',
} as const
const NO_FLAGS = { ...ALL, create: false, remove: false, manage: false }

const tokenOf = (options: TokenOptions, owner: 'account' | 'owner' = 'account') => {
  return async (site: Site) => (await addToken(service(), site[owner].id, options)).secret
}

const bound = (names: boolean | undefined) => async (site: Site) => {
  const flags = { permCreateDomain: true, permDeleteDomain: true }
  const token = await addToken(service(), site.owner.id, { ...flags, userOverrideId: site.account.id })
  if (names !== undefined) await addPolicies(service(), token.id, { write: true })
  if (names === true) await addPolicies(service(), token.id, { domain: site.domain, write: true })
  return token.secret
}

const memberOf =
  (role: 'viewer' | 'editor' | 'admin', domains?: (site: Site) => Promise<string[]>, mfa = false) =>
  async (site: Site) =>
    (await addMember(service(), site.account.id, role, { domains: (await domains?.(site)) ?? null, mfa })).secret
const MEMBER = { ...NO_FLAGS, login: true, member: true }
const VIEWER = { ...MEMBER, restricted: true, writes: false, clears: false }
const EDITOR = { ...MEMBER, editor: true }
const named = async ({ domain }: Site) => [domain]
const other = async ({ account }: Site) => [await newDomain(account.api)]

const CALLERS: Record<string, Caller> = {
  'no token': { secret: async () => undefined, refused: true, anonymous: true },
  'a bad token': { secret: async () => 'unknown', refused: true },
  'an expired token': { secret: tokenOf({ ...FLAGS, maxAge: '0' }), refused: true },
  'a token from a wrong network': { secret: tokenOf({ ...FLAGS, allowedSubnets: ['192.0.2.0/24'] }), refused: true },
  'a token of a disabled account': {
    async secret() {
      const { id, secret } = await service().account()
      await setState(service(), id, 'disabled')
      return secret
    },
    refused: true,
  },
  'a token without flags': { secret: tokenOf({}), ...NO_FLAGS },
  'a token that may create domains': { secret: tokenOf({ permCreateDomain: true }), ...NO_FLAGS, create: true },
  'a token that may delete domains': { secret: tokenOf({ permDeleteDomain: true }), ...NO_FLAGS, remove: true },
  'a token that may manage tokens': { secret: tokenOf({ permManageTokens: true }), ...NO_FLAGS, manage: true },
  'a token with all flags': { secret: tokenOf(FLAGS), ...ALL },
  'a login token after its MFA step': { secret: tokenOf({ ...FLAGS, mfa: true }), ...ALL, login: true },
  'a login token before its MFA step': {
    async secret(site) {
      await addFactor(service(), site.account.id)
      return tokenOf({ ...FLAGS, mfa: false })(site)
    },
    ...ALL,
    login: true,
    pending: true,
  },
  'an override token': { secret: bound(undefined), ...ALL, manage: false },
  'an override token whose policies name the domain': {
    secret: bound(true),
    ...{ ...ALL, manage: false, restricted: true },
  },
  'an override token whose policies do not': {
    secret: bound(false),
    ...{ ...ALL, manage: false, restricted: true, sees: false },
  },
  'a viewer': { secret: memberOf('viewer'), ...VIEWER },
  'a viewer of the domain': { secret: memberOf('viewer', named), ...VIEWER },
  'a viewer of another domain': { secret: memberOf('viewer', other), ...VIEWER, sees: false },
  'a viewer of no domain': { secret: memberOf('viewer', async () => []), ...VIEWER, sees: false },
  'an editor': { secret: memberOf('editor'), ...EDITOR },
  'an editor of the domain': { secret: memberOf('editor', named), ...EDITOR },
  'an editor of another domain': { secret: memberOf('editor', other), ...EDITOR, sees: false },
  'an admin': { secret: memberOf('admin'), ...ALL, login: true, member: true },
  'an admin, where members need a second factor': {
    async secret(site) {
      await query(service().system.db, 'update accounts set require_mfa = true where id = :id', { id: site.account.id })
      return memberOf('admin')(site)
    },
    ...{ ...ALL, login: true, member: true, pending: true },
  },
  'a member with a second factor, where members need one': {
    async secret(site) {
      await query(service().system.db, 'update accounts set require_mfa = true where id = :id', { id: site.account.id })
      return memberOf('editor', undefined, true)(site)
    },
    ...EDITOR,
  },
  'a member before the code of its own factor': {
    async secret(site) {
      const { personId, secret } = await addMember(service(), site.account.id, 'admin')
      await addFactor(service(), personId)
      return secret
    },
    ...{ ...ALL, login: true, member: true, pending: true },
  },
  'a member who was removed': {
    async secret(site) {
      const { memberId, secret } = await addMember(service(), site.account.id, 'admin')
      await query(service().system.db, 'delete from members where id = :memberId', { memberId })
      return secret
    },
    refused: true,
  },
  'a member whose own account is disabled': {
    async secret(site) {
      const { personId, secret } = await addMember(service(), site.account.id, 'admin')
      await setState(service(), personId, 'disabled')
      return secret
    },
    refused: true,
  },
  'a token that a member with a disabled account has made': {
    async secret(site) {
      const { personId, memberId } = await addMember(service(), site.account.id, 'admin')
      const { id, secret } = await addToken(service(), site.account.id, FLAGS)
      await query(service().system.db, 'update tokens set made_by = :memberId where id = :id', { memberId, id })
      await setState(service(), personId, 'disabled')
      return secret
    },
    refused: true,
  },
  'the owner of an override token': { secret: tokenOf(FLAGS, 'owner'), ...ALL, sees: false, relation: 'bound' },
  'a foreign account': {
    secret: async () => (await service().account()).secret,
    ...{ ...ALL, sees: false, relation: 'foreign' },
  },
}

/** The members of a policy at each level of specificity: deSEC's eight, and those of patterns. */
const LEVELS = [
  ...['domain subname type', 'domain subname', 'domain pattern type', 'domain pattern', 'domain type', 'domain'],
  ...['subname type', 'subname', 'pattern type', 'pattern', 'type', ''],
]

for (const level of LEVELS) {
  for (const write of [true, false]) {
    CALLERS[`a token with a policy of ${level || 'nothing'} that ${write ? 'allows' : 'denies'}`] = {
      async secret(site) {
        const { id, secret } = await addToken(service(), site.account.id, FLAGS)
        const key = { domain: site.domain, subname: 'www', pattern: '*', type: 'A' }
        const named = Object.fromEntries(Object.entries(key).filter(([member]) => level.split(' ').includes(member)))
        if (level !== '') await addPolicies(service(), id, { write: !write })
        await addPolicies(service(), id, { ...named, write })
        return secret
      },
      ...{ ...ALL, restricted: true, writes: write },
      // Other allowing policies do not match the apex NS, and other denying policies forbid www A.
      clears: write && (level === 'domain' || level === ''),
    }
  }
}

/** The expected status after authentication, and whether anything changes. */
type Outcome = [status: number, changes: boolean]

interface Row {
  path: string
  method: string
  query?: string
  /** What `:id` in the path is; default: the token. */
  idOf?: 'entry' | 'member' | 'membership' | 'webhook'
  /** JSON; text, if there is a media type. */
  body?: (site: Site) => unknown
  mediaType?: string
  /** Whether the RRset is deleted first. */
  withoutRRset?: true
  /** Whether later rows need another domain if it has changed this one. */
  spoils?: true
  /** `open`: ignores tokens; `optional`: requires no token, but refuses an invalid one. */
  access?: 'open' | 'optional'
  /** Allowed before the MFA step. */
  beforeMfa?: true
  expected: (caller: Caller) => Outcome
}

let last = 61

/** A number that was not written before, so that each write is a change. */
const next = () => ++last

const always = (status: number) => (): Outcome => [status, false]

/** 404 unless the caller sees the domain. */
const ifVisible =
  (outcome: (caller: Caller) => Outcome) =>
  (caller: Caller): Outcome =>
    caller.sees === true ? outcome(caller) : [404, false]

const written = (status: number) => ifVisible(({ writes }) => (writes === true ? [status, true] : [403, false]))

/** A dry run of what the caller may write. */
const examined = ifVisible(({ writes }) => [writes === true ? 200 : 403, false])

/** What needs the permission to write the whole domain. */
const whole = ifVisible(({ clears, editor }) => [clears === true && editor !== true ? 200 : 403, false])

/** The same; but the role is examined before the domain is looked up. */
const noted = ({ sees, clears, editor }: Caller): Outcome => {
  if (editor === true) return [403, false]
  if (sees !== true) return [404, false]
  return clears === true ? [200, true] : [403, false]
}

/** What needs, besides, the permission to delete it: nobody else replaces its keys, so others find none replaced. */
const rolled = (...outcome: Outcome) =>
  ifVisible(({ remove, clears }) => (remove === true && clears === true ? outcome : [403, false]))
const rollover = ifVisible(({ remove, clears }) => [clears !== true ? 403 : remove === true ? 200 : 404, false])

const managed =
  (outcome: (caller: Caller) => Outcome) =>
  (caller: Caller): Outcome =>
    caller.manage === true ? outcome(caller) : [403, false]

/** Reading a token and its policies; changing them. */
const tokenRead = managed(({ relation }) => [relation === 'foreign' ? 404 : 200, false])
const tokenChanged = (status: number) =>
  managed(({ relation }) => {
    if (relation === 'foreign') return [404, false]
    return relation === 'bound' ? [403, false] : [status, true]
  })

/** A login token of the account may read its factors, and change them after its MFA step. */
const factorRead = ({ login, member }: Caller): Outcome => [login === true && member !== true ? 200 : 403, false]
const factorChanged =
  (...outcome: Outcome) =>
  ({ login, pending, member }: Caller): Outcome =>
    login === true && pending !== true && member !== true ? outcome : [403, false]

/** Logins of the account, and those of its admins, look after members; memberships are for its own ones alone. */
const memberChanged =
  (...outcome: Outcome) =>
  ({ login, manage }: Caller): Outcome =>
    login === true && manage === true ? outcome : [403, false]
const membershipChanged =
  (...outcome: Outcome) =>
  ({ login, manage, member }: Caller): Outcome =>
    login === true && manage === true && member !== true ? outcome : [403, false]

/** What a login token may do, also before its MFA step. */
const ofLogin =
  (status: number) =>
  ({ login, member }: Caller): Outcome => [login === true && member !== true ? status : 403, false]

const ISSUER = '/api/v1/auth/oidc'
const FACTORS = '/api/v1/auth/totp'
const PASSKEYS = '/api/v1/auth/passkeys'
const MEMBERS = '/api/v1/auth/members'
const MEMBERSHIPS = '/api/v1/auth/memberships'
const TOKENS = '/api/v1/auth/tokens'
const WEBHOOKS = '/api/v1/webhooks'
/** Where no receiver is. */
const NOBODY = 'https://127.0.0.1:1024/'
const POLICIES = `${TOKENS}/:id/policies/rrsets`
const DOMAINS = '/api/v1/domains'
const RRSETS = `${DOMAINS}/:name/rrsets`
const SERVERS = '/api/v1/servers'
const ZONES = `${SERVERS}/localhost/zones`
const ANY = { domain: null, subname: null, type: null }

const account = (outcome: Outcome) => managed((caller) => (caller.restricted === true ? [403, false] : outcome))
const ownAccount = (outcome: Outcome) => (caller: Caller) =>
  caller.member === true ? ([403, false] as Outcome) : account(outcome)(caller)

const ROWS: Row[] = [
  { method: 'GET', path: '/', access: 'open', expected: always(200) },
  { method: 'GET', path: '/healthz', access: 'open', expected: always(200) },
  { method: 'GET', path: '/readyz', access: 'open', expected: always(200) },
  { method: 'GET', path: '/nic/checkip.html', access: 'open', expected: always(200) },
  { method: 'GET', path: '/api/v1', access: 'optional', expected: always(200) },
  { method: 'GET', path: '/api/v1/service', access: 'open', expected: always(200) },
  { method: 'GET', path: '/api/v1/openapi.json', access: 'open', expected: always(200) },
  { method: 'GET', path: '/api/v1/openapi.yaml', access: 'open', expected: always(200) },
  { method: 'GET', path: '/api/v1/docs', access: 'open', expected: always(200) },
  { method: 'GET', path: '/api/v1/docs/:asset', access: 'open', expected: always(200) },
  { method: 'POST', path: '/api/v1/captcha', access: 'optional', expected: always(201) },
  { method: 'POST', path: '/api/v1/auth', access: 'optional', expected: always(403) },
  { method: 'POST', path: '/api/v1/auth/login', access: 'open', expected: always(400) },
  { method: 'POST', path: '/api/v1/auth/logout', beforeMfa: true, expected: always(204) },
  { method: 'GET', path: '/api/v1/auth/account', expected: account([200, false]) },
  ...['PUT', 'PATCH'].map((method) => ({ method, path: '/api/v1/auth/account', expected: ownAccount([200, false]) })),
  { method: 'POST', path: '/api/v1/auth/account/change-email', access: 'open', expected: always(400) },
  { method: 'POST', path: '/api/v1/auth/account/reset-password', access: 'optional', expected: always(400) },
  { method: 'POST', path: '/api/v1/auth/account/delete', access: 'open', expected: always(400) },
  { method: 'GET', path: '/api/v1/v/:action/:code', access: 'optional', expected: always(200) },
  { method: 'POST', path: '/api/v1/v/:action/:code', access: 'optional', expected: always(400) },

  { method: 'GET', path: ISSUER, access: 'open', expected: always(200) },
  { method: 'POST', path: ISSUER, access: 'open', expected: always(503) },
  { method: 'GET', path: `${ISSUER}/callback`, access: 'open', expected: always(403) },
  { method: 'POST', path: `${ISSUER}/token`, access: 'open', expected: always(400) },
  { method: 'GET', path: `${ISSUER}/link`, beforeMfa: true, expected: factorRead },
  { method: 'POST', path: `${ISSUER}/link`, beforeMfa: true, expected: factorChanged(400, false) },
  { method: 'DELETE', path: `${ISSUER}/link`, beforeMfa: true, expected: factorChanged(204, false) },
  { method: 'POST', path: `${ISSUER}/logout`, access: 'open', expected: always(400) },

  { method: 'GET', path: FACTORS, beforeMfa: true, expected: factorRead },
  { method: 'POST', path: FACTORS, beforeMfa: true, expected: factorChanged(201, true) },
  { method: 'GET', path: `${FACTORS}/:factor`, beforeMfa: true, expected: factorRead },
  ...['PUT', 'PATCH'].map((method) => ({
    ...{ method, path: `${FACTORS}/:factor`, body: () => ({ name: `name ${next()}` }), beforeMfa: true as const },
    expected: factorChanged(200, true),
  })),
  { method: 'DELETE', path: `${FACTORS}/:factor`, beforeMfa: true, expected: factorChanged(204, true) },
  {
    method: 'POST',
    path: `${FACTORS}/:factor/verify`,
    access: 'optional',
    expected: ({ anonymous, login, member }) => [
      anonymous === true || (login === true && member !== true) ? 400 : 403,
      false,
    ],
  },

  { method: 'GET', path: PASSKEYS, beforeMfa: true, expected: factorRead },
  { method: 'POST', path: PASSKEYS, beforeMfa: true, expected: factorChanged(400, false) },
  { method: 'POST', path: `${PASSKEYS}/options`, beforeMfa: true, expected: factorChanged(200, false) },
  { method: 'GET', path: `${PASSKEYS}/:passkey`, beforeMfa: true, expected: factorRead },
  {
    ...{ method: 'PATCH', path: `${PASSKEYS}/:passkey`, body: () => ({ name: `name ${next()}` }), beforeMfa: true },
    expected: factorChanged(200, true),
  },
  { method: 'DELETE', path: `${PASSKEYS}/:passkey`, beforeMfa: true, expected: factorChanged(204, true) },
  { method: 'POST', path: '/api/v1/auth/login/passkey', access: 'open', expected: always(400) },
  { method: 'POST', path: '/api/v1/auth/login/passkey/options', access: 'open', expected: always(200) },
  { method: 'POST', path: '/api/v1/auth/token/passkey', beforeMfa: true, expected: ofLogin(400) },
  { method: 'POST', path: '/api/v1/auth/token/passkey/options', beforeMfa: true, expected: ofLogin(200) },
  { method: 'GET', path: MEMBERS, expected: memberChanged(200, false) },
  {
    ...{ method: 'POST', path: MEMBERS, body: () => ({ email: freshEmail(), role: 'viewer' }) },
    expected: memberChanged(201, true),
  },
  { method: 'GET', path: `${MEMBERS}/:id`, idOf: 'member', expected: memberChanged(200, false) },
  {
    ...{ method: 'PATCH', path: `${MEMBERS}/:id`, idOf: 'member', body: () => ({ role: 'editor' }) },
    expected: memberChanged(200, true),
  },
  { method: 'DELETE', path: `${MEMBERS}/:id`, idOf: 'member', expected: memberChanged(204, true) },
  { method: 'GET', path: MEMBERSHIPS, expected: membershipChanged(200, false) },
  { method: 'GET', path: `${MEMBERSHIPS}/:id`, idOf: 'membership', expected: membershipChanged(200, false) },
  { method: 'POST', path: `${MEMBERSHIPS}/:id/token`, idOf: 'membership', expected: membershipChanged(201, false) },
  { method: 'DELETE', path: `${MEMBERSHIPS}/:id`, idOf: 'membership', expected: membershipChanged(204, true) },

  { method: 'GET', path: WEBHOOKS, expected: memberChanged(200, false) },
  {
    ...{ method: 'POST', path: WEBHOOKS, body: () => ({ url: NOBODY, events: ['delegation'] }) },
    expected: memberChanged(201, true),
  },
  { method: 'GET', path: `${WEBHOOKS}/:id`, idOf: 'webhook', expected: memberChanged(200, false) },
  {
    ...{ method: 'PATCH', path: `${WEBHOOKS}/:id`, idOf: 'webhook', body: () => ({ domains: [`x${next()}.test`] }) },
    expected: memberChanged(200, true),
  },
  { method: 'POST', path: `${WEBHOOKS}/:id/secret`, idOf: 'webhook', expected: memberChanged(201, true) },
  { method: 'POST', path: `${WEBHOOKS}/:id/test`, idOf: 'webhook', expected: memberChanged(202, false) },
  { method: 'GET', path: `${WEBHOOKS}/:id/deliveries`, idOf: 'webhook', expected: memberChanged(200, false) },
  {
    ...{ method: 'POST', path: `${WEBHOOKS}/:id/deliveries/:delivery/redeliver`, idOf: 'webhook' },
    expected: memberChanged(202, false),
  },
  { method: 'DELETE', path: `${WEBHOOKS}/:id`, idOf: 'webhook', expected: memberChanged(204, true) },

  { method: 'GET', path: '/api/v1/auth/token', beforeMfa: true, expected: always(200) },
  { method: 'GET', path: TOKENS, expected: managed(() => [200, false]) },
  { method: 'POST', path: TOKENS, expected: managed(({ relation }) => [201, relation !== 'foreign']) },
  { method: 'GET', path: `${TOKENS}/:id`, expected: tokenRead },
  ...['PUT', 'PATCH'].map((method) => ({
    ...{ method, path: `${TOKENS}/:id`, body: () => ({ name: `name ${next()}` }), expected: tokenChanged(200) },
  })),
  { method: 'DELETE', path: `${TOKENS}/:id`, expected: managed(({ relation }) => [204, relation !== 'foreign']) },
  { method: 'POST', path: `${TOKENS}/:id/tsig`, expected: tokenChanged(201) },
  {
    method: 'DELETE',
    path: `${TOKENS}/:id/tsig`,
    expected: managed(({ relation }) => (relation === 'bound' ? [403, false] : [204, relation !== 'foreign'])),
  },
  { method: 'GET', path: `${TOKENS}/:id/policies`, expected: tokenRead },
  { method: 'GET', path: POLICIES, expected: tokenRead },
  { method: 'POST', path: POLICIES, body: () => ({ ...ANY, type: 'TXT' }), expected: tokenChanged(201) },
  { method: 'GET', path: `${POLICIES}/:policy`, expected: tokenRead },
  ...['PUT', 'PATCH'].map((method) => ({
    ...{ method, path: `${POLICIES}/:policy`, body: () => ({ ...ANY, perm_write: true }), expected: tokenChanged(200) },
  })),
  {
    method: 'DELETE',
    path: `${POLICIES}/:policy`,
    expected: managed(({ relation }) => {
      if (relation === 'foreign') return [204, false]
      return relation === 'bound' ? [403, false] : [204, true]
    }),
  },

  { method: 'GET', path: DOMAINS, expected: always(200) },
  {
    ...{ method: 'GET', path: DOMAINS, query: '?deleted=true' },
    expected: ({ create }) => [create === true ? 200 : 403, false],
  },
  {
    method: 'POST',
    path: DOMAINS,
    body: () => ({ name: freshName() }),
    expected: ({ create, relation }) => (create === true ? [201, relation !== 'foreign'] : [403, false]),
  },
  { method: 'GET', path: `${DOMAINS}/:name`, expected: ifVisible(() => [200, false]) },
  { method: 'PATCH', path: `${DOMAINS}/:name`, body: () => ({ note: `note ${next()}` }), expected: noted },
  {
    method: 'DELETE',
    path: `${DOMAINS}/:name`,
    spoils: true,
    expected({ remove, sees, clears }) {
      if (remove !== true) return [403, false]
      if (sees !== true) return [204, false]
      return clears === true ? [204, true] : [403, false]
    },
  },
  { method: 'GET', path: `${DOMAINS}/:name/zonefile`, expected: ifVisible(() => [200, false]) },
  {
    ...{ method: 'PUT', path: `${DOMAINS}/:name/zonefile`, body: () => 'www 61 A 192.0.2.1', mediaType: 'text/dns' },
    ...{ spoils: true, expected: written(200) },
  },
  {
    ...{ method: 'PUT', path: `${DOMAINS}/:name/zonefile`, query: '?dry_run=true', body: () => 'www 61 A 192.0.2.1' },
    ...{ mediaType: 'text/dns', expected: examined },
  },
  { method: 'GET', path: `${DOMAINS}/:name/publication`, expected: ifVisible(() => [200, false]) },
  { method: 'GET', path: `${DOMAINS}/:name/delegation`, expected: ifVisible(() => [200, false]) },
  { method: 'POST', path: `${DOMAINS}/:name/delegation`, expected: ifVisible(() => [200, false]) },
  { method: 'GET', path: `${DOMAINS}/:name/transfers`, expected: whole },
  {
    method: 'PUT',
    path: `${DOMAINS}/:name/transfers`,
    body: () => ({ addresses: ['192.0.2.7'], notify: [], tsig: true }),
    expected: whole,
  },
  { method: 'POST', path: `${DOMAINS}/:name/rollover`, expected: rolled(201, true) },
  { method: 'GET', path: `${DOMAINS}/:name/rollover`, expected: rollover },
  { method: 'POST', path: `${DOMAINS}/:name/rollover/confirm`, expected: rolled(409, false) },
  { method: 'DELETE', path: `${DOMAINS}/:name/rollover`, expected: rolled(204, true) },
  { method: 'GET', path: `${DOMAINS}/:name/history`, expected: ifVisible(() => [200, false]) },
  { method: 'GET', path: `${DOMAINS}/:name/history/:id`, idOf: 'entry', expected: ifVisible(() => [200, false]) },
  ...['', '?dry_run=true'].flatMap((query): Row[] => [
    {
      ...{ method: 'POST', path: `${DOMAINS}/:name/history/:id/undo`, idOf: 'entry', query, spoils: true },
      expected: query === '' ? written(200) : examined,
    },
    {
      ...{
        method: 'POST',
        path: `${DOMAINS}/:name/restore`,
        query,
        body: ({ version }) => ({ version }),
        spoils: true,
      },
      expected: query === '' ? written(200) : examined,
    },
  ]),
  { method: 'GET', path: '/api/v1/delegations', expected: always(200) },
  { method: 'GET', path: '/api/v1/activity', expected: always(200) },
  { method: 'GET', path: '/api/v1/rrsets', query: '?name=x', expected: always(200) },
  { method: 'GET', path: '/api/v1/rrsets', expected: always(400) },
  { method: 'GET', path: RRSETS, expected: ifVisible(() => [200, false]) },
  { method: 'POST', path: RRSETS, withoutRRset: true, spoils: true, body: () => rrset(), expected: written(201) },
  ...['PUT', 'PATCH'].map((method) => ({
    ...{ method, path: RRSETS, body: () => [rrset({ ttl: next() })], expected: written(200) },
  })),
  { method: 'GET', path: `${RRSETS}/:subname/:type`, expected: ifVisible(() => [200, false]) },
  ...['PUT', 'PATCH'].map((method) => ({
    ...{ method, path: `${RRSETS}/:subname/:type`, body: () => rrset({ ttl: next() }), expected: written(200) },
  })),
  { method: 'DELETE', path: `${RRSETS}/:subname/:type`, spoils: true, expected: written(204) },
  ...['PUT', 'PATCH'].flatMap((method) => [
    { method, path: RRSETS, query: '?dry_run=true', body: () => [rrset({ ttl: 61 })], expected: examined },
    {
      ...{ method, path: `${RRSETS}/:subname/:type`, query: '?dry_run=true', body: () => rrset({ ttl: 61 }) },
      expected: examined,
    },
  ]),
  { method: 'DELETE', path: `${RRSETS}/:subname/:type`, query: '?dry_run=true', expected: examined },
  ...['/api/v1/dyndns/update', '/nic/update', '/update'].map((path) => ({
    ...{ method: 'GET', path, expected: written(200) },
  })),

  { method: 'GET', path: '/api/v1/openapi-powerdns.json', access: 'open', expected: always(200) },
  ...['/api', SERVERS, `${SERVERS}/localhost`, `${SERVERS}/localhost/statistics`, ZONES].map((path) => ({
    ...{ method: 'GET', path, expected: always(200) },
  })),
  {
    method: 'POST',
    path: ZONES,
    body: () => ({ name: `${freshName()}.`, kind: 'Native' }),
    expected: ({ create, relation }) => (create === true ? [201, relation !== 'foreign'] : [403, false]),
  },
  { method: 'GET', path: `${ZONES}/:zone`, expected: ifVisible(() => [200, false]) },
  { method: 'PATCH', path: `${ZONES}/:zone`, body: amended, expected: written(204) },
  { method: 'PATCH', path: `${ZONES}/:zone`, query: '?dry_run=true', body: amended, expected: examined },
  { method: 'PUT', path: `${ZONES}/:zone`, expected: ifVisible(() => [204, false]) },
  {
    ...{ method: 'DELETE', path: `${ZONES}/:zone`, spoils: true },
    expected: ifVisible(({ remove, clears }) => (remove === true && clears === true ? [204, true] : [403, false])),
  },
  { method: 'GET', path: `${SERVERS}/localhost/search-data`, query: '?q=x', expected: always(200) },
  { method: 'GET', path: `${SERVERS}/localhost/search-data`, expected: always(422) },
  ...['export', 'cryptokeys', 'metadata'].map((part) => ({
    ...{ method: 'GET', path: `${ZONES}/:zone/${part}`, expected: ifVisible(() => [200, false]) },
  })),
  ...['rectify', 'notify'].map((verb) => ({
    ...{ method: 'PUT', path: `${ZONES}/:zone/${verb}`, expected: ifVisible(() => [200, false]) },
  })),
]

/** A change of www A by PowerDNS' API. */
function amended({ domain }: Site): unknown {
  const records = [{ content: '192.0.2.1' }]
  return { rrsets: [{ name: `www.${domain}.`, type: 'A', changetype: 'REPLACE', ttl: next(), records }] }
}

function expected(row: Row, caller: Caller): Outcome {
  if (row.access === 'open') return row.expected(caller)
  if (caller.refused === true && !(caller.anonymous === true && row.access === 'optional')) return [401, false]
  if (caller.pending === true && row.access === undefined && row.beforeMfa === undefined) return [403, false]
  return row.expected(caller)
}

type Parties = Pick<Site, 'account' | 'owner'>

async function makeSite(): Promise<Site> {
  const parties = { account: await service().account(), owner: await service().account() }
  return { ...parties, ...(await makeTokens(parties)), ...(await makeDomain(parties)) }
}

async function makeTokens({
  account,
  owner,
}: Parties): Promise<Pick<Site, 'tokens' | 'factor' | 'passkey' | 'member' | 'membership' | 'webhook' | 'delivery'>> {
  const own = await addToken(service(), account.id)
  const bound = await addToken(service(), owner.id, { userOverrideId: account.id })
  const tokens = { own: { id: own.id, policy: '' }, bound: { id: bound.id, policy: '' } }
  for (const token of Object.values(tokens)) {
    await addPolicies(service(), token.id, { write: false })
    const [policy] = await query<{ id: string }>(service().system.db, 'select id from policies where token_id = :id', {
      id: token.id,
    })
    token.policy = policy!.id
    await query(service().system.db, `insert into tsig_keys values (:id, 'x')`, { id: token.id })
  }
  const factor = await addFactor(service(), account.id, { used: false })
  const { memberId: member } = await addMember(service(), account.id, 'viewer')
  const host = await service().account()
  const { memberId: membership } = await addMember(service(), host.id, 'viewer', { personId: account.id })
  const { webhook, delivery } = await one<{ webhook: string; delivery: string }>(
    service().system.db,
    `with webhook as (
       insert into webhooks (account_id, created, url, events) values (:id, now(), :url, '{delegation}') returning id
     )
     insert into webhook_deliveries (webhook_id, created, type, status)
       select id, now(), 'test', 'delivered' from webhook returning id as delivery, webhook_id as webhook`,
    { id: account.id, url: NOBODY },
  )
  const passkey = await addPasskey(service(), account.id)
  return { tokens, member, membership, factor, passkey, webhook, delivery }
}

async function makeDomain({ account }: Parties): Promise<Pick<Site, 'domain' | 'entry' | 'version'>> {
  const domain = await newDomain(account.api)
  await newRRset(account.api, domain)
  const [newest, former] = await entriesOf(account.api, domain)
  return { domain, entry: newest!.id, version: former!.version }
}

/** The rows of both accounts without the times of use. */
async function contents({ account, owner }: Site): Promise<string> {
  const rows = await query<{ row: string }>(
    service().system.db,
    `with ours as (
       select id, owner_id, name, mfa, perm_manage_tokens, auto_policy from tokens
       where owner_id in (:account, :owner) or user_override_id in (:account, :owner)
     )
     select cast(ours as text) as row from ours where mfa is null
     union all select cast(policies as text) from policies where token_id in (select id from ours)
     union all select cast(tsig_keys as text) from tsig_keys where token_id in (select id from ours)
     union all select concat_ws(' ', id, name) from totp_factors where account_id in (:account, :owner)
     union all select concat_ws(' ', id, name) from passkeys where account_id in (:account, :owner)
     union all select concat_ws(' ', id, role, person_id) from members where account_id in (:account, :owner) or person_id in (:account, :owner)
     union all select concat_ws(' ', id, url, domains) from webhooks where account_id in (:account, :owner)
     union all select cast(secret as text) from webhook_secrets
       where webhook_id in (select id from webhooks where account_id in (:account, :owner))
     union all select concat_ws(' ', name, note) from domains where owner_id in (:account, :owner)
     union all select concat_ws(' ', domain_id, 'rollover') from rollovers
       where domain_id in (select id from domains where owner_id in (:account, :owner))
     union all select concat_ws(' ', subname, type, ttl, cast(records as text)) from rrsets
       where domain_id in (select id from domains where owner_id in (:account, :owner))
     order by 1`,
    { account: account.id, owner: owner.id },
  )
  return rows.map(({ row }) => row).join('\n')
}

function send(site: Site, row: Row, caller: Caller, secret: string | undefined): Promise<Answer> {
  const { path, method, body, query = '', mediaType } = row
  const token = site.tokens[caller.relation === 'bound' ? 'bound' : 'own']
  const parameters: Record<string, string> = {
    ...{
      id: row.idOf === undefined ? token.id : site[row.idOf],
      policy: token.policy,
      factor: site.factor,
      passkey: site.passkey,
      delivery: site.delivery,
      name: site.domain,
      zone: `${site.domain}.`,
      subname: 'www',
      type: 'A',
    },
    ...{ action: 'activate-account', code: 'unknown', asset: 'swagger-ui.css' },
  }
  const target = path.replace(/:(\w+)/g, (_, name: string) => parameters[name]!)
  const update = path.endsWith('/update')
    ? `?hostname=www.${site.domain}&myip=198.51.${next() >> 8}.${next() & 255}&myipv6=preserve`
    : ''
  const client = new Client(service().url, secret, /^\/api(\/v1\/servers|$)/.test(path) ? 'powerdns' : 'token')
  const url = `//root${target}${update}${query}`
  if (mediaType !== undefined) {
    return client.send(method, url, undefined, { headers: { 'content-type': mediaType }, body: body!(site) as string })
  }
  return client.send(method, url, method === 'GET' ? undefined : (body?.(site) ?? {}))
}

for (const [name, caller] of Object.entries(CALLERS)) {
  test(`permissions of ${name}`, async (t) => {
    let site = await makeSite()
    let secret = await caller.secret(site)
    let before = await contents(site)
    for (const row of ROWS) {
      if (row.withoutRRset === true) {
        const sql = `delete from rrsets where subname = 'www' and domain_id = (select id from domains where name = :name)`
        await query(service().system.db, sql, { name: site.domain })
        before = await contents(site)
      }
      const { status, text } = await send(site, row, caller, secret)
      const after = await contents(site)
      const changed = after !== before
      const logsOut = row.path.endsWith('/logout') && status === 204
      t.deepEqual(
        [status, changed && !logsOut],
        expected(row, caller),
        `${row.method} ${row.path}${row.query ?? ''}: ${text}`,
      )
      // What the caller does not see is like what does not exist.
      if (status === 404) t.true(['{"detail":"Not found."}', '{"error":"Not Found"}', 'nohost'].includes(text), text)
      before = after
      if (!changed && !logsOut && row.withoutRRset !== true) continue
      if (row.path.startsWith('/api/v1/auth')) site = { ...site, ...(await makeTokens(site)) }
      else if (row.spoils === true) site = { ...site, ...(await makeDomain(site)) }
      else continue
      secret = await caller.secret(site)
      before = await contents(site)
    }
  })
}

/** What a caller gets of a suspended domain: instead of each change that its flags allow, and of an export, 409. */
function ofSuspended(row: Row, caller: Caller): Outcome {
  const isUpdate = row.path.endsWith('/update')
  const isExport = row.method === 'GET' && /\/(zonefile|export)$/.test(row.path)
  const changesNothing = row.method === 'PUT' && row.path.startsWith(ZONES)
  const isLook = row.path.endsWith('/delegation') || changesNothing || (row.method === 'GET' && !isUpdate && !isExport)
  if (isLook) return expected(row, caller)
  // Policies are asked when the domain is locked, and known to be suspended; of confirmations, which ask others, before.
  const isForbidden = row.path.endsWith('/confirm') && caller.clears !== true
  const [status] = expected(row, { ...caller, writes: true, clears: !isForbidden })
  return [caller.sees === true && status < 300 ? 409 : status, false]
}

test('the operator alone changes a suspended domain', async (t) => {
  const site = await makeSite()
  const { api } = await addToken(service(), site.account.id, { permDeleteDomain: true })
  succeeded(await api.post(`/domains/${site.domain}/rollover/`, {}), 201)
  await suspend(service().system, site.domain)
  const rows = ROWS.filter(
    // What is said of the rollover is for those who find it in a served domain.
    ({ path, method }) =>
      (/:(name|zone)/.test(path) && `${method} ${path}` !== `GET ${DOMAINS}/:name/rollover`) ||
      path.endsWith('/update'),
  )
  for (const [name, caller] of Object.entries(CALLERS)) {
    const secret = await caller.secret(site)
    const before = await contents(site)
    for (const row of rows) {
      const { status, text } = await send(site, row, caller, secret)
      t.deepEqual(
        [status, (await contents(site)) !== before],
        ofSuspended(row, caller),
        `${name}: ${row.method} ${row.path}${row.query ?? ''}: ${text}`,
      )
    }
  }
})

test('the matrix covers every endpoint and method', async (t) => {
  const paths = createRouter(service().system.config).router.stack.map(({ path }) => String(path))
  for (const path of paths) {
    const { headers } = await service().anonymous.send('OPTIONS', `//root${path}`)
    const allowed = String(headers['allow']).split(', ')
    const methods = allowed.filter((method) => !['HEAD', 'OPTIONS'].includes(method)).sort()
    t.deepEqual(
      ROWS.filter((row) => row.path.replace(/:(factor|passkey)/, ':id') === path && (row.query ?? '') === '')
        .map(({ method }) => method)
        .sort(),
      methods,
      path,
    )
  }
})
