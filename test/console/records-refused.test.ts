import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { newZone, rrset, setMinimumTtl, succeeded } from '../support/clients/api.ts'
import { addToken } from '../support/clients/tokens.ts'
import { check, signIn } from '../support/console/console.ts'
import { apply, press, stageNew, useRecords } from '../support/console/records.ts'
import { useService } from '../support/harness.ts'

// What the service refuses comes back to its row, and nothing that was staged is lost.

const service = useService()
const { test, openRecords, openZone } = useRecords(service)

const run = promisify(execFile)

/** What is stored: the first record of each RRset, by subname and type. */
async function stored(zone: Awaited<ReturnType<typeof newZone>>): Promise<Record<string, string>> {
  const { json } = succeeded(await zone.api.get(zone.rrsets), 200)
  const rrsets = json as { subname: string; type: string; records: string[] }[]
  return Object.fromEntries(rrsets.map(({ subname, type, records }) => [`${subname} ${type}`, records[0]!]))
}

test('after the changes of somebody else, edits are kept, and where both collide one chooses', async (t) => {
  const { zone, page } = await openZone(rrset(), ...['mail', 'ftp', 'open'].map((subname) => ({ subname })))
  for (const [subname, address] of [
    ['www', '192.0.2.2'],
    ['ftp', '192.0.2.3'],
  ] as const) {
    await page.getByRole('button', { name: `Edit ${subname} A` }).click()
    const form = page.getByRole('form', { name: `Edit ${subname} A` })
    await form.getByLabel('IPv4 address').fill(address)
    await form.getByRole('button', { name: 'Save' }).click()
  }
  await page.getByRole('button', { name: 'Edit mail A' }).click()
  await page.getByRole('button', { name: 'Delete mail A' }).click()
  await page.getByText(`3 changes to ${zone.domain}`).waitFor()
  // What is typed in this form is staged after the changes of somebody else.
  await page.getByRole('button', { name: 'Edit open A' }).click()
  await page.getByRole('form', { name: 'Edit open A' }).getByLabel('IPv4 address').fill('192.0.2.4')

  const theirs = [
    { subname: 'open', type: 'A', records: ['192.0.2.8'] },
    { subname: 'www', type: 'A', records: ['192.0.2.9'] },
    { subname: 'ftp', type: 'A', records: [] },
    rrset({ subname: 'new' }),
  ]
  succeeded(await zone.api.patch(zone.rrsets, theirs), 200)
  // Stages, and reviews.
  await press(page, 'Control+Enter')
  await page.getByText('www A has changed meanwhile.').waitFor()
  t.is(
    await page.getByRole('alert').innerText(),
    `${zone.domain} has changed meanwhile. Your changes are kept: review them again.`,
  )
  await page.getByRole('button', { name: 'Edit new A' }).waitFor()
  t.deepEqual(await page.locator('.collision dd').allInnerTexts(), [
    ...['deleted', 'TTL 1 hour\n192.0.2.3'],
    ...['TTL 1 hour\n192.0.2.8', 'TTL 1 hour\n192.0.2.4'],
    ...['TTL 1 hour\n192.0.2.9', 'TTL 1 hour\n192.0.2.2'],
  ])
  t.true(await page.getByRole('button', { name: 'Review' }).isDisabled())
  await check(t, page, 'records-collision')
  for (const choice of ['Take what is there', 'Keep yours', 'Keep yours']) {
    await page.getByRole('button', { name: choice }).first().click()
  }
  await page.getByText(`3 changes to ${zone.domain}`).waitFor()
  await apply(page)
  const addresses = { 'www A': '192.0.2.2', 'new A': '192.0.2.1', 'open A': '192.0.2.4' }
  t.deepEqual(await stored(zone), { ' NS': 'ns1.zoneplane.test.', ...addresses })
})

