import { newDomain, newRRset, type ShownRRset, succeeded } from '../support/clients/api.ts'
import type { Client } from '../support/clients/client.ts'
import { addToken } from '../support/clients/tokens.ts'
import { check, useConsole } from '../support/console/console.ts'
import { apply } from '../support/console/records.ts'
import { eventuallyIs } from '../support/eventually.ts'
import { useService } from '../support/harness.ts'

// The page of a domain's history.

const service = useService()
const { test, openTab } = useConsole(service)

const MARKUP = '"<img src=x onerror=alert(1)>"'

/** The records of www A. */
async function recordsOf(api: Client, name: string): Promise<string[]> {
  return (succeeded(await api.get(`/domains/${name}/rrsets/www/A/`), 200).json as ShownRRset).records
}

test('a person finds who changed what, undoes it, and sees the zone as it was', async (t) => {
  const { api, secret } = await service().account()
  const name = await newDomain(api)
  await newRRset(api, name, { subname: 'www', type: 'A', ttl: 300, records: ['192.0.2.1'] })
  await newRRset(api, name, { subname: '', type: 'TXT', ttl: 300, records: [MARKUP] })
  succeeded(await api.delete(`/domains/${name}/rrsets/www/A/`), 204)
  const { page } = await openTab({ path: `domains/${name}/history`, secret })
  const entries = page.locator('.entries > li')
  await entries.first().waitFor()
  t.is(await entries.count(), 4)
  t.regex(await entries.first().innerText(), /www A removed 192\.0\.2\.1\s+a token$/)
  t.regex(await entries.last().innerText(), /Domain created · 1 record set\s+a token \(creation\)$/)

  await page.getByRole('heading', { name: 'Today' }).waitFor()

  // The name as monitoring writes it.
  const search = page.getByLabel('Search the history')
  await search.fill(`WWW.${name}. a token`)
  await page.keyboard.press('Enter')
  await page.getByText('No change matches.').waitFor()
  await search.fill(`WWW.${name}. a`)
  await page.keyboard.press('Enter')
  await eventuallyIs(() => entries.count(), 2)
  await entries.first().getByText('www A removed').click()
  await entries.first().getByText('removed: 192.0.2.1').waitFor()
  await entries.first().getByText('removed: TTL 5 minutes').waitFor()
  // There is no part of one change.
  t.is(await entries.first().getByRole('button', { name: 'Undo a part of it' }).count(), 0)
  await check(t, page, 'history')

  const states = async (when: string) => {
    await page.getByRole('button', { name: `Show the zone ${when} it` }).click()
    await page.getByRole('heading', { name: `${name} ${when} this change` }).waitFor()
    return page.getByLabel('Zone file lines').inputValue()
  }
  const after = await states('after')
  t.false(after.includes('192.0.2.1'))
  t.true(after.includes(MARKUP))
  await page.getByRole('dialog').getByText('Nothing.').waitFor()
  await page.keyboard.press('Escape')
  t.true((await states('before')).includes('192.0.2.1'))
  // What has changed since, in the order of time.
  await page.getByRole('dialog').getByText('removed: 192.0.2.1').waitFor()
  await check(t, page, 'history-before')
  await page.keyboard.press('Escape')

  await page.getByRole('button', { name: 'Undo this change' }).click()
  await page.getByText('Creates 1 record set.').waitFor()
  await check(t, page, 'history-undo')
  await page.getByRole('button', { name: 'Apply' }).click()
  await page.getByText('Undone: 1 change, served by ns1.zoneplane.test', { exact: true }).waitFor()
  t.deepEqual(await recordsOf(api, name), ['192.0.2.1'])

  // The state before all: only what the creation made.
  await search.fill('')
  await eventuallyIs(() => entries.count(), 5)
  await entries.last().getByText('Domain created').click()
  await entries.last().getByRole('button', { name: 'Show the zone after it' }).waitFor()
  t.is(await entries.last().getByRole('button').count(), 1)
  await entries.last().getByRole('button', { name: 'Show the zone after it' }).click()
  await page.getByRole('button', { name: 'Restore this state' }).click()
  await page.getByText('Removes 2 record sets.').waitFor()
  await page.getByRole('button', { name: 'Apply' }).click()
  await eventuallyIs(async () => (await api.get(`/domains/${name}/rrsets/?type=TXT`)).text, '[]')
})

