import { newRRset, newZone, rrset, type ShownRRset } from '../support/clients/api.ts'
import { check } from '../support/console/console.ts'
import { apply, focused, press, stageNew, tabTo, useRecords } from '../support/console/records.ts'
import { lookUp } from '../support/dns/dns.ts'
import { eventuallyIs } from '../support/eventually.ts'
import { useService } from '../support/harness.ts'

// The way of a change by keyboard alone: staged, reviewed, applied, undone.

const service = useService()
const { test, openRecords, openZone } = useRecords(service)

test('by keyboard alone, a record is added, reviewed, applied and undone', async (t) => {
  const { zone, page } = await openZone()
  await page.getByText('Only the nameservers so far.').waitFor()
  await check(t, page, 'records-empty')

  await page.getByRole('heading', { name: zone.domain }).focus()
  await press(page, 'n')
  await page.keyboard.type('www')
  t.is(await focused(page), 'Name')
  await page.getByText(`.${zone.domain}`, { exact: true }).waitFor()
  await tabTo(page, 'IPv4 address')
  await page.keyboard.type('192.0.2.x')
  await page.getByText('is not an IPv4 address. Example: 192.0.2.1').waitFor()
  await check(t, page, 'records-adding')
  await press(page, 'Enter')
  t.is(await focused(page), 'IPv4 address')
  await press(page, 'Backspace', '1', 'Enter')

  await page.getByText(`1 change to ${zone.domain}`).waitFor()
  t.is(await focused(page), 'Edit www A')
  await check(t, page, 'records-staged')
  await press(page, 'Control+Enter')
  await page.getByText('Creates 1 record set.').waitFor()
  await check(t, page, 'records-review')
  await tabTo(page, 'Apply 1 change Ctrl ↵')
  await press(page, 'Enter')
  await page.getByText(/^Applied: /).waitFor()
  t.deepEqual(await lookUp(service().powerDns, `www.${zone.domain}`, 'A'), ['192.0.2.1'])
  await check(t, page, 'records-applied')

  t.is(await focused(page), 'Edit www A')
  await tabTo(page, 'Undo')
  await press(page, 'Enter')
  await page.getByText('Removes 1 record set.').waitFor()
  await tabTo(page, 'Apply Ctrl ↵')
  await press(page, 'Enter')
  await eventuallyIs(() => lookUp(service().powerDns, `www.${zone.domain}`, 'A'), [])
  await page.getByText('Only the nameservers so far.').waitFor()
})

test('keys filter, move, edit, delete and leave', async (t) => {
  const { zone, page } = await openZone(
    { subname: 'www', type: 'A', ttl: 3600, records: ['192.0.2.1'] },
    { subname: '', type: 'MX', ttl: 3600, records: ['10 mail.example.'] },
  )
  await page.getByText('3 record sets').waitFor()
  await page.getByRole('heading', { name: zone.domain }).focus()
  await press(page, 'ArrowDown')
  t.is(await focused(page), 'Edit @ MX')
  await press(page, '/')
  t.is(await focused(page), 'Filter')
  await page.keyboard.type('mx')
  await page.getByText('1 of 3 record sets').waitFor()
  await press(page, 'ArrowDown')
  t.is(await focused(page), 'Edit @ MX')
  await press(page, '/', 'Backspace', 'Backspace', 'ArrowDown', 'End', 'ArrowUp')
  t.is(await focused(page), 'Edit @ NS')
  await press(page, 'Home', 'e')
  t.is(await focused(page), 'Priority')
  await press(page, 'Control+A', '2', '0')
  await check(t, page, 'records-editing')
  await press(page, 'Escape')
  t.is(await focused(page), 'Edit @ MX')
  t.is(await page.getByText(/^\d changes? to/).count(), 0)
  await press(page, 'e', 'Control+A', '2', '0', 'Enter', 'End', 'Delete')
  await page.getByText(`2 changes to ${zone.domain}`).waitFor()
  t.deepEqual(await page.locator('.word').allInnerTexts(), ['edited', 'removed'])
  const lines = page.locator('.change .texts').locator('.removed, .added')
  t.deepEqual(
    (await lines.allTextContents()).map((text) => text.slice(0, 1)),
    ['−', '+'],
  )
  await page.reload()
  await page.getByText(`2 changes to ${zone.domain}`).waitFor()
  await tabTo(page, 'Discard all')
  await press(page, 'Enter')
  await page.getByText('Discarded 2 changes.').waitFor()
  const kept = await page.evaluate<string[]>('Object.keys(sessionStorage).sort()')
  t.deepEqual(
    kept.map((key) => key.replace(/ of \S+@\S+$/, '')),
    ['zoneplane recent domains', 'zoneplane session'],
  )
})

test('a name without final dot is taken for the likeliest one, and the page says so', async (t) => {
  const { zone, page } = await openZone(rrset())
  await press(page, 'n')
  await page.keyboard.type(`mail.${zone.domain}`)
  await page.getByText(`Read as mail: mail.${zone.domain}.`).waitFor()
  const form = page.getByRole('form', { name: 'Add record' })
  await form.getByLabel('Type').selectOption('MX')
  await form.getByLabel('Priority').fill('10')
  const server = form.getByLabel('Mail server')
  await server.fill('mx1.postbox.example')
  await form.getByText(`Read as mx1.postbox.example. (outside ${zone.domain}).`).waitFor()
  await server.fill(`www.${zone.domain}`)
  await form.getByText(`Read as www.${zone.domain}. (in ${zone.domain}).`).waitFor()
  await check(t, page, 'records-taken')
  await server.focus()
  await press(page, 'Tab', 'Tab')
  t.is(await focused(page), `Rather www.${zone.domain}.${zone.domain}. (${zone.domain} twice)`)
  await press(page, 'Enter')
  t.is(await focused(page), 'Mail server')
  t.is(await server.inputValue(), `www.${zone.domain}.${zone.domain}.`)
  await server.fill('mx1.postbox.example')
  await form.getByLabel('TTL').fill('5m')
  await form.locator('span').getByText('5 minutes', { exact: true }).waitFor()
  await press(page, 'Control+Enter')
  await page.getByText('Creates 1 record set.').waitFor()
  await press(page, 'Escape')
  t.is(await focused(page), 'Edit mail MX')
  const row = page.getByRole('row').filter({ hasText: 'mx1.postbox.example.' })
  await row.getByText('5 minutes').waitFor()
})

