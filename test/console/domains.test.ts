import { countOf, mistakesOf, previewOf } from '../../console/rrsets/zonefile.ts'
import { resumeServing, suspend } from '../../src/service/operation/suspension.ts'
import { PHONE } from '../support/browser.ts'
import { freshName, newDomain, newRRset, newZone, rrset } from '../support/clients/api.ts'
import { addToken } from '../support/clients/tokens.ts'
import { check, DESK, useConsole } from '../support/console/console.ts'
import { apply, stageNew } from '../support/console/records.ts'
import { eventuallyIs } from '../support/eventually.ts'
import { useService } from '../support/harness.ts'
import { storeCheck } from '../support/state/checks.ts'

// The list of domains, and their creation.

const service = useService()
const { test, openTab } = useConsole(service)

test('a person adds a domain with a zone file, whose records and mistakes are shown before', async (t) => {
  const { api, secret } = await service().account()
  const { page } = await openTab({ path: 'new-domain', secret })
  await page.getByLabel('Name', { exact: true }).fill('Shop.test.')
  await page.getByLabel('Zone file, if there is one').fill('www 300 IN A 192.0.2.1\nmail 300 IN A 192.0.2.300\n')
  await page.getByRole('button', { name: /^Line 2\s*mail 300 IN A 192\.0\.2\.300/ }).waitFor()
  await check(t, page, 'new-domain-mistake')
  // The browser does not know this rule.
  await page.getByLabel('Zone file, if there is one').fill('old DNAME x.test.\na.old A 192.0.2.1\n')
  await page.getByRole('button', { name: 'Add the domain' }).click()
  await page.getByRole('button', { name: /^Line [12]/ }).waitFor()
  const lines = ['mail 300 IN A 192.0.2.2', '@ MX 10 mail', 'www CNAME @', 'old CNAME gone']
  await page.getByLabel('Zone file, if there is one').fill(lines.join('\n'))
  await page.getByText('Creates 4 record sets.').waitFor()
  t.is(await page.getByRole('button', { name: /^Line / }).count(), 0)
  await page.getByText('There are no records at gone.shop.test.').waitFor()
  await check(t, page, 'new-domain-preview')
  // On a phone, no type and no usual name breaks; other names do.
  await page
    .getByLabel('Zone file, if there is one')
    .fill(`sel1._domainkey TXT ${'v=DKIM1'.repeat(20)}\nold CNAME gone\n${'x'.repeat(63)} A 192.0.2.1`)
  await page.getByText('Creates 3 record sets.').waitFor()
  await check(t, page, 'new-domain-long')
  await page.setViewportSize(PHONE)
  t.deepEqual(
    await page.evaluate(`Array.from(document.querySelectorAll('.difference tbody :is(th, td:nth-child(2))'), (cell) => {
    const range = document.createRange()
    range.selectNodeContents(cell.querySelector('.badge') ?? cell)
    return [cell.innerText, range.getClientRects().length === 1]
  })`),
    [
      ['sel1._domainkey', true],
      ['TXT', true],
      ['old', true],
      ['CNAME', true],
      ['x'.repeat(63), false],
      ['A', true],
    ],
  )
  await page.setViewportSize(DESK)
  // A long file has more room.
  const height = async () => (await page.getByLabel('Zone file, if there is one').boundingBox())!.height
  const before = await height()
  await page.getByLabel('Zone file, if there is one').fill(`${lines.join('\n')}${'\n'.repeat(12)}`)
  t.true((await height()) > before)
  await page.getByRole('button', { name: 'Add the domain' }).click()
  await page.getByRole('heading', { name: 'shop.test' }).waitFor()
  t.deepEqual((await api.get('/domains/shop.test/rrsets/mail/A/')).status, 200)
  // The name is taken now, and the page keeps what was typed.
  await page.goto(`${service().url}/console/new-domain`)
  await page.getByLabel('Name', { exact: true }).fill('shop.test')
  await page.getByRole('button', { name: 'Add the domain' }).click()
  await page.locator('.problem').waitFor()
  t.is(await page.getByLabel('Name', { exact: true }).inputValue(), 'shop.test')
  await check(t, page, 'new-domain-taken')
})