test('a person sees who deleted the domain, and the zone of before', async (t) => {
  const { api, secret, id } = await service().account()
  const name = await newDomain(api)
  await newRRset(api, name, { subname: 'www', type: 'A', ttl: 300, records: ['192.0.2.1'] })
  const cleaner = await addToken(service(), id, { name: 'cleaner', permDeleteDomain: true })
  succeeded(await cleaner.api.delete(`/domains/${name}/`), 204)
  succeeded(await api.post('/domains/', { name, restore: true }), 201)
  const { page } = await openTab({ path: `domains/${name}/history`, secret })
  const entries = page.locator('.entries > li')
  await page.getByText('Domain restored · 2 record sets').waitFor()
  await page.getByRole('link', { name: 'token “cleaner”' }).click()
  await eventuallyIs(() => entries.count(), 1)
  t.is(await page.getByLabel('Search the history').inputValue(), 'by:cleaner')
  await page.goBack()
  await eventuallyIs(() => entries.count(), 4)
  await page.goForward()
  await eventuallyIs(() => entries.count(), 1)
  t.regex(await entries.innerText(), /Domain deleted · 2 record sets\s+token “cleaner” · Token$/)
  await entries.getByText('Domain deleted').click()
  await entries.getByText('removed: 192.0.2.1').waitFor()
  await check(t, page, 'history-deletion')
  t.is(await page.getByRole('button', { name: 'Undo this change' }).count(), 0)
  await page.getByRole('button', { name: 'Show the zone before it' }).click()
  t.true((await page.getByLabel('Zone file lines').inputValue()).includes('192.0.2.1'))
})

test('a person sees that older changes are gone', async (t) => {
  const { api, secret } = await service().account()
  const name = await newDomain(api)
  await newRRset(api, name, { subname: 'www', type: 'A', ttl: 300, records: ['192.0.2.1'] })
  const sql = `with gone as (delete from history where source = 'creation' and domain_id = (select id from domains where name = :name) returning domain_id)
    update history set trimmed = true where source = 'api' and domain_id = (select domain_id from gone)`
  await service().sql(sql, { name })
  const { page } = await openTab({ path: `domains/${name}/history`, secret })
  await page.getByText('Older changes are gone: the histories of this account were too large.').waitFor()
  await page.getByText('www A created').click()
  // What was before is not known any more.
  await page.getByRole('button', { name: 'Show the zone after it' }).waitFor()
  t.is(await page.getByRole('button', { name: 'Show the zone before it' }).count(), 0)
})

test('a person undoes a part of a change, of which another part has changed again', async (t) => {
  const { api, secret } = await service().account()
  const name = await newDomain(api)
  const path = `/domains/${name}/rrsets/`
  const sets = ['a', 'b', 'c', 'www'].map((subname) => ({ subname, type: 'A', ttl: 300, records: ['192.0.2.1'] }))
  succeeded(await api.put(path, sets), 200)
  succeeded(await api.put(path, sets.map((set) => ({ ...set, records: [] }))), 200) // prettier-ignore
  succeeded(await api.put(path, [{ ...sets[0]!, records: ['192.0.2.2'] }]), 200)
  const { page } = await openTab({ path: `domains/${name}/history`, secret })
  await page.getByText('a A removed, b A removed, c A removed, 1 more').click()
  await page.getByRole('button', { name: 'Undo this change' }).click()
  await page.getByText('Later changes are in the way: a A.').waitFor()
  // It would not help.
  t.is(await page.getByRole('button', { name: 'Try again' }).count(), 0)
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Undo a part of it' }).click()
  await page.getByText(`4 changes to ${name}`).waitFor()
  await page.getByText('The undo is staged.').waitFor()
  await page.getByRole('button', { name: 'Take what is there' }).click()
  await page.getByRole('button', { name: 'the change of b A' }).click()
  await page.getByRole('button', { name: 'the change of c A' }).click()
  await page.getByText(`1 change to ${name}`).waitFor()
  await apply(page)
  t.deepEqual(await recordsOf(api, name), ['192.0.2.1'])
  t.is((await api.get(`${path}b/A/`)).status, 404)
  t.deepEqual(((await api.get(`${path}a/A/`)).json as ShownRRset).records, ['192.0.2.2'])
})
