import ava from 'ava'
import type { Page } from 'playwright-core'
import { hashPassword } from '../../src/service/accounts/passwords.ts'
import { query } from '../../src/store/database.ts'
import { useBrowser } from '../support/browser.ts'
import { freshEmail, insertAccount, PASSWORD } from '../support/clients/people.ts'
import { check, openConsole, signInWithPassword } from '../support/console/console.ts'
import { eventuallyIs } from '../support/eventually.ts'
import { type OwnService, useServers } from '../support/harness.ts'
import { freePort } from '../support/servers/ports.ts'
import { CLIENT, startIssuer, type TestIssuer } from '../support/sign-on/issuer.ts'

// Single sign-on in a browser, at a real issuer (contract §11.4).

const { test, browser } = useBrowser()
const servers = useServers()
let issuer: TestIssuer
let service: OwnService

ava.serial.before('an issuer', async () => {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  issuer = await startIssuer(url)
  service = await servers().serve(settings(url))
})
ava.after.always('the issuer stops', () => issuer.close())

function settings(url: string, more: Record<string, string> = {}): Record<string, string> {
  return {
    PORT: new URL(url).port,
    PUBLIC_URL: url,
    OIDC_ISSUER: issuer.url,
    OIDC_CLIENT_ID: CLIENT.id,
    OIDC_CLIENT_SECRET: CLIENT.secret,
    OIDC_NAME: 'Example Company',
    OIDC_SIGN_UP: 'on',
    ...more,
  }
}

/** Somebody at the issuer, who sits down at the browser. */
function someone(): string {
  const email = freshEmail()
  issuer.person = `sub of ${email}`
  issuer.people.set(issuer.person, { email, email_verified: true })
  return email
}

const open = async (path = '') => {
  const { page, found } = await openConsole(browser(), service.url, { path })
  // The tab goes to the issuer and back.
  const others = () => found.filter((line) => !line.startsWith(issuer.url))
  return { page, others }
}
const signIn = (page: Page) => page.getByRole('button', { name: 'Example Company' }).click()
const signedIn = (page: Page) => page.getByRole('button', { name: 'Sign out', exact: true }).waitFor()

test('a person signs in for the first time, and again, and is where the tab was', async (t) => {
  const email = someone()
  const { page, others } = await open('tokens')
  await check(t, page, 'sign-in-single-sign-on')
  await signIn(page)
  await page.getByRole('heading', { name: 'Tokens', exact: true }).waitFor()
  t.is(page.url(), `${service.url}/console/tokens`)
  const cookies = await page.context().cookies(service.url)
  t.deepEqual(
    cookies.filter(({ name }) => name.includes('zoneplane')),
    [],
  )
  await page.goto(`${service.url}/console/account`)
  await page.getByText(email).first().waitFor()
  await page.getByRole('button', { name: 'Sign out', exact: true }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  t.is(await page.evaluate('sessionStorage.length'), 0)
  await signIn(page)
  await signedIn(page)
  const accounts = await query(servers().system.db, 'select from accounts where email = :email', { email })
  t.is(accounts.length, 1)
  t.deepEqual(others(), [])
})

test('somebody whose address has an account signs in to it once, and is linked', async (t) => {
  const email = someone()
  await insertAccount(servers().system, { email, passwordHash: await hashPassword(PASSWORD, 'test') })
  const { page, others } = await open()
  await signIn(page)
  await page.getByText(`The address ${email} has an account already.`).waitFor()
  await check(t, page, 'sign-in-to-link')
  await signInWithPassword(page, email)
  await page.getByText(`From now on, single sign-on signs you in as ${email}.`).waitFor()
  await page.getByRole('button', { name: 'Sign out', exact: true }).click()
  await signIn(page)
  await signedIn(page)
  t.deepEqual(others(), [])

  await page.getByRole('link', { name: 'Account', exact: true }).click()
  await page.getByText('Example Company signs in to this account, last').waitFor()
  await check(t, page, 'account-linked')
  const asked: string[] = []
  page.on('dialog', (dialog) => {
    asked.push(dialog.message())
    void dialog.accept()
  })
  await page.getByRole('button', { name: 'End the link' }).click()
  // The session had begun there.
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  t.deepEqual(asked, ['Example Company will sign in to this account no more, and what it has signed in ends.'])
  const left = await query(
    servers().system.db,
    'select from identities where account_id = (select id from accounts where email = :email)',
    { email },
  )
  t.is(left.length, 0)
  await signInWithPassword(page, email)
  await signedIn(page)
  await page.goto(`${service.url}/console/account`)
  await page.getByText('Not linked. To link it, sign out, and sign in with Example Company.').waitFor()
})

test('whoever cancels at the issuer, or comes back twice, reads what to do', async (t) => {
  issuer.person = ''
  const { page } = await open()
  await signIn(page)
  await page.getByRole('heading', { name: 'You are not signed in' }).waitFor()
  t.is(await page.getByRole('alert').innerText(), 'Example Company did not let you in, or you cancelled.')
  const callback = page.url()
  await page.goto(callback)
  t.is(await page.getByRole('alert').innerText(), 'This sign-in was used before. Sign in again.')
  await page.getByRole('link', { name: 'Back to sign-in' }).click()
  someone()
  await signIn(page)
  await signedIn(page)
  await page.goto('about:blank')
  await page.goto(`${service.url}/console/signed-in#nonsense`)
  t.regex(await page.getByRole('alert').innerText(), /sent no cookie of this sign-in/)
  t.is(page.url(), `${service.url}/console/signed-in`)
})

test('without cookies, the page says so', async (t) => {
  someone()
  const { page } = await open()
  await page.route(`${issuer.url}/auth?*`, async (route) => {
    await page.context().clearCookies({ name: 'zoneplane-sign-in' })
    await route.continue()
  })
  await signIn(page)
  await page.getByRole('heading', { name: 'You are not signed in' }).waitFor()
  t.regex(await page.getByRole('alert').innerText(), /Allow cookies for this site/)
})

test('the issuer ends the session when the person signs out there', async (t) => {
  someone()
  const { page } = await open()
  await signIn(page)
  await signedIn(page)
  const other = await page.context().newPage()
  await other.goto(`${issuer.url}/session/end`)
  await other.getByRole('button', { name: /yes/i }).click()
  await eventuallyIs(async () => {
    await page.reload()
    return page.getByRole('heading', { name: 'Sign in' }).isVisible()
  }, true)
  t.is(await page.evaluate('sessionStorage.getItem("zoneplane session")'), null)
})

test('without passwords there is no field for one; an issuer that is down is said to be', async (t) => {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  issuer.instead = (_, response) => response.writeHead(503).end()
  const strict = await servers().serve(settings(url, { PASSWORDS: 'off' }))
  const { page } = await openConsole(browser(), url)
  await page.getByText('“Example Company” does not answer at the moment.').waitFor()
  t.is(await page.getByLabel('Password').count(), 0)
  t.is(await page.getByText('Forgotten password?').count(), 0)
  await check(t, page, 'sign-in-issuer-down')
  await strict.stop()
  issuer.instead = undefined
})