test('two windows edit one zone, offline and after reloads: nothing that was staged or typed is lost', async (t) => {
  const zone = await newZone(service(), rrset())
  const tab = await openRecords(zone.domain, zone.account.secret)
  const one = tab.page
  const context = one.context()
  const other = await context.newPage()
  await other.goto(one.url())
  await signIn(other, zone.account.secret)
  await stageNew(one, 'first', 'A', '192.0.2.1')
  await one.getByRole('button', { name: 'Edit www A' }).click()
  const edit = one.getByRole('form', { name: 'Edit www A' })
  await edit.getByLabel('IPv4 address').fill('192.0.2.5')
  await stageNew(other, 'second', 'A', '192.0.2.2')
  await other.getByRole('button', { name: 'Add record' }).click()
  const form = other.getByRole('form', { name: 'Add record' })
  await form.getByLabel('Name').fill('mail')
  await form.getByLabel('Type').selectOption('MX')
  await form.getByLabel('Mail server').fill('mx.exam')
  /** What is typed and staged in both windows. */
  const kept = async () => ({
    one: await edit.getByLabel('IPv4 address').inputValue(),
    other: [
      await form.getByLabel('Name').inputValue(),
      await form.getByLabel('Type').inputValue(),
      await form.getByLabel('Mail server').inputValue(),
    ],
    staged: await Promise.all(
      [one, other].map((page) => page.getByRole('button', { name: /^Edit (first|second) A$/ }).allInnerTexts()),
    ),
    changes: await Promise.all([one, other].map((page) => page.getByText(`1 change to ${zone.domain}`).count())),
  })
  const before = await kept()
  t.like(before, { one: '192.0.2.5', other: ['mail', 'MX', 'mx.exam'], changes: [1, 1] })
  t.deepEqual(before.staged.map(({ length }) => length), [1, 1]) // prettier-ignore

  await context.setOffline(true)
  t.deepEqual(await kept(), before)
  // Without a connection, the browser has no page to show.
  await t.throwsAsync(one.reload(), { message: /ERR_INTERNET_DISCONNECTED/ })
  await context.setOffline(false)
  for (const page of [one, other]) await page.goto(`${service().url}/console/domains/${zone.domain}`)
  for (const shown of [edit, form]) await shown.waitFor()
  t.deepEqual(await kept(), before)

  await edit.getByRole('button', { name: 'Save' }).click()
  await one.getByText(`2 changes to ${zone.domain}`).waitFor()
  await one.getByRole('button', { name: 'Review' }).click()
  await one.getByRole('dialog').getByText('added: 192.0.2.1').waitFor()
  await context.setOffline(true)
  const applying = one.getByRole('button', { name: 'Apply 2 changes' })
  await applying.click()
  await one.getByText('This browser is offline, so nothing was sent.').waitFor()
  await context.setOffline(false)
  await form.getByLabel('Priority').fill('10')
  await form.getByLabel('Mail server').fill('mx.example.')
  await form.getByRole('button', { name: 'Save', exact: true }).click()
  await form.waitFor({ state: 'detached' })
  await apply(other)
  await applying.click()
  // The other window has changed the zone.
  await one.getByText('Your changes are kept: review them again.').waitFor()
  await apply(one)
  const addresses = { 'www A': '192.0.2.5', 'first A': '192.0.2.1', 'second A': '192.0.2.2' }
  t.deepEqual(await stored(zone), { ' NS': 'ns1.zoneplane.test.', 'mail MX': '10 mx.example.', ...addresses })
  // The browser itself reports that it was offline.
  tab.found.length = 0
})

test('the command of the review does the same, and nothing twice', async (t) => {
  const { zone, page } = await openZone(rrset())
  await stageNew(page, 'text', 'TXT', `"it's <b>$HOME</b>"`)
  await page.getByRole('checkbox', { name: 'Select www A' }).check()
  await page.getByRole('form', { name: 'Selected rows' }).getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('button', { name: 'Review' }).click()
  await page.getByText('The same with curl').click()
  const command = await page.locator('.command pre').innerText()
  t.false(command.includes(zone.account.secret))
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.getByRole('button', { name: 'Copy as curl' }).click()
  await page.getByText('Copied').waitFor()
  const copied: string = await page.evaluate('navigator.clipboard.readText()')
  t.is(copied.trim(), command.trim())
  await run('sh', ['-c', command], { env: { ...process.env, TOKEN: zone.account.secret } })
  t.deepEqual(await stored(zone), { ' NS': 'ns1.zoneplane.test.', 'text TXT': `"it's <b>$HOME</b>"` })
  // All of it is there now: nothing is left to do.
  await page.getByRole('button', { name: 'Apply' }).click()
  await page.getByText(/has changed meanwhile. Your changes/).waitFor()
  await page.getByText(/changes? to/).waitFor({ state: 'detached' })
})