test('a person searches, and brings a deleted domain back', async (t) => {
  const { api, secret } = await service().account()
  const names = [await newDomain(api), await newDomain(api), await newDomain(api)]
  const [gone, other] = names as [string, string]
  await newRRset(api, gone, rrset())
  await api.delete(`/domains/${gone}/`)
  const { page } = await openTab({ secret })
  await page.getByRole('link', { name: other, exact: true }).waitFor()
  t.is(await page.getByRole('link', { name: gone, exact: true }).count(), 0)
  await page.getByLabel('Search domains').fill(other.toUpperCase())
  t.is(await page.locator('table.list tbody tr').count(), 1)
  await page.getByLabel('Search domains').fill('none')
  await page.getByText('No domain matches “none”.').waitFor()
  await page.getByLabel('Search domains').fill('')
  await page.getByRole('button', { name: 'Deleted · 1', exact: true }).click()
  await page.getByRole('button', { name: `Bring back ${gone}` }).waitFor()
  t.is(await page.getByRole('link', { name: other, exact: true }).count(), 0)
  await check(t, page, 'domains-deleted')
  await page.getByRole('button', { name: `Bring back ${gone}` }).click()
  await page.getByRole('heading', { name: gone }).waitFor()
  t.is((await api.get(`/domains/${gone}/rrsets/www/A/`)).status, 200)
})

test('a person sees the state of each domain, finds those in a state, and what is to be done', async (t) => {
  const { api, secret } = await service().account()
  const [fine, open, lost] = [await newDomain(api), await newDomain(api), await newDomain(api)]
  const fresh = await newDomain(api, 'a-name-without-a-place-to-break.test')
  await storeCheck(service(), fine, 'secure')
  await storeCheck(service(), open, 'insecure')
  await storeCheck(service(), lost, 'elsewhere')
  const { page } = await openTab({ secret })
  const stateOf = (name: string) => page.getByRole('row').filter({ hasText: name }).getByRole('cell').nth(1)
  await stateOf(fine).getByText('Secure', { exact: true }).waitFor()
  t.regex(await stateOf(fresh).innerText(), /^Delegation not checked/)
  t.is(await page.getByRole('cell').getByRole('link').count(), 6)
  await check(t, page, 'domains-states')
  for (const [typed, names] of [
    ['Secure', [fine]],
    ['insecure', [open]],
    ['DS missing at registrar ', [open]],
    [fresh, [fresh]],
  ] as const) {
    await page.getByLabel('Search domains').fill(typed)
    t.deepEqual(await page.locator('table.list tbody td:first-child').allInnerTexts(), [...names])
  }
  // The parent of this one is not found.
  await page.getByRole('button', { name: `Check now how ${fresh} is delegated` }).click()
  await stateOf(fresh).getByText('Delegation not known', { exact: true }).waitFor()
  await page.getByLabel('Search domains').fill('')
  t.is(await stateOf(lost).innerText(), 'Other nameservers have it')
  await page.getByRole('link', { name: 'DS missing at registrar' }).click()
  await page.getByText('One step is left: give your registrar the DS record').waitFor()
  t.true(page.url().endsWith(`/domains/${open}/dnssec`))
})

test('a domain and a record with a name in Unicode are made under its Punycode, which the pages show', async (t) => {
  const { api, secret } = await service().account()
  const { page } = await openTab({ path: 'new-domain', secret })
  await page.getByLabel('Name', { exact: true }).fill('Bücher.test')
  await page.getByText('xn--bcher-kva.test', { exact: true }).waitFor()
  await check(t, page, 'new-domain-unicode')
  await page.getByRole('button', { name: 'Add the domain' }).click()
  await page.getByRole('heading', { name: 'xn--bcher-kva.test' }).waitFor()
  await page.getByText('Only the nameservers so far.').waitFor()
  await stageNew(page, '*.ö', 'A', '192.0.2.1')
  await page.getByRole('button', { name: 'Edit *.xn--nda A' }).waitFor()
  await apply(page)
  t.is((await api.get('/domains/xn--bcher-kva.test/rrsets/*.xn--nda/A/')).status, 200)
  await page.getByRole('link', { name: 'Domains' }).click()
  await page.getByLabel('Search domains').fill('Bücher')
  await page.getByRole('link', { name: 'xn--bcher-kva.test' }).waitFor()
})

