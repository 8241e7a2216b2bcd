import type { Page } from 'playwright-core'
import { freshName, newRRset, newZone, succeeded } from '../support/clients/api.ts'
import { check } from '../support/console/console.ts'
import { apply, focused, press, useRecords } from '../support/console/records.ts'
import { useService } from '../support/harness.ts'

// Many records, long ones, and odd ones.

const service = useService()
const { test, openRecords, openZone } = useRecords(service)

/** The rows in the window: the position of each by what it says to screen readers, and its name. */
async function rowsInWindow(page: Page): Promise<[position: number, name: string][]> {
  return page.evaluate<[number, string][]>(`(() => {
    const rows = new Set()
    for (let y = document.querySelector('.records-head').getBoundingClientRect().bottom + 1; y < innerHeight; y += 30)
      rows.add(document.elementFromPoint(400, y)?.closest('.record-row'))
    rows.delete(null)
    return [...rows].map((row) => [Number(row.ariaRowIndex), row.querySelector('[data-open]').textContent])
  })()`)
}

test('of 10,000 record sets, those in the window are drawn; all can be filtered, and reached by keys', async (t) => {
  const { secret, api } = await service().account()
  const domain = freshName()
  const names = Array.from({ length: 10_000 }, (_, i) => `n${String(i).padStart(5, '0')}`)
  const zonefile = names.map((name, i) => `${name} ${i % 500 === 0 ? 60 : 3600} IN A 192.0.${i >> 8}.${i & 255}\n`)
  succeeded(await api.post('/domains/', { name: domain, zonefile: zonefile.join('') }), 201)
  const { page } = await openRecords(domain, secret)
  await page.getByText('10,001 record sets').waitFor()
  for (const part of [0, 0.3, 0.77, 1]) {
    await page.evaluate(`scrollTo(0, ${part} * (document.documentElement.scrollHeight - innerHeight))`)
    await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))')
    const rows = await rowsInWindow(page)
    t.true(rows.length > 10, `${part}: ${rows.length}`)
    // The header is the first row, the nameservers are the second one.
    t.deepEqual(
      rows.filter(([position]) => position !== 2).map(([position]) => names[position - 3]),
      rows.filter(([position]) => position !== 2).map(([, name]) => name),
    )
    t.deepEqual(
      rows.map(([position]) => position),
      rows.map((_, i) => rows[0]![0] + i),
    )
    t.true((await page.locator('.record-row').count()) < 100)
  }
  await page.getByLabel('Filter').fill('n0123')
  await page.getByText('10 of 10,001 record sets').waitFor()
  await page.getByLabel('Filter').fill('ttl<300')
  await page.getByText('20 of 10,001 record sets').waitFor()
  await press(page, 'ArrowDown', 'End', 'ArrowUp')
  t.is(await focused(page), 'Edit n09000 A')
  await page.getByLabel('Filter').fill('')
  await page.getByText('10,001 record sets').waitFor()
  await press(page, 'ArrowDown', 'End')
  t.is(await focused(page), 'Edit n09999 A')
  t.is((await rowsInWindow(page)).at(-1)![1], 'n09999')
  await page.getByLabel('Select all rows shown').check()
  await page.getByText('10,001 rows selected').waitFor()
  const selection = page.getByRole('form', { name: 'Selected rows' })
  await selection.getByText('Change').click()
  await selection.getByLabel('TTL').fill('7200')
  await selection.getByRole('button', { name: 'Save' }).click()
  await page.getByText(`10,001 changes to ${domain}`).waitFor()
  await page.getByLabel('Filter').fill('n0123')
  await page.getByText('10 of 10,001 record sets').waitFor()
  await page.getByRole('button', { name: 'Discard all' }).click()

  // While the fourth page is awaited, three are there.
  let release = () => undefined as unknown
  const released = new Promise(
    (resolve) =>
      (release = () => {
        resolve(undefined)
      }),
  )
  let pages = 0
  await page.route('**/rrsets/*', async (route) => {
    // The heading asks for the nameservers' names, which are no page.
    if (route.request().url().includes('cursor=') && ++pages === 4) await released
    await route.continue()
  })
  await page.reload()
  await page.getByText('1,500 record sets so far').waitFor()
  await page
    .getByRole('button', { name: /^Edit n/ })
    .first()
    .focus()
  await press(page, 'Delete')
  t.true(await page.getByRole('button', { name: 'Review' }).isDisabled())
  release()
  await page.getByText('10,001 record sets').waitFor()
  t.true(await page.getByRole('button', { name: 'Review' }).isEnabled())
})

test('a text of nearly 64,000 octets is whole, and one that is too long is not staged', async (t) => {
  const { zone, page } = await openZone()
  await page.getByRole('button', { name: 'Add record' }).click()
  const form = page.getByRole('form', { name: 'Add record' })
  await form.getByLabel('Name').fill('@')
  await form.getByLabel('Type').selectOption('TXT')
  // As JSON, with the quotes of its 255-octet strings, and their escapes, an RRset has at most 64,000 characters.
  const length = 62_700
  await form.getByLabel('Text').fill('x'.repeat(64_001))
  await form.getByText(/64000/).waitFor()
  await form.getByRole('button', { name: 'Save', exact: true }).click()
  t.true(await form.isVisible())
  await form.getByLabel('Text').fill('x'.repeat(length))
  await form.getByRole('button', { name: 'Save', exact: true }).click()
  await check(t, page, 'records-long')
  await apply(page)
  const { json } = succeeded(await zone.api.get(`${zone.rrsets}@/TXT/`), 200)
  const [record] = (json as { records: string[] }).records
  t.is(record!.replaceAll(/[" ]/g, ''), 'x'.repeat(length))
  await page.getByRole('button', { name: 'Edit @ TXT' }).click()
  t.is(await page.getByLabel('Text').inputValue(), 'x'.repeat(length))
})

test('whatever a zone holds is text, and stays as it is when it is edited', async (t) => {
  const odd = '<img src=x onerror=alert(1)>'
  const zone = await newZone(service(), {
    subname: '*',
    type: 'TXT',
    ttl: 3600,
    records: [`"${odd}"`, '"\\000\\255"'],
  })
  const contents: [type: string, ...records: string[]][] = [
    ['PTR', 'a\\000b\\255c\\.d.*._x.', '\\<img\\032src=x\\>.'],
    ['RP', 'a\\.b. \\000.'],
    ['HTTPS', '1 \\000\\255._x.'],
    ['CAA', `0 issue "${odd}"`],
  ]
  for (const [type, ...records] of contents) {
    await newRRset(zone.api, zone.domain, { subname: `_${type.toLowerCase()}._x`, type, records })
  }
  const { page } = await openRecords(zone.domain, zone.account.secret)
  await check(t, page, 'records-odd')
  const titles = await page.evaluate<string[]>(
    `[...document.querySelectorAll('[data-open]')].map((button) => button.ariaLabel)`,
  )
  t.is(titles.length, 2 + contents.length)
  for (const title of titles) {
    await page.getByRole('button', { name: title, exact: true }).click()
    const form = page.getByRole('form', { name: title, exact: true })
    await form.getByRole('button', { name: 'Save', exact: true }).click()
    await form.waitFor({ state: 'detached' })
  }
  t.is(await page.getByText(/changes? to/).count(), 0)
  t.is(await page.locator('img').count(), 0)
  await page.getByRole('button', { name: 'Edit * TXT' }).click()
  t.is(await page.getByLabel('Text', { exact: true }).inputValue(), odd)
  t.is(await page.getByLabel('Record as text').inputValue(), '"\\000\\255"')
})