test('problems that only the service can know are shown with their rows', async (t) => {
  const { zone, page } = await openZone(rrset())
  await stageNew(page, 'www', 'CNAME', 'other.example.', '86400')
  await stageNew(page, 'good', 'A', '192.0.2.5', '86400')
  await stageNew(page, 'short', 'A', '192.0.2.6', '3600')
  await setMinimumTtl(service(), zone.domain, 7200)
  await page.getByRole('button', { name: 'Review' }).click()
  // The domain is not as it was loaded; perhaps that is all.
  await page.getByText(/has changed meanwhile. Your changes/).waitFor()
  await page.getByRole('button', { name: 'Review' }).click()
  await page.getByText('the service refused 2, see the table').waitFor()
  t.deepEqual(await page.locator('.record-row > .problem').allInnerTexts(), [
    'ttl: Ensure this value is greater than or equal to 7200.',
    'RRset with conflicting type present at same subname: database (A). (No other RRsets are allowed alongside CNAME.)',
  ])
  await check(t, page, 'records-refused')
  await page.getByRole('button', { name: 'Discard the change of www CNAME' }).click()
  await page.getByRole('button', { name: 'Edit short A' }).click()
  const form = page.getByRole('form', { name: 'Edit short A' })
  t.regex(await form.innerText(), /greater than or equal to 7200/)
  await form.getByLabel('TTL').fill('7200')
  await form.getByRole('button', { name: 'Save' }).click()
  await apply(page)
  t.deepEqual(await stored(zone), {
    ' NS': 'ns1.zoneplane.test.', 'www A': '192.0.2.1', 'good A': '192.0.2.5', 'short A': '192.0.2.6',
  }) // prettier-ignore
})

test('what the service has refused is not shown any more once it is applied', async (t) => {
  const { page } = await openZone(rrset())
  await stageNew(page, 'www', 'CNAME', 'other.example.')
  await page.getByRole('button', { name: 'Review' }).click()
  await page.getByText('the service refused 1, see the table').waitFor()
  await page.getByRole('button', { name: 'Edit www A' }).click()
  await page.getByRole('button', { name: 'Delete www A' }).click()
  await apply(page)
  t.is(await page.locator('.record-row > .problem').count(), 0)
  await stageNew(page, 'x', 'A', '192.0.2.5')
  await page.getByText(/^1 change to /).waitFor()
  t.is(await page.getByText('the service refused').count(), 0)
})

test('what a token may not write is shown with its row', async (t) => {
  const zone = await newZone(service(), rrset())
  const token = await addToken(service(), zone.account.id)
  const policies = `/auth/tokens/${token.id}/policies/rrsets/`
  const all = { domain: null, subname: null, type: null, perm_write: false }
  succeeded(await zone.api.post(policies, all), 201)
  const one = { domain: zone.domain, subname: '_acme-challenge', type: 'TXT', perm_write: true }
  succeeded(await zone.api.post(policies, one), 201)
  const { page } = await openRecords(zone.domain, token.secret)
  await stageNew(page, '_acme-challenge', 'TXT', '"x"')
  await stageNew(page, 'a', 'A', '192.0.2.5')
  await stageNew(page, 'b', 'A', '192.0.2.6')
  await page.getByRole('button', { name: 'Review' }).click()
  await page.getByText('the service refused 2, see the table').waitFor()
  t.deepEqual(await page.locator('.record-row:has(> .problem) button[data-open]').allInnerTexts(), ['a', 'b'])
  t.is(await page.locator('.problem').first().innerText(), 'This token may not write a A.')
  for (const name of ['a', 'b']) await page.getByRole('button', { name: `Discard the change of ${name} A` }).click()
  await apply(page)
  t.is((await stored(zone))['_acme-challenge TXT'], '"x"')
})

test('what is staged survives the end of the session', async (t) => {
  const zone = await newZone(service(), rrset())
  const token = await addToken(service(), zone.account.id)
  const { page } = await openRecords(zone.domain, token.secret)
  await stageNew(page, 'a', 'A', '192.0.2.5')
  succeeded(await zone.api.delete(`/auth/tokens/${token.id}/`), 204)
  await page.getByRole('button', { name: 'Review' }).click()
  await page.getByText(/^Your session has ended/).waitFor()
  await signIn(page, zone.account.secret)
  await page.getByText(`1 change to ${zone.domain}`).waitFor()
  await apply(page)
  t.is((await stored(zone))['a A'], '192.0.2.5')
})
