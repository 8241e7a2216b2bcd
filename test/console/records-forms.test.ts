import { rrset } from '../support/clients/api.ts'
import { check } from '../support/console/console.ts'
import { apply, focused, press, useRecords } from '../support/console/records.ts'
import { useService } from '../support/harness.ts'

// The forms of the records page, and what stays in sight beside them.

const service = useService()
const { test, openRecords, openZone } = useRecords(service)

test('new records are staged one after another, each with the type of the last one', async (t) => {
  const { zone, page } = await openZone()
  await press(page, 'n')
  const form = page.getByRole('form', { name: 'Add record' })
  await form.getByLabel('Type').selectOption('TXT')
  for (const name of ['a', 'b']) {
    t.is(await focused(page), 'Name')
    await page.keyboard.type(name)
    await form.getByLabel('Text').fill(`of ${name}`)
    await form.getByRole('button', { name: 'Save and add another' }).click()
    t.is(await form.getByLabel('Name').inputValue(), '')
  }
  await page.getByText(`2 changes to ${zone.domain}`).waitFor()
  await press(page, 'Escape', 'n')
  t.is(await form.getByLabel('Type').inputValue(), 'TXT')
  // Both are in sight above the bar, and each says in a word what it is.
  await form.getByLabel('Name').fill('fm1._domainkey')
  await check(t, page, 'records-another')
  t.deepEqual(await page.locator('.word').allInnerTexts(), ['new', 'new'])
})

test('another type takes along what fits it; what does not comes back, and comes as text with its quotes', async (t) => {
  const { page } = await openZone()
  await press(page, 'n')
  const form = page.getByRole('form', { name: 'Add record' })
  const type = form.getByLabel('Type')
  await form.getByLabel('Name').fill('mail')
  await type.selectOption('MX')
  await form.getByLabel('Priority').fill('10')
  await form.getByLabel('Mail server').fill('mx1.example.')
  await form.getByRole('button', { name: 'Add value' }).click()
  await form.getByLabel('Priority').nth(1).fill('20')
  await form.getByLabel('Mail server').nth(1).fill('mx2.example.')
  await type.selectOption('A')
  await form.getByLabel('IPv4 address').fill('192.0.2.300')
  await form.getByText('192.0.2.300 is not an IPv4 address. Example: 192.0.2.1').waitFor()
  await check(t, page, 'records-type-changed')
  await form.getByRole('button', { name: 'Bring back 2 values of MX' }).click()
  t.is(await type.inputValue(), 'MX')
  t.is(await form.getByLabel('Mail server').nth(1).inputValue(), 'mx2.example.')
  await type.selectOption('CNAME')
  await form.getByLabel('Target').fill('20 mx2.mail.example.')
  await form.getByText('Target is one word, without blanks.').waitFor()
  t.is(await form.getByText('Read as').count(), 0)
  await form.getByLabel('Target').fill('mx2.example.')
  await type.selectOption('NS')
  t.is(await form.getByLabel('Nameserver').inputValue(), 'mx2.example.')
  await type.selectOption('TXT')
  await form.getByRole('button', { name: 'Edit as text' }).click()
  await form.getByLabel('Record as text').fill('v=spf1 -all')
  await form.getByRole('button', { name: 'Add the quotes' }).click()
  t.is(await form.getByLabel('Record as text').inputValue(), '"v=spf1 -all"')
})

test('the review has open forms saved first; one with a mistake stays, and takes the focus', async (t) => {
  const { zone, page } = await openZone(rrset(), rrset({ subname: 'ftp' }))
  for (const [i, name] of ['ftp', 'www'].entries()) {
    await page.getByRole('button', { name: `Edit ${name} A` }).click()
    await page
      .getByRole('form', { name: `Edit ${name} A` })
      .getByLabel('IPv4 address')
      .fill(`192.0.2.2${i}`)
  }
  await page.getByRole('button', { name: 'Add record' }).click()
  const form = page.getByRole('form', { name: 'Add record' })
  await form.getByLabel('Name').fill('mail')
  await form.getByLabel('IPv4 address').fill('192.0.2')
  await press(page, 'Escape', 'Control+Enter')
  const dialog = page.getByRole('dialog', { name: `Review 2 changes to ${zone.domain}` })
  await dialog.getByText('added: 192.0.2.20').waitFor()
  await dialog.getByText('added: 192.0.2.21').waitFor()
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('button', { name: 'Add record' }).click()
  await form.getByLabel('Name').fill('mail')
  await page.getByRole('button', { name: 'Review' }).click()
  await form.getByText('Fill this in, or remove it.').waitFor()
  t.is(await focused(page), 'IPv4 address')
  t.is(await dialog.count(), 0)
  await form.getByLabel('IPv4 address').fill('192.0.2.3')
  await page.getByRole('button', { name: 'Review' }).click()
  await page.getByRole('dialog', { name: `Review 3 changes to ${zone.domain}` }).waitFor()
})

