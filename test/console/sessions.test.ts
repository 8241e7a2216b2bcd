import type { Locator, Page } from 'playwright-core'
import { newDomain, newZone, rrset } from '../support/clients/api.ts'
import * as people from '../support/clients/people.ts'
import { addFactor, addPolicies, addToken, codeFor, stopClocks, wrongCode } from '../support/clients/tokens.ts'
import { check, signIn, signInWithPassword, useConsole } from '../support/console/console.ts'
import { useService, withService } from '../support/harness.ts'

// How sessions of the console begin and end, and what their tokens may do.

/** A host that browsers do not treat as a secure context over http, unlike 127.0.0.1. */
const ELSEWHERE = 'elsewhere.test'

const service = useService()
const { test, openTab } = useConsole(service, [`--host-resolver-rules=MAP ${ELSEWHERE} 127.0.0.1`])

test('where strangers cannot sign up, no page offers it', async (t) => {
  const { page } = await openTab()
  await page.getByRole('link', { name: 'Forgotten password?' }).waitFor()
  t.is(await page.getByRole('link', { name: 'Create an account' }).count(), 0)
  await page.goto(`${service().url}/console/sign-up`)
  await page.getByText('Sign-up is closed here.').waitFor()
  t.is(await page.getByRole('textbox').count(), 0)
  await check(t, page, 'sign-up-closed')
})

test('a second factor is asked for, also after the page was loaded again', async () => {
  const { id, email } = await people.person(service())
  const factor = await addFactor(service(), id)
  stopClocks(service())
  const { page, found } = await openTab({ path: 'account' })
  await signInWithPassword(page, email)
  await page.getByLabel('Code').waitFor()
  await page.reload()
  await page.getByLabel('Code').fill(await wrongCode(service(), factor))
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByText('Invalid code.').waitFor()
  // The browser itself reports that the request was refused.
  found.length = 0
  await page.getByLabel('Code').fill(await codeFor(service(), factor))
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('heading', { name: 'Account', exact: true }).waitFor()
  await page.getByText(`Your address is ${email}`).waitFor()
})

