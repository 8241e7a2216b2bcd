import ava from 'ava'
import type { Page } from 'playwright-core'
import { Webhook as Verifier } from 'standardwebhooks'
import { GROUPS, typeWords } from '../../console/webhooks/webhooks.ts'
import { ACCOUNT_TYPES, DOMAIN_TYPES } from '../../src/service/activity/activity.ts'
import { GROUPS as KNOWN } from '../../src/service/webhooks/event-groups.ts'
import { newDomain, newRRset, succeeded } from '../support/clients/api.ts'
import { addMember, loginOf } from '../support/clients/members.ts'
import { check, useConsole } from '../support/console/console.ts'
import { answering, heal, isRead } from '../support/console/states.ts'
import { eventually, eventuallyIs } from '../support/eventually.ts'
import { useService } from '../support/harness.ts'
import { type Received, startReceiver } from '../support/webhooks/receivers.ts'

// The page of webhooks (contract §22).

const service = useService({ WEBHOOK_NETWORKS: '127.0.0.1' })
const { test, openTab } = useConsole(service)

ava('everything that can happen has words, and can be chosen', (t) => {
  t.deepEqual(Object.keys(GROUPS), [...KNOWN])
  for (const type of [...DOMAIN_TYPES, ...ACCOUNT_TYPES, 'test']) t.regex(typeWords(type), /^[A-Z][a-zA-Z -]+$/, type)
})

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true })

/** Opens the page in a log-in of a new account. */
async function openWebhooks() {
  const { id, api } = await service().account()
  const { secret, api: login } = await loginOf(service(), id)
  const { page } = await openTab({ path: 'webhooks', secret })
  return { id, api, login, page }
}

/** The secret that the page shows this once. */
async function copySecret(page: Page): Promise<string> {
  await page.getByRole('heading', { name: 'Copy the secret now' }).waitFor()
  const secret = await page.locator('code.secret').innerText()
  await button(page, 'Done').click()
  return secret
}

test('a webhook is added and tested, it fails, is repaired, and is told again what it missed', async (t) => {
  const receiver = await startReceiver()
  t.teardown(() => receiver.close())
  const { api, page } = await openWebhooks()
  const domain = await newDomain(api)
  await page.getByText('No webhooks yet.').waitFor()
  t.is(await page.title(), 'Webhooks · Zoneplane')
  await check(t, page, 'webhooks-empty')
  await button(page, 'Add a webhook').click()
  await page.getByLabel('URL').fill('https://127.0.0.2/hook')
  await page.getByRole('checkbox', { name: 'Domains' }).uncheck()
  await page.getByRole('checkbox', { name: 'Account' }).check()
  await page.getByRole('radio', { name: 'Only those chosen here' }).check()
  t.true(await button(page, 'Add').isDisabled())
  await page.getByRole('checkbox', { name: domain }).check()
  await button(page, 'Add').click()
  await page.getByText('Must have a public address.').waitFor()
  await page.getByText('it then hears only what is about these domains').waitFor()
  await check(t, page, 'webhooks-add')
  await page.getByLabel('URL').fill(receiver.url)
  await button(page, 'Add').click()
  await page.getByRole('heading', { name: 'Copy the secret now' }).waitFor()
  await check(t, page, 'webhooks-secret')
  const verifier = new Verifier(await copySecret(page))
  const isSigned = ({ body, headers }: Received) => verifier.verify(body, headers as Record<string, string>)
  await page.getByText(`${receiver.url} is added.`).waitFor()
  t.is(await page.locator('code.secret').count(), 0)
  const card = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: receiver.url }) })
  await card.getByText(`Records and account: only ${domain}`).waitFor()
  await card.getByText('Nothing delivered in the last 7 days').waitFor()

  await button(page, `Send a test to ${receiver.url}`).click()
  await card.getByText('Delivered. The receiver answered 204.').first().waitFor()
  await card.getByText('Last delivery just now').waitFor()
  t.deepEqual(
    receiver.received.map(({ type }) => type),
    ['test'],
  )
  t.notThrows(() => isSigned(receiver.received[0]!))

  receiver.answer = (response) => response.writeHead(500).end()
  await newRRset(api, domain)
  const missed = (await eventually(() => receiver.received.find(({ type }) => type === 'rrsets_changed')))!
  await button(page, `Send a test to ${receiver.url}`).click()
  await card.getByText('Not delivered yet. The receiver answered 500. It is tried again later.').waitFor()
  await card.getByText('Failing', { exact: true }).first().waitFor()
  await card.getByText(/^It began to fail just now. The receiver answered 500. It is tried again/).waitFor()
  await card.locator('summary').click()
  const lines = card.locator('.entries > li')
  await eventuallyIs(() => lines.count(), 3)
  t.regex((await lines.nth(0).innerText()).replace(/\s+/g, ' '), /^Waiting Test just now Try now$/)
  t.regex(
    (await lines.nth(1).innerText()).replace(/\s+/g, ' '),
    new RegExp(`^Failing Records changed ${domain} just now Try now The receiver answered 500. \\d attempts?`),
  )
  t.regex((await lines.nth(2).innerText()).replace(/\s+/g, ' '), /^Delivered Test .* Redeliver .* 204. 1 attempt/)
  await check(t, page, 'webhooks-failing')

  receiver.answer = (response) => response.writeHead(204).end()
  await lines.nth(1).getByRole('button').click()
  await card.getByText('Delivered. The receiver answered 204.').first().waitFor()
  await card.getByText('On', { exact: true }).waitFor()
  await eventually(() => receiver.received.at(-1)!.type === 'test')
  const times = () => receiver.received.filter(({ id }) => id === missed.id).length
  const before = times()
  await lines.nth(1).getByRole('button', { name: 'Redeliver' }).click()
  await eventuallyIs(times, before + 1)
  t.notThrows(() => isSigned(receiver.received.at(-1)!))
  await card.getByText('Delivered. The receiver answered 204.').first().waitFor()
  await lines.nth(1).getByRole('link', { name: domain }).click()
  await page.getByText('One change.').waitFor()
})

