import { newRRset, newZone } from '../support/clients/api.ts'
import { check } from '../support/console/console.ts'
import { apply, focused, press, stageNew, useRecords } from '../support/console/records.ts'
import { lookUp } from '../support/dns/dns.ts'
import { useService } from '../support/harness.ts'

// Templates, hints, and what the review says about removals.

const service = useService()
const { test, openRecords, openZone } = useRecords(service)

test('a template is staged, reviewed and applied', async (t) => {
  const { zone, page } = await openZone({ subname: '', type: 'TXT', ttl: 3600, records: ['"v=spf1 -all"'] })
  await page.getByRole('button', { name: 'Templates' }).click()
  await page.getByLabel('Template', { exact: true }).selectOption('Verification text')
  t.true(await page.getByRole('button', { name: 'Save' }).isDisabled())
  await page.getByLabel('Template', { exact: true }).selectOption('Mail')
  await page.getByText('@ TXT stays as it is').waitFor()
  await page.getByLabel('Mail servers').fill('10 mail, 20 mx2.postbox.example')
  await page.getByText(`Read as 10 mail.${zone.domain}., 20 mx2.postbox.example.`).waitFor()
  await check(t, page, 'records-template')
  await page.getByText('Nothing is published before the review.').waitFor()
  await page.getByRole('button', { name: 'Save 2 record sets' }).click()
  await page.getByText(`2 changes to ${zone.domain}`).waitFor()
  t.is(await focused(page), 'Edit @ MX')
  await apply(page)
  t.deepEqual(await lookUp(service().powerDns, zone.domain, 'MX'), [
    `10 mail.${zone.domain}.`,
    '20 mx2.postbox.example.',
  ])
  t.deepEqual(await lookUp(service().powerDns, zone.domain, 'TXT'), ['"v=spf1 -all"'])
})

test('a hint leads to its row, and goes when it is heeded; the review tells what a removal takes away', async (t) => {
  const zone = await newZone(service(), { subname: 'a', type: 'A', ttl: 3600, records: ['192.168.0.1'] })
  await newRRset(zone.api, zone.domain, { subname: '', type: 'MX', ttl: 3600, records: [`10 a.${zone.domain}.`] })
  const { page } = await openRecords(zone.domain, zone.account.secret)
  await page.getByLabel('Filter').fill('type:ns')
  await page.getByText('1 hint').click()
  await page.getByText('192.168.0.1 is a private address.').waitFor()
  await check(t, page, 'records-hints')
  await page.getByRole('button', { name: 'a A', exact: true }).click()
  t.is(await focused(page), 'Edit a A')
  await page.keyboard.press('Delete')
  await page.getByText('192.168.0.1 is a private address.').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Review' }).click()
  await page.getByText(`This removes the last address of a.${zone.domain}, to which @ MX points.`).waitFor()
  await check(t, page, 'records-losses')
})

test('after a TTL was lowered, the review says how long caches still keep what was there', async (t) => {
  const { page } = await openZone({ subname: 'www', type: 'A', ttl: 86_400, records: ['192.0.2.1'] })
  const edit = async (label: string, text: string) => {
    await page.getByRole('button', { name: 'Edit www A' }).click()
    await page.getByLabel(label, { exact: true }).fill(text)
    await press(page, 'Control+Enter')
  }
  await edit('TTL', '300')
  const review = page.getByRole('dialog')
  await review.getByText('Wait 1 day before you change the records whose TTL is lowered').waitFor()
  t.is(await review.getByText('Caches can keep').count(), 0)
  // The changes are shown later, perhaps, and nobody applies what is not shown.
  await review.getByText('Changes 1 record set').waitFor()
  await press(page, 'Control+Enter')
  await page.getByText(/^Applied: /).waitFor()
  await edit('IPv4 address', '192.0.2.2')
  await review.getByText('Caches can keep the former records for up to 1 day.').waitFor()
})

test('the review tells what the edits lack, offers the mend, and applies by keyboard; what is done stays in sight', async (t) => {
  const { zone, page } = await openZone({ subname: '', type: 'TXT', ttl: 7200, records: ['"a"'] })
  await page.getByRole('button', { name: 'Edit @ TXT' }).click()
  await page.getByLabel('Text', { exact: true }).fill('b')
  await press(page, 'Enter')
  await stageNew(page, '@', 'MX', `10 backup.${zone.domain}.`)
  await press(page, 'Control+Enter')
  const review = page.getByRole('dialog', { name: `Review 2 changes to ${zone.domain}` })
  await review.getByText(`@ MX: backup.${zone.domain} has no address.`).waitFor()
  await review.getByText('Caches can keep the former records for up to 2 hours.').waitFor()
  await check(t, page, 'records-lacking')
  await review.getByRole('button', { name: 'Add an address' }).click()
  t.is(await page.getByLabel('Name', { exact: true }).inputValue(), 'backup')
  t.is(await focused(page), 'IPv4 address')
  await page.keyboard.type('192.0.2.9')
  await press(page, 'Control+Enter')
  const mended = page.getByRole('dialog', { name: `Review 3 changes to ${zone.domain}` })
  await mended.getByText('Creates 2 record sets, changes 1.').waitFor()
  t.is(await mended.getByText('has no address').count(), 0)
  await mended.getByRole('button', { name: 'Apply 3 changes' }).waitFor()
  await press(page, 'Control+Enter')
  await page.getByText('Applied: 3 changes, served by ns1.zoneplane.test').waitFor()
  t.deepEqual(await lookUp(service().powerDns, `backup.${zone.domain}`, 'A'), ['192.0.2.9'])
  // It stays until the next change is staged.
  await page.getByLabel('Filter').fill('backup type:a')
  await page.getByText('Applied: 3 changes').waitFor()
  // The selection takes its place for a while.
  await page.getByRole('checkbox', { name: 'Select backup A' }).check()
  await page.getByText('Applied: 3 changes').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Select none' }).click()
  await page.getByText('Applied: 3 changes').waitFor()
  await page.getByRole('button', { name: 'Edit backup A' }).focus()
  await press(page, 'Delete')
  await page.getByText(`1 change to ${zone.domain}`).waitFor()
  await page.getByText('Applied: 3 changes').waitFor({ state: 'detached' })
  // Nothing is left that the filter finds.
  await apply(page)
  t.is(await page.getByLabel('Filter').inputValue(), '')
  await page.getByText('3 record sets').waitFor()
  await page.getByRole('button', { name: 'Dismiss' }).click()
  await page.getByText('Applied: 1 change').waitFor({ state: 'detached' })
})
