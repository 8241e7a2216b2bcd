import { remove } from '../../../src/service/accounts/accounts.ts'
import { authenticate } from '../../../src/service/tokens/authentication.ts'
import * as domains from '../../../src/store/domains/domains.ts'
import { freshName, newDomain, newRRset, succeeded as answered } from '../../support/clients/api.ts'
import { type Answer, Client } from '../../support/clients/client.ts'
import { allLettersTo } from '../../support/clients/mails.ts'
import { addMember, loginOf } from '../../support/clients/members.ts'
import {
  accountOf,
  canLogIn,
  freshEmail,
  INVALID_CODE,
  linkTo,
  OVERTAKEN,
  type Person,
  person,
  resetLink,
  said,
} from '../../support/clients/people.ts'
import { addFactor, addPolicies, addToken, setState } from '../../support/clients/tokens.ts'
import { useService, withService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'
import { statementsOf } from '../../support/statements.ts'

// Members of an account (contract §19).

const service = useService({ THROTTLE: 'off' })

/** The body of an answer with this status. */
function succeeded(answer: Answer, status = 200): unknown {
  return answered(answer, status).json
}

const using = (secret: string) => new Client(service().url, secret)

/** A person with a login of its own. */
async function loggedIn(): Promise<Person & { api: Client }> {
  const someone = await person(service())
  return { ...someone, api: (await loginOf(service(), someone.id)).api }
}

interface MemberBody {
  id: string
  email: string
  role: string
  domains: string[] | null
  state: string
}

async function invited(api: Client, body: object): Promise<MemberBody> {
  return succeeded(await api.post('/auth/members/', body), 201) as MemberBody
}

const membersOf = async (api: Client) => succeeded(await api.get('/auth/members/')) as MemberBody[]
const membershipsOf = async (api: Client) =>
  succeeded(await api.get('/auth/memberships/')) as { id: string; account: string }[]

/** Resolves with a client that acts for the account. */
async function actAs(api: Client, membershipId: string): Promise<Client> {
  const { token } = succeeded(await api.post(`/auth/memberships/${membershipId}/token/`, {}), 201) as { token: string }
  return using(token)
}

test('who is invited and accepts acts for the account; the history names the person', async (t) => {
  const [owner, member] = [await loggedIn(), await loggedIn()]
  const domain = await newDomain(owner.api)
  const made = await invited(owner.api, { email: member.email, role: 'editor' })
  t.like(made, {
    email: member.email,
    role: 'editor',
    domains: null,
    state: 'invited',
    accepted: null,
    last_active: null,
    source: 'invitation',
  })
  t.deepEqual(await membershipsOf(member.api), [])
  const { path } = await linkTo(service(), member.email)
  const { text } = (await allLettersTo(service().system, member.email))[0]!
  t.true(text.includes(`${owner.email} invites you to act for the account ${owner.email}, as an editor`), text)
  const accepted = succeeded(await service().anonymous.post(path, {}))
  t.deepEqual(accepted, { detail: `Success! You may now act for the account ${owner.email}.` })
  t.like((await membersOf(owner.api))[0], { id: made.id, state: 'active' })
  t.like((await membershipsOf(member.api))[0], {
    account: owner.email,
    role: 'editor',
    domains: null,
    require_mfa: false,
  })

  const answer = await member.api.post(`/auth/memberships/${made.id}/token/`, {})
  t.is(answer.headers['cache-control'], 'no-store')
  const token = succeeded(answer, 201) as Record<string, unknown>
  t.like(token, { owner: member.email, user_override: owner.email, mfa: false, name: 'login' })
  // It ends when the login that asked for it does.
  t.regex(token['max_age'] as string, /^6 23:/)
  const session = using(token['token'] as string)
  t.like(succeeded(await session.get('/auth/token/')), {
    account: { id: owner.id, email: owner.email, domains: 1 },
    token: { perm_create_domain: false, perm_delete_domain: false, perm_manage_tokens: false },
    membership: { id: made.id, role: 'editor' },
  })
  await newRRset(session, domain)
  const [entry] = succeeded(await owner.api.get(`/domains/${domain}/history/`)) as { owner: string }[]
  t.is(entry!.owner, member.email)
  t.not((await membersOf(owner.api))[0]!['last_active' as 'id'], null)

  // The session is a login of the person, and none of the account's.
  const ids = async (api: Client) => (succeeded(await api.get('/auth/tokens/')) as { id: string }[]).map(({ id }) => id)
  t.true((await ids(member.api)).includes(token['id'] as string))
  t.false((await ids(owner.api)).includes(token['id'] as string))

  const mails = (await allLettersTo(service().system, owner.email)).map((letter) => letter.text)
  t.true(mails[0]!.includes(`${owner.email} has invited ${member.email} to your account`), mails[0])
  t.true(mails[1]!.includes(`${member.email} has accepted the invitation to your account`), mails[1])
})

test('the page of an invitation names address, account and role to whoever has the link, while it holds', async (t) => {
  const [owner, member] = [await loggedIn(), await loggedIn()]
  const { id } = await invited(owner.api, { email: member.email, role: 'editor' })
  const { path } = await linkTo(service(), member.email)
  const page = async (link: string, api: Client = service().anonymous) => {
    const answer = await api.get(link)
    t.is(answer.status, 200)
    t.is(answer.headers['cache-control'], 'no-store')
    return answer.text
  }
  const offer = `${member.email} may then act for the account ${owner.email}, as an editor, who may also change records.`
  t.true((await page(path)).includes(offer))
  const former = await page(path.replace(/.(?=\/$)/, (last) => (last === 'a' ? 'b' : 'a')))
  const nothing = (text: string) => {
    for (const { email } of [owner, member]) t.false(text.includes(email))
  }
  nothing(former)
  t.true(former.includes('the account that the e-mail names'))
  nothing(await page(path.replace('accept-invitation', 'create-totp')))
  t.true((await page(path)).includes(offer), 'looking at it uses nothing up')
  succeeded(await owner.api.patch(`/auth/members/${id}/`, { role: 'viewer' }))
  t.true((await page(path)).includes('as a viewer, who may read.'))
  succeeded(await service().anonymous.post(path, {}))
  nothing(await page(path))
  const admin = await addMember(service(), owner.id, 'admin')
  const other = await person(service())
  await invited(admin.session, { email: other.email, role: 'viewer' })
  const link = (await linkTo(service(), other.email)).path
  t.true((await page(link)).includes(owner.email))
  succeeded(await owner.api.delete(`/auth/members/${admin.memberId}/`), 204)
  nothing(await page(link))
})

test('the account is told what a former admin leaves behind, and sees who has no second factor', async (t) => {
  const owner = await loggedIn()
  const factors = async () =>
    Object.fromEntries(
      (await membersOf(owner.api)).map((each) => [
        each.email,
        (each as unknown as { second_factor: boolean }).second_factor,
      ]),
    )
  const admins = [await addMember(service(), owner.id, 'admin'), await addMember(service(), owner.id, 'admin')] as const
  const [leaver, gone, editor] = [
    await addMember(service(), owner.id, 'admin'),
    await addMember(service(), owner.id, 'admin'),
    await addMember(service(), owner.id, 'editor'),
  ]
  await addFactor(service(), editor.personId)
  const { email } = await invited(owner.api, { email: freshEmail(), role: 'admin' })
  t.like(await factors(), { [editor.email]: true, [leaver.email]: false, [email]: false })
  succeeded(await owner.api.delete(`/auth/members/${admins[0].memberId}/`), 204)
  succeeded(await owner.api.patch(`/auth/members/${admins[1].memberId}/`, { role: 'editor' }))
  succeeded(await leaver.own.api.delete(`/auth/memberships/${leaver.memberId}/`), 204)
  await remove(service().system, gone.email, false)
  succeeded(await owner.api.delete(`/auth/members/${editor.memberId}/`), 204)
  const mails = (await allLettersTo(service().system, owner.email)).map(({ text }) => text.replaceAll(/\s+/g, ' '))
  const LEFT = 'What an admin has changed stays: transfers to servers, with their keys,'
  const about = (address: string) => mails.filter((text) => text.includes(address)).at(-1)!
  for (const { email } of [...admins, leaver, gone]) t.true(about(email).includes(LEFT), about(email))
  t.false(about(editor.email).includes(LEFT))
})

test('who is invited without an account gets one by the link, although registration is closed', async (t) => {
  const owner = await loggedIn()
  const email = freshEmail()
  await invited(owner.api, { email, role: 'viewer' })
  const { path } = await linkTo(service(), email)
  t.deepEqual(said(await service().anonymous.post(path, {})), [400, '{"new_password":["This field is required."]}'])
  t.is(await accountOf(service(), email), undefined)
  const short = await service().anonymous.post(path, { new_password: 'short' })
  t.is(short.status, 400)
  succeeded(await service().anonymous.post(path, { new_password: 'a long enough one' }))
  t.true(await canLogIn(service(), email, 'a long enough one'))
  const { id } = (await accountOf(service(), email))!
  t.is((await membershipsOf((await loginOf(service(), id)).api)).length, 1)
  t.deepEqual(said(await service().anonymous.post(path, { new_password: 'a long enough one' })), [409, OVERTAKEN])
})

test('without INVITATIONS, an invitation makes no account', async (t) => {
  await withService({ INVITATIONS: 'off' }, async (closed) => {
    const owner = await person(closed)
    const { api } = await loginOf(closed, owner.id)
    const email = freshEmail()
    await invited(api, { email, role: 'viewer' })
    const { path } = await linkTo(closed, email)
    const answer = await closed.anonymous.post(path, { new_password: 'a long enough one' })
    t.deepEqual(said(answer), [
      403,
      '{"detail":"There is no account with the invited address. Sign up, or ask the operator, and open the link again."}',
    ])
    t.is(await accountOf(closed, email), undefined)
    await person(closed, { email })
    succeeded(await closed.anonymous.post(path, {}))
  })
})

test('an invitation that nobody can accept changes nothing', async (t) => {
  const [owner, member, other] = [await loggedIn(), await loggedIn(), await loggedIn()]
  const domain = await newDomain(owner.api)
  const foreign = await newDomain(other.api)
  await addMember(service(), owner.id, 'viewer', { personId: other.id })
  await invited(owner.api, { email: member.email, role: 'viewer' })
  const refused = async (body: object, problems: object) => {
    const before = await membersOf(owner.api)
    t.deepEqual(said(await owner.api.post('/auth/members/', body)), [400, JSON.stringify(problems)])
    t.deepEqual(await membersOf(owner.api), before)
  }
  const required = ['This field is required.']
  await refused({}, { email: required, role: required })
  await refused(
    { email: 'x', role: 'owner' },
    { email: ['Enter a valid email address.'], role: ['"owner" is not a valid choice.'] },
  )
  const email = freshEmail()
  await refused({ email: owner.email.toUpperCase(), role: 'viewer' }, { email: ["This is the account's own address."] })
  await refused(
    { email: member.email, role: 'admin' },
    { email: ['This address is invited already. Delete the invitation before you send another.'] },
  )
  await refused(
    { email: other.email, role: 'admin' },
    { email: ['This address is that of a member already. Change the role of the member.'] },
  )
  await refused(
    { email, role: 'editor', domains: [domain, foreign, 'none.example', '\0'] },
    { domains: [foreign, 'none.example', '\0'].map((name) => `Object with name=${name} does not exist.`) },
  )
  await refused(
    { email, role: 'admin', domains: [domain] },
    { domains: ['An admin sees all domains: this must be null.'] },
  )
  await refused({ email, role: 'editor', domains: [1] }, { domains: ['Item 0: Must be a string.'] })
  await service().sql(`update accounts set state = 'active' where id = :id`, { id: owner.id })
})

test('an account has at most LIMIT_MEMBERS members and invitations', async (t) => {
  await withService({ LIMIT_MEMBERS: '2' }, async (small) => {
    const owner = await person(small)
    const { api } = await loginOf(small, owner.id)
    const bodies = [1, 2, 3].map(() => ({ email: freshEmail(), role: 'viewer' }))
    const answers = await Promise.all(bodies.map((body) => api.post('/auth/members/', body)))
    t.deepEqual(answers.map(({ status }) => status).sort(), [201, 201, 403])
    const { text } = answers.find(({ status }) => status === 403)!
    t.is(text, '{"detail":"Limit exceeded: an account can have at most 2 members."}')
    t.is((await membersOf(api)).length, 2)
  })
})

test('an invitation ends with its time, its deletion, and a change of the credentials of who invites', async (t) => {
  const owner = await loggedIn()
  const invite = async () => {
    const member = await person(service())
    const { id } = await invited(owner.api, { email: member.email, role: 'admin' })
    return { id, path: (await linkTo(service(), member.email)).path }
  }
  const expired = await invite()
  await service().sql(`update confirmations set expires = now() - interval '1 second' where account_id = :id`, {
    id: owner.id,
  })
  const WEEK = INVALID_CODE.replace('12:00:00', '7 00:00:00')
  t.deepEqual(said(await service().anonymous.post(expired.path, {})), [400, WEEK])
  const deleted = await invite()
  succeeded(await owner.api.delete(`/auth/members/${deleted.id}/`), 204)
  t.deepEqual(said(await service().anonymous.post(deleted.path, {})), [409, OVERTAKEN])
  const overtaken = await invite()
  const { path } = await resetLink(service(), owner, 5)
  succeeded(await service().anonymous.post(path, { new_password: 'another long one' }))
  t.deepEqual(said(await service().anonymous.post(overtaken.path, {})), [409, OVERTAKEN])
  const { api } = await loginOf(service(), owner.id)
  t.deepEqual(
    (await membersOf(api)).map(({ state }) => state),
    ['invited', 'invited'],
  )
})

test('another account than the invited one does not accept; a disabled one neither', async (t) => {
  const [owner, member, other] = [await loggedIn(), await loggedIn(), await loggedIn()]
  await invited(owner.api, { email: member.email, role: 'admin' })
  const { path } = await linkTo(service(), member.email)
  const wrong = await other.api.post(path, {})
  t.deepEqual(said(wrong), [
    403,
    JSON.stringify({
      detail: `This invitation is for ${member.email}. Log in as that, or out, and open the link again.`,
    }),
  ])
  await setState(service(), member.id, 'disabled')
  t.deepEqual(said(await service().anonymous.post(path, {})), [403, '{"detail":"User inactive."}'])
  await setState(service(), member.id, 'active')
  t.deepEqual(await membershipsOf(member.api), [])
  succeeded(await member.api.post(path, {}))
  t.is((await membershipsOf(member.api)).length, 1)
})

test('other rights hold at once; a removal ends the logins', async (t) => {
  const owner = await loggedIn()
  const [shop, blog] = [await newDomain(owner.api), await newDomain(owner.api)]
  const { session, memberId } = await addMember(service(), owner.id, 'admin')
  const names = async () =>
    (succeeded(await session.get('/domains/')) as { name: string }[]).map(({ name }) => name).sort()
  t.deepEqual(await names(), [shop, blog].sort())
  const change = async (body: object) =>
    succeeded(await owner.api.patch(`/auth/members/${memberId}/`, body)) as MemberBody
  t.like(await change({ role: 'editor', domains: [shop] }), { role: 'editor', domains: [shop] })
  t.deepEqual(await names(), [shop])
  t.is((await session.get(`/domains/${blog}/`)).status, 404)
  await newRRset(session, shop)
  t.is((await session.post('/domains/', { name: freshName() })).status, 403)
  t.like(await change({ role: 'viewer' }), { role: 'viewer', domains: [shop] })
  t.is((await session.delete(`/domains/${shop}/rrsets/www/A/`)).status, 403)
  t.like(await change({ domains: null }), { role: 'viewer', domains: null })
  t.is((await names()).length, 2)
  t.like(await change({ role: 'admin' }), { role: 'admin', domains: null })
  succeeded(await session.post('/domains/', { name: freshName() }), 201)
  succeeded(await owner.api.delete(`/auth/members/${memberId}/`), 204)
  t.is((await session.get('/domains/')).status, 401)
})

test('tokens that an admin has made name their maker, and end with the membership unless they are kept', async (t) => {
  const owner = await loggedIn()
  const make = async (api: Client, name: string) =>
    succeeded(await api.post('/auth/tokens/', { name, perm_manage_tokens: true }), 201) as Record<string, string>
  for (const [way, kept] of [
    ['?tokens=end', false],
    ['', false],
    ['?tokens=keep', true],
  ] as const) {
    for (const how of ['removal', 'demotion']) {
      const admin = await addMember(service(), owner.id, 'admin')
      const made = await make(admin.session, 'of a member')
      t.is(made['maker'], admin.email)
      // What such a token makes depends on the membership, too.
      const second = await make(using(made['token']!), 'of a token of a member')
      t.is(second['maker'], admin.email)
      const path = `/auth/members/${admin.memberId}/${way}`
      if (how === 'removal') succeeded(await owner.api.delete(path), 204)
      else succeeded(await owner.api.patch(path, { role: 'editor' }))
      for (const { id, token } of [made, second] as { id: string; token: string }[]) {
        t.is((await owner.api.get(`/auth/tokens/${id}/`)).status, kept ? 200 : 404, `${way} ${how}`)
        t.is((await using(token).get('/domains/')).status, kept ? 200 : 401)
      }
      if (kept) {
        t.like(succeeded(await owner.api.get(`/auth/tokens/${made['id']}/`)), { maker: admin.email })
        await service().sql('delete from accounts where id = :id', { id: admin.personId })
        t.like(succeeded(await owner.api.get(`/auth/tokens/${made['id']}/`)), { maker: admin.email })
      }
    }
  }
  const own = await make(owner.api, 'of the owner')
  t.false('maker' in own)
  const { memberId } = await addMember(service(), owner.id, 'admin')
  const wrong = await owner.api.delete(`/auth/members/${memberId}/?tokens=perhaps`)
  t.deepEqual(said(wrong), [400, '{"tokens":["\\"perhaps\\" is not a valid choice."]}'])
})

test('a member leaves, and what it has made for the account ends; so do the rights of a deleted account', async (t) => {
  const owner = await loggedIn()
  const leaver = await addMember(service(), owner.id, 'admin')
  const { token } = succeeded(await leaver.session.post('/auth/tokens/', {}), 201) as { token: string }
  succeeded(await leaver.own.api.delete(`/auth/memberships/${leaver.memberId}/`), 204)
  for (const api of [leaver.session, using(token)]) t.is((await api.get('/domains/')).status, 401)
  t.deepEqual(await membersOf(owner.api), [])
  const [letter] = await allLettersTo(service().system, owner.email)
  t.true(letter!.text.includes(`${leaver.email} has left your account.`), letter!.text)
  const gone = await addMember(service(), owner.id, 'viewer')
  await remove(service().system, gone.email, false)
  t.is((await gone.session.get('/domains/')).status, 401)
  t.deepEqual(await membersOf(owner.api), [])
  const told = (await allLettersTo(service().system, owner.email)).at(-1)!.text
  t.true(told.includes(`${gone.email} is no member of your account any more`), told)
})

test('where members need a second factor, a login without one is refused, also one that was made before', async (t) => {
  const owner = await loggedIn()
  await newDomain(owner.api)
  const member = await addMember(service(), owner.id, 'viewer')
  t.false('require_mfa' in (succeeded(await owner.api.get('/auth/account/')) as object))
  t.like(succeeded(await owner.api.patch('/auth/account/', { require_mfa: true })), { require_mfa: true })
  const LACKS =
    '{"detail":"This account requires a second factor of its members. Add one to your own account, and log in with it."}'
  t.deepEqual(said(await member.session.get('/domains/')), [403, LACKS])
  t.like(succeeded(await member.session.get('/auth/token/')), { account: { domains: null } })
  const path = `/auth/memberships/${member.memberId}/token/`
  t.deepEqual(said(await member.own.api.post(path, {})), [403, LACKS])
  await addFactor(service(), member.personId)
  t.is((await member.own.api.post(path, {})).status, 403)
  const { api } = await loginOf(service(), member.personId, true)
  succeeded(await (await actAs(api, member.memberId)).get('/domains/'))
  // The account itself needs none.
  succeeded(await owner.api.get('/domains/'))
})

test('a membership is not inherited, and other accounts see no member', async (t) => {
  const [a, b, c] = [await loggedIn(), await loggedIn(), await loggedIn()]
  const ofA = await addMember(service(), a.id, 'admin', { personId: b.id })
  const ofB = await addMember(service(), b.id, 'admin', { personId: c.id })
  await addMember(service(), c.id, 'admin', { personId: a.id })
  const domain = await newDomain(a.api)
  // C acts for B, which may act for A: C may not.
  const own = { detail: "Only a login of the account itself may do this, not a member's." }
  t.deepEqual(said(await ofB.session.get('/auth/memberships/')), [403, JSON.stringify(own)])
  t.deepEqual(said(await ofB.session.post(`/auth/memberships/${ofA.memberId}/token/`, {})), [403, JSON.stringify(own)])
  t.is((await ofB.session.get(`/domains/${domain}/`)).status, 404)
  for (const { api } of [c, b]) {
    t.is((await api.get(`/auth/members/${ofA.memberId}/`)).status, 404)
    t.is((await api.patch(`/auth/members/${ofA.memberId}/`, { role: 'viewer' })).status, 404)
    t.is((await api.delete(`/auth/members/${ofA.memberId}/`)).status, 204)
  }
  t.is((await c.api.post(`/auth/memberships/${ofA.memberId}/token/`, {})).status, 404)
  t.is((await c.api.delete(`/auth/memberships/${ofA.memberId}/`)).status, 204)
  t.is((await membersOf(a.api)).length, 1)
})

test('a member keeps nobody from removing it: neither logins of the account nor tokens that would outlive it', async (t) => {
  const owner = await loggedIn()
  const [admin, accomplice] = [
    await addMember(service(), owner.id, 'admin'),
    await addMember(service(), owner.id, 'admin'),
  ]
  const login = (succeeded(await owner.api.get('/auth/token/')) as { token: { id: string } }).token.id
  const { token: made } = succeeded(await admin.session.post('/auth/tokens/', { perm_manage_tokens: true }), 201) as {
    token: string
  }
  const own = [403, JSON.stringify({ detail: "Only a login of the account itself may do this, not a member's." })]
  for (const api of [admin.session, using(made)]) {
    t.deepEqual(said(await api.delete(`/auth/tokens/${login}/`)), own)
    t.deepEqual(said(await api.patch(`/auth/tokens/${login}/`, { allowed_subnets: [] })), own)
    const policy = { domain: null, subname: null, type: null }
    t.deepEqual(said(await api.post(`/auth/tokens/${login}/policies/rrsets/`, policy)), own)
    t.deepEqual(said(await api.patch('/auth/account/', { require_mfa: false })), own)
  }
  for (const { memberId } of [admin, accomplice]) {
    const path = `/auth/members/${memberId}/?tokens=keep`
    t.deepEqual(said(await admin.session.patch(path, { role: 'editor' })), own)
    t.deepEqual(said(await admin.session.delete(path)), own)
  }
  succeeded(await owner.api.delete(`/auth/members/${admin.memberId}/`), 204)
  t.is((await using(made).get('/domains/')).status, 401)
})

test('only a new login makes admins, also one of an admin', async (t) => {
  const [owner, member] = [await loggedIn(), await loggedIn()]
  const admin = await addMember(service(), owner.id, 'admin')
  const { memberId } = await addMember(service(), owner.id, 'editor')
  const old = [
    403,
    '{"detail":"Sign in again: an admin can be invited or made only within ten minutes of a login."}',
  ] as const
  const age = async (time: string) =>
    service().sql(`update tokens set created = now() - cast(:time as interval) where owner_id = any (:ids)`, {
      time,
      ids: [owner.id, admin.personId],
    })
  const roles = async () => (await membersOf(owner.api)).map(({ email, role }) => [email, role])
  await age('11 minutes')
  // It begins anew, but the person has not signed in again.
  const opened = await actAs(admin.own.api, admin.memberId)
  const { id } = await invited(owner.api, { email: freshEmail(), role: 'editor' })
  for (const api of [owner.api, admin.session, opened]) {
    const before = await roles()
    t.deepEqual(said(await api.post('/auth/members/', { email: member.email, role: 'admin' })), [...old])
    for (const each of [id, memberId])
      t.deepEqual(said(await api.patch(`/auth/members/${each}/`, { role: 'admin' })), [...old])
    t.deepEqual(await roles(), before)
    // Whoever is an admin stays one, and others may be invited.
    succeeded(await api.patch(`/auth/members/${admin.memberId}/`, { role: 'admin' }))
    succeeded(await api.patch(`/auth/members/${memberId}/`, { role: 'viewer' }))
    await invited(api, { email: freshEmail(), role: 'editor' })
  }
  await age('9 minutes')
  const reopened = await actAs(admin.own.api, admin.memberId)
  await invited(reopened, { email: member.email, role: 'admin' })
  succeeded(await owner.api.patch(`/auth/members/${id}/`, { role: 'admin' }))
})

test('an invitation by an admin ends with the rights of the admin', async (t) => {
  const [owner, member] = [await loggedIn(), await loggedIn()]
  const admin = await addMember(service(), owner.id, 'admin')
  await invited(admin.session, { email: member.email, role: 'admin' })
  const { path } = await linkTo(service(), member.email)
  succeeded(await owner.api.patch(`/auth/members/${admin.memberId}/`, { role: 'editor' }))
  t.deepEqual(said(await member.api.post(path, {})), [409, OVERTAKEN])
  t.deepEqual(await membershipsOf(member.api), [])
})

test('where nobody confirms addresses, an invitation needs a login of the account that has the address', async (t) => {
  await withService({ REGISTRATION: 'open', EMAIL_CONFIRMATION: 'off', THROTTLE: 'off' }, async (open) => {
    const [owner, member] = [await person(open), await person(open)]
    await invited((await loginOf(open, owner.id)).api, { email: member.email, role: 'admin' })
    const { path } = await linkTo(open, member.email)
    t.is((await open.anonymous.post(path, {})).status, 403)
    const { api } = await loginOf(open, member.id)
    t.deepEqual(await membershipsOf(api), [])
    answered(await api.post(path, {}), 200)
    t.is((await membershipsOf(api)).length, 1)
  })
})

test('who was removed while a request is on its way sees no domain, confined or not', async (t) => {
  const owner = await loggedIn()
  const domain = await newDomain(owner.api)
  const { db } = service().system
  for (const role of ['admin', 'viewer'] as const) {
    const { memberId, secret } = await addMember(service(), owner.id, role, { domains: role === 'viewer' ? [] : null })
    const actor = await authenticate(service().system, secret, '127.0.0.1')
    t.is((await domains.page(db, actor)).rows.length, role === 'viewer' ? 0 : 1)
    succeeded(await owner.api.delete(`/auth/members/${memberId}/`), 204)
    t.deepEqual((await domains.page(db, actor)).rows, [])
    t.is(await domains.find(db, domain, actor), undefined)
  }
  const { id, secret } = await addToken(service(), (await loggedIn()).id, { userOverrideId: owner.id })
  await addPolicies(service(), id, { write: true })
  const actor = await authenticate(service().system, secret, '127.0.0.1')
  await service().sql('delete from tokens where id = :id', { id })
  t.deepEqual((await domains.page(db, actor)).rows, [])
})

test('each member has mails of its own: many about one do not keep back those about another', async (t) => {
  const rates = 'account_management_active=1000/min; account_management_passive=1000/min'
  await withService({ THROTTLE: 'on', THROTTLE_RATES: rates }, async (throttled) => {
    const owner = await person(throttled)
    const { api } = await loginOf(throttled, owner.id)
    const { memberId } = await addMember(throttled, owner.id, 'viewer')
    for (const role of ['editor', 'viewer', 'editor', 'viewer', 'editor', 'viewer'])
      answered(await api.patch(`/auth/members/${memberId}/`, { role }), 200)
    const email = freshEmail()
    await invited(api, { email, role: 'admin' })
    const mails = await allLettersTo(throttled.system, owner.email)
    t.is(mails.filter(({ text }) => text.includes('has changed the role')).length, 3)
    t.true(mails.some(({ text }) => text.includes(`has invited ${email}`)))
  })
})

test('members are listed by page, with as many statements for many as for one', async (t) => {
  const owner = await loggedIn()
  const domain = await newDomain(owner.api)
  await addMember(service(), owner.id, 'editor', { domains: [domain] })
  const statements = async (path: string) =>
    (await statementsOf(async () => succeeded(await owner.api.get(path)))).length
  const few = await statements('/auth/members/?cursor=')
  await service().sql(
    `with people as (
       insert into accounts (created, email, state, credentials_changed)
       select now(), 'member' || n || '@many.test', 'active', now() from generate_series(1, 10000) as n returning id, email
     ), made as (
       insert into members (created, account_id, person_id, email, role, confined, source, accepted)
       select now(), :id, id, email, 'editor', true, 'invitation', now() from people returning id
     )
     insert into member_domains select made.id, domains.id from made, domains where domains.name = :domain`,
    { id: owner.id, domain },
  )
  t.is((await owner.api.get('/auth/members/')).status, 400)
  t.is(await statements('/auth/members/?cursor='), few)
  const page = await owner.api.get('/auth/members/?cursor=')
  t.is((succeeded(page) as unknown[]).length, 500)
  await service().sql(
    `with hosts as (
       insert into accounts (created, email, state, credentials_changed)
       select now(), 'host' || n || '@many.test', 'active', now() from generate_series(1, 1000) as n returning id
     )
     insert into members (created, account_id, person_id, email, role, confined, source, accepted)
     select now(), id, :id, 'x@many.test', 'viewer', false, 'invitation', now() from hosts`,
    { id: owner.id },
  )
  t.is((succeeded(await owner.api.get('/auth/memberships/?cursor=')) as unknown[]).length, 500)
})
