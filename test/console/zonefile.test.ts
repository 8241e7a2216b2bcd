import type { Page } from 'playwright-core'
import { newRRset, newZone, rrset, type ShownRRset, succeeded } from '../support/clients/api.ts'
import { addToken } from '../support/clients/tokens.ts'
import { check, signIn, useConsole } from '../support/console/console.ts'
import { focused } from '../support/console/records.ts'
import { eventuallyIs } from '../support/eventually.ts'
import { useService } from '../support/harness.ts'

// A zone file that somebody edits: it is not lost, and it undoes nothing unseen.

const service = useService()
const { test, openTab } = useConsole(service)

const EDITED = 'www 300 IN A 192.0.2.3\n'

const textOf = (page: Page) => page.getByLabel('Zone file', { exact: true })

test('an edited zone file outlives the session and a reload, until somebody signs out', async (t) => {
  const zone = await newZone(service(), rrset())
  const path = `domains/${zone.domain}/zonefile`
  const { page } = await openTab({ path, secret: zone.account.secret })
  await textOf(page).waitFor()
  await textOf(page).fill(EDITED)
  await zone.account.api.delete(`/auth/tokens/${zone.account.tokenId}/`)
  await page.reload()
  await page.getByText('Your session has ended.').waitFor()
  const { secret } = await addToken(service(), zone.account.id)
  await signIn(page, secret)
  await textOf(page).waitFor()
  t.is(await textOf(page).inputValue(), EDITED)
  await page.reload()
  await textOf(page).waitFor()
  t.is(await textOf(page).inputValue(), EDITED)
  t.is(await page.getByRole('alert').count(), 0)
  await page.getByRole('button', { name: 'Sign out', exact: true }).click()
  await signIn(page, secret)
  await page.goto(`${service().url}/console/${path}`)
  await textOf(page).waitFor()
  t.regex(await textOf(page).inputValue(), /^www\..*\t192\.0\.2\.1$/m)
  t.true(await page.getByRole('button', { name: 'Review' }).isDisabled())
})

test('a text adds to the zone, or replaces it; then the review begins with what it deletes', async (t) => {
  const zone = await newZone(service(), rrset({ ttl: 3600 }), rrset({ subname: 'mail' }))
  const path = `domains/${zone.domain}/zonefile`
  const { page } = await openTab({ path, secret: zone.account.secret })
  await page.getByLabel('Add to the zone').check()
  t.is(await textOf(page).inputValue(), '')
  const lines = ['@ 300 NS ns.other.example.', 'www 300 A 192.0.2.3', 'www 300 A 192.0.2.1', 'new 300 A 192.0.2.4']
  await textOf(page).fill(`${lines.join('\n')}\n`)
  await page.getByText('No mistakes').waitFor()
  await check(t, page, 'zonefile-adding')
  await page.reload()
  t.true(await page.getByLabel('Add to the zone').isChecked())
  await page.getByRole('button', { name: 'Review' }).click()
  const dialog = page.getByRole('dialog', { name: `Changes to ${zone.domain}` })
  await dialog.getByText('added: 192.0.2.3').waitFor()
  await dialog.getByRole('button', { name: 'Apply' }).click()
  await page.getByText(/^Applied: /).waitFor()
  const rrsets = succeeded(await zone.api.get(zone.rrsets), 200).json as ShownRRset[]
  t.deepEqual(rrsets.map(({ subname, type, ttl, records }) => [subname, type, ttl, ...records.toSorted()]).sort(), [
    ['', 'NS', 3600, 'ns1.zoneplane.test.', 'ns2.zoneplane.test.'],
    ['mail', 'A', 3600, '192.0.2.1'],
    ['new', 'A', 300, '192.0.2.4'],
    ['www', 'A', 3600, '192.0.2.1', '192.0.2.3'],
  ])
  await page.getByLabel('Replace the zone').check()
  await textOf(page).fill(EDITED)
  await page.getByRole('button', { name: 'Review' }).click()
  await page.getByRole('dialog', { name: `Deletes 2 record sets of ${zone.domain}` }).waitFor()
  await check(t, page, 'zonefile-deleting')
  await page.getByRole('button', { name: 'Apply' }).click()
  await page.getByText(/^Applied: /).waitFor()
  await check(t, page, 'zonefile-applied')
  const bar = (await page.locator('.bar').boundingBox())!
  t.true(bar.y + bar.height <= (await page.getByRole('button', { name: 'Review' }).boundingBox())!.y)
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Download' }).click(),
  ])
  t.is(download.suggestedFilename(), `${zone.domain}.zone`)
})

