import type { ExecutionContext } from 'ava'
import type { Page, Request, Route } from 'playwright-core'
import { newZone } from '../support/clients/api.ts'
import { loginOf } from '../support/clients/members.ts'
import * as people from '../support/clients/people.ts'
import { addFactor, addPolicies, addToken } from '../support/clients/tokens.ts'
import { check, sendToken, signInWithPassword, useConsole } from '../support/console/console.ts'
import { answering, heal, isRead, newSite, refusal, type Site } from '../support/console/states.ts'
import { eventually } from '../support/eventually.ts'
import { useService } from '../support/harness.ts'

// Every page in every state: while it waits, when the service cannot answer, and with each kind of session.

const service = useService({ REGISTRATION: 'open' })
const { test, openTab } = useConsole(service)

/** A page that asks the API: its name, its path, and what shows that the answers have come. */
type Reading = [name: string, path: string, shown: string]

const readings = ({ domain, tokenId }: Site): Reading[] => [
  ['domains', '', 'table.list'],
  ['records', `domains/${domain}`, '.record-row'],
  ['history', `domains/${domain}/history`, '.entries > li'],
  ['dnssec', `domains/${domain}/dnssec`, 'text=My registrar wants'],
  ['nameservers', `domains/${domain}/nameservers`, 'text=May transfer'],
  ['zonefile', `domains/${domain}/zonefile`, 'textarea'],
  ['settings', `domains/${domain}/settings`, 'text=Shortest TTL'],
  ['search', 'search?text=192.0.2.1', 'table.list'],
  ['activity', 'activity', '.entries > li'],
  ['tokens', 'tokens', 'text=May write all records'],
  ['token', `tokens/${tokenId}`, 'text=Save the settings'],
  ['webhooks', 'webhooks', 'text=Nothing delivered in the last 7 days'],
  ['account', 'account', 'text=Your address is'],
]

/** The pages that ask for nothing before their user does something. */
const OTHERS: Reading[] = [
  ['new-domain', 'new-domain', 'text=Such as example.org'],
  ['new-token', 'tokens/new', 'text=Name of the token'],
]

/** Uses all buttons that ask again. */
const TRY_AGAIN = `for (const button of document.querySelectorAll('.alert button')) button.click()`

/** Opens a page in the session of the tab. */
async function open(page: Page, path: string): Promise<void> {
  await page.goto(`${service().url}/console/${path}`)
}

/**
 * What a page asks the API for, besides what the session may do, for whom else, and what the service offers: pages are whole
 * without these.
 */
async function askedBy(page: Page, [, path, shown]: Reading): Promise<string[]> {
  const urls = new Set<string>()
  const note = (request: Request) => {
    if (/\/api\/v1\/(?!auth\/token\/$|auth\/memberships\/|service\/$)/.test(request.url())) urls.add(request.url())
  }
  page.on('request', note)
  await open(page, path)
  await page.locator(shown).first().waitFor()
  await page.waitForLoadState('networkidle')
  page.off('request', note)
  return [...urls]
}

/** What requests wait for until it is opened. */
function newGate(): { opened: Promise<void>; open: () => void } {
  let open = (): void => undefined
  const opened = new Promise<void>((resolve) => (open = resolve))
  return { opened, open }
}

/** Opens a page, and resolves when it has drawn all answers but those from one URL, which wait until `refuse`. */
async function openHolding(page: Page, path: string, held: string): Promise<() => Promise<void>> {
  const running = new Set<Request>()
  const begin = (request: Request) => running.add(request)
  const end = (request: Request) => running.delete(request)
  page.on('request', begin).on('requestfinished', end).on('requestfailed', end)
  const routes: Route[] = []
  await page.route(held, (route) => void routes.push(route))
  await open(page, path)
  await eventually(() => routes.length > 0 && running.size === routes.length)
  await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)))')
  page.off('request', begin).off('requestfinished', end).off('requestfailed', end)
  return async () => {
    await Promise.all(routes.map((route) => route.fulfill(refusal(500))))
    await page.unroute(held)
  }
}

