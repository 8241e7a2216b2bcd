import type { ExecutionContext } from 'ava'
import type { Browser, Page } from 'playwright-core'
import { check, openConsole, type Tab } from '../support/console/console.ts'
import { stageNew } from '../support/console/records.ts'
import { withBrowser } from '../support/browser.ts'
import { newZone, rrset } from '../support/clients/api.ts'
import * as people from '../support/clients/people.ts'
import { addFactor, addPolicies, addToken } from '../support/clients/tokens.ts'
import { useService } from '../support/harness.ts'
import type { Declare } from '../support/needs.ts'

// Every page in every state: while it waits, when the service cannot answer, and with each kind of session. Where the service
// itself cannot be brought to an answer, the browser is given it in the service's place.

const service = useService({ REGISTRATION: 'open' })

withBrowser(declare)

/** A page that asks the API: its name, its path, and what shows that the answers have come. */
type Reading = [name: string, path: string, shown: string]

/** A page that writes: its name, its path, what its user does, and what was typed, which must stay. */
type Writing = [name: string, path: string, act: (page: Page) => Promise<void>, kept?: [selector: string, text: string]]

/** The page, and whoever signs in to it. */
interface Site {
  domain: string
  tokenId: string
  secret: string
  accountId: string
}

async function newSite(): Promise<Site> {
  const zone = await newZone(service(), rrset())
  const { id, tokenId, secret } = zone.account
  return { domain: zone.domain, tokenId, secret, accountId: id }
}

const readings = ({ domain, tokenId }: Site): Reading[] => [
  ['domains', '', 'table.list'],
  ['records', `domains/${domain}`, '.record-row'],
  ['history', `domains/${domain}/history`, '.entries > li'],
  ['dnssec', `domains/${domain}/dnssec`, 'text=The key itself'],
  ['nameservers', `domains/${domain}/nameservers`, 'text=May transfer'],
  ['zonefile', `domains/${domain}/zonefile`, 'textarea'],
  ['search', 'search?text=192.0.2.1', 'table.list'],
  ['tokens', 'tokens', 'table.list'],
  ['token', `tokens/${tokenId}`, 'text=Save the settings'],
  ['account', 'account', 'text=Your address is'],
]

/** The pages that ask for nothing before their user does something. */
const others = ({ domain }: Site): Reading[] => [
  ['new-domain', 'new-domain', 'text=Such as example.org'],
  ['delete', `domains/${domain}/delete`, 'text=Type the name'],
  ['new-token', 'tokens/new', 'text=Name of the token'],
]

const button = (name: string) => (page: Page) => page.getByRole('button', { name, exact: true }).click()

/** Types into a field, and clicks. */
const typed = (label: string, text: string, name: string) => async (page: Page) => {
  await page.getByLabel(label, { exact: true }).fill(text)
  await button(name)(page)
}

/** The fields of a token's settings, the name first. */
const SETTINGS = 'form:has-text("Save the settings") input'

const writings = ({ domain, tokenId }: Site): Writing[] => [
  ['new-domain', 'new-domain', typed('Name', 'new.test', 'Add the domain'), ['input', 'new.test']],
  ['delete', `domains/${domain}/delete`, typed('Type the name of the domain', domain, `Delete ${domain}`), ['input', domain]],
  ['records', `domains/${domain}`, async (page) => {
    await stageNew(page, 'new', 'A', '192.0.2.9')
    await button('Review')(page)
  }],
  ['history', `domains/${domain}/history`, async (page) => {
    await page.locator('.entries summary').first().click()
    await button('Undo this change')(page)
  }],
  ['check', `domains/${domain}/dnssec`, button('Check now')],
  ['rollover', `domains/${domain}/dnssec`, button('Replace the key')],
  ['nameservers', `domains/${domain}/nameservers`, typed('May transfer', '192.0.2.7', 'Save'), ['textarea', '192.0.2.7']],
  ['zonefile', `domains/${domain}/zonefile`, typed('Zone file', '@ MX 0 .', 'Review'), ['textarea', '@ MX 0 .']],
  ['new-token', 'tokens/new', async (page) => {
    await page.getByRole('radio').last().check()
    await typed('Name of the token', 'router', 'Create the token')(page)
  }, ['input:not([type])', 'router']],
  ['token', `tokens/${tokenId}`, async (page) => {
    await page.locator(SETTINGS).first().fill('router')
    await button('Save the settings')(page)
  }, [SETTINGS, 'router']],
  ['account', 'account', button('Sign out everywhere else')],
] // prettier-ignore

