import type { Locator, Page } from 'playwright-core'
import { newDomain, newZone, rrset } from '../support/clients/api.ts'
import { addMember, loginOf } from '../support/clients/members.ts'
import { freshEmail, linkTo, PASSWORD } from '../support/clients/people.ts'
import { addFactor } from '../support/clients/tokens.ts'
import { check, signInWithPassword, useConsole } from '../support/console/console.ts'
import { apply, stageNew } from '../support/console/records.ts'
import { eventuallyIs } from '../support/eventually.ts'
import { useService } from '../support/harness.ts'

// Members in the console: who acts for whom, and what each role is offered.

const service = useService()
const { test, browser, openTab } = useConsole(service)

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const link = (page: Page, name: string) => page.getByRole('link', { name, exact: true })

/** An account with an address, and its domain. */
async function newCompany(...rrsets: Parameters<typeof rrset>[0][]) {
  const zone = await newZone(service(), ...rrsets.map((each) => rrset(each)))
  const [found] = await service().sql<{ email: string }>('select email from accounts where id = :id', {
    id: zone.account.id,
  })
  return { ...zone, account: { ...zone.account, email: found!.email } }
}

/** Chooses for whom one acts, at the foot of the navigation. */
async function switchTo(page: Page, account: string): Promise<void> {
  await page.locator('.acting summary').click()
  await page.locator('.acting').getByRole('button', { name: account }).click()
  await page.locator('.acting summary').getByText(account).waitFor()
}

/** The secret of the session of a tab. */
async function secretOf(page: Page): Promise<string> {
  return page.evaluate<string>('JSON.parse(sessionStorage["zoneplane session"]).secret')
}

async function ask(secret: string, method: string, path: string): Promise<Response> {
  const headers = { authorization: `Token ${secret}` }
  return fetch(`${service().url}/api/v1/auth/${path}`, { method, headers })
}

test('invite → sign up by the link → accept → act → the history shows the person → removed in mid-edit', async (t) => {
  const { account, domain, api } = await newCompany()
  const hidden = await newDomain(api)
  const login = await loginOf(service(), account.id)
  const company = await openTab({ path: 'members', secret: login.secret })
  const person = freshEmail()
  await company.page.getByText('No members yet.').waitFor()
  await button(company.page, 'Invite a member').click()
  await company.page.getByLabel('E-mail').fill(person)
  await company.page.getByRole('radio', { name: /^Editor/ }).check()
  await company.page.getByRole('radio', { name: 'Only those chosen here' }).check()
  t.true(await button(company.page, 'Send the invitation').isDisabled())
  await company.page.getByLabel('Find a domain').fill(domain.slice(0, 8))
  await company.page.getByRole('checkbox', { name: domain }).check()
  await check(t, company.page, 'members-invite')
  await button(company.page, 'Send the invitation').click()
  await company.page.getByText(`We have sent a mail to ${person}.`).waitFor()
  await company.page.getByText('invited', { exact: true }).waitFor()

  const context = await browser().newContext()
  const page = await context.newPage()
  await page.goto((await linkTo(service(), person)).url)
  await page.getByRole('heading', { name: 'Accept an invitation' }).waitFor()
  await page.getByText(`${person} may then act for the account ${account.email}, as an editor`).waitFor()
  await check(t, page, 'accept-invitation')
  await page.getByLabel('Password').fill(PASSWORD)
  await button(page, 'Accept invitation').click()
  await link(page, 'Go to the console').click()
  await signInWithPassword(page, person)
  await switchTo(page, account.email)
  await page.getByText(`${account.email}, as editor`).waitFor()
  await page.getByText(`As editor, you may read, and write records: only ${domain}.`).waitFor()
  await link(page, domain).click()
  t.is(await link(page, hidden).count(), 0)
  await stageNew(page, 'www', 'A', '192.0.2.1')
  await apply(page)
  await company.page.goto(`${service().url}/console/domains/${domain}/history`)
  await link(company.page, person).click()
  await company.page.waitForURL(/search=/)
  t.is(await company.page.getByLabel('Search the history').inputValue(), `by:${person}`)
  await link(company.page, person).waitFor()
  await eventuallyIs(() => company.page.locator('.entries > li').count(), 1)
  t.is(await company.page.getByText('token “login”').count(), 0)

  await stageNew(page, 'api', 'A', '192.0.2.2')
  await link(company.page, 'Members').click()
  await button(company.page, `Remove ${person}`).click()
  t.is(await company.page.getByText('What an admin has changed stays').count(), 0)
  await check(t, company.page, 'members-remove')
  await button(company.page, 'Remove').click()
  await company.page.getByText(`${person} is removed.`).waitFor()
  await company.page.getByText('No members yet.').waitFor()
  await button(page, 'Review').click()
  await page.getByText(`You do not act for ${account.email} any more`).waitFor()
  await page.keyboard.press('Escape')
  await page.getByText('192.0.2.2', { exact: true }).waitFor()
  await button(page, 'Go to your own account').click()
  await page.locator('.who').getByText(person, { exact: true }).waitFor()
  t.is(await page.getByText('192.0.2.2', { exact: true }).count(), 0)
  t.is(await page.getByText('with staged changes').count(), 0)
  t.deepEqual((await api.get(`/domains/${domain}/rrsets/api/A/`)).status, 404)
  await context.close()
})

