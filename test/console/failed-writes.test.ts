import type { Page } from 'playwright-core'
import { addToken } from '../support/clients/tokens.ts'
import { check, useConsole } from '../support/console/console.ts'
import { stageNew } from '../support/console/records.ts'
import { answering, heal, isWrite, newSite, press, type Site } from '../support/console/states.ts'
import { useService } from '../support/harness.ts'

// Every page that writes, while the service cannot: it says so, it sends nothing twice, and nothing that was typed is lost.

const service = useService()
const { test, openTab } = useConsole(service)

/** A page that writes: its name, its path, the button that writes, and what its user does before. */
type Writing = [name: string, path: string, button: string, prepare?: (page: Page) => Promise<unknown>]

const fill = (label: string, text: string) => (page: Page) => page.getByLabel(label, { exact: true }).fill(text)

/** The fields of a token's settings, the name first. */
const SETTINGS = 'form:has-text("Save the settings") input'

const writings = ({ domain, tokenId }: Site): Writing[] => [
  ['new-domain', 'new-domain', 'Add the domain', async (page) => {
    await fill('Name', 'new.test')(page)
    await fill('Zone file, if there is one', '@ MX 0 .')(page)
  }],
  ['delete', `domains/${domain}/settings`, `Delete ${domain}`, fill('Type the name of the domain', domain)],
  ['records', `domains/${domain}`, 'Review', (page) => stageNew(page, 'new', 'A', '192.0.2.9')],
  ['history', `domains/${domain}/history`, 'Undo this change', async (page) => {
    await fill('Search the history', 'www')(page)
    await page.locator('.entries summary').first().click()
  }],
  ['check', `domains/${domain}/dnssec`, 'Check now'],
  ['rollover', `domains/${domain}/dnssec`, 'Replace the key', async (page) => {
    await page.getByRole('heading', { name: 'Replace the key' }).click()
    await page.locator('select').selectOption('ed25519')
  }],
  ['nameservers', `domains/${domain}/nameservers`, 'Save', async (page) => {
    await fill('May transfer', '192.0.2.7')(page)
    await fill('Are told of changes', '192.0.2.7')(page)
    await page.getByLabel('With a TSIG key').check()
  }],
  ['zonefile', `domains/${domain}/zonefile`, 'Review', fill('Zone file', '@ MX 0 .')],
  ['new-token', 'tokens/new', 'Create the token', async (page) => {
    await page.getByRole('radio').last().check()
    await fill('Name of the token', 'router')(page)
  }],
  ['token', `tokens/${tokenId}`, 'Save the settings', (page) => page.locator(SETTINGS).first().fill('router')],
  ['account', 'account', 'Sign out everywhere else'],
] // prettier-ignore

/** Runs in the page: all that its user has typed, chosen and staged. */
const TYPED = `[
  ...Array.from(document.querySelectorAll('main :is(input, textarea, select):not(dialog *)'), ({ type, value, checked }) => type + value + checked),
  ...Array.from(document.querySelectorAll('.record-row'), ({ innerText }) => innerText),
]`

test('a write that the service cannot do says so, and what was typed stays', async (t) => {
  const site = await newSite(service())
  // A session of somebody else, which can be ended.
  await addToken(service(), site.accountId, { mfa: true })
  const { page } = await openTab({ secret: site.secret })
  const sent: string[] = []
  page.on('request', (request) => {
    if (isWrite(request)) sent.push(request.url())
  })
  for (const [name, path, doing, prepare] of writings(site)) {
    await answering(page, isWrite, 503)
    await page.goto(`${service().url}/console/${path}`)
    await page.waitForLoadState('networkidle')
    await prepare?.(page)
    const typed = await page.evaluate(TYPED)
    await press(page, doing)
    await page.getByRole('alert').getByText('The test answers 503.').waitFor()
    t.is(await page.locator('.waiting').count(), 0)
    t.deepEqual(await page.evaluate(TYPED), typed, name)
    await check(t, page, `${name}-write-503`)
    t.is(sent.splice(0).length, 1, name)
    await heal(page)
  }
})

test('without a connection, it says whether something was sent, and nothing is lost', async (t) => {
  const site = await newSite(service())
  const { page, found } = await openTab({
    path: `domains/${site.domain}`,
    secret: site.secret,
  })
  await stageNew(page, 'offline', 'A', '192.0.2.1')
  const staged = page.getByText(`1 change to ${site.domain}`)
  await page.getByRole('button', { name: 'Review' }).click()
  const apply = page.getByRole('button', { name: 'Apply 1 change' })
  await page.getByRole('dialog').getByText('added: 192.0.2.1').waitFor()
  await page.context().setOffline(true)
  await apply.click()
  await page.getByText('This browser is offline, so nothing was sent. What you have staged or typed is kept.').waitFor()
  await page.context().setOffline(false)
  // The answer does not come.
  await page.route(
    (url) => url.searchParams.get('dry_run') === 'false',
    async (route) => {
      await route.fetch()
      await route.abort()
    },
  )
  await apply.click()
  await page.getByText('Whether it has done what was sent is not known').waitFor()
  await page.unroute(() => true)
  await page.getByRole('button', { name: 'Cancel' }).click()
  await staged.waitFor()
  await page.reload()
  // It was done, so nothing is left to do.
  await page.getByRole('button', { name: 'Edit offline A' }).waitFor()
  await staged.waitFor({ state: 'detached' })
  t.is(await page.locator('.record-row .word').count(), 0)
  // The browser itself reports that it was offline.
  found.length = 0
})

test('a write that is throttled waits, and is sent again', async (t) => {
  const site = await newSite(service())
  const { page } = await openTab({ path: `domains/${site.domain}`, secret: site.secret })
  await page.clock.install()
  await stageNew(page, 'new', 'A', '192.0.2.9')
  await answering(page, isWrite, 429)
  await press(page, 'Review')
  await page
    .getByRole('dialog')
    .getByText(/^Too many requests. Trying again in \d+ s.$/)
    .waitFor()
  await check(t, page, 'review-429')
  await heal(page)
  await page.clock.fastForward(61_000)
  await page.getByText('Creates 1 record set.').waitFor()
  await press(page, 'Apply 1 change')
  await page.getByText(/^Applied: /).waitFor()
})