test('a webhook is changed, turned off and on, gets another secret, and is deleted', async (t) => {
  const receiver = await startReceiver()
  t.teardown(() => receiver.close())
  const { login, page } = await openWebhooks()
  const { url } = receiver
  const { secret } = succeeded(await login.post('/webhooks/', { url, events: ['delegation'] }), 201).json as {
    secret: string
  }
  await page.reload()
  await page.getByText('Delegations: all domains').waitFor()
  await button(page, `Change ${url}`).click()
  await page.getByRole('checkbox', { name: 'Domains' }).check()
  await button(page, 'Save').click()
  await page.getByText('Domains and delegations: all domains').waitFor()

  await button(page, `Turn off ${url}`).click()
  await button(page, 'Turn off').click()
  await page.getByText(/^Off since .* Somebody turned it off\./).waitFor()
  t.is(await page.getByRole('button', { name: 'Send a test' }).count(), 0)
  await check(t, page, 'webhooks-off')
  await button(page, `Turn on ${url}`).click()
  await page.getByText('It is on: what happens from now on is sent.').waitFor()

  await button(page, `Make a new secret ${url}`).click()
  await button(page, 'Make it').click()
  const next = await copySecret(page)
  t.not(next, secret)
  // A receiver that is gone for good ends it.
  receiver.answer = (response) => response.writeHead(410).end()
  await button(page, `Send a test to ${url}`).click()
  await page.getByText('Its receiver has answered that it is gone for good (410).').waitFor()
  const [{ body, headers }] = receiver.received as [Received]
  for (const each of [secret, next])
    t.notThrows(() => new Verifier(each).verify(body, headers as Record<string, string>))
  await page.locator('summary').click()
  const line = page.locator('.entries > li')
  await line.getByText('Failed').waitFor()
  t.is(await line.getByRole('button').count(), 0)

  await button(page, `Delete ${url}`).click()
  await check(t, page, 'webhooks-delete')
  await button(page, 'Delete').click()
  await page.getByText('No webhooks yet.').waitFor()
  t.deepEqual(succeeded(await login.get('/webhooks/'), 200).json, [])
})

test('who may not see webhooks is offered no acts, and reads who may; without webhooks, the page says so', async (t) => {
  const { id, secret } = await service().account()
  const viewer = await addMember(service(), id, 'viewer')
  for (const [each, path] of [
    [secret, 'webhooks'],
    [viewer.secret, 'webhooks'],
  ] as const) {
    const { page } = await openTab({ path, secret: each })
    await page.getByText('Only log-ins of the account itself and of its admins may see its webhooks.').waitFor()
    t.is(await page.getByRole('main').getByRole('button').count(), 0)
    t.is(await page.getByRole('link', { name: 'Webhooks' }).count(), 0)
  }
  const admin = await addMember(service(), id, 'admin')
  const { page } = await openTab({ secret: admin.secret })
  await page.getByRole('link', { name: 'Webhooks' }).click()
  await button(page, 'Add a webhook').waitFor()
  await answering(page, isRead, 404)
  await page.reload()
  await page.getByText('The operator of this service has turned webhooks off.').waitFor()
  await heal(page)
})