test('a role that is lowered in mid-edit: what happened, what to do, and what was staged stays', async (t) => {
  const { account, domain, api } = await newCompany({})
  const owner = await loginOf(service(), account.id)
  const member = await addMember(service(), account.id, 'editor')
  const { page } = await openTab({ secret: member.own.secret })
  await switchTo(page, account.email)
  await link(page, domain).click()
  await page.getByText(/^[\d,]+ record sets?$/).waitFor()
  await stageNew(page, 'api', 'A', '192.0.2.2')
  const path = `/auth/members/${member.memberId}/`
  t.is((await owner.api.patch(path, { role: 'viewer' })).status, 200)
  await button(page, 'Review').click()
  const text = `Your role for ${account.email} has changed: you are viewer now. What you have staged stays here.`
  await page.getByRole('alert').getByText(text).waitFor()
  await page.getByText('Your role may not write api A.').first().waitFor()
  await page.keyboard.press('Escape')
  await page.getByText('192.0.2.2', { exact: true }).waitFor()
  await check(t, page, 'member-lowered')
  t.is((await api.get(`/domains/${domain}/rrsets/api/A/`)).status, 404)
  await button(page, 'Close').click()
  t.is(await page.getByText(text).count(), 0)
  // Given back, it applies what was staged.
  t.is((await owner.api.patch(path, { role: 'editor' })).status, 200)
  await page.reload()
  await apply(page)
  t.is((await api.get(`/domains/${domain}/rrsets/api/A/`)).status, 200)
})

test('an admin sets transfers; with an old login it makes no other admin', async (t) => {
  const { account, domain, api } = await newCompany()
  const member = await addMember(service(), account.id, 'admin')
  const { page } = await openTab({ secret: member.own.secret })
  await switchTo(page, account.email)
  await page.goto(`${service().url}/console/domains/${domain}/nameservers`)
  await page.getByLabel('May transfer').fill('192.0.2.7')
  await button(page, 'Save').click()
  await page.getByText('Saved.').waitFor()
  t.is(await page.getByText('This token').count(), 0)
  const { addresses } = (await api.get(`/domains/${domain}/transfers/`)).json as { addresses: string[] }
  t.deepEqual(addresses, ['192.0.2.7'])

  const old = `update tokens set created = created - interval '1 hour', signed_in = signed_in - interval '1 hour' where owner_id = :id`
  await service().sql(old, { id: member.personId })
  await link(page, 'Members').click()
  await button(page, 'Invite a member').click()
  await page.getByLabel('E-mail').fill(freshEmail())
  await page.getByRole('radio', { name: /^Admin/ }).check()
  await button(page, 'Send the invitation').click()
  await page.getByText('Sign in again: an admin can be invited or made only within ten minutes of a login.').waitFor()
  await check(t, page, 'members-old-login')
  await page.goto(`${service().url}/console/account`)
  await page.getByText('Your role may not see or change the account. Only its own log-ins may.').waitFor()
})

