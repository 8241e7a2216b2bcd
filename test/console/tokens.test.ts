import type { ExecutionContext } from 'ava'
import type { Page } from 'playwright-core'
import { newDomain, newZone, rrset, type RRsetBody, succeeded } from '../support/clients/api.ts'
import type { Client } from '../support/clients/client.ts'
import { addPolicies, addToken, type PolicyRow } from '../support/clients/tokens.ts'
import { check, useConsole } from '../support/console/console.ts'
import { useService } from '../support/harness.ts'

const service = useService()
const { test, openTab } = useConsole(service)

/** Writes of a domain's records. */
const WRITES = {
  'A of the host': { subname: 'host', type: 'A', records: ['192.0.2.1'] },
  'AAAA of the host': { subname: 'host', type: 'AAAA', records: ['2001:db8::1'] },
  'TXT of the host': { subname: 'host', type: 'TXT', records: ['"x"'] },
  'the host’s challenge': { subname: '_acme-challenge.host', type: 'TXT', records: ['"x"'] },
  'an alias of the challenge': { subname: '_acme-challenge.host', type: 'CNAME', records: ['a.test.'] },
  'the domain’s challenge': { subname: '_acme-challenge', type: 'TXT', records: ['"x"'] },
} satisfies Record<string, RRsetBody>

type Write = keyof typeof WRITES
const ALL = Object.keys(WRITES) as Write[]

interface Case {
  title: string
  /** What is typed for a domain. */
  typed?: (domain: string) => [label: string, text: string]
  /** What its token may write in that domain, and in another one of the account. */
  here: Write[]
  elsewhere: Write[]
  mayCreate?: boolean
}

const CASES: Case[] = [
  {
    title: 'Certificates for one name',
    typed: (domain) => ['Host name', `*.Host.${domain}.`],
    here: ['the host’s challenge'],
    elsewhere: [],
  },
  {
    title: 'Certificates for all names of a domain',
    typed: (domain) => ['Domain', domain],
    here: ['the host’s challenge', 'the domain’s challenge'],
    elsewhere: [],
  },
  {
    title: 'Certificates for all names of all domains',
    here: ['the host’s challenge', 'the domain’s challenge'],
    elsewhere: ['the host’s challenge', 'the domain’s challenge'],
  },
  {
    title: 'Addresses of one host',
    typed: (domain) => ['Host name', `host.${domain}`],
    here: ['A of the host', 'AAAA of the host'],
    elsewhere: [],
  },
  { title: 'One domain', typed: (domain) => ['Domain', domain], here: ALL, elsewhere: [] },
  { title: 'Read only', here: [], elsewhere: [] },
  { title: 'All domains', here: ALL, elsewhere: ALL, mayCreate: true },
]

for (const { title, typed, here, elsewhere, mayCreate = false } of CASES) {
  test(`the preset “${title}” makes a token that can do exactly that`, async (t) => {
    const { tab, api, domain, urls } = await signedIn('tokens/new')
    const { page } = tab
    const other = await newDomain(api)
    await page.getByRole('radio', { name: new RegExp(`^${title} `) }).check()
    if (typed !== undefined) {
      const [label, text] = typed(domain)
      await page.getByRole('textbox', { name: label }).fill(text)
    }
    const secret = await submit(page, `for ${title}`)
    await check(t, page, `new-token-${title.replaceAll(' ', '-').toLowerCase()}`)
    const made = service().clientOf(secret)
    for (const write of ALL) {
      t.is(await statusOf(made, domain, write), here.includes(write) ? 200 : 403, write)
      t.is(await statusOf(made, other, write), elsewhere.includes(write) ? 200 : 403, `${write} elsewhere`)
    }
    const creation = await made.post('/domains/', { name: `new.${other}` })
    t.is(creation.status, mayCreate ? 201 : 403)
    t.is((await made.get('/domains/')).status, 200)
    t.is((await made.get('/auth/tokens/')).status, 403)
    await isNowhereElse(t, page, secret, urls)
  })
}