/** The seconds that the countdown shows. */
async function secondsShown(page: Page): Promise<number> {
  return Number(/(\d+) s\./.exec(await page.locator('.waiting').innerText({ timeout: 5000 }))![1])
}

/** Checks that a page waits and says so, and shows what it asked for once it is served again. */
async function checkWaiting(t: ExecutionContext, page: Page, [name, path, shown]: Reading, status: number) {
  await answering(page, isRead, status)
  await open(page, path)
  const words = status === 429 ? 'Too many requests.' : 'The service cannot answer at the moment.'
  await page.getByText(new RegExp(`^${words} Trying again in \\d+ s.$`)).waitFor()
  // Only the words differ.
  if (status === 429) await check(t, page, name)
  const before = await page.locator('.waiting').innerText()
  await page.clock.fastForward(2_000)
  await page.locator('.waiting').filter({ hasNotText: before }).waitFor()
  await heal(page)
  await page.clock.fastForward(61_000)
  await page.locator(shown).first().waitFor()
  await page.locator('.waiting').waitFor({ state: 'detached' })
}

for (const status of [429, 503]) {
  test(`every page counts down while the service answers ${status}, and then asks again`, async (t) => {
    const site = await newSite(service())
    const { page } = await openTab({ secret: site.secret })
    await page.clock.install()
    for (const reading of readings(site)) await checkWaiting(t, page, reading, status)
  })
}

test('every page says that it loads', async (t) => {
  const site = await newSite(service())
  const { page } = await openTab({ secret: site.secret })
  for (const [name, path, shown] of readings(site)) {
    const [session, rest] = [newGate(), newGate()]
    await page.route('**/api/v1/**', async (route) => {
      await (route.request().url().endsWith('/auth/token/') ? session : rest).opened
      await route.continue()
    })
    await open(page, path)
    await page.getByText('Loading…').waitFor()
    if (path === '') await check(t, page, 'beginning')
    session.open()
    await page.getByRole('button', { name: 'Sign out', exact: true }).waitFor()
    await page.getByText('Loading…').first().waitFor()
    await check(t, page, `${name}-loading`)
    rest.open()
    await page.locator(shown).first().waitFor()
    await heal(page)
  }
})

test('whatever of a page is not there yet, or fails alone, the page says so, and asks again', async (t) => {
  const site = await newSite(service())
  const { page } = await openTab({ secret: site.secret })
  for (const reading of readings(site)) {
    const [name, path, shown] = reading
    const urls = await askedBy(page, reading)
    t.not(urls.length, 0)
    for (const url of urls) {
      const refuse = await openHolding(page, path, url)
      t.true(await page.getByText('Loading…', { exact: true }).first().isVisible(), `${name} ${url}`)
      await refuse()
      await page.getByRole('alert').getByText('The test answers 500.').first().waitFor()
      if (url === urls[0]) await check(t, page, `${name}-error`)
      await page.evaluate(TRY_AGAIN)
      await eventually(async () => (await page.getByRole('alert').count()) === 0)
      await page.locator(shown).first().waitFor()
    }
  }
})

for (const [one, other] of [
  [120, 30],
  [30, 120],
] as const) {
  test(`while requests wait ${one} and ${other} seconds, the longer wait is shown to its end`, async (t) => {
    const site = await newSite(service())
    const { page } = await openTab({ secret: site.secret })
    await page.clock.install()
    const token = `**/api/v1/auth/tokens/${site.tokenId}/`
    const policies = `${token}policies/rrsets/`
    const throttled = (seconds: number) => ({ status: 429, headers: { 'retry-after': String(seconds) } })
    const isFirst = new Set([token, policies])
    for (const [url, seconds] of [
      [token, one],
      [policies, other],
    ] as const) {
      await page.route(url, async (route) => {
        if (!isFirst.delete(url)) return route.continue()
        if (url === policies) await page.locator('.waiting').waitFor()
        return route.fulfill(throttled(seconds))
      })
    }
    const answered = page.waitForResponse(policies)
    await open(page, `tokens/${site.tokenId}`)
    await answered
    await eventually(async () => (await secondsShown(page)) > 30)
    const again = page.waitForResponse(one < other ? token : policies)
    await page.clock.fastForward(31_000)
    await again
    t.true((await secondsShown(page)) > 30)
    await page.clock.fastForward(90_000)
    await page.getByText('May write everything').waitFor()
    await page.locator('.waiting').waitFor({ state: 'detached' })
  })
}