test('all mistakes of a zone file are shown beside it, by line; a click goes to the line', async (t) => {
  const zone = await newZone(service(), rrset())
  const path = `domains/${zone.domain}/zonefile`
  const { page } = await openTab({ path, secret: zone.account.secret })
  await textOf(page).waitFor()
  const fine = 'ok 300 IN A 192.0.2.1\n'.repeat(60)
  await textOf(page).fill(
    `a 300 IN A 192.0.2.300\nb 300 IN MX mail\n${fine}c 300 IN CNAME d\nc 300 IN TXT "x"\nd 300 IN TXT "open\ne 300 IN WKS x\n`,
  )
  const mistakes = page.getByRole('button', { name: /^Line / })
  await eventuallyIs(() => mistakes.count(), 5)
  await page.getByRole('status').getByText('5 mistakes').waitFor()
  const lines = await mistakes.locator('b').allInnerTexts()
  t.deepEqual(lines, ['Line 1', 'Line 2', 'Line 64', 'Line 65', 'Line 66'])
  await mistakes.first().getByText('An IPv4 address is needed').waitFor()
  await page.getByText('A closing quote is missing.').waitFor()
  await check(t, page, 'zonefile-mistakes')
  // There is nothing to review yet.
  const { width, height } = (await textOf(page).boundingBox())!
  await page.getByRole('button', { name: 'Review' }).click()
  t.is(await focused(page), '5 mistakes')
  t.is(await page.getByRole('dialog').count(), 0)
  await mistakes.last().click()
  const selected = `(() => { const { value, selectionStart, selectionEnd, scrollTop } = document.activeElement
    return [value.slice(selectionStart, selectionEnd), scrollTop > 0] })()`
  t.deepEqual(await page.evaluate(selected), ['e 300 IN WKS x', true])
  // What only the service can know is shown there, too.
  await textOf(page).fill('a 300 IN A 192.0.2.1\nold 300 IN DNAME x.test.\nb.old 300 IN A 192.0.2.1\n')
  await eventuallyIs(() => mistakes.count(), 0)
  await page.getByRole('button', { name: 'Review' }).click()
  await eventuallyIs(() => mistakes.count(), 1)
  t.regex(await mistakes.innerText(), /^Line [23]/)
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  t.is(await focused(page), '1 mistake')
  await textOf(page).fill('a 300 IN A 192.0.2.1\n')
  await page.getByText('No mistakes: 1 record set').waitFor()
  t.like(await textOf(page).boundingBox(), { width, height })
  await page.getByRole('button', { name: 'Review' }).click()
  await page.getByText('Creates 1 record set, removes 1.').waitFor()
})

test('a zone file that is too large for the browser to keep can be edited, and no former text comes back', async (t) => {
  const zone = await newZone(service(), rrset())
  const path = `domains/${zone.domain}/zonefile`
  const { page } = await openTab({ path, secret: zone.account.secret })
  await textOf(page).fill(EDITED)
  const large = `; ${'x'.repeat(97)}\n`.repeat(60_000)
  const file = { name: 'zone.txt', mimeType: 'text/plain', buffer: Buffer.from(large) }
  await page.getByLabel('or from a file').setInputFiles(file)
  await eventuallyIs(() => page.evaluate(`document.querySelector('textarea').value.length`), large.length)
  await page.reload()
  await textOf(page).waitFor()
  t.true((await textOf(page).inputValue()).startsWith(`; Zonefile for ${zone.domain} `))
})

test('after the changes of somebody else, the text is kept, and the review shows what it would undo', async (t) => {
  const { domain, api, account } = await newZone(service(), rrset())
  const { page } = await openTab({
    path: `domains/${domain}/zonefile`,
    secret: account.secret,
  })
  const review = page.getByRole('button', { name: 'Review' })
  await textOf(page).fill(EDITED)
  await newRRset(api, domain, { subname: 'theirs' })
  await review.click()
  await page.getByRole('alert').getByText(`${domain} has changed meanwhile. Your text is kept`).waitFor()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  t.is(await textOf(page).inputValue(), EDITED)
  await check(t, page, 'zonefile-overtaken')
  await review.click()
  await page.getByText('Changes 1 record set, removes 1.').waitFor()
  // What comes after the review is not undone by what it shows.
  await newRRset(api, domain, { subname: 'later' })
  await page.getByRole('button', { name: 'Apply' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  t.is((await api.get(`/domains/${domain}/rrsets/later/A/`)).status, 200)
  t.is(await textOf(page).inputValue(), EDITED)
  await review.click()
  await page.getByText('Changes 1 record set, removes 2.').waitFor()
  await page.getByRole('button', { name: 'Apply' }).click()
  await page.getByText(/^Applied: /).waitFor()
  t.is((await api.get(`/domains/${domain}/rrsets/later/A/`)).status, 404)
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  t.is(await page.getByRole('alert').count(), 0)
  t.true(await page.getByRole('button', { name: 'Discard' }).isDisabled())
})