test('whoever signs in again after the session has ended is where they were; signing out keeps an API token', async (t) => {
  const { account } = await newZone(service())
  const { page } = await openTab({ path: 'account', secret: account.secret })
  const ending = page.getByRole('button', { name: 'Sign out everywhere else' })
  await ending.waitFor()
  await account.api.delete(`/auth/tokens/${account.tokenId}/`)
  await ending.click()
  await page.getByText('Your session has ended.').waitFor()
  t.is(await page.evaluate('sessionStorage.length'), 0)
  t.is(await page.getByRole('button', { name: 'Sign out', exact: true }).count(), 0)
  const { secret, api } = await addToken(service(), account.id, { permManageTokens: true })
  await signIn(page, secret)
  await ending.waitFor()
  t.is(new URL(page.url()).pathname, '/console/account')
  await page.getByRole('button', { name: 'Sign out', exact: true }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  t.is(await page.getByText('Your session has ended.').count(), 0)
  t.is((await api.get('/auth/token/')).status, 200)
})

test('every page says what a token may do, unless it may do everything', async (t) => {
  const { account, domain } = await newZone(service())
  const allowed = { permCreateDomain: true, permDeleteDomain: true, permManageTokens: true }
  for (const [name, permissions, policies, words] of [
    ['read-only', {}, [{ write: false }], 'This token may only read.'],
    [
      'restricted',
      { permCreateDomain: true },
      [{ write: false }, { domain, subname: 'www', type: 'A', write: true }],
      'This token may only read, write some records, and create domains.',
    ],
    ['manager', { permManageTokens: true }, [{ write: true }], 'This token may not create domains or delete domains.'],
    ['free', allowed, [{ write: true }], undefined],
  ] as const) {
    const { id, secret } = await addToken(service(), account.id, permissions)
    await addPolicies(service(), id, ...policies)
    const { page } = await openTab({ secret })
    const note = page.getByRole('note')
    if (words === undefined) t.is(await note.count(), 0)
    else t.is(await note.locator('p').innerText(), words)
    if (name === 'manager') t.is(await note.getByText('Which records').count(), 0)
    if (name === 'restricted') {
      await page.getByText('Which records').click()
      t.deepEqual(await note.getByRole('listitem').allInnerTexts(), [
        `May write A at www.${domain}.`,
        'May not write anything else.',
      ])
    }
    await check(t, page, `token-${name}`)
  }
})

test('what a token may not do is not offered, or the reason is beside it', async (t) => {
  const { account, domain, api } = await newZone(service(), rrset())
  const other = await newDomain(api)
  const { id, secret } = await addToken(service(), account.id, { permDeleteDomain: true })
  const policy = { domain, subname: 'www', type: 'A', write: true }
  await addPolicies(service(), id, { write: false }, policy, { domain: other, write: false })
  const may = await openTab({ secret: account.secret })
  const { page } = await openTab({ secret })
  /** Whether all of it is offered to the other token, and to this one. */
  const isOffered = async (path: string, heading: string, ...offers: ((page: Page) => Locator)[]) => {
    for (const [each, count] of [
      [may.page, 1],
      [page, 0],
    ] as const) {
      await each.goto(`${service().url}/console/${path}`)
      await each.getByRole('heading', { name: heading, exact: true }).waitFor()
      if (path.startsWith('domains')) await each.getByText(/^[\d,]+ record sets?$/).waitFor()
      for (const offer of offers) t.is(await offer(each).count(), count, `${path} ${String(offer)}`)
    }
  }
  const button = (name: string) => (page: Page) => page.getByRole('button', { name, exact: true })
  const link = (name: string) => (page: Page) => page.getByRole('link', { name, exact: true })
  await isOffered('', 'Domains', link('Add domain'), link('Import zone file'))
  await isOffered('tokens', 'Tokens', link('Create a token'))
  await isOffered(`domains/${other}/settings`, other, button(`Delete ${other}`))
  await isOffered(`domains/${other}`, other, button('Add record'), button('Templates'))
  await page.getByRole('checkbox', { name: 'Select @ NS' }).check()
  await button('Copy as zone file lines')(page).waitFor()
  t.is(await button('Delete')(page).count(), 0)
  t.false(await page.locator('form.bar summary').isVisible())
  await page.keyboard.press('n')
  await button('Edit @ NS')(page).focus()
  await page.keyboard.press('Delete')
  await button('Edit @ NS')(page).click()
  await page.getByText('This token may not write @ NS.').waitFor()
  t.is(await page.getByRole('form', { name: 'Add record' }).count(), 0)
  t.is(await page.getByText(/change to/).count(), 0)
  await check(t, page, 'token-nothing-here')
  // Where it may write something, adding is offered.
  await page.goto(`${service().url}/console/domains/${domain}`)
  await button('Add record')(page).click()
  await page.getByLabel('Name', { exact: true }).fill('www')
  t.is(await page.getByText('This token may not write').count(), 0)
  await page.getByLabel('Type').selectOption('TXT')
  await page.getByText('This token may not write www TXT.').waitFor()
})

test('after too many wrong passwords, the browser solves a captcha', async () => {
  const rates = 'login_failure=1000/min; login_failure_per_account=3/h'
  const settings = { CAPTCHA: 'on', THROTTLE: 'on', TRUSTED_PROXIES: '127.0.0.1', THROTTLE_RATES: rates }
  await withService(settings, async (own) => {
    const { email } = await people.person(own)
    for (let i = 0; i < 3; i++) await own.anonymous.post('/auth/login/', { email, password: 'wrong password' })
    const { page } = await openTab({}, own.url)
    await signInWithPassword(page, email)
    await page.getByRole('heading', { name: 'Domains' }).waitFor()
    // Its requests would fail once the service has ended.
    await page.context().close()
  })
})

test('a browser that cannot solve captchas over http says why', async (t) => {
  await withService({ CAPTCHA: 'on', REGISTRATION: 'open' }, async (own) => {
    const url = own.url.replace('127.0.0.1', ELSEWHERE)
    const { page } = await openTab({ path: 'sign-up' }, url)
    await page.getByText('It can do so only over https.').waitFor()
    await check(t, page, 'sign-up-without-https')
    await page.context().close()
  })
})
