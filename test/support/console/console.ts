import type { ExecutionContext } from 'ava'
import type { RunOptions } from 'axe-core'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Browser, Page } from 'playwright-core'
import { KEEPS_SCREENSHOTS, screenshot, useBrowser, watch } from '../browser.ts'
import { PASSWORD } from '../clients/people.ts'
import type { Declare } from '../needs.ts'

// The console in a browser.

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

export const DESK = { width: 1440, height: 900 }

/** A window of 1,280 pixels at 400 % (WCAG 2.2, 1.4.10). */
const NARROW = { width: 320, height: 740 }

/**
 * Runs in the page: texts beyond the edge of something that does not scroll, unless dots stand for the rest, and
 * controls that lie upon each other. What floats over the page may.
 */
const HIDDEN = `(() => {
  const top = document.querySelector('dialog[open]') ?? document.body
  const isShown = (element) => {
    const { width, height } = element.getBoundingClientRect()
    const isClipped = (part) => part !== null && (getComputedStyle(part).clipPath !== 'none' || isClipped(part.parentElement))
    return width > 1 && height > 1 && element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && !isClipped(element)
  }
  const shown = [...top.querySelectorAll('*')].filter(isShown)
  const named = (element) => element.outerHTML.slice(0, 120)
  const isCut = (element) => {
    const { left, right } = element.getBoundingClientRect()
    for (let part = element.parentElement; part !== null; part = part.parentElement) {
      const { overflowX, textOverflow } = getComputedStyle(part)
      if (['auto', 'scroll'].includes(overflowX) || textOverflow === 'ellipsis') return false
      const edges = part.getBoundingClientRect()
      if (overflowX !== 'visible' && (left < edges.left - 1 || right > edges.right + 1)) return true
    }
    return false
  }
  const cut = shown.filter((element) => element.childElementCount === 0 && element.textContent.trim() !== '' && isCut(element))
  const floating = (element) => element.closest('.foot, .bar, dialog .buttons')
  const controls = shown.filter((element) => element.matches('a, button, input, select, textarea, summary'))
  const upon = controls.flatMap((one, i) => controls.slice(i + 1).filter((other) => {
    if (one.contains(other) || floating(one) !== floating(other)) return false
    const [a, b] = [one.getBoundingClientRect(), other.getBoundingClientRect()]
    return Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1
  }).map((other) => named(one) + ' and ' + named(other)))
  return [...cut.map((element) => 'cut off: ' + named(element)), ...upon]
})()`

/** The console in a tab, and what `watch` finds there, which must stay empty. */
export interface Tab {
  page: Page
  found: string[]
}

/** How a tab begins: a path of the console, perhaps with the session of a token. */
type Beginning = Parameters<Browser['newContext']>[0] & { path?: string; secret?: string }

/** Tests of a service's console. After each, its tabs are closed, in which `watch` must have found nothing. */
export function useConsole(service: () => { url: string }, more: string[] = []) {
  const { test: declare, browser } = useBrowser(more)
  const tabs: Tab[] = []
  const test: Declare = (title, work) => {
    declare(title, async (t) => {
      try {
        await work(t)
        for (const { found } of tabs) t.deepEqual(found, [])
      } finally {
        await Promise.all(tabs.splice(0).map(({ page }) => page.context().close()))
      }
    })
  }
  const openTab = async (beginning: Beginning = {}, url = service().url): Promise<Tab> => {
    const tab = await openConsole(browser(), url, beginning)
    tabs.push(tab)
    return tab
  }
  /** Opens the records of a domain, and waits until all have come. */
  const openRecords = async (domain: string, secret: string): Promise<Tab> => {
    const tab = await openTab({ path: `domains/${domain}`, secret })
    await tab.page.getByText(/^[\d,]+ record sets?$/).waitFor()
    return tab
  }
  return { test, browser, openTab, openRecords }
}

