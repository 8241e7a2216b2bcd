import type { ExecutionContext } from 'ava'
import type { Page } from 'playwright-core'
import { PHONE, screenshot, useBrowser, watch } from '../support/browser.ts'
import { succeeded } from '../support/clients/api.ts'
import { Client } from '../support/clients/client.ts'
import * as people from '../support/clients/people.ts'
import { accountOf, canLogIn, freshEmail, PASSWORD } from '../support/clients/people.ts'
import { eventuallyIs } from '../support/eventually.ts'
import { useService, withService } from '../support/harness.ts'

// The pages behind the links in mails, in a browser.

const service = useService({ REGISTRATION: 'open' })

const { test, browser } = useBrowser()

// With scripts, test/console/account.test.ts does so.
test('without scripts, a person signs up, activates, resets the password, and deletes the account', async (t) => {
  const context = await browser().newContext({ viewport: PHONE, javaScriptEnabled: false })
  const page = await context.newPage()
  const foreign = watch(page, service().url)
  const email = freshEmail()
  await service().anonymous.post('/auth/', { email, password: PASSWORD })

  await open(page, (await people.linkTo(service(), email)).url, 'Activate your account')
  await screenshot(page, 'activate')
  t.is((await accountOf(service(), email))!.state, 'pending')
  await page.getByRole('button', { name: 'Activate account' }).click()
  await outcome(t, page, 'Success! Your account has been activated, and you can now log in.')
  await screenshot(page, 'activated')
  t.true(await canLogIn(service(), email, PASSWORD))

  await service().anonymous.post('/auth/account/reset-password/', { email })
  await open(page, (await people.linkTo(service(), email, 2)).url, 'Set a new password')
  await screenshot(page, 'reset')
  await page.getByLabel('New password').fill('another password')
  await page.getByRole('button', { name: 'Set password' }).click()
  await outcome(t, page, 'Success! Your password has been changed.')
  await screenshot(page, 'reset-done')
  t.true(await canLogIn(service(), email, 'another password'))

  await service().anonymous.post('/auth/account/delete/', { email, password: 'another password' })
  // There is also a notice that the password was changed, which has no link, and may arrive before or after.
  const links = () => people.linksTo(service(), email)
  await eventuallyIs(() => links().length, 3)
  await open(page, links().at(-1)!.url, 'Delete your account')
  await screenshot(page, 'delete')
  await page.getByRole('button', { name: 'Delete account for good' }).click()
  await outcome(t, page, 'All your data has been deleted.')
  await screenshot(page, 'deleted')
  t.is(await accountOf(service(), email), undefined)

  t.deepEqual(foreign, [])
  await context.close()
})

test('the page shows problems, and the form again if the person can correct them', async (t) => {
  const page = await browser().newPage({ viewport: PHONE, javaScriptEnabled: false })
  const someone = await people.person(service())
  const { url } = await people.resetLink(service(), someone)
  await open(page, url, 'Set a new password')
  // Eight blanks are long enough for the browser, and blank for the service.
  await page.getByLabel('New password').fill(' '.repeat(8))
  await page.getByRole('button').click()
  t.is(await page.getByRole('alert').innerText(), 'This field may not be blank.')
  t.is(await page.getByLabel('New password').getAttribute('aria-invalid'), 'true')
  await screenshot(page, 'reset-again')
  await page.getByLabel('New password').fill('another password')
  await page.getByRole('button').click()
  await outcome(t, page, 'Success! Your password has been changed.')

  await open(page, url, 'Set a new password')
  await page.getByLabel('New password').fill('another password')
  await page.getByRole('button').click()
  t.regex(await page.getByRole('alert').innerText(), /^This action cannot be carried out because another operation/)
  t.is(await page.getByRole('button').count(), 0)
  await screenshot(page, 'overtaken')
  await page.close()
})

test('a domain given at sign-up is created once the person presses the button', async (t) => {
  const page = await browser().newPage({ viewport: PHONE, colorScheme: 'dark' })
  const domain = `${freshEmail().split('@')[0]}.test`
  const { url } = await people.activationLink(service(), { domain })
  await open(page, url, 'Activate your account')
  await screenshot(page, 'activate-dark')
  await page.getByRole('button').click()
  t.is(await page.getByRole('heading').innerText(), 'Done')
  t.true((await page.getByRole('main').innerText()).includes(domain))
  await screenshot(page, 'activated-domain')
  await page.close()
})

test('a new factor shows its secret once', async (t) => {
  const page = await browser().newPage({ viewport: PHONE })
  const { email, credentials } = await people.person(service())
  const { token } = succeeded(await service().anonymous.post('/auth/login/', credentials), 200).json as {
    token: string
  }
  succeeded(await new Client(service().url, token).post('/auth/totp/', { name: 'phone' }), 202)
  await open(page, (await people.linkTo(service(), email)).url, 'New authentication factor')
  await screenshot(page, 'factor')
  await page.getByRole('button', { name: 'Show the secret' }).click()
  t.regex(await page.locator('code').innerText(), /^[A-Z2-7]{52}$/)
  t.regex((await page.getByRole('link').first().getAttribute('href'))!, /^otpauth:\/\/totp\//)
  await screenshot(page, 'factor-secret')
  await page.close()
})

test('a person that gets a domain for dynamic DNS is shown its token', async (t) => {
  await withService({ REGISTRATION: 'open', LOCAL_PUBLIC_SUFFIXES: 'dyn.test' }, async (own) => {
    const page = await browser().newPage({ viewport: PHONE })
    const { url } = await people.activationLink(own, { domain: 'home.dyn.test' })
    await open(page, url, 'Activate your account')
    await page.getByRole('button').click()
    const secret = await page.locator('code').last().innerText()
    await screenshot(page, 'domain-token')
    t.is((await new Client(own.url, secret).get('/domains/home.dyn.test/')).status, 200)
    await page.close()
  })
})

/** Opens a link, and checks that the page's heading and title begin with `title`. */
async function open(page: Page, url: string, title: string): Promise<void> {
  await page.goto(url)
  const heading = await page.getByRole('heading', { level: 1 }).innerText()
  if (heading !== title || !(await page.title()).startsWith(title)) throw new Error(`not "${title}" but "${heading}"`)
}

async function outcome(t: ExecutionContext, page: Page, text: string): Promise<void> {
  t.is(await page.getByRole('status').innerText(), text)
  t.is(await page.getByRole('heading').innerText(), 'Done')
}
