import { tables } from '../../../src/store/dump.ts'
import { newDomain } from '../../support/clients/api.ts'
import type { Answer } from '../../support/clients/client.ts'
import { allLettersTo, letterTo } from '../../support/clients/mails.ts'
import * as people from '../../support/clients/people.ts'
import { canLogIn, freshEmail, PASSWORD, person, said } from '../../support/clients/people.ts'
import { addToken } from '../../support/clients/tokens.ts'
import { useService, withService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'

// Contract §11: change of the e-mail address, password reset, deletion.

const service = useService()

const CHANGE = '/auth/account/change-email/'
const RESET = '/auth/account/reset-password/'
const DELETE = '/auth/account/delete/'
const WRONG = '{"detail":"Invalid username/password."}'
const RESET_ASKED = JSON.stringify({
  detail:
    'Please check your mailbox for further password reset instructions. If you did not receive an email, please ' +
    'contact support.',
})
const DOMAINS_LEFT = '{"detail":"To delete your user account, first delete all of your domains."}'
const REQUIRED = 'This field is required.'

test('a link mailed to the new address changes the address, and the old address is notified', async (t) => {
  const { email, credentials } = await person(service())
  const newEmail = freshEmail()
  const answer = await service().anonymous.post(CHANGE, { ...credentials, new_email: ` ${newEmail.toUpperCase()}` })
  t.deepEqual(said(answer), [202, '{"detail":"Please check your mailbox to confirm email address change."}'])
  const address = `${newEmail.split('@')[0]!.toUpperCase()}@example.test`
  const { path, action } = await people.linkTo(service(), address)
  t.is(action, 'change-email')
  t.deepEqual(await allLettersTo(service().system, email), [])
  t.true(await canLogIn(service(), email, PASSWORD))

  const changed = await service().anonymous.post(path)
  t.deepEqual(said(changed), [200, `{"detail":"Success! Your email address has been changed to ${address}."}`])
  t.false(await canLogIn(service(), email, PASSWORD))
  t.true(await canLogIn(service(), newEmail, PASSWORD))
  const [notice] = await allLettersTo(service().system, email)
  t.is(notice!.subject, 'Your e-mail address was changed')
  t.true(notice!.text.includes(address))
})

test('the mail goes to the new address even if it is taken; its link is refused until the address is free', async (t) => {
  const [one, other] = [await person(service()), await person(service())]
  const { path } = await people.emailChangeLink(service(), one, other.email)
  const refused = await service().anonymous.post(path)
  t.deepEqual(said(refused), [400, '{"new_email":["You already have another account with this email address."]}'])
  t.true(await canLogIn(service(), one.email, PASSWORD))
  await service().sql('delete from accounts where id = :id', { id: other.id })
  t.is((await service().anonymous.post(path)).status, 200)
})

test('the current address is refused as unchanged; another case of its local part is a change', async (t) => {
  const { email, credentials } = await person(service())
  const unchanged = await service().anonymous.post(CHANGE, { ...credentials, new_email: email })
  t.deepEqual(said(unchanged), [400, '{"new_email":["Email address unchanged."]}'])
  const { path } = await people.emailChangeLink(service(), { ...(await person(service())), credentials }, `X${email}`)
  t.is((await service().anonymous.post(path)).status, 200)
})

test('resetting the password by a link invalidates all login tokens, and API tokens unless they shall stay', async (t) => {
  const someone = await person(service())
  const { token } = (await service().anonymous.post('/auth/login/', someone.credentials)).json as { token: string }
  const api = await addToken(service(), someone.id)
  t.deepEqual(said(await service().anonymous.post(RESET, { email: someone.email })), [202, RESET_ASKED])
  const { path, action } = await people.linkTo(service(), someone.email)
  t.is(action, 'reset-password')
  const { password, email } = someone
  const reset = await service().anonymous.post(path, { new_password: ' another password ', revoke_tokens: false })
  t.deepEqual(said(reset), [200, '{"detail":"Success! Your password has been changed."}'])
  t.false(await canLogIn(service(), email, password))
  t.true(await canLogIn(service(), email, 'another password'))
  const headers = { authorization: `Token ${token}` }
  t.is((await service().anonymous.get('/domains/', { headers })).status, 401)
  t.is((await api.api.get('/domains/')).status, 200)
})

test('the mail for a password reset lists the API tokens of the account', async (t) => {
  const [someone, other] = [await person(service()), await person(service())]
  await people.resetLink(service(), someone)
  t.false((await letterTo(service().system, someone.email)).text.includes('API tokens'))
  await addToken(service(), other.id, { name: 'foreign' })
  await addToken(service(), someone.id, { name: 'login', mfa: false })
  const created = '2026-01-31T12:00:00Z'
  await addToken(service(), someone.id, { name: 'a\n"b"', created, permManageTokens: true })
  await addToken(service(), someone.id, { name: 'router', created, lastUsed: '2026-02-01T12:00:00Z' })
  await people.resetLink(service(), someone, 2)
  const { text } = await letterTo(service().system, someone.email, 2)
  t.true(text.includes('\n- "a\\n\\"b\\"", made 2026-01-31, never used, may manage tokens\n'), text)
  t.true(text.includes('\n- "router", made 2026-01-31, last used 2026-02-01\n'), text)
  t.false(text.includes('login') || text.includes('foreign'))
})

test('of many API tokens, the mail lists the latest twenty', async (t) => {
  const someone = await person(service())
  for (let i = 1; i <= 21; i++) {
    await addToken(service(), someone.id, { name: `n${i}`, created: `2026-01-${String(i).padStart(2, '0')}T12:00:00Z` })
  }
  await people.resetLink(service(), someone)
  const { text } = await letterTo(service().system, someone.email)
  t.is(text.match(/^- "n/gm)!.length, 20)
  t.true(text.includes('\n- "n2", ') && !text.includes('\n- "n1", ') && text.includes('\n- and others\n'))
})

for (const [what, bodyOf, remain] of [
  ['JSON without revoke_tokens', () => ({}), false],
  ['JSON with revoke_tokens false', () => ({ revoke_tokens: false }), true],
  ['JSON with revoke_tokens true', () => ({ revoke_tokens: true }), false],
  ['the form with the box unchecked', (page: string) => inputsOf(page, false), true],
  ['the form as the page shows it', (page: string) => inputsOf(page, true), false],
] as const) {
  test(`a password reset ${remain ? 'keeps' : 'deletes'} the API tokens: ${what}`, async (t) => {
    const [someone, other] = [await person(service()), await person(service())]
    const own = await addToken(service(), someone.id)
    const bound = await addToken(service(), other.id, { userOverrideId: someone.id })
    const { path } = await people.resetLink(service(), someone)
    const page = (await service().anonymous.get(path)).text
    const body: object | [string, string][] = bodyOf(page)
    const password = 'another password'
    const reset = Array.isArray(body)
      ? await submit(path, [['new_password', password], ...(body as [string, string][])])
      : await service().anonymous.post(path, { new_password: password, ...body })
    t.is(reset.status, 200)
    t.is((await own.api.get('/domains/')).status, remain ? 200 : 401)
    t.is((await bound.api.get('/domains/')).status, 200)
    t.true(await canLogIn(service(), someone.email, 'another password'))
  })
}

/** The inputs that a browser sends without the user's help. */
function inputsOf(page: string, hasBoxes: boolean): [string, string][] {
  const tags = [...page.matchAll(/<input [^>]*>/g)].map(([tag]) => tag)
  const sent = tags.filter((tag) => tag.includes('type="hidden"') || (hasBoxes && tag.includes(' checked')))
  return sent.map(
    (tag) =>
      ['name', 'value'].map((attribute) => new RegExp(`${attribute}="(.*?)"`).exec(tag)![1]!) as [string, string],
  )
}

function submit(
  path: string,
  values: Record<string, string> | [string, string][],
  headers: Record<string, string> = {},
  { anonymous } = service(),
): Promise<Answer> {
  return anonymous.post(path, undefined, {
    headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(values).toString(),
  })
}

test('after a success, the page leads to the console, if there is one and somebody can sign in', async (t) => {
  const LINK = '/console/">Go to the console</a>'
  const someone = await person(service())
  const { path } = await people.emailChangeLink(service(), someone, freshEmail())
  t.false((await service().anonymous.get(path)).text.includes(LINK))
  t.true((await submit(path, {})).text.includes(`<a href="${service().url}${LINK}`))
  t.false((await submit(path, {})).text.includes(LINK))
  const gone = await people.deletionLink(service(), await person(service()))
  const page = await submit(gone.path, {})
  t.true(page.text.includes('All your data has been deleted.') && !page.text.includes(LINK))
  await withService({ CONSOLE: 'off' }, async (other) => {
    const change = await people.emailChangeLink(other, await person(other), freshEmail())
    const done = await submit(change.path, {}, {}, other)
    t.true(done.text.includes('Success!') && !done.text.includes(LINK))
  })
})

test('a form has at most 20 inputs; beyond, it is refused and the link stays valid', async (t) => {
  const { path } = await people.resetLink(service(), await person(service()))
  const others = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`a.${i}`, 'x']))
  const refused = await submit(path, { new_password: 'another password', ...others(20) })
  t.is(refused.status, 400)
  t.true(refused.text.includes('<p>There are more than 20 inputs.</p>'))
  t.is((await submit(path, { new_password: 'another password', ...others(19) })).status, 200)
})

