import type { ExecutionContext } from 'ava'
import type { Page } from 'playwright-core'
import { newDomain, newRRset, succeeded } from '../support/clients/api.ts'
import * as people from '../support/clients/people.ts'
import { addFactor, addToken } from '../support/clients/tokens.ts'
import { sendToken, useConsole } from '../support/console/console.ts'
import { stageNew } from '../support/console/records.ts'
import { startWorld } from '../support/dns/world.ts'
import { useService } from '../support/harness.ts'

// Texts of tenants, of others, of DNS and of URLs are shown as texts: whatever markup they have, nothing of it becomes an
// element, and nothing runs.

const service = useService({ REGISTRATION: 'open' })
const { test, openTab } = useConsole(service)

const MARKUP = '<img src=x onerror=window.hit=1><script>window.hit=1</script>'
const LINK = 'javascript:window.hit=1'

/** A TXT record that ends an attribute before its markup. */
const TXT = String.raw`"\">${MARKUP}"`
const URI = `10 1 "${LINK}"`

/** Runs in the page: the elements that no page of the console has, and whether a script of a text has run. */
const INJECTED = `[
  ...Array.from(
    document.querySelectorAll('img, iframe, object, embed, script:not([src^="assets/"]), [onerror], [onload]'),
    (element) => element.outerHTML,
  ),
  ...Array.from(document.links, ({ href }) => href).filter((href) => !/^(https?|blob):/.test(href)),
  ...('hit' in window ? ['a script has run'] : []),
]`

/** Checks that the page shows a text as it is, and that nothing of it has become an element. */
async function checkText(t: ExecutionContext, page: Page, place: string, text = MARKUP): Promise<void> {
  await page.getByText(text).first().waitFor()
  await checkClean(t, page, place)
}

async function checkClean(t: ExecutionContext, page: Page, place: string): Promise<void> {
  t.deepEqual(await page.evaluate(INJECTED), [], place)
}

