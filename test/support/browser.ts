import test from 'ava'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'
import { type Declare, needs } from './needs.ts'
import { CHROMIUM } from './servers/packages.ts'

// Pages in a browser. SCREENSHOTS=<folder> keeps a screenshot of each.

const FOLDER = process.env['SCREENSHOTS']
export const KEEPS_SCREENSHOTS = FOLDER !== undefined

/** Milliseconds for which a page may take to show what a test waits for: a busy machine needs tens of seconds. */
const PATIENCE = 180_000

export const PHONE = { width: 360, height: 740 }

/** A browser for the tests of a file; where none is installed, they are skipped. @param more options of Chromium */
export function useBrowser(more: string[] = []): { test: Declare; browser: () => Browser } {
  const missing = existsSync(CHROMIUM) ? undefined : `Chromium (Debian: chromium) is not at ${CHROMIUM}`
  let browser: Browser | undefined
  test.serial.before('a browser', async () => {
    if (missing !== undefined) return
    // Without the browser's own requests to its vendor, which fail on some machines.
    const args = ['--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run']
    browser = await chromium.launch({ executablePath: CHROMIUM, args: [...args, ...more] })
    browser.on('context', (context) => {
      context.setDefaultTimeout(PATIENCE)
    })
  })
  test.after.always('the browser is closed', async () => {
    await browser?.close()
  })
  return { test: needs(missing, test.serial), browser: () => browser! }
}

/** Collects requests to origins other than that of `url`, and the browser's warnings that match `words`; both must stay empty. */
export function watch(page: Page, url: string, words = /./): string[] {
  const found: string[] = []
  page.on('request', (request) => {
    if (!request.url().startsWith(url)) found.push(request.url())
  })
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type()) && words.test(message.text())) found.push(message.text())
  })
  page.on('pageerror', ({ message }) => found.push(message))
  return found
}

export async function screenshot(page: Page, name: string): Promise<void> {
  if (FOLDER !== undefined) await page.screenshot({ path: join(FOLDER, `${name}.png`), caret: 'initial' })
}