test('a name that no domain of the account holds is said before anything is made', async (t) => {
  const { tab, api } = await signedIn('tokens/new')
  const { page } = tab
  await page.getByLabel('Host name').fill('www.elsewhere.test')
  await page.getByRole('button', { name: 'Create the token' }).click()
  await page.getByText('No domain of this account holds “www.elsewhere.test”.').waitFor()
  t.is(await page.getByLabel('Host name').inputValue(), 'www.elsewhere.test')
  await page.getByRole('radio', { name: 'One domain' }).check()
  await page.getByRole('button', { name: 'Create the token' }).click()
  await page.getByText('No domain of this account holds “www.elsewhere.test”.').waitFor()
  await check(t, page, 'new-token-refused')
  t.is(tokensIn(await api.get('/auth/tokens/')).length, 1)
})

test('a token without all of its policies is shown as it is: completed, or deleted', async (t) => {
  const { tab, api, domain } = await signedIn('tokens/new')
  const { page } = tab
  const make = page.getByRole('button', { name: 'Create the token' })
  let made = await failAfter(page, 1)
  await page.getByRole('radio', { name: /^Addresses of one host / }).check()
  await page.getByLabel('Host name').fill(`host.${domain}`)
  await page.getByLabel('Name of the token').fill('half')
  await make.click()
  await page.getByText('The token “half” was made, but not all of its policies.').waitFor()
  // The answer to the second policy was lost; it was made.
  t.deepEqual(await page.getByRole('listitem').allInnerTexts(), [
    `May write A at host.${domain}.`,
    'May not write anything else.',
    `May write AAAA at host.${domain}.`,
  ])
  await check(t, page, 'new-token-unfinished')
  await made.end()
  await page.getByRole('button', { name: 'Make the missing policies' }).click()
  const secret = await page.locator('.secret').innerText()
  const half = service().clientOf(secret)
  t.is(await statusOf(half, domain, 'A of the host'), 200)
  t.is(await statusOf(half, domain, 'AAAA of the host'), 200)
  t.is(await statusOf(half, domain, 'TXT of the host'), 403)

  await page.getByRole('link', { name: 'Tokens' }).click()
  await page.getByRole('link', { name: 'Create a token' }).click()
  made = await failAfter(page, -1)
  await page.getByRole('radio', { name: 'Read only' }).check()
  await page.getByLabel('Name of the token').fill('none')
  await make.click()
  await page.getByText('May write everything: it has no policies.').waitFor()
  await page.getByRole('button', { name: 'Delete the token' }).click()
  await make.waitFor()
  await made.end()
  t.deepEqual(
    tokensIn(await api.get('/auth/tokens/')).map(({ name }) => name),
    ['half', ''],
  )
})

test('the list has last use and expiry, and markup in a name stays text', async (t) => {
  const { tab, api, account } = await signedIn('tokens')
  const { page } = tab
  await page.getByRole('link', { name: 'Token without a name' }).waitFor()
  const name = '<b>bold</b><img src=x onerror=alert(1)>'
  succeeded(await api.post('/auth/tokens/', { name, max_unused_period: '7 00:00:00' }), 201)
  const old = { name: 'aged', created: '2026-01-01T00:00:00Z', maxAge: '1 day', permManageTokens: false }
  await addToken(service(), account.id, old)
  await addToken(service(), account.id, { name: 'login', mfa: false })
  await tokenWith(account.id, { write: false }, { subname: 'www', type: 'A', write: true })
  await page.reload()
  const card = (text: string) => page.getByRole('listitem').filter({ hasText: text })
  await card(name).getByText('May write all records.').waitFor()
  await card('program').getByText('May write A at www of any domain.').waitFor()
  t.regex(await card(name).innerText(), /Never used\s+Expires in 7 days, unless it is used before/)
  t.regex((await card(name).getByRole('time').getAttribute('title'))!, /\d{4}/)
  t.regex(await card('aged').innerText(), /Never used\s+Expired .* ago/)
  await page.getByRole('heading', { name: 'Sign-ins' }).waitFor()
  await check(t, page, 'tokens')
  await page.getByRole('link', { name }).click()
  await page.getByRole('heading', { level: 1, name }).waitFor()
  t.is(await page.locator('img').count(), 0)
  await check(t, page, 'token-without-policies')
})