test('a page shows addresses and the requested host as text, not as markup', async (t) => {
  const newEmail = `o'hara&lt;${freshEmail()}`.replace(';', '')
  const { path } = await people.emailChangeLink(service(), await person(service()), newEmail)
  const headers = { host: "a&lt;b'c" }
  for (const page of [await service().anonymous.get(path, { headers }), await submit(path, {}, headers)]) {
    t.is(page.status, 200)
    t.true(page.text.includes('<p class="site">a&amp;lt;b&#39;c</p>'))
    t.is(page.text.includes(`to o&#39;hara&amp;lt${newEmail.slice(9)}.`), page.text.includes('Done'))
  }
})

test('revoke_tokens must be a boolean; otherwise the link stays valid', async (t) => {
  const { path } = await people.resetLink(service(), await person(service()))
  const refused = await service().anonymous.post(path, { new_password: 'another password', revoke_tokens: 'perhaps' })
  t.deepEqual(said(refused), [400, '{"revoke_tokens":["Must be a valid boolean."]}'])
  t.is((await service().anonymous.post(path, { new_password: 'another password' })).status, 200)
})

for (const [what, body, problems] of [
  ['missing', {}, [REQUIRED]],
  ['null', { new_password: null }, ['This field may not be null.']],
  ['blank', { new_password: '   ' }, ['This field may not be blank.']],
  ['short', { new_password: '1234567' }, ['This password is too short. It must contain at least 8 characters.']],
  ['long', { new_password: 'x'.repeat(129) }, ['Ensure this field has no more than 128 characters.']],
] as const) {
  test(`the new password is refused and the link stays valid: ${what}`, async (t) => {
    const someone = await person(service())
    const { path } = await people.resetLink(service(), someone)
    const refused = await service().anonymous.post(path, body)
    t.deepEqual(said(refused), [400, JSON.stringify({ new_password: problems })])
    t.is((await service().anonymous.post(path, { new_password: 'another password' })).status, 200)
  })
}