test('records are added to those that are there, and rows are copied as lines of a zone file', async (t) => {
  const { zone, page } = await openZone(rrset({ ttl: 7200 }))
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await stageNew(page, 'www', 'A', '192.0.2.2')
  await page.getByRole('checkbox', { name: 'Select www A' }).check()
  await page.getByRole('button', { name: 'Copy as zone file lines' }).click()
  await page.getByText('Copied').waitFor()
  const line = `www.${zone.domain}.\t7200\tIN\tA\t192.0.2.`
  t.is(await page.evaluate('navigator.clipboard.readText()'), `${line}1\n${line}2\n`)
})

test('with Shift, a click or Space on a checkbox selects or unselects the rows between, too', async (t) => {
  const names = ['a', 'b', 'c', 'd', 'e']
  const { page } = await openZone(...names.map((subname) => ({ subname })))
  const box = (name: string) => page.getByRole('checkbox', { name: `Select ${name} A` })
  const selected = () => page.locator('.record-row:has(input:checked) [data-open]').allInnerTexts()
  await box('d').click({ modifiers: ['Shift'] })
  t.deepEqual(await selected(), ['d'])
  await box('b').click({ modifiers: ['Shift'] })
  await page.getByText('3 rows selected').waitFor()
  t.deepEqual(await selected(), ['b', 'c', 'd'])
  t.is(await page.evaluate('String(getSelection())'), '')
  // The range begins at the latest row, whichever it was.
  await box('e').click()
  await box('c').click()
  await box('d').focus()
  await press(page, 'Shift+Space')
  t.deepEqual(await selected(), ['b', 'e'])
})

test('on a phone, the first record is in the upper third of the screen', async (t) => {
  const { page } = await openZone(rrset())
  await page.setViewportSize({ width: 360, height: 740 })
  await page.getByText('Served by').waitFor()
  const { y } = (await page.locator('.record-row').first().boundingBox())!
  t.true(y <= 260, `${y}`)
  t.true((await page.getByLabel('Filter').boundingBox())!.width >= 80)
  t.is(await page.evaluate('document.documentElement.scrollWidth'), 360)
})

test('keys of one character can be switched off', async (t) => {
  const { page } = await openZone()
  await page.getByText('Keyboard', { exact: true }).click()
  await page.getByLabel('Letters act as keys').uncheck()
  await page.getByRole('link', { name: 'History' }).click()
  await page.getByRole('link', { name: 'Records' }).click()
  t.false(await page.getByLabel('Letters act as keys').isChecked())
  await page.getByRole('button', { name: 'Edit @ NS' }).focus()
  await press(page, 'n', '/', 'e')
  t.is(await focused(page), 'Edit @ NS')
  await press(page, 'Enter')
  t.is(await focused(page), 'Nameserver')
})

test('a server moves: its address and the TTL change in all selected rows, in one write', async (t) => {
  const zone = await newZone(service(), rrset({ subname: 'a', records: ['192.0.2.10', '198.51.100.1'] }))
  const other = rrset({ subname: 'b', records: ['192.0.2.100'] })
  const text = rrset({ subname: '', type: 'TXT', records: ['"v=spf1 ip4:192.0.2.10 -all"'] })
  for (const each of [other, text]) await newRRset(zone.api, zone.domain, each)
  const { page } = await openRecords(zone.domain, zone.account.secret)
  await page.getByLabel('Filter').fill('192.0.2.10')
  await page.getByText('3 of 4 record sets').waitFor()
  await page.getByLabel('Select all rows shown').check()
  const form = page.getByRole('form', { name: 'Selected rows' })
  await form.getByText('Change').click()
  t.true(await form.getByRole('button', { name: 'Save' }).isDisabled())
  await form.getByLabel('Replace').fill('192.0.2.10')
  await form.getByLabel('with').fill('203.0.113.10')
  await check(t, page, 'records-replace')
  await form.getByRole('button', { name: 'Save' }).click()
  // The address of b only begins like it.
  await page.getByText(`2 changes to ${zone.domain}`).waitFor()
  await form.getByLabel('TTL').fill('7200')
  await form.getByRole('button', { name: 'Save' }).click()
  await page.getByText(`3 changes to ${zone.domain}`).waitFor()
  // A row shows its former TTL, too, as it does records.
  t.is(await page.locator('.record-row', { hasText: '192.0.2.100' }).locator('.ttl').textContent(), 'removed: 1 hour 2 hours') // prettier-ignore
  await apply(page)
  const { json } = await zone.api.get(`/domains/${zone.domain}/rrsets/`)
  const contents = (json as ShownRRset[]).map(({ name, ttl, records }) => `${name} ${ttl} ${records.sort().join(' ')}`)
  t.deepEqual(contents.slice(0, 3), [
    `${zone.domain}. 7200 "v=spf1 ip4:203.0.113.10 -all"`,
    `b.${zone.domain}. 7200 192.0.2.100`,
    `a.${zone.domain}. 7200 198.51.100.1 203.0.113.10`,
  ])
})