test('what is staged for one account neither shows nor applies in another', async (t) => {
  const { account, domain } = await newCompany({})
  const person = await addMember(service(), account.id, 'editor')
  const other = await newCompany()
  await addMember(service(), other.account.id, 'viewer', { personId: person.personId })
  const { page } = await openTab({ secret: person.own.secret })
  await switchTo(page, account.email)
  await link(page, domain).click()
  await page.getByText(/^[\d,]+ record sets?$/).waitFor()
  await stageNew(page, 'api', 'A', '192.0.2.2')
  await switchTo(page, other.account.email)
  await page.goto(`${service().url}/console/domains/${domain}`)
  await page.getByText('Not found.').first().waitFor()
  t.is(await page.getByText('192.0.2.2', { exact: true }).count(), 0)
  t.is(await button(page, 'Review').count(), 0)
  await switchTo(page, account.email)
  await link(page, domain).click()
  await page.getByText('192.0.2.2', { exact: true }).waitFor()
  await page.getByRole('img', { name: 'with staged changes' }).waitFor()
})

test('signing out ends both log-ins; a log-in for an account that has ended leads to the own one', async (t) => {
  const { account, domain } = await newCompany()
  const member = await addMember(service(), account.id, 'viewer')
  const { page } = await openTab({ secret: member.own.secret })
  await page.getByRole('button', { name: 'Go to… Ctrl K' }).click()
  await page.getByRole('combobox').fill('act for')
  // The memberships come after the page.
  await page.getByRole('option', { name: `Act for ${account.email}`, selected: true }).waitFor()
  await page.keyboard.press('Enter')
  await page.getByText(`${account.email}, as viewer`).waitFor()
  await link(page, domain).waitFor()
  const secret = await secretOf(page)
  t.not(secret, member.own.secret)
  t.is((await ask(secret, 'POST', 'logout/')).status, 204)
  await link(page, domain).click()
  await page.getByText(`You do not act for ${account.email} any more`).waitFor()
  await page.getByText('This is your own account.').waitFor()
  await button(page, 'Close').click()
  await switchTo(page, account.email)
  const again = await secretOf(page)
  await button(page, 'Sign out').click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  for (const ended of [again, member.own.secret]) t.is((await ask(ended, 'GET', 'token/')).status, 401)
  t.is(await page.evaluate('sessionStorage.length'), 0)
})

test('each role is offered what it may, and nothing else', async (t) => {
  const { account, domain } = await newCompany({})
  const offers: [path: string, offer: (page: Page) => Locator, roles: string][] = [
    ['', (page) => link(page, 'Add domain'), 'admin'],
    ['', (page) => link(page, 'Tokens'), 'admin'],
    ['', (page) => link(page, 'Members'), 'admin'],
    ['', (page) => link(page, 'Account'), ''],
    ['', (page) => link(page, 'Webhooks'), 'admin'],
    ['members', (page) => button(page, 'Invite a member'), 'admin'],
    ['members', (page) => page.getByRole('checkbox', { name: /^Require/ }), ''],
    [`domains/${domain}`, (page) => button(page, 'Add record'), 'editor admin'],
    [`domains/${domain}/history`, (page) => button(page, 'Undo this change'), 'editor admin'],
    [`domains/${domain}/history`, (page) => button(page, 'Show the zone after it'), 'viewer editor admin'],
    [`domains/${domain}/dnssec`, (page) => page.getByRole('heading', { name: 'Replace the key' }), 'admin'],
    [`domains/${domain}/dnssec`, (page) => button(page, 'Check now'), 'viewer editor admin'],
    [`domains/${domain}/nameservers`, (page) => button(page, 'Save'), 'admin'],
    [`domains/${domain}/zonefile`, (page) => button(page, 'Review'), 'editor admin'],
    [`domains/${domain}/zonefile`, (page) => link(page, 'Download'), 'viewer editor admin'],
    [`domains/${domain}/settings`, (page) => button(page, `Delete ${domain}`), 'admin'],
    [`domains/${domain}/settings`, (page) => button(page, 'Save the note'), 'admin'],
  ]
  for (const role of ['viewer', 'editor', 'admin'] as const) {
    const member = await addMember(service(), account.id, role)
    const { page } = await openTab({ secret: member.own.secret })
    await switchTo(page, account.email)
    for (const [path, offer, roles] of offers) {
      if (page.url() !== `${service().url}/console/${path}`) {
        await page.goto(`${service().url}/console/${path}`)
        await page.waitForLoadState('networkidle')
        if (path.endsWith('history')) {
          await page.locator('.entries summary').first().click()
          await button(page, 'Show the zone after it').waitFor()
        }
      }
      t.is(await offer(page).count(), roles.includes(role) ? 1 : 0, `${role} ${path} ${String(offer)}`)
    }
    t.is(await page.getByText('This token').count(), 0)
    if (role === 'viewer') {
      await page.goto(`${service().url}/console/domains/${domain}`)
      await button(page, 'Edit www A').click()
      await page.getByText('Your role may not write www A.').waitFor()
      t.is(await page.getByRole('textbox').count(), 0)
      await check(t, page, 'member-viewer')
      await button(page, 'Close').click()
    }
  }
})

