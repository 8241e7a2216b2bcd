import { join } from 'node:path'
import { freshName, newDomain, type ShownDomain } from '../../support/clients/api.ts'
import { Client } from '../../support/clients/client.ts'
import { allLettersTo, letterTo } from '../../support/clients/mails.ts'
import * as people from '../../support/clients/people.ts'
import { accountOf, activationLink, freshEmail, PASSWORD, said } from '../../support/clients/people.ts'
import { lookUp } from '../../support/dns/dns.ts'
import { useService, withService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'

// Contract §11: registration and activation.

const service = useService({ REGISTRATION: 'open' })

const WELCOME = '{"detail":"Welcome! Please check your mailbox."}'
const ACTIVATED = '{"detail":"Success! Your account has been activated, and you can now log in."}'
const REQUIRED = 'This field is required.'
const BLANK = 'This field may not be blank.'
const NULL = 'This field may not be null.'
const EMAIL = 'Enter a valid email address.'
const SHORT = 'This password is too short. It must contain at least 8 characters.'
const LONG = 'Ensure this field has no more than 128 characters.'
const DISALLOWED = 'This domain name conflicts with an existing domain, or is disallowed by policy.'

const register = (body: unknown) => service().anonymous.post('/auth/', body)

test('registration sends a mail, and login works once the account is activated', async (t) => {
  const email = freshEmail()
  t.deepEqual(said(await register({ email, password: PASSWORD })), [202, WELCOME])
  t.is((await accountOf(service(), email))!.state, 'pending')
  t.false(await people.canLogIn(service(), email, PASSWORD))
  const { path, action } = await people.linkTo(service(), email)
  t.is(action, 'activate-account')
  t.deepEqual(said(await service().anonymous.post(path)), [200, ACTIVATED])
  t.is((await accountOf(service(), email))!.state, 'active')
  t.true(await people.canLogIn(service(), email, PASSWORD))
})

test('the mail is plain text with one link, to the public URL', async (t) => {
  await withService({ REGISTRATION: 'open', PUBLIC_URL: 'https://dns.example.net' }, async (own) => {
    const { url, code, email } = await activationLink(own)
    t.is(url, `https://dns.example.net/api/v1/v/activate-account/${code}/`)
    const { subject, text } = await letterTo(own.system, email)
    t.is(subject, 'Confirm your new account')
    t.true(text.includes('expires after 12 hours'))
    // Without a mail server it is a file in a folder that the log names.
    const folder = join(own.system.config.dataFolder, 'mails')
    t.true(own.logged().includes(`"message":"mail destination"`) && own.logged().includes(`"destination":"${folder}"`))
  })
})

const bodies: [string, unknown, Record<string, string[]>][] = [
  ['missing fields', {}, { email: [REQUIRED], password: [REQUIRED] }],
  ['nulls', { email: null, password: null }, { email: [NULL] }],
  ['blanks', { email: ' ', password: ' ' }, { email: [BLANK], password: [BLANK] }],
  ['other types', { email: [], password: {} }, { email: ['Not a valid string.'], password: ['Not a valid string.'] }],
  ['an invalid address', { email: 'nobody', password: PASSWORD }, { email: [EMAIL] }],
  ['a short password', { email: 'a@b.test', password: '1234567' }, { password: [SHORT] }],
  ['a password that is short once trimmed', { email: 'a@b.test', password: ' 1234567 ' }, { password: [SHORT] }],
  ['a long password', { email: 'a@b.test', password: 'x'.repeat(129) }, { password: [LONG] }],
  ['an invalid boolean', { email: 'a@b.test', password: PASSWORD, outreach_preference: 'maybe' }, boolean()],
  ['a null boolean', { email: 'a@b.test', password: PASSWORD, outreach_preference: null }, boolean(NULL)],
  ['problems of all fields', { email: '@', password: 'x', domain: '_', outreach_preference: [] }, everything()],
]

function boolean(text = 'Must be a valid boolean.') {
  return { outreach_preference: [text] }
}

function everything() {
  const syntax =
    'Domain names must be labels separated by dots. Labels may consist of up to 63 letters, digits, hyphens, and ' +
    'underscores. The last label may not contain an underscore.'
  const underscore = 'Domain names may not begin with an underscore.'
  return { email: [EMAIL], password: [SHORT], domain: [syntax, underscore], ...boolean() }
}

for (const [what, body, problems] of bodies) {
  test(`refused at registration: ${what}`, async (t) => {
    t.deepEqual(said(await register(body)), [400, JSON.stringify(problems)])
  })
}

for (const [email, isValid] of [
  ['a@b.test', true],
  ["o'neil+dns=x_1@sub.domain.example", true],
  ['a.b-c@xn--bcher-kva.example', true],
  ['a@b', false],
  ['a@-b.test', false],
  ['a@b.test.', false],
  ['a b@c.test', false],
  ['.a@b.test', false],
  ['a..b@c.test', false],
  ['a@b@c.test', false],
  ['a@b.test\nBcc: c@d.test', false],
  ['"a"@b.test', false],
  ['bücher@b.test', false],
  [`${'a'.repeat(65)}@b.test`, false],
  [`a@${'b.'.repeat(125)}test`, false],
] as const) {
  test(`${JSON.stringify(email).slice(0, 40)} is ${isValid ? 'a valid' : 'an invalid'} e-mail address`, async (t) => {
    const expected = isValid ? [202, WELCOME] : [400, JSON.stringify({ email: [EMAIL] })]
    t.deepEqual(said(await register({ email, password: PASSWORD })), expected)
  })
}

test('address and password are trimmed, and the domain of the address is lower-cased', async (t) => {
  const name = freshEmail().split('@')[0]!
  t.is((await register({ email: ` Jo.${name}@EXAMPLE.Test `, password: ` ${PASSWORD} ` })).status, 202)
  const { path } = await people.linkTo(service(), `Jo.${name}@example.test`)
  await service().anonymous.post(path)
  t.true(await people.canLogIn(service(), `jo.${name}@EXAMPLE.TEST`, PASSWORD))
})

test('registration with a taken address, in any case, gets the same answer and sends no mail', async (t) => {
  const { email } = await people.person(service())
  const answers = [
    await register({ email, password: PASSWORD }),
    await register({ email: email.toUpperCase(), password: null }),
  ]
  for (const answer of answers) t.deepEqual(said(answer), [202, WELCOME])
  t.deepEqual(await allLettersTo(service().system, email), [])
  t.true(await people.canLogIn(service(), email, PASSWORD))
})

test('a second registration replaces the pending one: password, domain and link', async (t) => {
  const domain = freshName()
  const first = await activationLink(service(), { domain, outreach_preference: false })
  const email = first.email.toUpperCase()
  t.deepEqual(said(await register({ email, password: 'another password' })), [202, WELCOME])
  const second = await people.linkTo(service(), email.toLowerCase().replace(/^[^@]*/, email.split('@')[0]!))
  t.deepEqual(said(await service().anonymous.post(first.path)), [409, people.OVERTAKEN])
  t.deepEqual(said(await service().anonymous.post(second.path)), [200, ACTIVATED])
  t.true(await people.canLogIn(service(), email, 'another password'))
  t.false(await people.canLogIn(service(), email, PASSWORD))
  t.deepEqual(await service().sql('select from domains where name = :domain', { domain }), [])
  const sql = 'select id from accounts where lower(email) = lower(:email) and outreach_preference'
  t.deepEqual(await service().sql(sql, { email }), [{ id: first.id }])
})

test('an account that was not confirmed in time is replaced by a new registration', async (t) => {
  const { email, path } = await activationLink(service())
  await service().sql(`update accounts set created = created - interval '13 h' where email = :email`, { email })
  await service().sql(`update confirmations set expires = expires - interval '13 h'`)
  t.deepEqual(said(await register({ email, password: 'another password' })), [202, WELCOME])
  t.deepEqual(said(await service().anonymous.post(path)), [400, people.INVALID_CODE])
  const second = await people.linkTo(service(), email, 2)
  t.deepEqual(said(await service().anonymous.post(second.path)), [200, ACTIVATED])
  t.true(await people.canLogIn(service(), email, 'another password'))
  t.false(await people.canLogIn(service(), email, PASSWORD))
})

test('after a sign-up without password, a second mail allows to set one', async (t) => {
  const { email, path } = await activationLink(service(), { password: null })
  const success = '{"detail":"Success! We sent you instructions on how to set your password."}'
  t.deepEqual(said(await service().anonymous.post(path)), [200, success])
  t.false(await people.canLogIn(service(), email, PASSWORD))
  const reset = await people.linkTo(service(), email, 2)
  t.is(reset.action, 'reset-password')
  t.is((await service().anonymous.post(reset.path, { new_password: PASSWORD })).status, 200)
  t.true(await people.canLogIn(service(), email, PASSWORD))
})

test('the account has the outreach preference of the sign-up and the configured domain limit', async (t) => {
  for (const [members, preference] of [
    [{}, true],
    [{ outreach_preference: false }, false],
    [{ outreach_preference: 'yes', limit_domains: 99, state: 'active' }, true],
  ] as const) {
    const { path, credentials } = await activationLink(service(), members)
    await service().anonymous.post(path)
    const { token } = (await service().anonymous.post('/auth/login/', credentials)).json as { token: string }
    const { json } = await service().anonymous.get('/auth/account/', { headers: { authorization: `Token ${token}` } })
    const { outreach_preference: shown, limit_domains: limit } = json as Record<string, unknown>
    t.deepEqual([shown, limit], [preference, 15])
  }
})

test('a domain given at sign-up is created at activation', async (t) => {
  const domain = freshName()
  const { path, id } = await activationLink(service(), { domain })
  t.deepEqual(await service().sql('select from domains where name = :domain', { domain }), [])
  const { status, json } = await service().anonymous.post(path)
  t.is(status, 200)
  const { detail, domain: shown, ...rest } = json as { detail: string; domain: ShownDomain }
  t.true(detail.startsWith('Success!'))
  t.deepEqual(Object.keys(shown), ['created', 'published', 'name', 'keys', 'minimum_ttl', 'touched'])
  t.deepEqual([shown.name, shown.keys.length, rest], [domain, 1, {}])
  t.is((await lookUp(service().powerDns, domain, 'SOA')).length, 1)
  const [row] = await service().sql<{ owner: string }>('select owner_id as owner from domains where name = :domain', {
    domain,
  })
  t.is(row!.owner, id)
})

for (const [what, name, texts] of [
  ['that exists', taken, ['domain with this name already exists.']],
  ['below that of another account', async () => `www.${await taken()}`, [DISALLOWED]],
  ['that is a public suffix', async () => 'co.uk', [DISALLOWED]],
  ['in upper case', async () => 'A.test', ['Invalid value (not lowercase): A.test']],
  ['that is blank', async () => '', [BLANK]],
] as const) {
  test(`a domain ${what} is refused at sign-up`, async (t) => {
    const email = freshEmail()
    const answer = await register({ email, password: PASSWORD, domain: await name() })
    t.deepEqual(said(answer), [400, JSON.stringify({ domain: texts })])
    t.is(await accountOf(service(), email), undefined)
  })
}

async function taken(): Promise<string> {
  return newDomain((await service().account()).api)
}

test('if the domain is taken by the time of activation, the account is deleted and can be registered again', async (t) => {
  const domain = freshName()
  const { path, email } = await activationLink(service(), { domain })
  await newDomain((await service().account()).api, domain)
  const text =
    `The requested domain ${domain} could not be registered (reason: name_unavailable). Please start over and sign up ` +
    'again.'
  t.deepEqual(said(await service().anonymous.post(path)), [400, JSON.stringify({ non_field_errors: [text] })])
  t.is(await accountOf(service(), email), undefined)
  t.deepEqual(said(await service().anonymous.post(path)), [400, people.NO_USER])
  t.deepEqual(said(await register({ email, password: PASSWORD })), [202, WELCOME])
  t.is((await service().anonymous.post((await people.linkTo(service(), email, 2)).path)).status, 200)
})

test('while PowerDNS fails, activation is 503; later the same link works', async (t) => {
  const domain = freshName()
  const { path, email } = await activationLink(service(), { domain })
  service().proxy.fail(() => ({ refuse: 500 }))
  const refused = await service().anonymous.post(path)
  service().proxy.heal()
  t.is(refused.status, 503)
  t.is((await accountOf(service(), email))!.state, 'pending')
  t.is((await service().anonymous.post(path)).status, 200)
  t.is((await accountOf(service(), email))!.state, 'active')
})

test('a domain below a local public suffix comes with a token to write it', async (t) => {
  const settings = { REGISTRATION: 'open', LOCAL_PUBLIC_SUFFIXES: 'dyn.test' }
  await withService(settings, async (own) => {
    const { path, email } = await activationLink(own, { domain: 'mine.dyn.test' })
    const { status, json, headers } = await own.anonymous.post(path)
    t.is(status, 200)
    t.is(headers['cache-control'], 'no-store')
    const { detail, domain, ...token } = json as Record<string, unknown>
    t.true(String(detail).startsWith('Success!'))
    t.deepEqual(Object.keys(domain as object), ['created', 'published', 'name', 'minimum_ttl', 'touched'])
    const { owner, name, mfa, token: secret, ...rest } = token
    t.deepEqual([owner, name, mfa], [email, 'dyndns', null])
    t.deepEqual(
      [rest['perm_create_domain'], rest['perm_delete_domain'], rest['perm_manage_tokens']],
      [false, false, false],
    )
    const api = new Client(own.url, String(secret))
    const rrset = { subname: '', type: 'A', ttl: 60, records: ['192.0.2.1'] }
    t.is((await api.post('/domains/mine.dyn.test/rrsets/', rrset)).status, 201)
    t.is((await api.get('/auth/account/')).status, 403)
  })
})

test('the link that sets the first password does not delete the token that came with the domain', async (t) => {
  await withService({ REGISTRATION: 'open', LOCAL_PUBLIC_SUFFIXES: 'dyn.test' }, async (own) => {
    const { path, email } = await activationLink(own, { domain: 'mine.dyn.test', password: null })
    const { token } = (await own.anonymous.post(path)).json as { token: string }
    const reset = await people.linkTo(own, email, 2)
    t.is((await own.anonymous.post(reset.path, { new_password: PASSWORD, revoke_tokens: true })).status, 200)
    t.is((await own.clientOf(token).get('/domains/')).status, 200)
  })
})

test('a closed registration is 403 before the body is read', async (t) => {
  await withService({}, async ({ anonymous }) => {
    const closed = '{"detail":"Registration is closed. Please contact the operator."}'
    const headers = { 'content-type': 'text/plain' }
    t.deepEqual(said(await anonymous.post('/auth/', undefined, { headers, body: '{' })), [403, closed])
    t.deepEqual(said(await anonymous.post('/auth/', { email: freshEmail(), password: PASSWORD })), [403, closed])
    t.is((await anonymous.put('/auth/', {})).status, 405)
  })
})

test('without confirmation an account is active at once, with its domain', async (t) => {
  await withService({ REGISTRATION: 'open', EMAIL_CONFIRMATION: 'off' }, async (own) => {
    const [email, domain] = [freshEmail(), freshName()]
    const body = { email, password: PASSWORD, domain }
    t.deepEqual(said(await own.anonymous.post('/auth/', body)), [202, '{"detail":"Welcome!"}'])
    t.true(await people.canLogIn(own, email, PASSWORD))
    t.is((await lookUp(own.powerDns, domain, 'SOA')).length, 1)
    const again = { email, password: 'another password' }
    t.deepEqual(said(await own.anonymous.post('/auth/', again)), [202, '{"detail":"Welcome!"}'])
    t.true(await people.canLogIn(own, email, PASSWORD))
    t.deepEqual(await allLettersTo(own.system, email), [])
  })
})