test('chips show the domains that need their owner, that nobody has delegated, and that are deleted', async (t) => {
  const { api, secret } = await service().account()
  const states = ['secure', 'insecure', 'mismatch', 'not-delegated', 'propagating', 'unknown'] as const
  const names = new Map<string, string>()
  for (const state of states) {
    const name = await newDomain(api)
    names.set(state, name)
    await storeCheck(service(), name, state)
  }
  const { page } = await openTab({ secret })
  const chip = (name: string) => page.getByRole('group', { name: 'Which domains' }).getByRole('button', { name })
  const shown = () => page.locator('table.list tbody td:first-child').allInnerTexts()
  await chip('Needs you · 2').waitFor()
  t.is(await chip('Deleted').count(), 0)
  t.is(await chip('All').getAttribute('aria-pressed'), 'true')
  t.is((await shown()).length, 6)
  await chip('Needs you · 2').click()
  t.deepEqual(await shown(), [names.get('mismatch'), names.get('insecure')])
  t.is(await chip('Needs you · 2').getAttribute('aria-pressed'), 'true')
  await check(t, page, 'domains-needs-you')
  await page.getByLabel('Search domains').fill('wrong ds')
  t.deepEqual(await shown(), [names.get('mismatch')])
  await page.getByLabel('Search domains').fill('')
  await chip('Not delegated · 1').click()
  t.deepEqual(await shown(), [names.get('not-delegated')])
  // The view comes back with the page.
  await page.getByRole('link', { name: names.get('not-delegated')! }).click()
  await page.getByRole('heading', { name: names.get('not-delegated')! }).waitFor()
  await page.goBack()
  await chip('Not delegated · 1').waitFor()
  t.deepEqual(await shown(), [names.get('not-delegated')])
  await chip('All').click()
  t.is((await shown()).length, 6)
  // What a chip shows can go away.
  await api.delete(`/domains/${names.get('not-delegated')}/`)
  await page.goto(`${service().url}/console/?show=not-delegated`)
  await page.getByText('None at the moment.').waitFor()
  await chip('Not delegated · 0').waitFor()
  await chip('Deleted · 1').waitFor()
})

test('each domain has its size, and who changed it last and when', async (t) => {
  const { account, api, domain } = await newZone(service(), rrset(), rrset({ subname: 'mail' }))
  const other = await newDomain(api)
  const bot = await addToken(service(), account.id, { name: 'deploy-bot' })
  await newRRset(bot.api, domain, { subname: 'by-bot' })
  await service().sql(
    `update history set created = now() - interval '3 hours' where source = 'creation'
       and domain_id = (select id from domains where name = :other)`,
    { other },
  )
  const { page } = await openTab({ secret: account.secret })
  const cells = (name: string) => page.getByRole('row').filter({ hasText: name }).getByRole('cell').allInnerTexts()
  await page.getByRole('link', { name: domain }).waitFor()
  const [name, state, ...others] = await cells(domain)
  t.deepEqual([name, ...others], [domain, '4', 'just now', 'token “deploy-bot”'])
  t.regex(state!, /^Delegation not checked/)
  t.deepEqual((await cells(other)).slice(2, 4), ['1', '3 hours ago'])
  t.regex((await page.locator('td time').first().getAttribute('title'))!, /\d:\d\d/)
  // So says the page of the domain.
  await page.getByRole('link', { name: domain }).click()
  await page.locator('.facts').getByText('Changed just now by token “deploy-bot”').waitFor()
  await page.getByRole('link', { name: 'History' }).click()
  await page.locator('.facts').getByText('4 record sets').waitFor()
  // Who may not see the author in the history does not see it here.
  const reader = await addToken(service(), account.id)
  const { page: theirs } = await openTab({ secret: reader.secret })
  await theirs.getByRole('link', { name: domain }).waitFor()
  t.is(await theirs.getByText('deploy-bot').count(), 0)
})

