import type { Browser, Page } from 'playwright-core'
import { openConsole, type Tab } from './console.ts'

// The records page, and keys.

/** Opens the records of a domain, and waits until all have come. */
export async function openRecords(browser: Browser, url: string, domain: string, secret: string): Promise<Tab> {
  const tab = await openConsole(browser, url, { path: `domains/${domain}`, secret })
  await tab.page.getByText(/^[\d,]+ record sets?$/).waitFor()
  return tab
}

/** Presses keys, one after the other. */
export async function press(page: Page, ...keys: string[]): Promise<void> {
  for (const key of keys) await page.keyboard.press(key)
}

/** What the element with the focus is called. */
export function focused(page: Page): Promise<string> {
  return page.evaluate<string>(`(({ activeElement: e }) =>
    e.ariaLabel ?? e.labels?.[0]?.textContent ?? e.textContent)(document)`)
}

/** Presses the Tab key until the element with this name has the focus. */
export async function tabTo(page: Page, name: string): Promise<void> {
  const passed: string[] = []
  while (passed.length < 40) {
    const current = await focused(page)
    if (current === name) return
    passed.push(current)
    await page.keyboard.press('Tab')
  }
  throw new Error(`the Tab key does not lead to ${name}, but to ${passed.join(', ')}`)
}

/** Stages a new RRset with one record, typed as text. */
export async function stageNew(page: Page, name: string, type: string, record: string, ttl?: string): Promise<void> {
  await page.getByRole('button', { name: 'Add record' }).click()
  const form = page.getByRole('form', { name: 'Add record' })
  await form.getByLabel('Name').fill(name)
  await form.getByLabel('Type').selectOption(type)
  if (ttl !== undefined) await form.getByLabel('TTL').fill(ttl)
  const toText = form.getByRole('button', { name: 'Edit as text' })
  if ((await toText.count()) > 0) await toText.click()
  await form.getByLabel('Record as text').fill(record)
  await form.getByRole('button', { name: 'Save', exact: true }).click()
  await form.waitFor({ state: 'detached' })
}

/** Reviews what is staged, and applies it. */
export async function apply(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Review' }).click()
  await page.getByRole('button', { name: 'Apply' }).click()
  await page.getByText(/^Applied: /).waitFor()
}
