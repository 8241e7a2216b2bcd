import { remove, setState } from '../../../src/service/accounts/accounts.ts'
import { remove as removeMember } from '../../../src/service/members/member-operations.ts'
import { type Db, query, transaction } from '../../../src/store/database.ts'
import { freshName, newDomain, newRRset, rrset, sendHeld, succeeded } from '../../support/clients/api.ts'
import type { Client } from '../../support/clients/client.ts'
import { addMember, loginOf, type MemberLogin } from '../../support/clients/members.ts'
import { type Person, person } from '../../support/clients/people.ts'
import { addFactor, addToken } from '../../support/clients/tokens.ts'
import { eventually } from '../../support/eventually.ts'
import { useService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'
import { openPatiently } from '../../support/servers/postgres/databases.ts'
import { waitingForRights } from '../../support/state/transactions.ts'

// Contract §§3.1 and 19.2: the rights of a member end while a request of its login, or of a token that it has made, is on
// its way.

const service = useService({ THROTTLE: 'off' })

interface Site {
  owner: Person
  /** The owner's own login. */
  api: Client
  domain: string
  member: MemberLogin
  /** What sends the requests: the member's login for the account, or an API token that it has made. */
  used: Client
}

async function newSite(user: 'login' | 'token'): Promise<Site> {
  const owner = await person(service())
  const { api } = await loginOf(service(), owner.id)
  const domain = await newDomain(api)
  await newRRset(api, domain)
  const member = await addMember(service(), owner.id, 'admin')
  if (user === 'login') return { owner, api, domain, member, used: member.session }
  const flags = { permCreateDomain: true, permDeleteDomain: true, permManageTokens: true }
  const { id, api: used } = await addToken(service(), owner.id, flags)
  await query(service().system.db, 'update tokens set made_by = :by where id = :id', { by: member.memberId, id })
  return { owner, api, domain, member, used }
}

const REQUESTS: Record<string, (site: Site) => ReturnType<Client['send']>> = {
  'a change of an RRset': ({ used, domain }) => used.patch(`/domains/${domain}/rrsets/www/A/`, { ttl: 7200 }),
  'a new domain': ({ used }) => used.post('/domains/', { name: freshName() }),
  'a new token': ({ used }) => used.post('/auth/tokens/', {}),
  'permission of transfers': ({ used, domain }) =>
    used.put(`/domains/${domain}/transfers/`, { addresses: ['192.0.2.7'], notify: [], tsig: false }),
  'a note': ({ used, domain }) => used.patch(`/domains/${domain}/`, { note: 'Ask Alice.' }),
}

interface Withdrawal {
  apply: (db: Db, site: Site) => Promise<unknown>
  /** The status of each request then; undefined: it succeeds. */
  login: (request: string) => number | undefined
  token: (request: string) => number | undefined
}

const set = (db: Db, columns: string, id: string) => query(db, `update members set ${columns} where id = :id`, { id })

const WITHDRAWALS: Record<string, Withdrawal> = {
  'the member is removed': {
    apply: (db, { member }) => query(db, 'delete from members where id = :id', { id: member.memberId }),
    login: () => 401,
    token: () => 401,
  },
  'the member becomes a viewer': {
    apply: (db, { member }) => set(db, `role = 'viewer'`, member.memberId),
    login: () => 403,
    token: () => undefined,
  },
  'the member becomes an editor': {
    apply: (db, { member }) => set(db, `role = 'editor'`, member.memberId),
    login: (request) => (request === 'a change of an RRset' ? undefined : 403),
    token: () => undefined,
  },
  'the member becomes an editor of no domain': {
    apply: (db, { member }) => set(db, `role = 'editor', confined = true`, member.memberId),
    login: (request) => (request === 'a change of an RRset' ? 404 : 403),
    token: () => undefined,
  },
  "the member's own account is disabled": {
    apply: (db, { member }) =>
      query(db, `update accounts set state = 'disabled' where id = :id`, { id: member.personId }),
    login: () => 401,
    token: () => 401,
  },
  "the member's own account is deleted": {
    apply: (db, { member }) => query(db, 'delete from accounts where id = :id', { id: member.personId }),
    login: () => 401,
    token: () => 401,
  },
  'the member gets a second factor': {
    apply: (db, { member }) => addFactor({ system: { ...service().system, db: db as never } }, member.personId),
    login: () => 403,
    token: () => undefined,
  },
  'the account requires second factors': {
    apply: (db, { owner }) => query(db, 'update accounts set require_mfa = true where id = :id', { id: owner.id }),
    login: () => 403,
    token: () => undefined,
  },
}

async function stored({ owner }: Site): Promise<unknown[]> {
  return query(
    service().system.db,
    `select to_jsonb(tokens) - 'last_used' as row from tokens where owner_id = :id and mfa is null
     union all select to_jsonb(domains) from domains where owner_id = :id
     union all select to_jsonb(rrsets) from rrsets join domains on domains.id = domain_id where owner_id = :id
     union all select to_jsonb(transfers) from transfers join domains on domains.id = domain_id where owner_id = :id
     order by row`,
    { id: owner.id },
  )
}

const isAnyWaiting = async () => (await waitingForRights(service().system.db)) > 0

for (const user of ['login', 'token'] as const) {
  for (const [what, { apply, ...answers }] of Object.entries(WITHDRAWALS)) {
    for (const [request, send] of Object.entries(REQUESTS)) {
      const status = answers[user](request)
      test(`${what} while ${request} of the ${user} waits: ${status ?? 'it succeeds'}`, async (t) => {
        const site = await newSite(user)
        const own = openPatiently(service().backends.databaseUrl, 1)
        try {
          const { answering } = await transaction(own, async (trx) => {
            const holder = `member ${site.member.memberId}`
            await query(trx, 'select pg_advisory_xact_lock(hashtextextended(:holder, 3))', { holder })
            const answering = send(site)
            await eventually(isAnyWaiting)
            await apply(trx, site)
            return { answering }
          })
          const before = await stored(site)
          const answer = await answering
          if (status === undefined) t.true([200, 201].includes(answer.status), answer.text)
          else {
            t.is(answer.status, status, answer.text)
            t.deepEqual(await stored(site), before)
          }
        } finally {
          await own.end()
        }
      })
    }
  }
}

const WAYS: Record<string, (site: Site) => Promise<unknown>> = {
  'its removal': async ({ api, member }) => succeeded(await api.delete(`/auth/members/${member.memberId}/`), 204),
  'another role': async ({ api, member }) =>
    succeeded(await api.patch(`/auth/members/${member.memberId}/`, { role: 'viewer' }), 200),
  'its departure': async ({ member }) =>
    succeeded(await member.own.api.delete(`/auth/memberships/${member.memberId}/`), 204),
  'the requirement of a factor': async ({ api }) =>
    succeeded(await api.patch('/auth/account/', { require_mfa: true }), 200),
  'the end of its own account': ({ member }) => remove(service().system, member.email, true),
  'disabling its own account': ({ member }) => setState(service().system, member.email, 'disabled'),
  'its removal by the operator': ({ owner, member }) =>
    removeMember(service().system, member.email, owner.email, 'end'),
}

for (const user of ['login', 'token'] as const) {
  for (const [what, withdraw] of Object.entries(WAYS)) {
    test(`${what} waits for the write that the ${user} of a member has begun`, async (t) => {
      const site = await newSite(user)
      const send = () => site.used.post(`/domains/${site.domain}/rrsets/`, rrset({ subname: 'new' }))
      const { answering: write, release } = await sendHeld(service(), 'PATCH', send)
      let isDone = false
      const withdrawal = withdraw(site).then(() => (isDone = true))
      await eventually(async () => isDone || (await isAnyWaiting()))
      t.false(isDone)
      release('pass')
      succeeded(await write, 201)
      await withdrawal
    })
  }
}