test('an account without domains sees what it can do, as far as the token may', async (t) => {
  const account = await service().account()
  const limited = await addToken(service(), account.id, { permCreateDomain: true })
  const reader = await addToken(service(), account.id)
  const { page } = await openTab({ secret: account.secret })
  const steps = page.locator('main').getByRole('listitem')
  await page.getByText('No domains yet. Begin with one of these:').waitFor()
  await check(t, page, 'domains-first-steps')
  for (const [name, heading] of [
    ['Add a domain', 'Add domain'],
    ['Import a zone file', 'Import zone file'],
    ['Make a token for a program', 'Create a token'],
  ] as const) {
    await steps.getByRole('link', { name }).click()
    await page.getByRole('heading', { name: heading, exact: true }).waitFor()
    await page.goBack()
  }
  for (const [secret, count] of [
    [limited.secret, 2],
    [reader.secret, 0],
  ] as const) {
    const { page: theirs } = await openTab({ secret })
    await theirs.getByText('No domains yet.').waitFor()
    t.is(await theirs.locator('main').getByRole('listitem').count(), count)
  }
})

test('the navigation has the number of domains, right after each creation, deletion and return', async (t) => {
  const { api, secret } = await service().account()
  await newDomain(api)
  const { page } = await openTab({ path: 'account', secret })
  const number = (text: string) => page.locator('.side nav .count').getByText(text, { exact: true }).waitFor()
  await number('1')
  await page.goto(`${service().url}/console/new-domain?zonefile`)
  const name = freshName()
  await page.getByLabel('Name', { exact: true }).fill(name)
  await page.getByLabel('Zone file', { exact: true }).fill('www 300 IN A 192.0.2.1')
  await page.getByRole('button', { name: 'Add the domain' }).click()
  await page.getByRole('heading', { name }).waitFor()
  await number('2')
  await page.getByRole('link', { name: 'Settings', exact: true }).click()
  const deleting = page.getByRole('button', { name: `Delete ${name}` })
  await page.getByText('For 90 days, who may create domains can bring it back').waitFor()
  await check(t, page, 'settings')
  t.true(await deleting.isDisabled())
  await page.getByLabel('Type the name of the domain').fill(name)
  await deleting.click()
  await page.getByText(`${name} is deleted. It can come back until`).waitFor()
  await number('1')
  await check(t, page, 'domain-deleted')
  await page
    .getByRole('status')
    .getByRole('button', { name: `Bring back ${name}` })
    .click()
  await page.getByRole('heading', { name }).waitFor()
  await number('2')
  // What others do is seen with the list.
  await newDomain(api)
  await page.getByRole('link', { name: 'Domains', exact: true }).click()
  await number('3')
})

test('the preview of a zone file has what the service would import, in DNS order', (t) => {
  const text =
    '@ SOA ns. a. 1 2 3 4 5\n@ NS ns\n$TTL 60\nb.a A 192.0.2.1\na TXT "x"\n@ MX 10 a\nb.a A 192.0.2.2\nx. A 192.0.2.3'
  const { changes, mistakes } = previewOf(text, 'shop.test')
  t.deepEqual(mistakes, [])
  t.deepEqual(
    changes.map(({ subname, type, after }) => [subname, type, after!.records]),
    [
      ['', 'MX', ['10 a.shop.test.']],
      ['a', 'TXT', ['"x"']],
      ['b.a', 'A', ['192.0.2.1', '192.0.2.2']],
    ],
  )
})

