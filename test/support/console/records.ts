import type { Page } from 'playwright-core'
import { newZone, type RRsetBody, type Zone } from '../clients/api.ts'
import type { TestService } from '../harness.ts'
import { type Tab, useConsole } from './console.ts'

// The records page, and keys.

/** Tests of the records of domains. */
export function useRecords(service: () => TestService) {
  const { test, openRecords } = useConsole(service)
  /** A new account and its domain, with these RRsets besides its NS, and the tab with its records. */
  const openZone = async (...rrsets: RRsetBody[]): Promise<{ zone: Zone; tab: Tab; page: Page }> => {
    const zone = await newZone(service(), ...rrsets)
    const tab = await openRecords(zone.domain, zone.account.secret)
    return { zone, tab, page: tab.page }
  }
  return { test, openRecords, openZone }
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