test('a session that has ended leads from every page to sign-in, and back', async (t) => {
  const site = await newSite(service())
  let session = await loginOf(service(), site.accountId)
  const { page } = await openTab({ secret: session.secret })
  for (const [, path, shown] of [...readings(site), ...OTHERS]) {
    await open(page, path)
    await page.locator(shown).first().waitFor()
    // A request that is under way would end the session before the page is loaded again, which then cannot know it.
    await page.waitForLoadState('networkidle')
    await service().clientOf(site.secret).delete(`/auth/tokens/${session.id}/`)
    await page.reload()
    await page.getByText('Your session has ended.').waitFor()
    if (path === '') await check(t, page, 'session-ended')
    session = await loginOf(service(), site.accountId)
    await sendToken(page, session.secret)
    await page.locator(shown).first().waitFor()
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
    const site = await newSite(service())
    const { id, secret } = await addToken(service(), site.accountId, permissions)
    await addPolicies(service(), id, ...policies)
    const { page } = await openTab({ secret })
    for (const [name, path, shown] of [...readings(site), ...OTHERS]) {
      await open(page, path)
      t.true((await page.getByRole('note').innerText()).startsWith(words))
      const denied: Record<string, string> = {
        tokens: 'may not manage tokens',
        token: 'may not manage tokens',
        account: 'may not see or change the account',
        webhooks: 'may see its webhooks',
        nameservers: 'may not see or change these',
      }
      const text = denied[name]
      await (text === undefined ? page.locator(shown) : page.getByText(text)).first().waitFor()
      await check(t, page, `${name}-${kind}`)
    }
  })
}

test('while a second factor is awaited, every page asks for it', async (t) => {
  const site = await newSite(service())
  const { id, email } = await people.person(service())
  await addFactor(service(), id)
  const { page } = await openTab()
  await signInWithPassword(page, email)
  await page.getByLabel('Code').waitFor()
  for (const [, path] of [...readings(site), ...OTHERS]) {
    await open(page, path)
    await page.getByLabel('Code').waitFor()
    t.is(await page.getByRole('navigation').count(), 0)
  }
  await check(t, page, 'second-factor-pending')
})

test('what is empty says what to do next', async (t) => {
  const zone = await newZone(service())
  const { email } = await people.person(service())
  const records = await openTab({
    path: `domains/${zone.domain}`,
    secret: zone.account.secret,
  })
  await records.page.getByText(/^Only the nameservers so far. Add a record/).waitFor()
  await check(t, records.page, 'records-empty')
  await records.page.getByRole('link', { name: 'History' }).click()
  await records.page.getByLabel('Search the history').fill('absent')
  await records.page.keyboard.press('Enter')
  await records.page.getByText('No change matches.').waitFor()
  await check(t, records.page, 'history-empty')
  const { page } = await openTab({ path: 'tokens' })
  await signInWithPassword(page, email)
  await page.getByText('No tokens yet.').waitFor()
  await check(t, page, 'tokens-empty')
  await open(page, '')
  await page.getByRole('link', { name: 'Add a domain' }).waitFor()
  await check(t, page, 'domains-empty')
  await open(page, '?show=deleted')
  await page.getByText('None at the moment.').waitFor()
  await check(t, page, 'domains-none-deleted')
  await open(page, 'nowhere')
  await page.getByRole('heading', { name: 'There is no such page' }).waitFor()
  await check(t, page, 'no-page')
  // Where a link within the console leads; the service itself answers such a path with 404.
  for (const path of ['%', 'domains/%ff']) {
    await open(page, 'account')
    await page.getByRole('heading', { name: 'Account', exact: true }).waitFor()
    await page.evaluate(`history.pushState(null, '', '${path}'), dispatchEvent(new PopStateEvent('popstate'))`)
    await page.getByRole('heading', { name: 'There is no such page' }).waitFor()
  }
})
