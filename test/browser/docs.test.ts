import type { Page } from 'playwright-core'
import { PHONE, screenshot, useBrowser, watch } from '../support/browser.ts'
import { freshName } from '../support/clients/api.ts'
import { useService } from '../support/harness.ts'

// The page that shows the OpenAPI document, in a browser.

const service = useService()

const { test, browser } = useBrowser()

for (const colorScheme of ['light', 'dark'] as const) {
  test(`a person sets the token, sends a request and sees its answer: ${colorScheme}, on a phone`, async (t) => {
    const { secret, api } = await service().account()
    const name = freshName()
    const page = await browser().newPage({ viewport: PHONE, colorScheme })
    const found = await open(page)
    t.is(await ground(page), colorScheme)
    await page.getByRole('textbox', { name: 'Token' }).fill(secret)
    const operation = operationOf(page, 'createDomain')
    await operation.locator('.opblock-summary-control').click()
    await operation.locator('textarea').fill(JSON.stringify({ name }))
    await operation.getByRole('button', { name: 'Execute' }).click()
    const answer = operation.locator('.live-responses-table')
    await answer.getByText('201').first().waitFor()
    t.regex(await answer.innerText(), new RegExp(`"name": "${name}"`))
    t.is((await api.get(`/domains/${name}/`)).status, 200)
    t.is(await page.evaluate('document.documentElement.scrollWidth'), PHONE.width)
    // The browser keeps neither the token nor the answer.
    t.is(await page.evaluate('localStorage.length + sessionStorage.length + document.cookie.length'), 0)
    await screenshot(page, `docs-${colorScheme}`)
    t.deepEqual(found, [])
    await page.close()
  })
}

test('domains and RRsets come first; groups are closed but the first, until a person or a link opens them', async (t) => {
  const page = await browser().newPage()
  const found = await open(page)
  const groups = page.locator('.opblock-tag')
  const opened = page.locator('.opblock-tag[data-is-open=true]')
  for (const [i, name] of ['Domains', 'RRsets'].entries()) t.is(await groups.nth(i).getAttribute('data-tag'), name)
  t.is(await groups.last().getAttribute('data-tag'), 'Service')
  t.deepEqual(await opened.allInnerTexts(), [await groups.first().innerText()])
  await groups.nth(1).click()
  await operationOf(page, 'listRRsets').waitFor()
  await groups.first().click()
  await operationOf(page, 'listDomains').waitFor({ state: 'detached' })
  t.is(await opened.count(), 1)
  await page.goto('about:blank')
  await open(page, '#/Tokens/createToken')
  await operationOf(page, 'createToken').getByRole('button', { name: 'Execute' }).waitFor()
  t.deepEqual(found, [])
  await page.close()
})

test('a person does so with the keyboard, and sees where they are', async (t) => {
  const { secret } = await service().account()
  const page = await browser().newPage()
  const found = await open(page)
  const operation = operationOf(page, 'showAccount')
  for (const [selector, key] of [
    ['#token', secret],
    ['#operations-tag-Accounts .expand-operation', 'Enter'],
    ['#operations-Accounts-showAccount .opblock-summary-control', 'Enter'],
    ['#operations-Accounts-showAccount .execute', 'Enter'],
  ] as const) {
    t.true(await tabTo(page, selector), selector)
    t.not(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle'), 'none', selector)
    if (key === 'Enter') await page.keyboard.press(key)
    else await page.keyboard.type(key)
  }
  await operation.locator('.live-responses-table').getByText('limit_domains').first().waitFor()
  t.deepEqual(found, [])
  await page.close()
})

/** Opens the page, and waits until it shows the document. Returns what `watch` finds. */
async function open(page: Page, part = ''): Promise<string[]> {
  const url = new URL(`/api/v1/docs/${part}`, service().url)
  const found = watch(page, url.origin)
  await page.goto(url.href)
  await page.locator('.opblock').first().waitFor()
  return found
}

/** The part of the page about an operation, by its id in the document. */
function operationOf(page: Page, id: string) {
  return page.locator(`.opblock[id$="-${id}"]`)
}

/** Whether the page has dark text on light ground, or the other way round. */
async function ground(page: Page): Promise<string> {
  return page.evaluate(`
    const sum = (color) => color.match(/[0-9]+/g).slice(0, 3).reduce((total, part) => total + Number(part), 0)
    const text = document.querySelector('.opblock-tag')
    sum(getComputedStyle(text).color) < sum(getComputedStyle(document.body).backgroundColor) ? 'light' : 'dark'`)
}

/** Presses the tabulator until an element that matches has the focus; whether one gets it. */
async function tabTo(page: Page, selector: string): Promise<boolean> {
  for (let i = 0; i < 200; i++) {
    await page.keyboard.press('Tab')
    if (await page.evaluate(`document.activeElement.matches(${JSON.stringify(selector)})`)) return true
  }
  return false
}
