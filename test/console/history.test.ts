import type { Browser } from 'playwright-core'
import { check, openConsole } from '../support/console/console.ts'
import { withBrowser } from '../support/browser.ts'
import { newDomain, newRRset, succeeded, type ShownRRset } from '../support/clients/api.ts'
import type { Client } from '../support/clients/client.ts'
import { eventuallyIs } from '../support/eventually.ts'
import { useService } from '../support/harness.ts'
import type { Declare } from '../support/needs.ts'

// The pages of a domain's history, its zone file, and its deletion.

const service = useService()

withBrowser(declare)

const MARKUP = '"<img src=x onerror=alert(1)>"'

/** The records of www A. */
async function recordsOf(api: Client, name: string): Promise<string[]> {
  return (succeeded(await api.get(`/domains/${name}/rrsets/www/A/`), 200).json as ShownRRset).records
}

function declare(test: Declare, browser: () => Browser): void {
  test('a person finds who changed what, undoes it, and sees the zone as it was', async (t) => {
    const { api, secret } = await service().account()
    const name = await newDomain(api)
    await newRRset(api, name, { subname: 'www', type: 'A', ttl: 300, records: ['192.0.2.1'] })
    await newRRset(api, name, { subname: '', type: 'TXT', ttl: 300, records: [MARKUP] })
    succeeded(await api.delete(`/domains/${name}/rrsets/www/A/`), 204)
    const tab = await openConsole(browser(), service().url, { path: `domains/${name}/history`, secret })
    const { page } = tab
    const entries = page.locator('.entries > li')
    await entries.first().waitFor()
    t.is(await entries.count(), 4)
    t.regex(await entries.first().innerText(), /1 RRset by a token \(API\)$/)

    await page.getByLabel('Name').fill('www')
    await page.getByLabel('Type').fill('a')
    await page.keyboard.press('Enter')
    await eventuallyIs(() => entries.count(), 2)
    await entries.first().getByText('RRset').click()
    await entries.first().getByText('removed: 192.0.2.1').waitFor()
    await check(t, tab, 'history')

    await page.getByRole('button', { name: 'Show the zone as it was' }).click()
    const former = await page.getByLabel('Zone file lines').inputValue()
    t.false(former.includes('192.0.2.1'))
    t.true(former.includes(MARKUP))
    await page.keyboard.press('Escape')

    await page.getByRole('button', { name: 'Undo this change' }).click()
    await page.getByText('Creates 1 RRset.').waitFor()
    await check(t, tab, 'history-undo')
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.getByText(/^Applied as version \d+, served by 1 of 1$/).waitFor()
    t.deepEqual(await recordsOf(api, name), ['192.0.2.1'])

    // The state before all: only what the creation made.
    await page.getByLabel('Name').fill('')
    await page.getByLabel('Type').fill('')
    await page.getByRole('button', { name: 'Filter' }).click()
    await eventuallyIs(() => entries.count(), 5)
    await entries.last().getByText('RRset').click()
    await entries.last().getByRole('button', { name: 'Bring that state back' }).click()
    await page.getByText('Removes 2 RRsets.').waitFor()
    await page.getByRole('button', { name: 'Apply' }).click()
    await eventuallyIs(async () => (await api.get(`/domains/${name}/rrsets/?type=TXT`)).text, '[]')
    t.deepEqual(tab.found, [])
    await page.context().close()
  })

  test('a person edits the zone file, and replaces it by a file that has a mistake at first', async (t) => {
    const { api, secret } = await service().account()
    const name = await newDomain(api)
    await newRRset(api, name, { subname: 'old', type: 'A', ttl: 300, records: ['192.0.2.1'] })
    const tab = await openConsole(browser(), service().url, { path: `domains/${name}/zonefile`, secret })
    const { page, found } = tab
    const text = page.getByLabel('Zone file', { exact: true })
    await text.waitFor()
    await check(t, tab, 'zonefile')
    t.true(await page.getByRole('button', { name: 'Review' }).isDisabled())
    await page.getByLabel('or from a file').setInputFiles({
      name: 'zone.txt',
      mimeType: 'text/plain',
      buffer: Buffer.from('www 300 IN A 192.0.2.300\n'),
    })
    await page.getByRole('button', { name: 'Review' }).click()
    await page
      .getByRole('alert')
      .getByText(/line 1/)
      .waitFor()
    await page.getByRole('button', { name: 'Back' }).click()
    t.is(await text.inputValue(), 'www 300 IN A 192.0.2.300\n')
    await text.fill('www 300 IN A 192.0.2.3\n')
    await page.getByRole('button', { name: 'Review' }).click()
    await page.getByText('Creates 1 RRset, removes 1.').waitFor()
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.getByText(/^Applied as version/).waitFor()
    t.deepEqual(await recordsOf(api, name), ['192.0.2.3'])
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download' }).click(),
    ])
    t.is(download.suggestedFilename(), `${name}.zone`)
    t.deepEqual(found, [])
    await page.context().close()
  })

  test('a person deletes a domain by typing its name', async (t) => {
    const { api, secret } = await service().account()
    const name = await newDomain(api)
    const tab = await openConsole(browser(), service().url, { path: `domains/${name}/delete`, secret })
    const { page } = tab
    const button = page.getByRole('button', { name: `Delete ${name}` })
    await check(t, tab, 'delete')
    t.true(await button.isDisabled())
    await page.getByLabel('Type the name of the domain').fill(name)
    await button.click()
    await page.getByText('No domains yet.').waitFor()
    t.is((await api.get(`/domains/${name}/`)).status, 404)
    t.deepEqual(tab.found, [])
    await page.context().close()
  })
}
