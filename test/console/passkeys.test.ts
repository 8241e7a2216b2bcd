import type { CDPSession, Page } from 'playwright-core'
import * as people from '../support/clients/people.ts'
import { PASSWORD } from '../support/clients/people.ts'
import { addToken } from '../support/clients/tokens.ts'
import { check, signIn, signInWithPassword, useConsole } from '../support/console/console.ts'
import { useService } from '../support/harness.ts'

// Passkeys in the console, with Chromium's own authenticator. Browsers have passkeys at localhost, but not at 127.0.0.1.

const service = useService()
const { test, openTab } = useConsole(service)

const url = () => service().url.replace('127.0.0.1', 'localhost')

test('a person adds passkeys, and signs in with one: alone, and after the password', async (t) => {
  const { email, id } = await people.person(service())
  const { page } = await openTab({ path: 'account' }, url())
  const device = await newDevice(page)
  await signInWithPassword(page, email)
  await page.getByLabel('Name of the passkey').fill('laptop')
  await check(t, page, 'passkeys')
  await page.getByRole('button', { name: 'Add a passkey' }).click()
  await page.getByText(`We have sent a mail to ${email}`).waitFor()
  await check(t, page, 'passkey-mailed')

  // The link works in any tab. From then on, this session needs the passkey, too.
  const other = await page.context().newPage()
  await other.goto((await people.linkTo(service(), email)).url)
  await other.getByRole('button', { name: 'Add the passkey' }).click()
  await other.getByText('Your passkey has been added.').waitFor()
  await other.close()
  // Only the page in front may ask for a passkey.
  await page.bringToFront()
  await page.getByRole('button', { name: 'I have opened it' }).click()
  await page.getByRole('heading', { name: 'Second factor', exact: true }).waitFor()
  await check(t, page, 'second-factor-passkey')
  t.is(await page.getByLabel('Code').count(), 0)
  await page.getByRole('button', { name: 'Use a passkey' }).click()
  await page.getByText('Last used').waitFor()
  await check(t, page, 'passkeys-listed')

  // This device has one already, but another may get one at once.
  await page.getByLabel('Name of the passkey').fill('phone')
  await page.getByRole('button', { name: 'Add a passkey' }).click()
  await page.getByText('This device already has a passkey of your account.').waitFor()
  await device.replace()
  await page.getByRole('button', { name: 'Add a passkey' }).click()
  await page.getByRole('button', { name: 'Delete phone' }).waitFor()
  await page.getByText('Never used').waitFor()
  await page.getByRole('button', { name: 'Rename phone' }).click()
  await page.getByLabel('New name').fill('stick')
  await page.getByRole('button', { name: 'Rename', exact: true }).last().click()
  await page.getByRole('button', { name: 'Delete stick' }).waitFor()

  await page.getByRole('button', { name: 'Sign out', exact: true }).click()
  await page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor()
  await check(t, page, 'sign-in-passkey')
  await device.verifies(false)
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
  t.regex(await page.getByRole('alert').innerText(), /^No passkey was used: this was cancelled, or took too long\./)
  await device.verifies(true)
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
  await page.getByRole('heading', { name: 'Domains' }).waitFor()

  await page.getByRole('button', { name: 'Sign out', exact: true }).click()
  await page.goto(`${url()}/console/account`)
  await signInWithPassword(page, email)
  await page.getByRole('button', { name: 'Use a passkey' }).click()
  await page.getByText(`Your address is ${email}.`).waitFor()

  // It stands for a code, where one is asked for.
  const newEmail = people.freshEmail()
  await page.getByText('Change it').click()
  await page.getByLabel('New e-mail').fill(newEmail)
  await page.getByLabel('Password', { exact: true }).filter({ visible: true }).fill(PASSWORD)
  await page.getByText('Your passkey is asked for, too.').filter({ visible: true }).waitFor()
  await check(t, page, 'change-email-passkey')
  await page.getByRole('button', { name: 'Change the address' }).click()
  await page.getByText(`We have sent a mail to ${newEmail}`).waitFor()

  // A deleted passkey of the device is refused; after the last one, the password is enough.
  for (const name of ['stick', 'laptop']) {
    await page.getByRole('button', { name: `Delete ${name}` }).click()
    await page.getByRole('button', { name: 'Delete the passkey' }).click()
    await page.getByRole('button', { name: `Delete ${name}` }).waitFor({ state: 'detached' })
  }
  await page.getByRole('button', { name: 'Sign out', exact: true }).click()
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
  await page.getByText('This passkey is unknown here, or was deleted.').waitFor()
  await signInWithPassword(page, email)
  await page.getByRole('heading', { name: 'Domains' }).waitFor()

  // An API token does not see them, and is asked for one all the same.
  const token = await addToken(service(), id, { permManageTokens: true })
  const free = await openTab({ path: 'account' }, url())
  await signIn(free.page, token.secret)
  await free.page.getByText('Sign in with your password to see and change them.').waitFor()
  t.is(await free.page.getByRole('heading', { name: 'Passkeys' }).count(), 0)
})

test('where browsers have no passkeys, the console offers none', async (t) => {
  const { email } = await people.person(service())
  const { page } = await openTab({ path: 'account' })
  t.is(await page.getByRole('button', { name: 'Sign in with a passkey' }).count(), 0)
  await signInWithPassword(page, email)
  await page.getByRole('heading', { name: 'Second factors' }).waitFor()
  t.is(await page.getByRole('heading', { name: 'Passkeys' }).count(), 0)
})

test('an old browser is told that it cannot use passkeys', async (t) => {
  const { page } = await openTab({}, url())
  await page.evaluate('delete window.PublicKeyCredential')
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
  t.regex(await page.getByRole('alert').innerText(), /^This browser cannot use passkeys here\./)
})

/** An authenticator of the page's browser, whose user touches it at once. */
async function newDevice(page: Page) {
  const cdp: CDPSession = await page.context().newCDPSession(page)
  await cdp.send('WebAuthn.enable')
  const add = async () => {
    const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    })
    return authenticatorId
  }
  let authenticatorId = await add()
  return {
    /** Makes it another device. */
    async replace() {
      await cdp.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId })
      authenticatorId = await add()
    },
    /** Whether it recognises its user. */
    async verifies(isUserVerified: boolean) {
      await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified })
    },
  }
}