test('only active accounts are mailed a link to reset the password; the answer is always the same', async (t) => {
  const active = await person(service())
  const withoutPassword = await person(service(), { passwordHash: null })
  const others = [await person(service(), { state: 'pending' }), await person(service(), { state: 'disabled' })]
  const emails = [...others.map(({ email }) => email), freshEmail(), active.email.toUpperCase(), withoutPassword.email]
  for (const email of emails) {
    t.deepEqual(said(await service().anonymous.post(RESET, { email })), [202, RESET_ASKED])
  }
  await people.linkTo(service(), active.email)
  await people.linkTo(service(), withoutPassword.email)
  for (const { email } of others) t.deepEqual(await allLettersTo(service().system, email), [])
})

test('a link deletes the account and its tokens', async (t) => {
  const someone = await person(service())
  const { api } = await addToken(service(), someone.id)
  const asked = await service().anonymous.post(DELETE, someone.credentials)
  const mailbox = '{"detail":"Please check your mailbox for further account deletion instructions."}'
  t.deepEqual(said(asked), [202, mailbox])
  const { path, action } = await people.linkTo(service(), someone.email)
  t.is(action, 'delete-account')
  t.is((await api.get('/domains/')).status, 200)
  t.deepEqual(said(await service().anonymous.post(path)), [200, '{"detail":"All your data has been deleted."}'])
  t.is((await api.get('/domains/')).status, 401)
  t.is(await people.accountOf(service(), someone.email), undefined)
  const [kept] = await service().sql<{ left: number }>(
    'select count(*) as left from confirmations where account_id = :id and parameters <> :none',
    { id: someone.id, none: {} },
  )
  t.is(kept!.left, 0)
})