/** Opens a path of the console in a new tab, perhaps with the session of a token. */
export async function openConsole(
  browser: Browser,
  url: string,
  { path = '', secret, ...options }: Beginning = {},
): Promise<Tab> {
  const context = await browser.newContext({ viewport: DESK, ...options })
  const page = await context.newPage()
  // The browser reports refusals of the API, which the console shows, and that a header has no effect without TLS.
  const found = watch(page, url, /^(?!Failed to load resource: the server responded|The Cross-Origin-Opener-Policy)/)
  await page.goto(`${url}/console/${path}`)
  if (secret !== undefined) await signIn(page, secret)
  return { page, found }
}

/** Signs in with address and password, as far as the page after that. */
export async function signInWithPassword(page: Page, email: string, password = PASSWORD): Promise<void> {
  await page.getByLabel('E-mail', { exact: true }).fill(email)
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}

/** Sends an API token from the sign-in page. */
export async function sendToken(page: Page, secret: string): Promise<void> {
  await page.getByRole('button', { name: 'Use an API token' }).click()
  await page.getByLabel('Token').fill(secret)
  await page.getByRole('button', { name: 'Use the token' }).click()
}

/** Signs in with an API token, as its user does. */
export async function signIn(page: Page, secret: string): Promise<void> {
  await sendToken(page, secret)
  await page.getByRole('button', { name: 'Sign out', exact: true }).waitFor()
}

type Media = Parameters<Page['emulateMedia']>[0]
/** Which rules axe-core applies. */
type Rules = Pick<RunOptions, 'runOnly' | 'rules'>

const ALL = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
const CONTRAST = 'color-contrast'
const LIGHT: Media = { colorScheme: 'light' }
/**
 * How pages are checked, and by which rules. Only colours depend on the scheme, and no colour depends on the width. The
 * rule of contrast takes most of the time.
 */
const WAYS: [name: string, viewport: { width: number; height: number }, media: Media, rules: Rules][] = [
  ['narrow', NARROW, LIGHT, { runOnly: ALL, rules: { [CONTRAST]: { enabled: false } } }],
  ['desk', DESK, LIGHT, { runOnly: ALL }],
  ['dark', DESK, { colorScheme: 'dark' }, { runOnly: [CONTRAST] }],
  ['forced', DESK, { colorScheme: 'light', forcedColors: 'active' }, { runOnly: [CONTRAST] }],
]

/**
 * Checks the page as it is now, on a desk and at 400 %, and on a desk also dark and with forced colours: no violation of
 * WCAG that axe-core finds, and nothing that is cut off or hides something else.
 */
export async function check(t: ExecutionContext, page: Page, name: string): Promise<void> {
  for (const [way, viewport, media, rules] of WAYS) {
    await page.setViewportSize(viewport)
    await page.emulateMedia({ forcedColors: 'none', ...media })
    t.deepEqual(await violations(page, rules), [], `${name} ${way}`)
    if (media !== LIGHT) continue
    t.is(await page.evaluate('document.documentElement.scrollWidth'), viewport.width, `${name} ${way}: too wide`)
    t.deepEqual(await page.evaluate(HIDDEN), [], `${name} ${way}`)
  }
  await page.emulateMedia({ forcedColors: 'none' })
  if (KEEPS_SCREENSHOTS) await keep(page, name)
}

/** Keeps screenshots of the page for people: on a phone, a laptop and a large desk, light and dark. */
async function keep(page: Page, name: string): Promise<void> {
  for (const [width, height] of [
    [390, 844],
    [1440, 900],
    [2560, 1440],
  ] as const) {
    await page.setViewportSize({ width, height })
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await screenshot(page, `console-${name}-${width}-${colorScheme}`)
    }
  }
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize(DESK)
}

/** What axe-core finds on the page by these rules: the rule, and the elements. */
async function violations(page: Page, rules: Rules): Promise<string[]> {
  // Its source is large, so a document is given it once. The page's policy does not apply to what the test runs.
  if (await page.evaluate('!window.axe')) await page.evaluate(AXE)
  const found = await page.evaluate(`(async () => {
    const { violations } = await axe.run(${JSON.stringify({ ...rules, resultTypes: ['violations'] })})
    return violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' '))
  })()`)
  return found as string[]
}
