import { newZone } from '../support/clients/api.ts'
import { check, useConsole } from '../support/console/console.ts'
import { eventually } from '../support/eventually.ts'
import { useService } from '../support/harness.ts'

// Go to…: one list of domains, pages and acts.

const service = useService()
const { test, openTab } = useConsole(service)

test('from anywhere, the keyboard leads to a domain, an act in it, and out', async (t) => {
  const { domain, account } = await newZone(service())
  const { page } = await openTab({ path: 'account', secret: account.secret })
  const list = page.getByRole('dialog', { name: 'Go to' })
  const open = async (key = 'Control+k') => {
    await page.keyboard.press(key)
    await list.waitFor()
  }
  await open()
  await list.getByRole('option', { name: domain, exact: true }).waitFor()
  await check(t, page, 'go-to')
  await page.keyboard.press('Escape')
  await list.waitFor({ state: 'detached' })
  await page.locator('h1').focus()
  await open('/')
  await page.keyboard.type(`${domain.toUpperCase()} history`)
  t.is(await list.getByRole('option', { selected: true }).innerText(), `History of ${domain}`)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: domain }).waitFor()
  t.is(await page.getByRole('link', { name: 'History' }).getAttribute('aria-current'), 'page')

  await page.getByRole('button', { name: 'Go to…' }).click()
  await list.waitFor()
  await page.keyboard.type('add record')
  await page.keyboard.press('Enter')
  await page.getByRole('form', { name: 'Add record' }).waitFor()
  await open()
  await page.keyboard.type('tok')
  await page.keyboard.press('ArrowDown')
  t.is(await list.getByRole('option', { selected: true }).innerText(), 'Create token')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Tokens' }).waitFor()
  await eventually(async () => (await page.title()) === 'Tokens · Zoneplane')
  await open()
  await page.keyboard.type('nothing of this kind')
  await list.getByText('Nothing matches “nothing of this kind”.').waitFor()
  await page.keyboard.press('Escape')
  await open()
  await page.keyboard.type('sign out')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
})