test('of many tokens, those in sight say what they may do', async (t) => {
  const { account } = await newZone(service())
  for (let i = 0; i < 60; i++) await addToken(service(), account.id, { name: `number ${i}` })
  const { page } = await openTab({ path: 'account', secret: account.secret })
  let asked = 0
  page.on('request', (request) => {
    if (request.url().endsWith('/policies/rrsets/')) asked++
  })
  await page.goto(`${service().url}/console/tokens`)
  const cards = page.getByRole('listitem')
  await cards.first().getByText('May write all records.').waitFor()
  t.is(await cards.count(), 61)
  t.true(asked > 1 && asked < 60, String(asked))
  await cards.last().scrollIntoViewIfNeeded()
  await cards
    .last()
    .getByText(/^May write all records/)
    .waitFor()
})

test('policies are sentences that can be added and removed, and the page says what they permit', async (t) => {
  const { tab, api, account, domain } = await signedIn('tokens')
  const { page } = tab
  const { id } = await tokenWith(account.id, { write: false }, { domain, subname: 'www', write: true })
  await page.goto(`${service().url}/console/tokens/${id}`)
  await page.locator('.policies').getByText(`May write any type at www.${domain}.`).waitFor()
  await page.getByText('May not write anything else.').waitFor()
  await answers(page, `www.${domain}`, 'a', `Yes, it may write A at www.${domain}. This decides: “May write any type`)
  await page.getByText('Add a policy').click()
  await page.getByLabel('It', { exact: true }).selectOption('may not write')
  await page.getByLabel('Type', { exact: true }).fill('a')
  await page.getByLabel('Name in the domain').fill('www')
  await page.getByLabel('Domain', { exact: true }).fill(domain)
  await page.getByRole('button', { name: 'Add the policy' }).click()
  await page.getByText(`May not write A at www.${domain}.`).first().waitFor()
  // The answer follows the policies.
  // Another one is likely about the same type and domain. The name waits to be typed over: without one, all are meant.
  await page.getByLabel('Name in the domain').and(page.locator(':focus')).waitFor()
  const kept = ['Type', 'Name in the domain', 'Domain'].map((label) =>
    page.getByLabel(label, { exact: true }).inputValue(),
  )
  t.deepEqual(await Promise.all(kept), ['a', 'www', domain])
  t.is(await page.evaluate('getSelection().toString()'), 'www')
  await page.getByText(`No, it may not write A at www.${domain}. This decides: “May not write A at www.`).waitFor()
  await answers(
    page,
    domain,
    'MX',
    `No, it may not write MX at ${domain}. This decides: “May not write anything else.”`,
  )
  await answers(page, 'a.elsewhere.test', 'A', 'No domain of this account holds “a.elsewhere.test”.')
  await check(t, page, 'token')
  await page.getByRole('button', { name: `Remove: May not write A at www.${domain}.` }).click()
  await page.getByRole('button', { name: 'Allow everything else: May not write anything else.' }).click()
  const dialog = page.getByRole('dialog', { name: 'Allow everything else' })
  await dialog.getByText('It may then write everything in all domains').waitFor()
  await check(t, page, 'token-allowing')
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('button', { name: 'Allow everything else: May not write anything else.' }).click()
  await dialog.getByRole('button', { name: 'Allow' }).click()
  await page.getByText('May write everything else.').waitFor()
  const left = succeeded(await api.get(`/auth/tokens/${id}/policies/rrsets/`), 200).json as object[]
  const scopes = left.map((policy) => JSON.stringify(policy).replace(/"id":"[^"]*",/, ''))
  t.deepEqual(scopes, [
    '{"domain":null,"subname":null,"subname_pattern":null,"type":null,"perm_write":true}',
    `{"domain":"${domain}","subname":"www","subname_pattern":null,"type":null,"perm_write":true}`,
  ])
  await page.getByRole('button', { name: `Remove: May write any type at www.${domain}.` }).click()
  await page.getByRole('button', { name: 'Remove: May write everything.' }).click()
  await page.getByRole('button', { name: 'Forbid all writes, and then allow some' }).click()
  await page.getByText('May not write anything.').waitFor()
})

test('a policy gets a pattern, and the page says which one decides', async (t) => {
  const { tab, account, domain } = await signedIn('tokens')
  const { page } = tab
  const { id } = await tokenWith(account.id, { write: false }, { pattern: '**', type: 'A', write: true })
  await page.goto(`${service().url}/console/tokens/${id}`)
  await page.locator('.policies').getByText('May write A at names like ** of any domain.').waitFor()
  await page.getByText('Add a policy').click()
  await page.getByLabel('It', { exact: true }).selectOption('may not write')
  await page.getByLabel('Or a pattern').fill('x*')
  await page.getByRole('button', { name: 'Add the policy' }).click()
  await page.getByText('Subname pattern can only use (lowercase)').waitFor()
  await page.getByLabel('Or a pattern').fill('*.Dyn')
  await page.getByLabel('Domain', { exact: true }).fill(domain)
  await page.getByRole('button', { name: 'Add the policy' }).click()
  const sentence = `May not write any type at names like *.dyn.${domain}.`
  await page.locator('.policies').getByText(sentence).waitFor()
  await answers(page, `a.dyn.${domain}`, 'A', `No, it may not write A at a.dyn.${domain}. This decides: “${sentence}”`)
  const wider = 'This decides: “May write A at names like ** of any domain.”'
  await answers(page, `a.b.dyn.${domain}`, 'A', `Yes, it may write A at a.b.dyn.${domain}. ${wider}`)
  await answers(page, domain, 'A', `No, it may not write A at ${domain}. This decides: “May not write anything else.”`)
  await check(t, page, 'token-patterns')
  await page.getByRole('button', { name: `Remove: ${sentence}` }).click()
  await page.locator('.policies').getByText(sentence).waitFor({ state: 'detached' })
})

test('the settings of a token are changed, and it is deleted', async (t) => {
  const { tab, api, account } = await signedIn('tokens')
  const { page } = tab
  const { id } = await addToken(service(), account.id, { name: 'before' })
  await page.goto(`${service().url}/console/tokens/${id}`)
  await page.getByLabel('Name', { exact: true }).first().waitFor()
  const age = page.getByRole('textbox', { name: 'Expires on, or at the age of' })
  await age.fill('soon')
  const save = page.getByRole('button', { name: 'Save the settings' })
  await save.click()
  await page.getByText('Not understood. Such as 2026-12-31, or 90 days 12 hours.').waitFor()
  t.is(await page.getByText('Expires: ?').count(), 1)
  await age.fill('2099-12-31')
  await page.getByText('Expires: Dec 31, 2099, 11:59:59 PM').waitFor()
  await save.click()
  await page.getByText('The settings are saved. Expires: Dec 31, 2099, 11:59:59 PM').waitFor()
  await page.reload()
  await save.waitFor()
  t.is(await age.inputValue(), '2099-12-31')
  await age.fill('90 days 12 hours')
  await page.getByRole('textbox', { name: 'Expires when unused for' }).fill('12 hours')
  await page.getByRole('textbox', { name: 'May be used from' }).fill('192.0.2.0/24 2001:db8::/32')
  await page.getByLabel('May create domains').check()
  await save.click()
  await page.getByText('The settings are saved.').waitFor()
  const token = succeeded(await api.get(`/auth/tokens/${id}/`), 200).json as Record<string, unknown>
  t.like(token, {
    name: 'before',
    max_age: '90 12:00:00',
    max_unused_period: '12:00:00',
    allowed_subnets: ['192.0.2.0/24', '2001:db8::/32'],
    perm_create_domain: true,
    perm_manage_tokens: false,
  })
  await page.getByRole('button', { name: 'Delete this token' }).click()
  const dialog = page.getByRole('dialog', { name: 'Delete “before”' })
  await dialog.getByText('Programs that use it stop working at once.').waitFor()
  await check(t, page, 'token-deletion')
  await dialog.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('heading', { level: 1, name: 'Tokens' }).waitFor()
  t.is((await api.get(`/auth/tokens/${id}/`)).status, 404)
})

test('the page of a token has the texts of programs, with the names of its policies', async (t) => {
  const { tab, account, domain } = await signedIn('tokens')
  const { page } = tab
  const challenge = { domain, subname: '_acme-challenge.www', type: 'TXT', write: true }
  const { id } = await tokenWith(account.id, { write: false }, challenge)
  await page.goto(`${service().url}/console/tokens/${id}`)
  await page.getByText('It can read all your domains.').waitFor()
  await page.getByText('Set up a program').click()
  const texts = page.locator('.snippet pre')
  t.regex((await texts.allTextContents()).join(''), /^dns_desec_token = SECRET$/m)
  t.true((await texts.nth(1).innerText()).includes(`-d www.${domain} `))
  // Others could do nothing with it.
  const programs = page.getByLabel('Program').locator('option')
  t.deepEqual(await programs.allTextContents(), ['certbot', 'certbot with hooks', 'acme.sh', 'lego 5', 'Caddy'])
  const address = { domain, subname: 'www', type: 'A', write: true }
  const router = await tokenWith(account.id, { write: false }, address)
  await page.goto(`${service().url}/console/tokens/${router.id}`)
  await page.getByText('Set up a program').click()
  t.deepEqual(await programs.allTextContents(), ['FRITZ!Box', 'ddclient 4', 'ddclient 3.10'])
  t.deepEqual(await texts.allTextContents(), [
    `${service().url}/nic/update?hostname=<domain>&myipv4=<ipaddr>&myipv6=<ip6addr>`,
    `www.${domain}`,
    domain,
    'SECRET',
  ])
  await check(t, page, 'token-programs')
})

test('a token gets a TSIG key, which is shown once, made anew and removed', async (t) => {
  const { tab, api, account, domain, urls } = await signedIn('tokens')
  const { page } = tab
  const { id } = await tokenWith(account.id, { write: false }, { domain, subname: 'www', type: 'A', write: true })
  const hasKey = async () => {
    const { json } = await api.get(`/auth/tokens/${id}/`)
    return (json as { tsig?: boolean }).tsig === true
  }
  await page.goto(`${service().url}/console/tokens/${id}`)
  await page.getByRole('button', { name: 'Make a TSIG key' }).click()
  const file = page.getByRole('region', { name: 'The key file' })
  await file.waitFor()
  t.true(await hasKey())
  const first = await file.innerText()
  t.regex(first, new RegExp(`^key "${id}" \\{\n +algorithm hmac-sha256;\n +secret "[^"$]{44}";$`, 'm'))
  t.true((await page.getByRole('region', { name: 'nsupdate, text' }).innerText()).includes(`zone ${domain}\n`))
  await check(t, page, 'token-tsig-key')
  await page.getByRole('button', { name: 'Make a new TSIG key' }).click()
  await page.getByText('Programs that use the present one stop working at once.').waitFor()
  await check(t, page, 'token-tsig-renewal')
  await page.getByRole('button', { name: 'Make it' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  const secret = /secret "(.*)"/.exec(await file.innerText())![1]!
  t.false(first.includes(secret))
  t.deepEqual(
    urls.filter((url) => url.includes(secret)),
    [],
  )
  await page.reload()
  await page.getByText('This token has a TSIG key').waitFor()
  t.false((await page.content()).includes(secret))
  await page.getByRole('button', { name: 'Remove the TSIG key' }).click()
  await page.getByRole('button', { name: 'Remove', exact: true }).click()
  await page.getByRole('button', { name: 'Make a TSIG key' }).waitFor()
  t.false(await hasKey())
})

test('the token of the session is marked; who deletes it is told before, and signed out', async (t) => {
  const { tab, api, account } = await signedIn('tokens')
  const { page } = tab
  await addToken(service(), account.id, { name: 'another' })
  await page.reload()
  const marked = page.getByRole('listitem').filter({ hasText: 'you are signed in with it' })
  await marked.waitFor()
  t.is(await marked.count(), 1)
  await marked.getByRole('link').click()
  await page.getByText('You are signed in with it.').waitFor()
  await page.getByRole('button', { name: 'Delete this token' }).click()
  await page.getByText('You are signed in with it: this session ends.').waitFor()
  await check(t, page, 'token-own-deletion')
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  t.is(await page.getByText('Your session has ended.').count(), 0)
  t.is(await page.evaluate('sessionStorage.length'), 0)
  t.is((await api.get('/auth/token/')).status, 401)
})

test('who may not manage tokens reads why, and keeps what was chosen', async (t) => {
  const { account } = await newZone(service())
  const { secret } = await addToken(service(), account.id)
  const { page } = await openTab({ path: 'tokens/new', secret })
  await page.getByRole('radio', { name: 'Read only' }).check()
  await page.getByRole('button', { name: 'Create the token' }).click()
  await page.getByText('may not manage tokens. Sign in with your password').waitFor()
  t.is(await page.getByRole('radio', { name: 'Read only' }).isChecked(), true)
})

/** A page of the console of a new account with a domain, and the URLs that the browser asks for. */
async function signedIn(path: string) {
  const { account, api, domain } = await newZone(service())
  const tab = await openTab({ path, secret: account.secret })
  const urls: string[] = []
  tab.page.on('request', (request) => urls.push(request.url()))
  return { tab, account, api, domain, urls }
}

/** Creates the token of the page, and returns the secret that it shows. */
async function submit(page: Page, name: string): Promise<string> {
  await page.getByLabel('Name of the token').fill(name)
  await page.getByRole('button', { name: 'Create the token' }).click()
  await page.getByRole('heading', { level: 1, name }).waitFor()
  return page.locator('.secret').innerText()
}

async function statusOf(api: Client, domain: string, write: Write): Promise<number> {
  const { status } = await api.put(`/domains/${domain}/rrsets/`, [rrset(WRITES[write])])
  // What was written may not be in the way of another write, as a CNAME would be.
  if (status === 200)
    succeeded(await api.put(`/domains/${domain}/rrsets/`, [rrset({ ...WRITES[write], records: [] })]), 200)
  return status
}

/** Asserts that the secret is on this page alone, and gone after it. */
async function isNowhereElse(t: ExecutionContext, page: Page, secret: string, urls: string[]): Promise<void> {
  t.regex(secret, /^\S{20,}$/)
  t.deepEqual(
    urls.filter((url) => url.includes(secret)),
    [],
  )
  const kept =
    'JSON.stringify([{ ...sessionStorage }, { ...localStorage }, document.cookie, history.state, location.href])'
  t.false(String(await page.evaluate(kept)).includes(secret))
  t.true((await page.content()).includes(secret))
  await page.getByRole('link', { name: 'Set when it expires' }).click()
  await page.getByRole('heading', { name: 'Settings' }).waitFor()
  t.false((await page.content()).includes(secret))
  await page.goBack()
  await page.getByRole('button', { name: 'Create the token' }).waitFor()
  t.false((await page.content()).includes(secret))
}

/** Lets the browser create some policies, loses the answer to the next one, and refuses the others. */
async function failAfter(page: Page, count: number): Promise<{ end: () => Promise<void> }> {
  let left = count
  const path = '**/policies/rrsets/'
  await page.route(path, async (route) => {
    if (route.request().method() !== 'POST' || left-- > 0) return route.continue()
    if (left === -1) await route.fetch()
    return route.fulfill({ status: 503, json: { detail: 'Please retry.' } })
  })
  return { end: () => page.unroute(path) }
}

function tokensIn({ json }: { json: unknown }): { name: string }[] {
  return json as { name: string }[]
}

async function tokenWith(accountId: string, ...policies: PolicyRow[]): Promise<{ id: string }> {
  const token = await addToken(service(), accountId, { name: 'program' })
  await addPolicies(service(), token.id, ...policies)
  return token
}

/** Asks whether the token may write, and waits for the answer. */
async function answers(page: Page, name: string, type: string, answer: string): Promise<void> {
  await page.getByLabel('Name', { exact: true }).first().fill(name)
  await page.getByLabel('Type of the records').fill(type)
  await page.getByRole('button', { name: 'Ask' }).click()
  await page.getByText(answer).waitFor()
}
