import { accountsBodies, SMALL_WRITE } from '../../../src/limits.ts'
import { remove, setState } from '../../../src/service/accounts/accounts.ts'
import { revoke } from '../../../src/service/tokens/tokens.ts'
import * as accounts from '../../../src/store/accounts/accounts.ts'
import { type Db, query, transaction } from '../../../src/store/database.ts'
import * as tokens from '../../../src/store/tokens/tokens.ts'
import { newDomain, newRRset, rrset, sendHeld, succeeded } from '../../support/clients/api.ts'
import type { Answer, Client } from '../../support/clients/client.ts'
import { basic, update } from '../../support/clients/dyndns.ts'
import { emailChangeLink, freshEmail, type Person, person, resetLink } from '../../support/clients/people.ts'
import { amendment, ZONES } from '../../support/clients/powerdns.ts'
import { hold, plainRequest, type RawAnswer } from '../../support/clients/raw.ts'
import { addFactor, addPolicies, addToken, codeFor, type Token } from '../../support/clients/tokens.ts'
import { eventually, eventuallyIs } from '../../support/eventually.ts'
import { type TestService, useService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'
import { openPatiently } from '../../support/servers/postgres/databases.ts'
import type { Call } from '../../support/servers/proxy.ts'
import { waitingForRights } from '../../support/state/transactions.ts'

// Contract §§3.1, 5.6 and 6.5: the rights of a token are withdrawn while a request is on its way. It was authenticated
// with them, and then waits for its body, or in Postgres.

const service = useService({ THROTTLE: 'off' })

const ALL = { permCreateDomain: true, permDeleteDomain: true, permManageTokens: true }

/** An account with a domain that has www A. */
interface Site {
  owner: Person
  domain: string
  /** Never loses its rights. */
  manager: Client
  /** The token of the requests: a login token, which a new password deletes. */
  used: Token
  /** A further token, with this default policy. */
  other: Token
  policy: string
}

async function newSite(): Promise<Site> {
  const owner = await person(service())
  const { api: manager } = await addToken(service(), owner.id, ALL)
  const domain = await newDomain(manager)
  await newRRset(manager, domain)
  const used = await addToken(service(), owner.id, { ...ALL, mfa: false })
  const other = await addToken(service(), owner.id)
  await addPolicies(service(), other.id, { write: true })
  const [policy] = await query<{ id: string }>(service().system.db, 'select id from policies where token_id = :id', {
    id: other.id,
  })
  return { owner, domain, manager, used, other, policy: policy!.id }
}

type Kind = 'tokens' | 'rrsets' | 'creation' | 'deletion' | 'policies' | 'account' | 'logout'

/** Requests that succeed with the rights that the token has at first. */
const REQUESTS: [kind: Kind, (site: Site) => [method: string, path: string, body?: object]][] = [
  ['tokens', () => ['POST', '/auth/tokens/', { perm_manage_tokens: true }]],
  ['tokens', ({ other }) => ['PATCH', `/auth/tokens/${other.id}/`, { perm_manage_tokens: true }]],
  ['tokens', ({ other }) => ['DELETE', `/auth/tokens/${other.id}/`]],
  // The token changes itself: it would get back what it has lost.
  ['tokens', ({ used }) => ['PATCH', `/auth/tokens/${used.id}/`, { perm_manage_tokens: true }]],
  ['tokens', ({ used }) => ['DELETE', `/auth/tokens/${used.id}/`]],
  ['logout', () => ['POST', '/auth/logout/']],
  ['policies', ({ other }) => ['POST', policiesOf(other), { domain: null, subname: 'a', type: null }]],
  ['policies', ({ other, policy }) => ['PATCH', `${policiesOf(other)}${policy}/`, { perm_write: false }]],
  ['policies', ({ other, policy }) => ['DELETE', `${policiesOf(other)}${policy}/`]],
  ['account', () => ['PATCH', '/auth/account/', { outreach_preference: false }]],
  ['rrsets', ({ domain }) => ['PATCH', `/domains/${domain}/rrsets/www/A/`, { ttl: 7200 }]],
  ['rrsets', ({ domain }) => ['DELETE', `/domains/${domain}/rrsets/www/A/`]],
  ['rrsets', ({ domain }) => ['POST', `/domains/${domain}/rrsets/`, rrset({ subname: 'new' })]],
  ['rrsets', ({ domain }) => ['PUT', `/domains/${domain}/rrsets/`, [rrset({ subname: 'new' })]]],
  ['creation', ({ domain }) => ['POST', '/domains/', { name: `sub.${domain}`, zonefile: 'www 3600 IN A 192.0.2.1' }]],
  ['deletion', ({ domain }) => ['DELETE', `/domains/${domain}/`]],
  ['deletion', ({ domain }) => ['POST', `/domains/${domain}/rollover/`, { algorithm: 'ecdsa256' }]],
  // The same by PowerDNS' API.
  [
    'rrsets',
    ({ domain }) => ['PATCH', `${ZONES}/${domain}.`, { rrsets: [amendment(domain, { changetype: 'EXTEND' })] }],
  ],
  ['rrsets', ({ domain }) => ['PATCH', `${ZONES}/${domain}.`, { rrsets: [amendment(domain, { ttl: 7200 })] }]],
  [
    'creation',
    ({ domain }) => ['POST', ZONES, { name: `sub.${domain}.`, kind: 'Native', rrsets: [amendment(`sub.${domain}`)] }],
  ],
  ['deletion', ({ domain }) => ['DELETE', `${ZONES}/${domain}.`]],
]

function policiesOf({ id }: Token): string {
  return `/auth/tokens/${id}/policies/rrsets/`
}

/** The service, for functions that shall use this connection. */
function on(db: Db): TestService {
  return { ...service(), system: { ...service().system, db: db as TestService['system']['db'] } }
}

const INVALID: Expected = [401, 'Invalid token.']
const INACTIVE: Expected = [401, 'User inactive or deleted.']
const DENIED: Expected = [403, 'You do not have permission to perform this action.']
const FORBIDDEN: Expected = [403, 'Insufficient token permissions.']

type Expected = [status: number, detail: string]

interface Withdrawal {
  /** Carries it out on this connection. */
  apply: (db: Db, site: Site) => Promise<unknown>
  /** The answer to requests of each kind; undefined: it does not concern them. */
  answer: (kind: Kind) => Expected | undefined
}

const WITHDRAWALS: Record<string, Withdrawal> = {
  'the token is deleted': {
    apply: (db, { used }) => tokens.remove(db, used.id),
    answer: () => INVALID,
  },
  'its permissions are taken away': {
    apply: (db, { used }) =>
      query(
        db,
        `update tokens set perm_create_domain = false, perm_delete_domain = false, perm_manage_tokens = false
         where id = :id`,
        { id: used.id },
      ),
    // RRsets and logging out need no permission.
    answer: (kind) => (kind === 'rrsets' || kind === 'logout' ? undefined : DENIED),
  },
  'it gets a policy': {
    apply: (db, { used }) => addPolicies(on(db), used.id, { write: false }),
    // Tokens and policies, and logging out, are not subject to policies.
    answer: (kind) => ({ rrsets: FORBIDDEN, creation: FORBIDDEN, deletion: DENIED, account: DENIED })[kind as string],
  },
  'its networks change': {
    apply: (db, { used }) =>
      query(db, `update tokens set allowed_subnets = '{192.0.2.0/24}' where id = :id`, { id: used.id }),
    answer: () => INVALID,
  },
  'the account is disabled': {
    apply: (db, { owner }) => accounts.changeCredentials(db, owner.id, { state: 'disabled' }, service().system.now()),
    answer: () => INACTIVE,
  },
  'the password is reset': {
    apply: (db, { owner }) => tokens.removeOwned(db, owner.id, 'logins'),
    answer: () => INVALID,
  },
  'the account is deleted': {
    async apply(db, { owner }) {
      await query(db, 'delete from domains where owner_id = :id', { id: owner.id })
      await accounts.remove(db, owner.id)
    },
    answer: () => INVALID,
  },
  'the account enables MFA': {
    apply: (db, { owner }) => addFactor(on(db), owner.id),
    // Logging out needs no MFA step.
    answer: (kind) => (kind === 'logout' ? undefined : DENIED),
  },
}

/** All that an account has, but for the times at which it was used. */
async function stored(db: Db, { owner, other, used }: Site): Promise<unknown[]> {
  return query(
    db,
    `select to_jsonb(accounts) as row from accounts where id = :id
     union all select to_jsonb(tokens) - 'last_used' from tokens where owner_id = :id
     union all select to_jsonb(policies) from policies where token_id in (:other, :used)
     union all select to_jsonb(domains) from domains where owner_id = :id
     union all select to_jsonb(rrsets) from rrsets join domains on domains.id = domain_id where owner_id = :id
     union all select to_jsonb(rollovers) from rollovers join domains on domains.id = domain_id where owner_id = :id
     order by row`,
    { id: owner.id, other: other.id, used: used.id },
  )
}

/** Sends a request, and withdraws rights when half of its body has arrived. */
async function duringBody(site: Site, octets: string, body: string, withdraw: (db: Db) => Promise<unknown>) {
  const begun = octets.length - Math.ceil(body.length / 2)
  const { socket, answer } = await hold(service().url, octets.slice(0, begun))
  // Its octets have places once all that comes before the body is done.
  const { config, bounds } = service().system
  const { each } = accountsBodies(config.bodyLimit)
  await eventually(() => {
    const groups = [site.owner.id, `logins of ${site.owner.id}`]
    const releases = groups.map((group) => bounds.bodies.accounts.tryTake(`bodies of ${group}`, { count: each }))
    for (const release of releases) release?.()
    return releases.includes(undefined)
  })
  await withdraw(service().system.db)
  socket.write(octets.slice(begun))
  return answer
}

/** Sends a request, and withdraws rights in a transaction that lets it wait, as every withdrawal does. */
async function duringLock<T>({ owner }: Site, send: () => Promise<T>, withdraw: (db: Db) => Promise<unknown>) {
  const own = openPatiently(service().backends.databaseUrl, 1)
  try {
    const { answer } = await transaction(own, async (trx) => {
      await query(trx, 'select pg_advisory_xact_lock(hashtextextended(:holder, 3))', { holder: `account ${owner.id}` })
      const answer = send()
      await heldBack(answer)
      await withdraw(trx)
      return { answer }
    })
    return await answer
  } finally {
    await own.end()
  }
}

const waiting = () => waitingForRights(service().system.db)

/** Resolves with true once somebody waits for rights, or with false once the work is done. */
async function heldBack(work: Promise<unknown>): Promise<boolean> {
  let isDone = false
  void work.then(() => (isDone = true))
  await eventually(async () => isDone || (await waiting()) > 0)
  return !isDone
}

function told({ status, headers, body }: RawAnswer) {
  return { status, body, authenticate: headers['www-authenticate'] }
}

/** @param byKey whether the request came by PowerDNS' API */
function refusal([status, detail]: Expected, byKey: boolean) {
  if (byKey) {
    const body = JSON.stringify({ error: status === 401 ? 'Unauthorized' : detail })
    return { status, body, authenticate: status === 401 ? 'X-API-Key' : undefined }
  }
  return { status, body: JSON.stringify({ detail }), authenticate: status === 401 ? 'Token' : undefined }
}

const EXAMPLE = { domain: 'DOMAIN', used: { id: 'ITSELF' }, other: { id: 'OTHER' }, policy: 'ID' } as Site

for (const [kind, request] of REQUESTS) {
  const [method, path, json] = request(EXAMPLE)
  const byKey = path.startsWith(ZONES)
  const kindOfChange =
    byKey && json !== undefined ? JSON.stringify(json).replace(/.*"changetype":"(\w+)".*/, ' by $1') : ''
  const what = `${method} ${path}${kindOfChange} ${json === undefined ? 'waits in Postgres' : `sends ${Array.isArray(json) ? 'many' : 'its body'}`}`

  /** Sends the request from a new site, and calls `withdraw` while it is on its way. */
  async function send(withdraw: (db: Db, site: Site) => Promise<unknown>) {
    const site = await newSite()
    const [, path, json] = request(site)
    const credentials = byKey ? `X-API-Key: ${site.used.secret}` : `Authorization: Token ${site.used.secret}`
    const headers = [credentials, 'Content-Type: application/json']
    const body = json === undefined ? '' : JSON.stringify(json)
    const octets = plainRequest(`${method} /api/v1${path}`, headers, body)
    const apply = (db: Db) => withdraw(db, site)
    const sendAll = async () => (await hold(service().url, octets)).answer
    const answer = await (body === '' ? duringLock(site, sendAll, apply) : duringBody(site, octets, body, apply))
    return { site, answer }
  }

  test(`nothing is withdrawn while ${what}: it succeeds`, async (t) => {
    const { answer } = await send(() => Promise.resolve())
    t.true([200, 201, 204].includes(answer.status))
  })

  for (const [withdrawal, { apply, answer: answerTo }] of Object.entries(WITHDRAWALS)) {
    const expected = answerTo(kind)
    if (expected === undefined) continue
    test(`${withdrawal} while ${what}: ${expected[0]}, and nothing is written`, async (t) => {
      let before: unknown[] = []
      const { site, answer } = await send(async (db, site) => {
        await apply(db, site)
        before = await stored(db, site)
      })
      t.deepEqual(told(answer), refusal(expected, byKey))
      t.deepEqual(await stored(service().system.db, site), before)
    })
  }
}

test('the token is deleted while a dynDNS update waits in Postgres: 401 badauth, and nothing is written', async (t) => {
  const site = await newSite()
  let before: unknown[] = []
  const send = () => update(service().anonymous, { myip: '192.0.2.9' }, basic(`www.${site.domain}`, site.used.secret))
  const { status, text, headers } = await duringLock(site, send, async (db) => {
    await tokens.remove(db, site.used.id)
    before = await stored(db, site)
  })
  t.deepEqual([status, text, headers['www-authenticate']], [401, 'badauth', 'Token'])
  t.deepEqual(await stored(service().system.db, site), before)
})

/** All ways to withdraw rights from `used`. */
const WAYS: Record<string, (site: Site) => Promise<unknown>> = {
  'its deletion': ({ manager, used }) => deleted(manager, `/auth/tokens/${used.id}/`),
  'its logout': async ({ used }) => succeeded(await used.api.post('/auth/logout/'), 204),
  'its revocation by the operator': ({ used }) => revoke(service().system, used.id),
  'a change of its permissions': ({ manager, used }) => changed(manager, used, { perm_create_domain: false }),
  'a change of its networks': ({ manager, used }) => changed(manager, used, { allowed_subnets: [] }),
  async 'a new policy'({ manager, used }) {
    const policy = { domain: null, subname: null, type: null }
    succeeded(await manager.post(`/auth/tokens/${used.id}/policies/rrsets/`, policy), 201)
  },
  async 'a new password'({ owner }) {
    const { path } = await resetLink(service(), owner)
    succeeded(await service().anonymous.post(path, { new_password: 'another password' }), 200)
  },
  async 'the first code of a second factor'({ owner }) {
    const factor = await addFactor(service(), owner.id, { used: false })
    const code = await codeFor(service(), factor)
    succeeded(await service().anonymous.post(`/auth/totp/${factor}/verify/`, { code }), 200)
  },
  'disabling the account': ({ owner }) => setState(service().system, owner.email, 'disabled'),
  'deleting the account': ({ owner }) => remove(service().system, owner.email, true),
}

async function deleted(api: Client, path: string): Promise<void> {
  succeeded(await api.delete(path), 204)
}

async function changed(api: Client, { id }: Token, settings: object): Promise<void> {
  succeeded(await api.patch(`/auth/tokens/${id}/`, settings), 200)
}

/** Begins a change of www A that PowerDNS does not answer before `release`. */
function beginWrite({ used, domain }: Site) {
  return sendHeld(service(), 'PATCH', () => used.api.patch(`/domains/${domain}/rrsets/www/A/`, { ttl: 7200 }))
}

for (const [what, withdraw] of Object.entries(WAYS)) {
  test(`${what} waits for the write that a token has begun`, async (t) => {
    const site = await newSite()
    const { answering: write, release } = await beginWrite(site)
    const withdrawal = withdraw(site)
    t.true(await heldBack(withdrawal))
    release('pass')
    succeeded(await write, 200)
    await withdrawal
  })
}

test('while the deletion of a token waits, the token begins no other write', async (t) => {
  const site = await newSite()
  const second = await newDomain(site.manager)
  const { answering: write, release } = await beginWrite(site)
  const deletion = site.manager.delete(`/auth/tokens/${site.used.id}/`)
  await eventuallyIs(waiting, 1)
  const later = site.used.api.post(`/domains/${second}/rrsets/`, rrset())
  await eventuallyIs(waiting, 2)
  release('pass')
  t.deepEqual([(await write).status, (await deletion).status, (await later).status], [200, 204, 401])
})

test('changes of rights that wait for large writes of two accounts keep no other account waiting', async (t) => {
  const { proxy } = service()
  const large = Array.from({ length: SMALL_WRITE + 1 }, (_, i) => rrset({ subname: `www${i}` }))
  const isLarge = ({ method, body }: Call) => method === 'PATCH' && body.includes('www200')
  const waiting: Promise<Answer>[] = []
  const writing: Promise<Answer>[] = []
  const stops = []
  for (let count = 0; count < 2; count++) {
    const owner = await person(service())
    const { api: manager } = await addToken(service(), owner.id, ALL)
    const { api: login } = await addToken(service(), owner.id, { ...ALL, mfa: true })
    const { id, api } = await addToken(service(), owner.id)
    const domain = await newDomain(manager)
    const stopped = proxy.stop(isLarge)
    writing.push(api.put(`/domains/${domain}/rrsets/`, large))
    await stopped.arrived
    stops.push(stopped)
    for (const client of [manager, login]) waiting.push(client.patch(`/auth/tokens/${id}/`, { name: 'new' }))
    // A link in a mail changes the account's rights.
    const { path } = await emailChangeLink(service(), owner, freshEmail())
    waiting.push(service().anonymous.post(path))
  }
  for (let i = 0; i < 5; i++) {
    const other = await service().account()
    const { api } = await addToken(service(), other.id, ALL)
    t.is((await api.post('/auth/tokens/', {})).status, 201)
  }
  t.is(await Promise.race([...waiting, Promise.resolve('waiting')]), 'waiting')
  for (const stopped of stops) stopped.release('pass')
  t.deepEqual(
    (await Promise.all(writing)).map(({ status }) => status),
    [200, 200],
  )
  t.deepEqual(
    (await Promise.all(waiting)).map(({ status }) => status),
    [200, 200, 200, 200, 200, 200],
  )
})