/** Opens the console, where the browser reports what the policy of the page forbids; a dialog would be the work of a script. */
const open = async (t: ExecutionContext, path: string, secret?: string): Promise<Page> => {
  const { page } = await openTab({ path, ...(secret !== undefined && { secret }) })
  page.on('dialog', (dialog) => {
    t.fail(`a dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  return page
}

test('in records', async (t) => {
  const { api, secret } = await service().account()
  const name = await newDomain(api)
  await newRRset(api, name, { subname: '', type: 'TXT', records: [TXT] })
  await newRRset(api, name, { subname: '', type: 'URI', records: [URI] })
  const page = await open(t, `domains/${name}`, secret)
  await checkText(t, page, 'the table', LINK)
  await checkText(t, page, 'the table')
  await page.getByLabel('Filter').fill(MARKUP.slice(0, 9) + MARKUP)
  await checkText(t, page, 'a filter', `matches “${MARKUP.slice(0, 9)}${MARKUP}”`)
  await page.getByLabel('Filter').fill('')
  await page.getByRole('button', { name: 'Edit @ TXT' }).click()
  await checkClean(t, page, 'the fields')
  await page.keyboard.press('Escape')
  await stageNew(page, 'new', 'TXT', TXT)
  await page.getByRole('checkbox', { name: 'Select @ TXT' }).check()
  await page.getByRole('form', { name: 'Selected rows' }).getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('button', { name: 'Review' }).click()
  await checkText(t, page, 'the review', 'Creates 1 record set')
  await page.getByText('The same with curl').click()
  await page.locator('.command pre').getByText(MARKUP).waitFor()
  await page.getByRole('button', { name: 'Apply' }).click()
  await checkText(t, page, 'the table after the write', 'Applied: 2 changes')
  await page.goto(`${service().url}/console/domains/${name}/zonefile`)
  await page.getByLabel('Zone file', { exact: true }).waitFor()
  await checkClean(t, page, 'the zone file')
  await page.getByLabel('Zone file', { exact: true }).fill(`x TXT ${TXT}\n${MARKUP} 60 IN A 192.0.2.1`)
  await page.getByRole('button', { name: 'Review' }).click()
  await page.getByRole('button', { name: /^Line 2/ }).waitFor()
  await checkClean(t, page, 'a mistake of the zone file')
  await page.goto(`${service().url}/console/search?${new URLSearchParams({ text: TXT }).toString()}`)
  await page.getByRole('link', { name: `new.${name}.`, exact: true }).waitFor()
  await checkText(t, page, 'the records that a search finds')
  await page.goto(`${service().url}/console/new-domain`)
  await page.getByLabel('Name', { exact: true }).fill('new.test')
  await page.getByLabel('Zone file, if there is one').fill(`@ TXT ${TXT}`)
  await checkText(t, page, 'the preview of a new domain')
  await page.getByLabel('Zone file, if there is one').fill(`@ ${MARKUP} ${MARKUP}`)
  await checkText(t, page, 'a mistake of a zone file', 'Line 1')
})

test('in the history: of records, tokens and their owners', async (t) => {
  const account = await service().account()
  const { api, secret } = account
  const name = await newDomain(api)
  const email = `${MARKUP}@example.test`.toLowerCase()
  const stranger = await people.insertAccount(service().system, { email })
  const token = await addToken(service(), stranger, { name: MARKUP, userOverrideId: account.id })
  const headers = { 'x-request-id': MARKUP }
  const body = { subname: 'a', type: 'TXT', ttl: 3600, records: [TXT] }
  succeeded(await token.api.post(`/domains/${name}/rrsets/`, body, { headers }), 201)
  const page = await open(t, `domains/${name}/history`, secret)
  await checkText(t, page, 'the list', `token “${MARKUP}” of ${email}`)
  await page.locator('.entries summary').first().click()
  await page.getByRole('button', { name: 'Undo this change' }).waitFor()
  await page.locator('.entries').getByText(`added: ${TXT}`).waitFor()
  await checkClean(t, page, 'an entry')
  await page.getByRole('button', { name: 'Undo this change' }).click()
  await page.getByRole('dialog').getByText(`removed: ${TXT}`).waitFor()
  await checkClean(t, page, 'an undo')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Show the zone after it' }).click()
  await page.getByLabel('Zone file lines').waitFor()
  await checkClean(t, page, 'a former state')
  await page.keyboard.press('Escape')
  await page.getByLabel('Search the history').fill(`${MARKUP} by:nobody`)
  await page.getByRole('button', { name: 'Search' }).click()
  await page.getByText('No change matches.').or(page.getByRole('alert')).waitFor()
  await checkClean(t, page, 'a filter')
})

test('in tokens, their owners, and factors', async (t) => {
  const account = await service().account()
  const email = `${MARKUP}@acts.test`.toLowerCase()
  const other = await people.insertAccount(service().system, { email })
  await addToken(service(), account.id, { name: MARKUP, userOverrideId: other })
  const page = await open(t, 'tokens', account.secret)
  await checkText(t, page, 'the list')
  await page.getByRole('link', { name: MARKUP }).click()
  await page.getByRole('heading', { name: MARKUP }).waitFor()
  await checkText(t, page, 'a token', email)
  await page.getByRole('button', { name: 'Delete this token' }).click()
  await checkText(t, page, 'a deletion', `Delete “${MARKUP}”`)
  await page.goto(`${service().url}/console/tokens/new`)
  await page.getByLabel('Name of the token').fill(MARKUP)
  await page.getByRole('radio').last().check()
  await page.getByRole('button', { name: 'Create the token' }).click()
  await checkText(t, page, 'a new token')

  const mine = `${MARKUP}@login.test`.toLowerCase()
  const person = await people.person(service(), { email: mine })
  const factor = await addFactor(service(), person.id)
  await service().sql('update totp_factors set name = :name where id = :factor', {
    name: MARKUP,
    factor,
  })
  const login = await addToken(service(), person.id, { mfa: true, permManageTokens: true })
  const own = await open(t, 'account', login.secret)
  await checkText(t, own, 'a factor')
  await checkText(t, own, 'the address of the account', mine)
  const half = await addToken(service(), person.id, { mfa: false, permManageTokens: true })
  const pending = await open(t, '')
  await sendToken(pending, half.secret)
  await checkText(t, pending, 'the code of a factor', `“${MARKUP}”`)
})

test('in answers of the parent’s nameservers', async (t) => {
  const world = await startWorld(service().powerDns)
  t.teardown(() => world.close())
  Object.assign(service().system, { parents: world.parents() })
  const { api, secret } = await service().account()
  const name = await newDomain(api, 'markup.example')
  // One label, which DNS allows; zone files have numbers for its characters. The service shows others than those of hosts as `?`.
  const label = '<img/src=x/onerror=window.hit=1>'
  const numbers = Array.from(label, (char) => `\\${String(char.charCodeAt(0)).padStart(3, '0')}`).join('')
  await world.delegate([`${name}. NS ${numbers}.zoneplane.test.`, `${name}. DS 1 13 2 ${'00'.repeat(32)}`])
  const page = await open(t, `domains/${name}/dnssec`, secret)
  await page.getByRole('button', { name: 'Check now' }).click()
  await page.getByText('What the parent’s servers answer').click()
  await checkText(t, page, 'the delegation', label.replace(/[^\w.]/g, '?'))
})

test('in URLs, and in what is typed', async (t) => {
  const { secret } = await service().account()
  const page = await open(t, '', secret)
  for (const text of [MARKUP.replaceAll('/', ''), LINK, '"><script>window.hit=1<script>']) {
    for (const path of [
      'domains/:',
      'domains/:/history',
      'domains/:/zonefile',
      'domains/:/settings',
      'tokens/:',
      ':',
    ]) {
      await page.goto(`${service().url}/console/${path.replace(':', encodeURI(text))}?${encodeURI(text)}`)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.getByRole('button', { name: 'Sign out', exact: true }).waitFor()
      if (/history|zonefile|settings|tokens/.test(path)) await page.getByRole('alert').waitFor()
      if (path.startsWith('domains')) await page.getByRole('heading', { name: text }).waitFor()
      await checkClean(t, page, `${path} ${text}`)
    }
  }
  await page.goto(`${service().url}/console/new-domain`)
  await page.getByLabel('Name', { exact: true }).fill(MARKUP)
  await page.getByRole('button', { name: 'Add the domain' }).click()
  await page.locator('.problem, .alert').first().waitFor()
  await checkClean(t, page, 'a refused name')
})