test('the preview says where the mistakes are, and what is seldom meant', (t) => {
  const { changes, mistakes } = previewOf('a A x\nb CNAME c\nb A 192.0.2.1\na/b TXT x\nc MX 1 _b', 'shop.test')
  t.deepEqual(changes, [])
  const alias = 'b: No other records with the same name are allowed alongside a CNAME record.'
  t.deepEqual(mistakes.slice(0, 2), [
    { line: 1, text: 'An IPv4 address is needed, such as 192.0.2.1.' },
    { line: 3, text: alias },
  ])
  t.deepEqual(
    mistakes.slice(2).map(({ line }) => line),
    [4, 5],
  )
  t.is(countOf(mistakes, 0), '4 mistakes')
  t.is(countOf([], 8), 'No mistakes: 8 record sets')
  t.is(countOf(previewOf('a A x\n'.repeat(200), 'shop.test').mistakes, 0), 'more than 100 mistakes')
  t.deepEqual(mistakesOf(['b.shop.test/A: no', 'no'], '\na A 192.0.2.1\nb A 192.0.2.1', 'shop.test'), [
    { line: 3, text: 'b.shop.test/A: no' },
    { line: undefined, text: 'no' },
  ])
  t.deepEqual(previewOf('a CNAME b', 'shop.test').hints, ['a CNAME: There are no records at b.shop.test.'])
})
test('a person leaves a note, which each page of the domain shows as text', async (t) => {
  const { api, secret } = await service().account()
  const name = await newDomain(api)
  const note = '<img src=x onerror=alert(1)> Ask Alice.'
  const { page } = await openTab({ path: `domains/${name}/settings`, secret })
  const [field, save] = [
    page.getByLabel('What others should know'),
    page.getByRole('button', { name: 'Save the note' }),
  ]
  await field.fill('x'.repeat(501))
  t.is((await field.inputValue()).length, 500)
  t.false('note' in ((await api.get(`/domains/${name}/`)).json as object))
  await field.fill(` ${note} `)
  await save.click()
  await page.locator('p.note').getByText(note).waitFor()
  t.is(await field.inputValue(), note)
  t.true(await save.isDisabled())
  await check(t, page, 'settings-note')
  await page.goto(`${service().url}/console/domains/${name}`)
  await page.locator('p.note').getByText(note).waitFor()
  await check(t, page, 'records-note')
})
test('a person sees that the operator has suspended a domain, in the list and on each page of it', async (t) => {
  const { api, secret } = await service().account()
  const [fine, name] = [await newDomain(api), await newDomain(api)]
  await newRRset(api, name, rrset())
  await storeCheck(service(), name, 'insecure')
  await suspend(service().system, name)
  const { page } = await openTab({ secret })
  const rows = page.locator('table.list tbody tr')
  const stateOf = (name: string) => rows.filter({ hasText: name }).getByRole('cell').nth(1)
  await stateOf(name).getByText('Suspended', { exact: true }).waitFor()
  t.regex(await stateOf(fine).innerText(), /^Delegation not checked/)
  await page.getByLabel('Search domains').fill('suspended')
  t.is(await rows.count(), 1)
  await check(t, page, 'domains-suspended')
  const notice = page.getByRole('status').getByText('has suspended this domain')
  for (const [part, shown] of [
    ['', '.record-row'],
    ['/nameservers', 'text=May transfer'],
    ['/settings', 'text=nobody can delete'],
  ] as const) {
    await page.goto(`${service().url}/console/domains/${name}${part}`)
    await notice.waitFor()
    await page.locator(shown).first().waitFor()
    t.is(await page.locator('.head .state').innerText(), 'Suspended')
    await check(t, page, `suspended${part.replace('/', '-')}`)
  }
  // Nothing is offered that would be refused.
  t.is(await page.getByLabel('Type the name of the domain').count(), 0)
  await page.getByRole('link', { name: 'Records' }).click()
  await page.getByRole('button', { name: 'Edit www A' }).waitFor()
  await eventuallyIs(() => page.getByRole('button', { name: 'Add record' }).count(), 0)
  await resumeServing(service().system, name)
  await page.goto(`${service().url}/console/domains/${name}`)
  await page.locator('.head .state').getByText('DS missing at registrar').waitFor()
  t.is(await notice.count(), 0)
})