/** Answers the requests of the API with this status until `heal` is called; those about the session itself are not touched. */
async function answering(page: Page, isTouched: (method: string) => boolean, status: number): Promise<void> {
  await page.route('**/api/v1/**', (route) => {
    const request = route.request()
    if (!isTouched(request.method()) || request.url().endsWith('/auth/token/')) return route.continue()
    const headers = { 'retry-after': '60' }
    return route.fulfill({ status, headers, json: { detail: `The test answers ${status}.` } })
  })
}

const heal = (page: Page) => page.unroute('**/api/v1/**')

/** Uses all buttons that ask again. */
const TRY_AGAIN = `for (const button of document.querySelectorAll('.alert button')) button.click()`

const isRead = (method: string) => method === 'GET'
const isWrite = (method: string) => method !== 'GET'

/** Opens a page in the session of the tab. */
async function open({ page }: Tab, path: string): Promise<void> {
  await page.goto(`${service().url}/console/${path}`)
}

/** Checks that a page waits and says so, and shows what it asked for once it is served again. */
async function checkWaiting(t: ExecutionContext, tab: Tab, [name, path, shown]: Reading, status: number) {
  const { page } = tab
  await answering(page, isRead, status)
  await open(tab, path)
  const words = status === 429 ? 'Too many requests.' : 'The service cannot answer at the moment.'
  await page.getByText(new RegExp(`^${words} Trying again in \\d+ s.$`)).waitFor()
  await check(t, tab, `${name}-${status}`)
  await heal(page)
  await page.clock.fastForward(61_000)
  await page.locator(shown).first().waitFor()
  await page.locator('.waiting').waitFor({ state: 'detached' })
}

