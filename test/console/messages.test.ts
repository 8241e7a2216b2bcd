import { newDomain, succeeded } from '../support/clients/api.ts'
import { loginOf } from '../support/clients/members.ts'
import { check, useConsole } from '../support/console/console.ts'
import { stageNew } from '../support/console/records.ts'
import { eventuallyIs } from '../support/eventually.ts'
import { useService } from '../support/harness.ts'
import { entriesOf } from '../support/state/history.ts'

// Why somebody changes something (contract §15.14): asked for in reviews, shown and found in the history.

const service = useService()
const { test, openTab, openRecords } = useConsole(service)

const WHY = 'Why? For the history'

test('a person says why in the review, and finds it in the history', async (t) => {
  const { api, secret } = await service().account()
  const name = await newDomain(api)
  const { page } = await openRecords(name, secret)
  await page.getByRole('button', { name: 'Template' }).click()
  await page.getByLabel('Template', { exact: true }).selectOption('Certificate authority')
  await page.getByRole('button', { name: /^Save/ }).click()
  await page.getByRole('button', { name: 'Review' }).click()
  const why = page.getByLabel(WHY)
  t.is(await why.inputValue(), 'Template “Certificate authority”')
  await why.fill("Größe: it's ticket 4711")
  // It stays while one goes on, and is in the command.
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('button', { name: 'Review' }).click()
  t.is(await why.inputValue(), "Größe: it's ticket 4711")
  await page.getByText('The same with curl').click()
  t.true(
    (await page.locator('.command pre').innerText()).includes("-H 'Zoneplane-Message: Größe: it'\\''s ticket 4711'"),
  )
  await check(t, page, 'review-why')
  await page.getByRole('button', { name: 'Apply' }).click()
  await page.getByText(/^Applied: /).waitFor()
  t.is((await entriesOf(api, name))[0]!.message, "Größe: it's ticket 4711")

  // The next change has a reason of its own.
  await stageNew(page, 'www', 'A', '192.0.2.1')
  await page.getByRole('button', { name: 'Review' }).click()
  t.is(await why.inputValue(), '')
  await page.getByRole('button', { name: 'Apply' }).click()
  await page.getByText('Applied: 1 change').first().waitFor()
  t.is((await entriesOf(api, name))[0]!.message, null)

  await page.getByRole('link', { name: 'History' }).click()
  await page.getByLabel('Search the history').fill('message:4711')
  await page.keyboard.press('Enter')
  await eventuallyIs(() => page.locator('.entries > li').count(), 1)
  t.regex(await page.locator('.entries').innerText(), /CAA created[^]*Größe: it's ticket 4711/)
  await check(t, page, 'history-why')
})

test('where a reason is required and no field asks for it, the browser does', async (t) => {
  const { id, api } = await service().account()
  const name = await newDomain(api)
  const { secret } = await loginOf(service(), id)
  const { page } = await openTab({ path: 'members', secret })
  const requires = page.getByRole('checkbox', { name: 'Require a reason for each change' })
  await requires.click()
  await eventuallyIs(async () => 'require_message' in ((await api.get('/auth/account/')).json as object), true)
  await check(t, page, 'members-reasons')

  const answers = ['no longer needed', undefined, 'needed after all']
  const asked: string[] = []
  page.on('dialog', (dialog) => {
    asked.push(dialog.message())
    const answer = answers.shift()
    void (answer === undefined ? dialog.dismiss() : dialog.accept(answer))
  })
  await page.goto(`${service().url}/console/domains/${name}/settings`)
  await page.getByLabel('Type the name of the domain').fill(name)
  t.is(await page.getByLabel(WHY).inputValue(), '')
  await page.getByRole('button', { name: `Delete ${name}` }).click()
  const back = page.getByRole('button', { name: `Bring back ${name}` }).first()
  await back.click()
  await page.getByText('This field is required.').waitFor()
  await back.click()
  await page.getByRole('heading', { name }).waitFor()
  t.deepEqual(asked, [WHY, WHY, WHY])
  const messages = (await entriesOf(api, name)).map(({ message }) => message)
  t.deepEqual(messages, ['needed after all', 'no longer needed', null])
  succeeded(await api.patch('/auth/account/', { require_message: false }), 200)
})
