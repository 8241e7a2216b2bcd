import * as people from '../support/clients/people.ts'
import { addToken } from '../support/clients/tokens.ts'
import { check, sendToken, useConsole } from '../support/console/console.ts'
import { useService } from '../support/harness.ts'

const service = useService()
const { test, openTab } = useConsole(service)

test('a person signs in with address and password, and signs out', async (t) => {
  const someone = await people.person(service())
  const { page } = await openTab()
  await check(t, page, 'sign-in')
  await page.getByLabel('E-mail').fill(someone.email)
  await page.getByLabel('Password').fill('wrong password')
  await page.getByRole('button', { name: 'Sign in' }).click()
  t.regex(await page.getByRole('alert').innerText(), /^Invalid username\/password/)
  t.is(await page.getByLabel('E-mail').inputValue(), someone.email)
  await page.getByLabel('Password').fill(people.PASSWORD)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Domains' }).waitFor()
  await check(t, page, 'no-domains')
  const secret = await page.evaluate('JSON.parse(sessionStorage.getItem("zoneplane session")).secret')
  t.is(await page.evaluate('localStorage.length + document.cookie.length'), 0)
  await page.reload()
  await page.getByRole('button', { name: 'Sign out', exact: true }).click()
  await page.getByText('You are signed out.').waitFor()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  t.is(await page.evaluate('sessionStorage.length'), 0)
  t.is((await service().clientOf(String(secret)).get('/auth/account/')).status, 401)
})

test('whoever signs in with a token is told that its networks may be why it fails', async (t) => {
  const { id } = await people.person(service())
  const { secret } = await addToken(service(), id, { allowedSubnets: ['192.0.2.0/24'] })
  const { page } = await openTab()
  await sendToken(page, secret)
  t.is(await page.getByRole('alert').innerText(), 'Invalid token, or it may not be used from your address.')
})
