import { newDomain, newRRset, rrset, succeeded } from '../support/clients/api.ts'
import { addMember } from '../support/clients/members.ts'
import { person } from '../support/clients/people.ts'
import { addToken } from '../support/clients/tokens.ts'
import { check, useConsole } from '../support/console/console.ts'
import { stageNew } from '../support/console/records.ts'
import { eventuallyIs } from '../support/eventually.ts'
import { useService } from '../support/harness.ts'

// The page of what happened in an account (contract §15.15).

const service = useService()
const { test, openTab, openRecords } = useConsole(service)

test('what somebody wrote in a review is found by its word, with its place in the domain', async (t) => {
  const { id, api, secret } = await service().account()
  const ci = await addToken(service(), id, { name: 'ci' })
  const name = await newDomain(api)
  const other = await newDomain(api)
  await newRRset(ci.api, other, rrset({ subname: 'shop' }))
  const { page } = await openRecords(name, secret)
  await stageNew(page, 'www', 'AAAA', '2001:db8::1')
  await page.getByRole('button', { name: 'Review' }).click()
  await page.getByLabel('Why? For the history').fill("Ticket 4711: it's moving")
  await page.getByRole('button', { name: 'Apply' }).click()
  await page.getByText('Applied: 1 change').first().waitFor()

  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Activity' }).click()
  const lines = page.locator('.entries > li')
  await eventuallyIs(() => lines.count(), 4)
  t.deepEqual(await page.locator('h2.day').allTextContents(), ['Today'])
  t.regex(await lines.nth(0).innerText(), new RegExp(`${name} www AAAA[^]*Ticket 4711: it's moving`))
  t.regex(await lines.nth(1).innerText(), new RegExp(`${other} shop A[^]*token “ci”`))
  t.regex(await lines.nth(2).innerText(), new RegExp(`${other} Domain created`))
  t.is(await page.title(), 'Activity · Zoneplane')
  await check(t, page, 'activity')

  await page.getByLabel('Search the activity').fill('4711')
  await page.keyboard.press('Enter')
  await eventuallyIs(() => lines.count(), 1)
  await page.getByRole('link', { name }).click()
  await page.getByText('One change.').waitFor()
  t.regex(await page.locator('.entries').innerText(), /www AAAA[^]*Ticket 4711/)
  await check(t, page, 'history-entry')
  await page.getByRole('link', { name: 'Show all' }).click()
  await eventuallyIs(() => lines.count(), 2)

  await page.goBack()
  await page.goBack()
  await eventuallyIs(() => page.getByLabel('Search the activity').inputValue(), '4711')
  await page.getByRole('button', { name: 'Domains' }).click()
  await page.getByText('Nothing matches.').waitFor()
  await page.getByLabel('Search the activity').fill('')
  await eventuallyIs(() => lines.count(), 2)
  t.is(await page.getByRole('button', { name: 'Domains' }).getAttribute('aria-pressed'), 'true')

  // What the token has done.
  await page.goto(`${service().url}/console/tokens/${ci.id}`)
  await page.getByRole('link', { name: 'What it has done lately' }).click()
  await page.getByText('Only of one token.').waitFor()
  await eventuallyIs(() => lines.count(), 1)
  t.regex(await lines.innerText(), /shop A/)
  await page.getByRole('button', { name: 'Of all' }).click()
  await eventuallyIs(() => lines.count(), 4)
})

test('log-ins, tokens and members are there, by person', async (t) => {
  const { credentials, id, email } = await person(service())
  await service().anonymous.post('/auth/login/', { ...credentials, password: 'wrong one' })
  const { token: secret } = succeeded(await service().anonymous.post('/auth/login/', credentials), 200).json as {
    token: string
  }
  const api = service().clientOf(secret)
  const made = succeeded(await api.post('/auth/tokens/', { name: 'ci' }), 201).json as { id: string }
  succeeded(await api.patch(`/auth/tokens/${made.id}/`, { name: 'ci 2' }), 200)
  const guest = await addMember(service(), id, 'editor')
  const name = await newDomain(api)
  await newRRset(guest.session, name, rrset({ subname: 'theirs' }))
  succeeded(await api.put(`/domains/${name}/transfers/`, { addresses: [], notify: [], tsig: true }), 200)
  const { page } = await openTab({ path: 'activity', secret })
  const lines = page.locator('.entries > li')
  await eventuallyIs(() => lines.count(), 7)
  const texts = (await lines.allInnerTexts()).map((text) => text.replace(/\s+/g, ' '))
  for (const [i, expected] of [
    `${name} Transfers changed`,
    `${name} theirs A`,
    `${name} Domain created`,
    'Token changed: ci 2',
    'Token created: ci 2',
    `Signed in by password: login ${email}`,
    'Refused a sign-in by password',
  ].entries())
    t.true(texts[i]!.includes(expected), `${texts[i]} has ${expected}`)
  await check(t, page, 'activity-account')
  await page.getByRole('button', { name: 'Sign-ins' }).click()
  await eventuallyIs(() => lines.count(), 2)

  await page.getByRole('link', { name: 'Members' }).click()
  await page.getByRole('main').getByRole('link', { name: 'Activity' }).click()
  await eventuallyIs(() => lines.count(), 1)
  t.regex(await lines.innerText(), /theirs A/)
})

test('where the page does not come, it says so', async (t) => {
  const { secret } = await service().account()
  const { page } = await openTab({ secret })
  await page.route(/assets\/later-/, (route) => route.fulfill({ status: 404 }))
  await page.getByRole('link', { name: 'Activity' }).click()
  t.regex(await page.getByRole('alert').innerText(), /^This page could not be loaded\./)
  await page.unroute(/assets\/later-/)
  await page.reload()
  await page.getByText('Nothing matches.').waitFor()
  t.is(await page.title(), 'Activity · Zoneplane')
})