test('what is typed in open forms survives a reload, and the change of another window does not slip in', async (t) => {
  const { zone, page } = await openZone(rrset())
  await page.getByRole('button', { name: 'Edit www A' }).click()
  const edit = page.getByRole('form', { name: 'Edit www A' })
  await edit.getByLabel('IPv4 address').fill('192.0.2.5')
  await page.getByRole('button', { name: 'Add record' }).click()
  const form = page.getByRole('form', { name: 'Add record' })
  await form.getByLabel('Name').fill('mail')
  await form.getByLabel('Type').selectOption('MX')
  await form.getByLabel('Mail server').fill('mx.exam')
  const other = await openRecords(zone.domain, zone.account.secret)
  await other.page.getByRole('button', { name: 'Edit www A' }).click()
  await other.page.getByRole('form', { name: 'Edit www A' }).getByLabel('IPv4 address').fill('192.0.2.6')
  await other.page.getByRole('button', { name: 'Save', exact: true }).click()
  await apply(other.page)
  await page.reload()
  t.is(await edit.getByLabel('IPv4 address').inputValue(), '192.0.2.5')
  t.deepEqual(
    [
      await form.getByLabel('Name').inputValue(),
      await form.getByLabel('Type').inputValue(),
      await form.getByLabel('Mail server').inputValue(),
    ],
    ['mail', 'MX', 'mx.exam'],
  )
  await form.getByRole('button', { name: 'Cancel' }).click()
  await edit.getByRole('button', { name: 'Save' }).click()
  // It was an edit of what the first window showed.
  await page.getByText('www A has changed meanwhile.').waitFor()
  await page.reload()
  await page.getByText('www A has changed meanwhile.').waitFor()
  t.is(await page.locator('.rrset-form').count(), 0)
  for (const each of [page, other.page]) await each.context().close()
})

test('another value has the focus, and there is none where a type has one; an RRset there is edited instead', async (t) => {
  const { zone, page } = await openZone(
    { subname: '', type: 'MX', ttl: 3600, records: ['10 mail.example.'] },
    { subname: 'www', type: 'CNAME', ttl: 3600, records: ['a.example.'] },
  )
  await press(page, 'n')
  const form = page.getByRole('form', { name: 'Add record' })
  await form.getByLabel('Name').fill('www')
  await form.getByLabel('Type').selectOption('CNAME')
  t.is(await form.getByRole('button', { name: 'Add value' }).count(), 0)
  await form.getByLabel('Target').fill('b.example.')
  await press(page, 'Enter')
  t.is(await focused(page), 'Edit www CNAME instead')
  await form.getByLabel('Name').fill('@')
  await form.getByLabel('Type').selectOption('MX')
  await form.getByText('its records and TTL stay, and these are added').waitFor()
  await check(t, page, 'records-present')
  await form.getByRole('button', { name: 'Edit @ MX instead' }).click()
  const edit = page.getByRole('form', { name: 'Edit @ MX' })
  t.is(await form.count(), 0)
  await edit.getByRole('button', { name: 'Add value' }).click()
  await press(page, '2', '0')
  for (const [i, priority] of ['10', '20'].entries()) {
    t.is(await edit.getByLabel('Priority').nth(i).inputValue(), priority)
  }
  await check(t, page, 'records-values')
  await edit.getByRole('button', { name: 'Remove value 2' }).click()
  await edit.getByRole('button', { name: 'Delete @ MX' }).click()
  await page.getByText(`1 change to ${zone.domain}`).waitFor()
})

test('of a record with a wrong digest, the digest is marked, and it says in words what it has to be', async (t) => {
  const { page } = await openZone()
  await press(page, 'n')
  const form = page.getByRole('form', { name: 'Add record' })
  await form.getByLabel('Name').fill('_443._tcp')
  await form.getByLabel('Type').selectOption('TLSA')
  for (const label of ['Usage', 'Selector', 'Matching type']) await form.getByLabel(label).fill('1')
  await form.getByLabel('Data').fill('abc')
  await form.getByText('abc is not an even number of hexadecimal digits. Example: 9f86d081').waitFor()
  await form.getByRole('button', { name: 'Save', exact: true }).click()
  t.is(await focused(page), 'Data')
  t.is(await form.locator('[aria-invalid=true]').count(), 1)
  await check(t, page, 'records-digest')
})

test('what is staged stays in sight until the filter changes', async (t) => {
  const { zone, page } = await openZone(rrset())
  await page.getByLabel('Filter').fill('192.0.2.1')
  await page.getByText('1 of 2 record sets').waitFor()
  await press(page, 'ArrowDown', 'e', 'Control+A')
  await page.keyboard.type('198.51.100.9')
  await press(page, 'Enter')
  await page.getByText(`1 change to ${zone.domain}`).waitFor()
  t.is(await focused(page), 'Edit www A')
  await page.getByLabel('Filter').fill(`www.${zone.domain}`)
  await page.getByText('1 of 2 record sets').waitFor()
  await page.getByLabel('Filter').fill('192.0.2.1')
  await page.getByText('No record matches').waitFor()
})

test('the selection ends when changes are applied, and leaves the focus to the row', async (t) => {
  const { page } = await openZone(rrset())
  const selection = page.getByRole('form', { name: 'Selected rows' })
  await page.getByLabel('Select www A').check()
  await selection.getByRole('button', { name: 'Select none' }).click()
  t.is(await focused(page), 'Edit www A')
  await page.getByLabel('Select www A').check()
  await selection.getByRole('button', { name: 'Delete' }).click()
  await apply(page)
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByRole('button', { name: 'Apply' }).click()
  await page.getByLabel('Select www A').waitFor()
  t.false(await page.getByLabel('Select www A').isChecked())
  t.is(await selection.count(), 0)
})
