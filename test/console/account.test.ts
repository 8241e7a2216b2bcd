import type { ExecutionContext } from 'ava'
import { type TOTP, URI } from 'otpauth'
import type { Page } from 'playwright-core'
import { encode } from 'uqr'
import * as people from '../support/clients/people.ts'
import { PASSWORD } from '../support/clients/people.ts'
import { addToken } from '../support/clients/tokens.ts'
import { check, signInWithPassword, useConsole } from '../support/console/console.ts'
import { eventuallyIs } from '../support/eventually.ts'
import { useService } from '../support/harness.ts'

const service = useService({ REGISTRATION: 'open', CAPTCHA: 'on' })
const { test, openTab } = useConsole(service)

test('a person signs up, activates, adds factors, changes the address, and deletes the account', async (t) => {
  const clock = stopClock()
  const { page, found } = await openTab()
  const leaks = watchUrls(page)
  const email = people.freshEmail()

  await page.getByRole('link', { name: 'Create an account' }).click()
  await page.getByText('has proved that you are not a robot').waitFor()
  await check(t, page, 'sign-up')
  await fill(page, { 'E-mail': email, Password: 'short' })
  await page.getByRole('button', { name: 'Create the account' }).click()
  await page.getByText('This password is too short.').waitFor()
  t.is(await page.getByLabel('E-mail', { exact: true }).inputValue(), email)
  // The browser itself reports that the request was refused.
  found.length = 0
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Create the account' }).click()
  await page.getByRole('heading', { name: 'Welcome' }).waitFor()
  await check(t, page, 'signed-up')
  t.is((await people.accountOf(service(), email))!.state, 'pending')

  await page.goto((await people.linkTo(service(), email)).url)
  await page.getByRole('button', { name: 'Activate account' }).click()
  await page.getByText('Your account has been activated').waitFor()
  await page.goto(`${service().url}/console/account`)
  await signInWithPassword(page, email)
  await page.getByText('0 domains', { exact: true }).waitFor()
  await check(t, page, 'account')

  // Mails of the same time have no order.
  clock.pass()
  await page.getByLabel('Name', { exact: true }).fill('phone')
  await page.getByRole('button', { name: 'Add a factor' }).click()
  await page.getByText(`We have sent a mail to ${email}`).waitFor()
  await check(t, page, 'factor-mailed')
  await page.getByLabel('Link in the mail').fill((await people.linkTo(service(), email, 2)).url)
  await page.getByRole('button', { name: 'Show the QR code' }).click()
  const phone = await scanned(t, page)
  await check(t, page, 'factor')
  await fill(page, { Code: phone.generate({ timestamp: clock.now }) })
  await page.getByRole('button', { name: 'Activate' }).last().click()

  // From now on, this sign-in needs a code, too.
  await page.getByRole('heading', { name: 'Second factor', exact: true }).waitFor()
  await enterCode(page, phone, clock)
  await page.getByLabel('Name', { exact: true }).fill('key')
  await page.getByRole('button', { name: 'Add a factor' }).click()
  const key = await scanned(t, page)
  await fill(page, { Code: key.generate({ timestamp: clock.now }) })
  await page.getByRole('button', { name: 'Activate' }).last().click()
  await page.getByRole('button', { name: 'Rename key' }).waitFor()
  await check(t, page, 'factors')

  await page.getByRole('button', { name: 'Sign out', exact: true }).click()
  await page.goto(`${service().url}/console/account`)
  await signInWithPassword(page, email)
  await page.getByLabel('Factor', { exact: true }).waitFor()
  await check(t, page, 'second-factor')
  await page.getByLabel('Factor', { exact: true }).selectOption('key')
  await enterCode(page, key, clock)
  await page.getByRole('button', { name: 'Rename key' }).click()
  await page.getByLabel('New name').fill('stick')
  await page.getByRole('button', { name: 'Rename', exact: true }).last().click()
  await page.getByRole('button', { name: 'Delete stick' }).click()
  await page.getByRole('button', { name: 'Delete the factor' }).click()
  await eventuallyIs(() => page.getByRole('button', { name: 'Delete stick' }).count(), 0)

  const newEmail = people.freshEmail()
  await page.getByText('Change it').click()
  await fill(page, { 'New e-mail': newEmail, Password: PASSWORD, Code: phone.generate({ timestamp: clock.pass() }) })
  await check(t, page, 'change-email')
  await page.getByRole('button', { name: 'Change the address' }).click()
  await page.getByText(`We have sent a mail to ${newEmail}`).waitFor()
  await page.goto((await people.linkTo(service(), newEmail)).url)
  await page.getByRole('button', { name: 'Change e-mail address' }).click()
  await page.getByText(`has been changed to ${newEmail}`).waitFor()

  await page.goto(`${service().url}/console/account`)
  await page.getByText(`Your address is ${newEmail}.`).waitFor()
  await page.getByText('Delete it').click()
  await fill(page, { Password: PASSWORD, Code: phone.generate({ timestamp: clock.pass() }) })
  await check(t, page, 'delete-account')
  await page.getByRole('button', { name: 'Delete my account' }).click()
  await page.getByText('further account deletion instructions').waitFor()
  await eventuallyIs(() => people.linksTo(service(), newEmail).length, 2)
  await page.goto(people.linksTo(service(), newEmail).at(-1)!.url)
  await page.getByRole('button', { name: 'Delete account for good' }).click()
  await page.getByText('All your data has been deleted.').waitFor()
  t.is(await people.accountOf(service(), newEmail), undefined)

  const secrets = [PASSWORD, phone.secret.base32, key.secret.base32]
  t.deepEqual(leaks(secrets), [])
  await page.goto(`${service().url}/console/account`)
  // The session has ended with the account.
  await page.getByText('Your session has ended').waitFor()
  t.is(await page.evaluate('localStorage.length + sessionStorage.length + document.cookie.length'), 0)
  clock.go()
})

