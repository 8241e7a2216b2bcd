import type { ExecutionContext } from 'ava'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Browser, Page } from 'playwright-core'
import { PHONE, screenshot, watch } from '../browser.ts'

// The console in a browser.

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

export const DESK = { width: 1440, height: 900 }

/** The console in a tab, and what `watch` finds there, which must stay empty. */
export interface Tab {
  page: Page
  found: string[]
}

/** Opens a path of the console in a new tab, perhaps with the session of a token. */
export async function openConsole(
  browser: Browser,
  url: string,
  { path = '', secret, ...options }: Parameters<Browser['newContext']>[0] & { path?: string; secret?: string } = {},
): Promise<Tab> {
  const context = await browser.newContext({ viewport: DESK, ...options })
  const page = await context.newPage()
  // The browser reports refusals of the API, which the console shows, and that a header has no effect without TLS.
  const found = watch(page, url, /^(?!Failed to load resource: the server responded|The Cross-Origin-Opener-Policy)/)
  await page.goto(`${url}/console/${path}`)
  if (secret !== undefined) await signIn(page, secret)
  return { page, found }
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

/** Checks the page as it is now, light and dark, on a phone and on a desk: no violation of WCAG that axe-core finds. */
export async function check(t: ExecutionContext, { page, found }: Tab, name: string): Promise<void> {
  for (const [size, viewport] of Object.entries({ phone: PHONE, desk: DESK })) {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.setViewportSize(viewport)
      await page.emulateMedia({ colorScheme })
      t.deepEqual(await violations(page), [], `${name} ${size} ${colorScheme}`)
      t.is(await page.evaluate('document.documentElement.scrollWidth'), viewport.width, `${name} ${size}: too wide`)
      await screenshot(page, `console-${name}-${size}-${colorScheme}`)
    }
  }
  t.deepEqual(found, [], name)
}

/** What axe-core finds on the page: the rule, and the elements. It runs in a world of its own, beyond the page's policy. */
async function violations(page: Page): Promise<string[]> {
  const found = await page.evaluate(`(async () => {
    ${AXE}
    const { violations } = await axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })
    return violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' '))
  })()`)
  return found as string[]
}