test('a deleted account leaves no name of its domains, nor its address, and serials still only grow', async (t) => {
  const { db } = service().system
  const someone = await person(service())
  const { api } = await addToken(service(), someone.id, { permCreateDomain: true, permDeleteDomain: true })
  const name = await newDomain(api)
  const ahead = 3_000_000_000
  await service().sql('update domains set version = :ahead where name = :name', { ahead, name })
  t.is((await api.delete(`/domains/${name}/`)).status, 204)
  const deletion = await people.deletionLink(service(), someone)
  t.is((await service().anonymous.post(deletion.path)).status, 200)
  const found: string[] = []
  for (const table of await tables(db)) {
    const sql = `select from ${table} as row where row::text like any (:texts)`
    if ((await service().sql(sql, { texts: [`%${name}%`, `%${someone.email}%`] })).length > 0) found.push(table)
  }
  t.deepEqual(found, [])
  const other = await service().account()
  t.is((await other.api.post('/domains/', { name })).status, 201)
  const [{ version } = { version: 0 }] = await service().sql<{ version: number }>(
    'select version from domains where name = :name',
    { name },
  )
  t.true(version > ahead)
})

test('an account with domains is not deleted: neither the request nor the link succeeds', async (t) => {
  const { api, id } = await service().account()
  const someone = await person(service())
  const { path } = await people.deletionLink(service(), someone)
  const name = await newDomain(api)
  const sql = 'update domains set owner_id = :owner where name = :name'
  await service().sql(sql, { owner: someone.id, name })
  t.deepEqual(said(await service().anonymous.post(DELETE, someone.credentials)), [409, DOMAINS_LEFT])
  t.deepEqual(said(await service().anonymous.post(path)), [409, DOMAINS_LEFT])
  await service().sql(sql, { owner: id, name })
  t.is((await service().anonymous.post(path)).status, 200)
})

for (const [what, path, more] of [
  ['login', '/auth/login/', {}],
  ['change of address', CHANGE, { new_email: 'new@example.test' }],
  ['deletion', DELETE, {}],
] as const) {
  test(`${what}: wrong credentials are 403, for whatever reason`, async (t) => {
    const active = await person(service())
    const pending = await person(service(), { state: 'pending' })
    const disabled = await person(service(), { state: 'disabled' })
    const withoutPassword = await person(service(), { passwordHash: null })
    for (const credentials of [
      { ...active.credentials, password: 'wrong' },
      { ...active.credentials, email: freshEmail() },
      ...[pending, disabled, withoutPassword].map((someone) => someone.credentials),
    ]) {
      t.deepEqual(said(await service().anonymous.post(path, { ...credentials, ...more })), [403, WRONG])
    }
    t.is((await service().anonymous.post(path, { ...active.credentials, ...more })).status < 300, true)
  })

  test(`${what}: a field that is missing or null is 400`, async (t) => {
    const fields = ['email', 'password', ...Object.keys(more)]
    const missing = Object.fromEntries(fields.map((field) => [field, [REQUIRED]]))
    t.deepEqual(said(await service().anonymous.post(path, {})), [400, JSON.stringify(missing)])
    const nulls = Object.fromEntries(fields.map((field) => [field, null]))
    const texts = Object.fromEntries(fields.map((field) => [field, ['This field may not be null.']]))
    t.deepEqual(said(await service().anonymous.post(path, nulls)), [400, JSON.stringify(texts)])
  })
}

test('reset: the address is required', async (t) => {
  t.deepEqual(said(await service().anonymous.post(RESET, {})), [400, JSON.stringify({ email: [REQUIRED] })])
  const invalid = JSON.stringify({ email: ['Enter a valid email address.'] })
  t.deepEqual(said(await service().anonymous.post(RESET, { email: 'nobody' })), [400, invalid])
})