test('members are changed and removed; their tokens end, or stay; those of groups are not editable', async (t) => {
  const { account, api } = await newCompany()
  const login = await loginOf(service(), account.id)
  const [admin, second] = [
    await addMember(service(), account.id, 'admin'),
    await addMember(service(), account.id, 'admin'),
  ]
  const group = await addMember(service(), account.id, 'viewer')
  await service().sql(`update members set source = 'group' where id = :id`, { id: group.memberId })
  const made: { token: string }[] = []
  for (const [member, name] of [
    [admin, 'ci'],
    [second, 'backup'],
  ] as const)
    made.push((await member.session.post('/auth/tokens/', { name })).json as { token: string })
  const { page } = await openTab({ path: 'members', secret: login.secret })
  await page.getByText('By a group of single sign-on').waitFor()
  t.is(await button(page, `Change ${group.email}`).count(), 0)
  await check(t, page, 'members')
  await button(page, `Change ${admin.email}`).click()
  await page.getByRole('radio', { name: /^Editor/ }).check()
  await page.getByRole('dialog').getByText('ci', { exact: true }).waitFor()
  t.is(await page.getByRole('dialog').getByText('backup').count(), 0)
  await button(page, 'Save').click()
  await page.getByText(`What ${admin.email} may do is changed.`).waitFor()
  await button(page, `Remove ${second.email}`).click()
  await page.getByText('What an admin has changed stays: transfers to servers,').waitFor()
  await page.getByRole('checkbox', { name: 'Keep these tokens' }).check()
  await button(page, 'Remove').click()
  await page.getByText(`${second.email} is removed.`).waitFor()
  t.deepEqual(await Promise.all(made.map(async ({ token }) => (await ask(token, 'GET', 'token/')).status)), [401, 200])
  await link(page, 'Tokens').click()
  await page.getByText(`Made by ${second.email}`).waitFor()

  await link(page, 'Members').click()
  const secured = await addMember(service(), account.id, 'viewer')
  await addFactor(service(), secured.personId)
  const asked: string[] = []
  const requires = page.getByRole('checkbox', { name: 'Require a second factor of members' })
  for (const answer of ['dismiss', 'accept'] as const) {
    const opened = page.waitForEvent('dialog').then(async (dialog) => {
      asked.push(dialog.message())
      await dialog[answer]()
    })
    await requires.click()
    await opened
    await eventuallyIs(() => requires.isChecked(), answer === 'accept')
  }
  t.is(asked.length, 2)
  for (const { email } of [admin, group]) t.true(asked[0]!.includes(email), asked[0])
  t.false(asked[0]!.includes(secured.email), asked[0])
  t.regex(asked[0]!, /^These members have no second factor here, and are locked out until they sign in with one: /)
  const member = await openTab({ secret: admin.own.secret })
  await member.page.locator('.acting summary').click()
  await member.page.locator('.acting').getByRole('button', { name: account.email }).click()
  await member.page.getByText('This account requires a second factor of its members.').waitFor()
  await check(t, member.page, 'members-locked-out')
  await link(member.page, 'Account').click()
  member.page.on('dialog', (dialog) => void dialog.accept())
  await button(member.page, `Leave ${account.email}`).click()
  await member.page.locator('.acting').waitFor({ state: 'detached' })
  t.is((await admin.session.get('/domains/')).status, 401)
  t.is((await api.get('/domains/')).status, 200)
})