function declare(test: Declare, browser: () => Browser): void {
  for (const status of [429, 503]) {
    test(`every page counts down while the service answers ${status}, and then asks again`, async (t) => {
      const site = await newSite()
      const tab = await openConsole(browser(), service().url, { secret: site.secret })
      await tab.page.clock.install()
      for (const reading of readings(site)) await checkWaiting(t, tab, reading, status)
      await tab.page.context().close()
      t.deepEqual(tab.found, [])
    })
  }

  test('every page says that it loads', async (t) => {
    const site = await newSite()
    const tab = await openConsole(browser(), service().url, { secret: site.secret })
    const { page } = tab
    for (const [name, path, shown] of readings(site)) {
      const answers: (() => void)[] = []
      let isHeld = true
      await page.route('**/api/v1/**', (route) => {
        if (!isHeld) return route.continue()
        answers.push(() => void route.continue())
        return undefined
      })
      await open(tab, path)
      await page.getByText('Loading…').waitFor()
      if (path === '') await check(t, tab, 'beginning')
      for (const answer of answers.splice(0)) answer()
      await page.getByRole('button', { name: 'Sign out', exact: true }).waitFor()
      await page
        .getByText(name === 'records' ? '0 RRsets so far' : 'Loading…')
        .first()
        .waitFor()
      await check(t, tab, `${name}-loading`)
      isHeld = false
      for (const answer of answers.splice(0)) answer()
      await page.locator(shown).first().waitFor()
      await heal(page)
    }
    await page.context().close()
  })

  test('every page says what went wrong, and asks again', async (t) => {
    const site = await newSite()
    const tab = await openConsole(browser(), service().url, { secret: site.secret })
    const { page } = tab
    for (const [name, path, shown] of readings(site)) {
      await answering(page, isRead, 500)
      await open(tab, path)
      await page.getByRole('alert').getByText('The test answers 500.').first().waitFor()
      await check(t, tab, `${name}-error`)
      await heal(page)
      await page.evaluate(TRY_AGAIN)
      await page.locator(shown).first().waitFor()
      // What was shown below one of them can have failed, too.
      await page.evaluate(TRY_AGAIN)
      await page.getByRole('alert').waitFor({ state: 'detached' })
    }
    await page.context().close()
  })

  test('a write that the service cannot do says so, and what was typed stays', async (t) => {
    const site = await newSite()
    // A session of somebody else, which can be ended.
    await addToken(service(), site.accountId, { mfa: true })
    const tab = await openConsole(browser(), service().url, { secret: site.secret })
    const { page } = tab
    for (const [name, path, act, kept] of writings(site)) {
      await answering(page, isWrite, 503)
      await open(tab, path)
      await act(page)
      await page.getByRole('alert').getByText('The test answers 503.').waitFor()
      t.is(await page.locator('.waiting').count(), 0)
      if (kept !== undefined) t.is(await page.locator(kept[0]).first().inputValue(), kept[1], name)
      await check(t, tab, `${name}-write-503`)
      await heal(page)
    }
    await page.context().close()
  })

  test('a write that is throttled waits, and is sent again', async (t) => {
    const site = await newSite()
    const tab = await openConsole(browser(), service().url, { path: `domains/${site.domain}`, secret: site.secret })
    const { page } = tab
    await page.clock.install()
    await stageNew(page, 'new', 'A', '192.0.2.9')
    await answering(page, isWrite, 429)
    await button('Review')(page)
    await page
      .getByRole('dialog')
      .getByText(/^Too many requests. Trying again in \d+ s.$/)
      .waitFor()
    await check(t, tab, 'review-429')
    await heal(page)
    await page.clock.fastForward(61_000)
    await page.getByText('Creates 1 RRset.').waitFor()
    await button('Apply')(page)
    await page.getByText(/^Applied as version/).waitFor()
    t.deepEqual(tab.found, [])
    await page.context().close()
  })

  test('a session that has ended leads from every page to sign-in, and back', async (t) => {
    const site = await newSite()
    for (const [name, path, shown] of [...readings(site), ...others(site)]) {
      const { id, secret } = await addToken(service(), site.accountId, { permManageTokens: true })
      const tab = await openConsole(browser(), service().url, { path, secret })
      const { page } = tab
      await page.locator(shown).first().waitFor()
      await service().clientOf(site.secret).delete(`/auth/tokens/${id}/`)
      await page.reload()
      await page.getByText('Your session has ended.').waitFor()
      if (path === '') await check(t, tab, 'session-ended')
      await page.getByLabel('Token').fill(site.secret)
      await button('Use the token')(page)
      await page.locator(shown).first().waitFor()
      t.deepEqual(tab.found, [], name)
      await page.context().close()
    }
  })

  for (const [kind, permissions, policies, words] of [
    ['read-only', {}, [{ write: false }], 'This token may only read.'],
    [
      'restricted',
      { permCreateDomain: true },
      [{ write: false }, { subname: 'www', type: 'A', write: true }],
      'This token',
    ],
  ] as const) {
    test(`every page is whole with a ${kind} token, and says what it may do`, async (t) => {
      const site = await newSite()
      const { id, secret } = await addToken(service(), site.accountId, permissions)
      await addPolicies(service(), id, ...policies)
      const tab = await openConsole(browser(), service().url, { secret })
      const { page } = tab
      for (const [name, path, shown] of [...readings(site), ...others(site)]) {
        await open(tab, path)
        t.true((await page.getByRole('note').innerText()).startsWith(words))
        const denied: Record<string, string> = {
          tokens: 'may not manage tokens',
          token: 'may not manage tokens',
          account: 'may not see or change the account',
          nameservers: 'may not see or change these',
        }
        const text = denied[name]
        await (text === undefined ? page.locator(shown) : page.getByText(text)).first().waitFor()
        await check(t, tab, `${name}-${kind}`)
      }
      await page.context().close()
    })
  }

  test('while a second factor is awaited, every page asks for it', async (t) => {
    const site = await newSite()
    const { id, email } = await people.person(service())
    await addFactor(service(), id)
    const tab = await openConsole(browser(), service().url)
    const { page } = tab
    await page.getByLabel('E-mail').fill(email)
    await page.getByLabel('Password').fill(people.PASSWORD)
    await button('Sign in')(page)
    await page.getByLabel('Code').waitFor()
    for (const [, path] of [...readings(site), ...others(site)]) {
      await open(tab, path)
      await page.getByLabel('Code').waitFor()
      t.is(await page.getByRole('navigation').count(), 0)
    }
    await check(t, tab, 'second-factor-pending')
    await page.context().close()
    t.deepEqual(tab.found, [])
  })

  test('what is empty says what to do next', async (t) => {
    const zone = await newZone(service())
    const { email } = await people.person(service())
    const records = await openConsole(browser(), service().url, {
      path: `domains/${zone.domain}`,
      secret: zone.account.secret,
    })
    await records.page.getByText(/^Only the nameservers so far. Add a record/).waitFor()
    await check(t, records, 'records-empty')
    await records.page.getByRole('link', { name: 'History' }).click()
    await records.page.getByLabel('Name').fill('absent')
    await records.page.keyboard.press('Enter')
    await records.page.getByText('No change matches.').waitFor()
    await check(t, records, 'history-empty')
    await records.page.context().close()
    const tab = await openConsole(browser(), service().url, { path: 'tokens' })
    const { page } = tab
    await page.getByLabel('E-mail').fill(email)
    await page.getByLabel('Password').fill(people.PASSWORD)
    await button('Sign in')(page)
    await page.getByText('No tokens yet.').waitFor()
    await check(t, tab, 'tokens-empty')
    await open(tab, '')
    await page.getByText('Deleted domains').click()
    await page.getByText('None that could come back.').waitFor()
    await check(t, tab, 'domains-empty')
    await open(tab, 'nowhere')
    await page.getByRole('heading', { name: 'There is no such page' }).waitFor()
    await check(t, tab, 'no-page')
    await page.context().close()
  })
}