test('a forgotten password is replaced by a link in a mail', async (t) => {
  const { email } = await people.person(service())
  const { page } = await openTab()
  await page.getByRole('link', { name: 'Forgotten password?' }).click()
  await page.getByLabel('E-mail', { exact: true }).fill(email)
  await page.getByText('has proved that you are not a robot').waitFor()
  await check(t, page, 'forgotten')
  await page.getByRole('button', { name: 'Send me the link' }).click()
  await page.getByText('further password reset instructions').waitFor()
  await page.goto((await people.linkTo(service(), email)).url)
  await page.getByLabel('New password').fill('another password')
  await page.getByRole('button', { name: 'Set password' }).click()
  await page.getByText('Your password has been changed.').waitFor()
  await page.goto(`${service().url}/console/`)
  await signInWithPassword(page, email, 'another password')
  await page.getByRole('heading', { name: 'Domains' }).waitFor()
})

test('an account with domains says what to do before it can be deleted; other sign-ins end', async (t) => {
  const { email, id, credentials } = await people.person(service())
  const { api } = await addToken(service(), id, { permCreateDomain: true })
  await api.post('/domains/', { name: `${email.split('@')[0]}.test` })
  const other = (await service().anonymous.post('/auth/login/', credentials)).json as { token: string }
  const { page } = await openTab({ path: 'account' })
  await signInWithPassword(page, email)
  await page.getByText('Before that, delete your domains').waitFor()
  await page.getByRole('button', { name: 'Sign out everywhere else' }).click()
  await page.getByText('Ended 1 session.').waitFor()
  t.is((await service().clientOf(other.token).get('/auth/token/')).status, 401)
  t.is((await api.get('/auth/token/')).status, 200)
  // It is saved at once, but a page that is left ends its requests.
  const isSaved = page.waitForResponse((response) => response.request().method() === 'PATCH')
  await page.getByLabel('Also send me news').uncheck()
  await isSaved
  await page.reload()
  t.false(await page.getByLabel('Also send me news').isChecked())
  await page.getByText('Delete it').click()
  await page.getByLabel('Password', { exact: true }).last().fill(PASSWORD)
  await page.getByRole('button', { name: 'Delete my account' }).click()
  t.regex(await page.getByRole('alert').innerText(), /first delete all of your domains/)
})

/** A clock of the service that stands, so that each code is known; a factor accepts another code after `pass`. */
function stopClock() {
  const { system } = service()
  const realNow = system.now
  const clock = {
    now: Date.parse(realNow()),
    pass: () => (clock.now += 90_000),
    go: () => {
      system.now = realNow
    },
  }
  system.now = () => new Date(clock.now).toISOString().replace('Z', '000Z')
  return clock
}

async function fill(page: Page, texts: Record<string, string>): Promise<void> {
  for (const [label, text] of Object.entries(texts)) {
    await page.getByLabel(label, { exact: true }).filter({ visible: true }).fill(text)
  }
}

/** Enters a factor's next code, and waits for the page that needs it. */
async function enterCode(page: Page, factor: TOTP, clock: ReturnType<typeof stopClock>): Promise<void> {
  await fill(page, { Code: factor.generate({ timestamp: clock.pass() }) })
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('heading', { name: 'Account', exact: true }).waitFor()
}

/** The factor that the page shows: its QR code is that of a URI with the secret beside it. */
async function scanned(t: ExecutionContext, page: Page): Promise<TOTP> {
  const path = await page.getByRole('img', { name: 'QR code of the secret' }).locator('path').getAttribute('d')
  const secret = await page.getByRole('dialog').locator('code').innerText()
  const email = await page.locator('.who').innerText()
  const uri = `otpauth://totp/127.0.0.1:${email}?secret=${secret}&issuer=127.0.0.1`
  const { data } = encode(uri, { border: 4 })
  const dark = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`${x} ${y}`] : [])))
  t.deepEqual(
    Array.from(path!.matchAll(/M(\d+ \d+)h1v1h-1z/g), ([, place]) => place),
    dark,
  )
  return URI.parse(uri) as TOTP
}

/** Watches the URLs of a page and its requests for secrets. */
function watchUrls(page: Page): (secrets: string[]) => string[] {
  const urls: string[] = []
  page.on('request', (request) => urls.push(request.url()))
  page.on('framenavigated', (frame) => urls.push(frame.url()))
  return (secrets) => urls.filter((url) => secrets.some((secret) => decodeURIComponent(url).includes(secret)))
}
