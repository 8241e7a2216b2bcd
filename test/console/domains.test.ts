import type { Browser } from 'playwright-core'
import { previewOf } from '../../console/model/zonefile.ts'
import { resumeServing, suspend } from '../../src/service/operation/suspension.ts'
import { PHONE, withBrowser } from '../support/browser.ts'
import { newDomain, newRRset, rrset } from '../support/clients/api.ts'
import { check, DESK, openConsole } from '../support/console/console.ts'
import { apply, stageNew } from '../support/console/records.ts'
import { useService } from '../support/harness.ts'
import type { Declare } from '../support/needs.ts'
import { storeCheck } from '../support/state/checks.ts'

// The list of domains, and their creation.

const service = useService()

withBrowser(declare)

function declare(test: Declare, browser: () => Browser): void {
  test('a person adds a domain with a zone file, whose records and mistakes are shown before', async (t) => {
    const { api, secret } = await service().account()
    const tab = await openConsole(browser(), service().url, { path: 'new-domain', secret })
    const { page } = tab
    await page.getByLabel('Name', { exact: true }).fill('Shop.test.')
    await page.getByLabel('Zone file, if there is one').fill('www 300 IN A 192.0.2.1\nmail 300 IN A 192.0.2.300\n')
    await page.getByText(/syntax error in line 2.*The line: mail 300 IN A 192\.0\.2\.300$/).waitFor()
    await check(t, tab, 'new-domain-mistake')
    // The browser does not know this rule.
    await page.getByLabel('Zone file, if there is one').fill('old DNAME x.test.\na.old A 192.0.2.1\n')
    await page.getByRole('button', { name: 'Add the domain' }).click()
    await page.getByRole('alert').waitFor()
    const lines = ['mail 300 IN A 192.0.2.2', '@ MX 10 mail', 'www CNAME @', 'old CNAME gone']
    await page.getByLabel('Zone file, if there is one').fill(lines.join('\n'))
    await page.getByText('Creates 4 record sets.').waitFor()
    t.is(await page.getByRole('alert').count(), 0)
    await page.getByText('There are no records at gone.shop.test.').waitFor()
    await check(t, tab, 'new-domain-preview')
    // On a phone, no type and no usual name breaks; other names do.
    await page
      .getByLabel('Zone file, if there is one')
      .fill(`sel1._domainkey TXT ${'v=DKIM1'.repeat(20)}\nold CNAME gone\n${'x'.repeat(63)} A 192.0.2.1`)
    await page.getByText('Creates 3 record sets.').waitFor()
    await check(t, tab, 'new-domain-long')
    await page.setViewportSize(PHONE)
    t.deepEqual(
      await page.evaluate(`Array.from(document.querySelectorAll('.difference tbody :is(th, td:nth-child(2))'), (cell) => {
      const range = document.createRange()
      range.selectNodeContents(cell)
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
    await check(t, tab, 'new-domain-taken')
    await page.context().close()
  })

  test('a person searches, and brings a deleted domain back', async (t) => {
    const { api, secret } = await service().account()
    const names = [await newDomain(api), await newDomain(api), await newDomain(api)]
    const [gone, other] = names as [string, string]
    await newRRset(api, gone, rrset())
    await api.delete(`/domains/${gone}/`)
    const tab = await openConsole(browser(), service().url, { secret })
    const { page } = tab
    await page.getByRole('link', { name: other, exact: true }).waitFor()
    t.is(await page.getByRole('link', { name: gone, exact: true }).count(), 0)
    await page.getByLabel('Search domains').fill(other.toUpperCase())
    t.is(await page.locator('table.list tbody tr').count(), 1)
    await page.getByLabel('Search domains').fill('none')
    await page.getByText('No domain matches “none”.').waitFor()
    await page.getByText('Deleted domains').click()
    await page.getByRole('button', { name: `Bring back ${gone}` }).waitFor()
    await check(t, tab, 'domains-deleted')
    await page.getByRole('button', { name: `Bring back ${gone}` }).click()
    await page.getByRole('heading', { name: gone }).waitFor()
    t.is((await api.get(`/domains/${gone}/rrsets/www/A/`)).status, 200)
    await page.context().close()
  })

  test('a person sees the state of each domain, finds those in a state, and what is to be done', async (t) => {
    const { api, secret } = await service().account()
    const [fine, open, lost] = [await newDomain(api), await newDomain(api), await newDomain(api)]
    const fresh = await newDomain(api, 'a-name-without-a-place-to-break.test')
    await storeCheck(service(), fine, 'secure')
    await storeCheck(service(), open, 'insecure')
    await storeCheck(service(), lost, 'elsewhere')
    const tab = await openConsole(browser(), service().url, { secret })
    const { page } = tab
    const stateOf = (name: string) => page.getByRole('row').filter({ hasText: name }).getByRole('cell').nth(1)
    await stateOf(fine).getByText('Secure', { exact: true }).waitFor()
    t.is(await stateOf(fresh).innerText(), 'Not checked')
    t.is(await page.getByRole('cell').getByRole('link').count(), 6)
    await check(t, tab, 'domains-states')
    for (const [typed, names] of [
      ['Secure', [fine]],
      ['insecure', [open]],
      ['DS missing at registrar ', [open]],
      [fresh, [fresh]],
    ] as const) {
      await page.getByLabel('Search domains').fill(typed)
      t.deepEqual(await page.locator('table.list tbody td:first-child').allInnerTexts(), [...names])
    }
    await page.getByLabel('Search domains').fill('')
    t.is(await stateOf(lost).innerText(), 'Other nameservers have it')
    await page.getByRole('link', { name: 'DS missing at registrar' }).click()
    await page.getByText('Not secure: there is no DS record').waitFor()
    t.true(page.url().endsWith(`/domains/${open}/dnssec`))
    t.deepEqual(tab.found, [])
    await page.context().close()
  })

  test('a domain and a record with a name in Unicode are made under its Punycode, which the pages show', async (t) => {
    const { api, secret } = await service().account()
    const tab = await openConsole(browser(), service().url, { path: 'new-domain', secret })
    const { page } = tab
    await page.getByLabel('Name', { exact: true }).fill('Bücher.test')
    await page.getByText('xn--bcher-kva.test', { exact: true }).waitFor()
    await check(t, tab, 'new-domain-unicode')
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
    t.deepEqual(tab.found, [])
    await page.context().close()
  })

  test('the domains are there before their states, and without them', async (t) => {
    const { api, secret } = await service().account()
    const name = await newDomain(api)
    await storeCheck(service(), name, 'secure')
    const { page } = await openConsole(browser(), service().url, { path: 'account', secret })
    let answer = (): void => undefined
    const held = new Promise<void>((resolve) => (answer = resolve))
    await page.route('**/delegations/*', async (route) => {
      await held
      await route.fulfill({ status: 500, json: { detail: 'Internal server error.' } })
    })
    await page.getByRole('link', { name: 'Domains', exact: true }).click()
    await page.getByRole('link', { name }).waitFor()
    t.is(await page.getByRole('cell').nth(1).innerText(), 'Loading…')
    answer()
    await page.getByRole('alert').getByText('Internal server error.').waitFor()
    t.is(await page.getByRole('link', { name }).count(), 1)
    t.is(await page.getByRole('cell').nth(1).innerText(), '')
    await page.unroute('**/delegations/*')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('Secure', { exact: true }).waitFor()
    t.is(await page.getByRole('alert').count(), 0)
    await page.context().close()
  })

  test('the preview of a zone file has what the service would import, in DNS order', (t) => {
    const text =
      '@ SOA ns. a. 1 2 3 4 5\n@ NS ns\n$TTL 60\nb.a A 192.0.2.1\na TXT "x"\n@ MX 10 a\nb.a A 192.0.2.2\nx. A 192.0.2.3'
    const { changes, problems } = previewOf(text, 'shop.test')
    t.deepEqual(problems, [])
    t.deepEqual(
      changes.map(({ subname, type, after }) => [subname, type, after!.records]),
      [
        ['', 'MX', ['10 a.shop.test.']],
        ['a', 'TXT', ['"x"']],
        ['b.a', 'A', ['192.0.2.1', '192.0.2.2']],
      ],
    )
  })

  test('the preview says where the mistake is, and what is seldom meant', (t) => {
    const { changes, problems } = previewOf('a A 192.0.2.1\nb CNAME c\nb A 192.0.2.1', 'shop.test')
    t.deepEqual(changes, [])
    t.deepEqual(problems, ['b: No other records with the same name are allowed alongside a CNAME record.'])
    t.deepEqual(
      previewOf(`a A 192.0.2.1\na/b TXT x`, 'shop.test').problems.map((text) => text.split(' The line: ')[1]),
      ['a/b TXT x'],
    )
    t.deepEqual(previewOf('a CNAME b', 'shop.test').hints, ['a CNAME: There are no records at b.shop.test.'])
  })
  test('a person sees that the operator has suspended a domain, in the list and on each page of it', async (t) => {
    const { api, secret } = await service().account()
    const [fine, name] = [await newDomain(api), await newDomain(api)]
    await newRRset(api, name, rrset())
    await storeCheck(service(), name, 'insecure')
    await suspend(service().system, name)
    const tab = await openConsole(browser(), service().url, { secret })
    const { page } = tab
    const rows = page.locator('table.list tbody tr')
    const stateOf = (name: string) => rows.filter({ hasText: name }).getByRole('cell').nth(1)
    await stateOf(name).getByText('Suspended', { exact: true }).waitFor()
    t.is(await stateOf(fine).innerText(), 'Not checked')
    await page.getByLabel('Search domains').fill('suspended')
    t.is(await rows.count(), 1)
    await check(t, tab, 'domains-suspended')
    const notice = page.getByRole('status').getByText('has suspended this domain')
    for (const [part, shown] of [
      ['', '.record-row'],
      ['/nameservers', 'text=May transfer'],
      ['/delete', 'text=Type the name'],
    ] as const) {
      await page.goto(`${service().url}/console/domains/${name}${part}`)
      await notice.waitFor()
      await page.locator(shown).first().waitFor()
      t.is(await page.locator('.head .state').innerText(), 'Suspended')
      await check(t, tab, `suspended${part.replace('/', '-')}`)
    }
    // A deletion is refused, and says why.
    await page.getByLabel('Type the name of the domain').fill(name)
    await page.getByRole('button', { name: `Delete ${name}` }).click()
    await page.getByRole('alert').getByText('is suspended by the operator').waitFor()
    await resumeServing(service().system, name)
    await page.goto(`${service().url}/console/domains/${name}`)
    await page.locator('.head .state').getByText('DS missing at registrar').waitFor()
    t.is(await notice.count(), 0)
    await page.context().close()
  })
}
